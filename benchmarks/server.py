"""The server under load on the loopback: requests a second, durations, and CPU time a request.

``python benchmarks/server.py [SECONDS]`` serves two stores, the demo's and one of UD English EWT (train), each with
two workers for each kind of work, and lets 1, 8 and 32 clients ask for SECONDS (4 if not given): n-grams, the score of
a sentence, the order of the words of a sentence, and SQL; at last n-grams while two more clients send SQL that runs
until its deadline. Each client keeps one connection, and asks again as soon as it is answered. CPU time is that of
the front and of the workers, without the clients, which take a part of the same machine.

All of that is without answers that are kept (``--cache 0``). Then the same question is asked again and again of a
server that keeps them, by ``ab`` (Debian: apache2-utils), if it is there: clients in Python would be the slower part.
The peer in the same run is an application of FastAPI that answers nothing, on the same uvicorn.

``python benchmarks/server.py memory`` tells the memory of all processes of a server of the treebank with a model:
under 32 clients, and when nobody has asked for six minutes.

``python benchmarks/server.py users [SECONDS]`` lets 20 clients send different look-ups on EWT and GUM (train): without
users, as users who see all, and as users of whom one half sees EWT and the other GUM; and tells the memory, too.
``python benchmarks/server.py users-large [SECONDS]`` does the same with 8 clients and 10M tokens of novels, in two
halves.

``python benchmarks/server.py class [SECONDS]`` lets a class of 20 ask for the same look-ups of EWT and GUM (train), and
for pages: one after the other, and with two seconds on average before a question; answers are kept.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count, cycle
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
from harness import OUT, SENTGEN, data, fresh, show
from keywords import make_novels

from sentgen.server.users import new_token

CLIENTS = (1, 8, 32)
#: Clients that are users, of few texts and of many.
ASKERS, FEW_ASKERS = 20, 8
WORKERS = 2
ENDLESS = "select count(*) from range(1000000000000)"
COLUMNS = ("what", "clients", "requests/s", "median ms", "p95 ms", "CPU ms a request", "refused")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    body: str = ""
    token: str = ""


@dataclass
class Load:
    """What some clients saw: seconds of each request that was answered, and how many were refused."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0


def main(seconds: float) -> None:
    for title, store, model in (("demo", *demo()), ("UD English EWT", *treebank())):
        with serving(store, "--cache", "0") as (address, server):
            work = requests(address, model)
            for asked in work.values():  # what is compiled, cached or started at first is left out
                load(address, cycle(asked), CLIENTS[1], 2.0)
            rows = [
                row(name, clients, *measured(address, server, cycle(asked), clients, seconds))
                for name, asked in work.items()
                for clients in CLIENTS
            ]
            with hostile(address):
                figures = measured(address, server, cycle(work["ngrams"]), 8, seconds)
                rows.append((*row("ngrams beside endless SQL", 8, *figures)[:-2], "-", figures[0].refused))
            show(f"{title}: {store.stat().st_size >> 20} MB, {WORKERS} workers a kind", COLUMNS, rows)
    if shutil.which("ab"):
        with serving(store) as (address, _), nothing() as peer:
            rows = [
                (name, clients, *by_ab(f"{where}{path}", clients, seconds))
                for name, where, path in (
                    ("ngrams, the same again", address, "/v1/ngrams?pattern=house%20*"),
                    ("page, the same again", address, "/word?word=house"),
                    ("/healthz", address, "/healthz"),
                    ("FastAPI, empty answer", peer, "/"),
                )
                for clients in CLIENTS
            ]
            show("answers that are kept, by ab", ("what", "clients", "requests/s", "p95 ms", "failed"), rows)


def memory() -> None:
    store, model = treebank()
    to = fresh("server-snapshots")
    run("publish", "--db", store, "--to", to)
    rows = []
    with serving(to, "--cache", "0", option="--snapshots") as (address, server):
        for asked in requests(address, model).values():
            load(address, cycle(asked), CLIENTS[-1], 2.0)
        rows.append(("under load", *megabytes(server)))
        time.sleep(360)
        rows.append(("idle", *megabytes(server)))
    show(
        "UD English EWT: memory of a server",
        ("when", "processes", "resident MB", "shared counted once"),
        rows,
    )


def users(seconds: float) -> None:
    store = fresh("server-two")
    for corpus in ("ewt", "gum"):
        run("ingest", data(f"ud/en_{corpus}-ud-train.conllu"), "--corpus", corpus, "--db", store)
    ask_as_users("EWT and GUM", store, ("ewt", "gum"), ASKERS, "lemma", seconds)


def class_room(seconds: float) -> None:
    store, to, desk = fresh("server-two"), fresh("server-two-snapshots"), OUT / "server-class.desk"
    desk.unlink(missing_ok=True)
    for corpus in ("ewt", "gum"):
        run("ingest", data(f"ud/en_{corpus}-ud-train.conllu"), "--corpus", corpus, "--db", store)
    run("publish", "--db", store, "--to", to)
    options = ("--class", "--host", "127.0.0.1", "--desk", str(desk))
    rows: list[tuple[object, ...]] = []
    with serving(to, *options, option="--snapshots") as (address, server):
        students = [join(address, f"Student {chr(ord('A') + i)}") for i in range(ASKERS)]
        words = frequent_words(f"{address}{students[0]}")
        kinds = {"look-ups": lookups(words, [""], "lemma"), "pages": pages_of(words)}
        for name, asked in kinds.items():
            of_class = [
                replace(each, path=f"{students[i % ASKERS]}{each.path}") for i, each in enumerate(asked)
            ]
            load(address, cycle(of_class[:60]), ASKERS, 2.0)  # workers start
            # Each question is new, though its parts may be known: the corpora, and what words there are.
            for part, pause in enumerate((0.0, 2.0)):
                new = iter(of_class[60 + part :: 2])
                seen = measured(address, server, new, ASKERS, seconds, pause)
                title = f"{name}, a pause of {pause:.0f} s" if pause else name
                rows.append((*row(title, ASKERS, *seen), megabytes(server)[2]))
    show("EWT and GUM: a class", (*COLUMNS, "MB, shared counted once"), rows)


def join(address: str, name: str) -> str:
    """Return the beginning of the addresses of a student who joins."""
    with connected(address) as connection:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/join", urlencode({"name": name}), kind)
        answer = connection.getresponse()
        answer.read()
        return urlsplit(answer.headers["Location"]).path.rstrip("/")


def pages_of(words: Sequence[str]) -> list[Asked]:
    """Return pages of words, all different."""
    kinds = (
        ("word", lambda word: {"word": word}),
        ("query", lambda word: {"query": f'[lemma="{word}"]', "by": "word"}),
        ("collocations", lambda word: {"word": word}),
    )
    return [Asked("GET", f"/{page}?{urlencode(given(word))}") for word in words for page, given in kinds]


def users_large(seconds: float) -> None:
    store = fresh("server-novels")
    make_novels(store)
    ask_as_users("10M tokens of novels", store, ("here", "there"), FEW_ASKERS, "word", seconds)


def ask_as_users(
    title: str, store: Path, corpora: tuple[str, str], askers: int, key: str, seconds: float
) -> None:
    to, file = fresh("server-two-snapshots"), fresh("server-users.toml")
    run("publish", "--db", store, "--to", to)
    tokens = [new_token() for _ in range(askers)]
    rights = {
        "no users": None,
        "users who see all": ["all"],
        "users who see one of two": [[corpora[0]], [corpora[1]]],
    }
    rows: list[tuple[object, ...]] = []
    words: list[str] = []
    for name, seen in rights.items():
        options: tuple[str, ...] = ()
        if seen:
            tables = ((digest, seen[i % len(seen)]) for i, (_, digest) in enumerate(tokens))
            file.write_text(
                "".join(f'[users.u{i}]\ntoken = "{d}"\ncorpora = {c!r}\n' for i, (d, c) in enumerate(tables))
            )
            options = ("--users", str(file))
        with serving(to, "--cache", "0", *options, option="--snapshots") as (address, server):
            words = words or frequent_words(address)
            asked = lookups(words, [token for token, _ in tokens], key)
            load(address, cycle(asked[:200]), askers, 2.0)  # workers start
            rows.append(
                (
                    *row(name, askers, *measured(address, server, cycle(asked), askers, seconds)),
                    megabytes(server)[2],
                )
            )
    show(f"{title}: look-ups of users", (*COLUMNS, "MB, shared counted once"), rows)


def frequent_words(address: str) -> list[str]:
    query = "select form from v_tokens where length(form) > 2 group by form order by count(*) desc limit 400"
    return [word for found in sql(address, query) if (word := str(found["form"])).isalpha()]


def lookups(words: Sequence[str], tokens: Sequence[str], key: str) -> list[Asked]:
    """Return look-ups of words, all different, of one user after another; one kind finds them by ``key``."""
    kinds = (
        ("kwic", lambda word: {"pattern": word, "limit": 50}),
        ("ngrams", lambda word: {"pattern": f"{word} *", "limit": 50}),
        ("collocations", lambda word: {"word": word, "limit": 50}),
        ("frequencies", lambda word: {"query": f'[{key}="{word}"]', "by": "word", "limit": 50}),
    )
    paths = [
        f"/v1/{kind}?{urlencode(given(word))}" for word in words if word.isalpha() for kind, given in kinds
    ]
    return [Asked("GET", path, token=tokens[i % len(tokens)]) for i, path in enumerate(paths)]


def megabytes(server: int) -> tuple[int, float, float]:
    """Return the number of processes of a server, what is resident of them, and the same with a page counted once."""
    own = [number for number, fields in processes() if number == server or int(fields[1]) == server]
    texts = [Path(f"/proc/{number}/smaps_rollup").read_text() for number in own]
    resident, shared = (
        sum(int(text.split(f"\n{name}:")[1].split()[0]) for text in texts) / 1024 for name in ("Rss", "Pss")
    )
    return len(own), resident, shared


@contextmanager
def nothing() -> Iterator[str]:
    """Serve an application that answers nothing; give its address."""
    code = (
        "import fastapi, socket, uvicorn; app = fastapi.FastAPI()\n"
        "@app.get('/')\nasync def empty(): return None\n"
        "sock = socket.create_server(('127.0.0.1', 0)); print(sock.getsockname()[1], flush=True)\n"
        "uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[sock])"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


def by_ab(url: str, clients: int, seconds: float) -> tuple[object, ...]:
    """Return requests a second, the 95th percentile in ms, and how many failed."""
    command = ["ab", "-q", "-k", "-t", str(max(int(seconds), 1)), "-n", "1000000", "-c", str(clients), url]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    failed = sum(map(int, re.findall(r"(?:Failed requests|Non-2xx responses):\s+(\d+)", told)))
    rate, late = re.search(r"per second:\s+([\d.]+)", told), re.search(r"95%\s+(\d+)", told)
    return float(rate[1]) if rate else 0.0, int(late[1]) if late else 0, failed


def demo() -> tuple[Path, str]:
    store = fresh("server-demo")
    run("demo", "--db", store)
    return store, "relief"


def treebank() -> tuple[Path, str]:
    store = fresh("server-ewt")
    run("ingest", data("ud/en_ewt-ud-train.conllu"), "--corpus", "ewt", "--db", store)
    run("models", "build", "ewt", "--corpus", "ewt", "--order", 3, "--db", store)
    return store, "ewt"


def run(*words: object) -> None:
    subprocess.run([SENTGEN, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


@contextmanager
def serving(store: Path, *options: str, option: str = "--db") -> Iterator[tuple[str, int]]:
    """Serve a store; give the address and the number of the process in front."""
    command = [SENTGEN, "serve", option, str(store), "--port", "0", "--workers", str(WORKERS), *options]
    with open(OUT / "server.log", "w") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line:
            sys.exit(f"the server does not start; see {OUT / 'server.log'}")
        yield line.split()[-1], server.pid
    finally:
        server.terminate()
        server.wait()


def requests(address: str, model: str) -> dict[str, list[Asked]]:
    """Return requests of each kind, different ones, made of what the store holds."""
    words = [
        str(found["form"])
        for found in sql(address, "select form from v_tokens group by form order by count(*) desc limit 200")
    ]
    sentences = [
        str(found["words"])
        for found in sql(
            address,
            "select string_agg(form, ' ' order by position) as words from v_tokens group by corpus, document, sentence_id"
            " having count(*) between 8 and 15 order by words limit 200",
        )
    ]
    frequency = "select form, upos, count(*) as n from v_tokens where form = ? group by all order by n desc"
    return {
        "ngrams": [
            Asked("GET", f"/v1/ngrams?{urlencode({'pattern': f'{word} *'})}")
            for word in words
            if "*" not in word
        ],
        "page of a word": [
            Asked("GET", f"/word?{urlencode({'word': word})}") for word in words if word.isalpha()
        ],
        "score": [post("score", text=[sentence], model=model) for sentence in sentences],
        "regenerate": [post("regenerate", bag=[bag(sentence)], model=model) for sentence in sentences],
        "sql": [post("sql", sql=frequency, parameters=[word]) for word in words],
    }


def post(operation: str, **values: object) -> Asked:
    return Asked("POST", f"/v1/{operation}", json.dumps(values))


def bag(sentence: str) -> str:
    """Return the words in the order of the alphabet, without what the notation of bags means."""
    return " ".join(sorted(word for word in sentence.split() if not set(word) & set("[]/\\")))


def sql(address: str, query: str) -> list[dict[str, object]]:
    with connected(address) as connection:
        asked = post("sql", sql=query)
        answer = ask(connection, replace(asked, path=f"{urlsplit(address).path}{asked.path}"))
        if answer.status != 200:
            sys.exit(answer.read().decode())
        rows: list[dict[str, object]] = json.load(answer)["rows"]
        return rows


@contextmanager
def connected(address: str) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=300)
    try:
        yield connection
    finally:
        connection.close()


def ask(connection: http.client.HTTPConnection, asked: Asked) -> http.client.HTTPResponse:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {asked.token}"}
    connection.request(asked.method, asked.path, asked.body or None, headers)
    return connection.getresponse()


def measured(
    address: str, server: int, asked: Iterator[Asked], clients: int, seconds: float, pause: float = 0.0
) -> tuple[Load, float, float]:
    """Return what the clients saw, how long it took, and the CPU seconds of the server."""
    began, used = time.monotonic(), cpu_seconds(server)
    seen = load(address, asked, clients, seconds, pause)
    return seen, time.monotonic() - began, cpu_seconds(server) - used


def load(address: str, asked: Iterator[Asked], clients: int, seconds: float, pause: float = 0.0) -> Load:
    """Let clients ask until the time or the questions are over, after pauses of so many seconds on average."""
    seen, seeds, end = Load(), count(), time.monotonic() + seconds

    def client() -> None:
        pauses = random.Random(next(seeds))
        with connected(address) as connection:
            time.sleep(pauses.uniform(0, 2 * pause))
            while (began := time.monotonic()) < end and (question := next(asked, None)):
                answer = ask(connection, question)
                answer.read()
                if answer.status == 200:
                    seen.seconds.append(time.monotonic() - began)
                else:
                    seen.refused += 1
                time.sleep(pauses.uniform(0, 2 * pause))

    together(client, clients)
    return seen


def together(work: object, number: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def hostile(address: str) -> Iterator[None]:
    """Keep all SQL workers busy with queries that have no end."""
    stop = threading.Event()

    def client() -> None:
        with connected(address) as connection:
            while not stop.is_set():
                ask(connection, post("sql", sql=ENDLESS)).read()

    threads = [threading.Thread(target=client) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    yield
    stop.set()
    for thread in threads:
        thread.join()


def row(name: str, clients: int, seen: Load, wall: float, cpu: float) -> tuple[object, ...]:
    taken = np.array(seen.seconds or [float("nan")]) * 1000
    answered = max(len(seen.seconds), 1)
    median, p95 = float(np.median(taken)), float(np.percentile(taken, 95))
    return name, clients, len(seen.seconds) / wall, median, p95, cpu * 1000 / answered, seen.refused


def cpu_seconds(server: int) -> float:
    """Return the CPU time of a process and of its children, also of those that have ended."""
    return sum(
        sum(map(int, fields[11:15])) / _TICKS
        for number, fields in processes()
        if number == server or int(fields[1]) == server
    )


def processes() -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each process and the fields of its state from the third on (proc_pid_stat(5))."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        yield int(path.parent.name), text.rpartition(")")[2].split()


if __name__ == "__main__":
    if sys.argv[1:] == ["memory"]:
        memory()
    elif sys.argv[1:2] in (["users"], ["users-large"], ["class"]):
        asked = {"users": users, "users-large": users_large, "class": class_room}[sys.argv[1]]
        asked(float(sys.argv[2]) if len(sys.argv) > 2 else 20.0)
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 4.0)
