"""Pages that nobody has asked for before, under load: each of the most frequent words once, by 8 clients.

``python benchmarks/pages.py [ROUNDS] [PEER]`` serves UD English EWT (train) with two workers for each kind of work,
and asks for the pages of its 100 most frequent words, for queries and sketches of them, and for lists of a corpus.
Answers are kept as usual, so that what all pages share is asked once, and each page is new. A server of its own has
each round; the median of ROUNDS (3 if not given) is shown. CPU time is that of the front and of the workers.

PEER is the command ``sentgen`` of another checkout: both are asked in turns, which is what tells them apart on a
machine that others use.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from urllib.parse import urlencode

import numpy as np
from harness import OUT, SENTGEN, fresh, show
from server import WORKERS, Asked, Load, ask, connected, cpu_seconds, run, sql, together, treebank

CLIENTS = 8
WORDS, WARM = 100, 8
_FREQUENT = "select form from v_tokens where regexp_full_match(form, '[A-Za-z]+') group by form order by count(*) desc, form"
COLUMNS = ("page", "server", "pages", "pages/s", "median ms", "p95 ms", "CPU ms a page", "of the peer's")


def main(rounds: int, peer: str) -> None:
    store, _ = treebank()
    to = fresh("pages-snapshots")
    run("publish", "--db", store, "--to", to)
    servers = {"this": SENTGEN, **({"peer": peer} if peer else {})}
    seen = defaultdict[tuple[str, str], list[tuple[float, ...]]](list)
    for _ in range(rounds):
        for server, command in servers.items():
            for page, numbers in measured(command, to):
                seen[page, server].append(numbers)
    rows = []
    for (page, server), numbers in sorted(seen.items()):
        shown = np.median(numbers, axis=0)
        of_peer = shown[-1] / np.median(seen[page, "peer"], axis=0)[-1] if peer else 1.0
        rows.append((page, server, int(shown[0]), *shown[1:], of_peer))
    show(f"UD English EWT: {CLIENTS} clients, {WORKERS} workers a kind, each page new", COLUMNS, rows)


def measured(command: str, snapshots: Path) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield kinds of pages with their number, pages a second, median and p95 in ms, and CPU time of one in ms."""
    with serving(command, snapshots) as (address, server):
        words = [str(row["form"]) for row in sql(address, f"{_FREQUENT} limit {WORDS + WARM}")]
        for page, asked in pages(words).items():
            once(address, asked[WORDS:])
            began, used = time.monotonic(), cpu_seconds(server)
            load = once(address, asked[:WORDS])
            wall, cpu, answered = time.monotonic() - began, cpu_seconds(server) - used, len(load.seconds)
            if load.refused:
                sys.exit(f"{load.refused} pages of {page} were refused")
            taken = np.array(load.seconds) * 1000
            late = float(np.percentile(taken, 95))
            yield page, (answered, answered / wall, float(np.median(taken)), late, cpu * 1000 / answered)


def pages(words: Sequence[str]) -> dict[str, list[Asked]]:
    """Return pages of each kind, one a word."""

    def each(path: str, parameter: str, pattern: str = "{}", **others: object) -> list[Asked]:
        return [
            Asked("GET", f"{path}?{urlencode({parameter: pattern.format(word), **others})}") for word in words
        ]

    return {
        "word": each("/word", "word"),
        "query": each("/query", "query", '[upos="DET"] "{}"'),
        "sketch": each("/sketch", "word", by="word"),
        "n-grams": each("/corpus", "pattern", "{} *", name="ewt", show="ngrams"),
    }


def once(address: str, asked: Sequence[Asked]) -> Load:
    """Let clients ask for each page once."""
    load, left, lock = Load(), list(reversed(asked)), Lock()

    def client() -> None:
        with connected(address) as connection:
            while True:
                with lock:
                    if not left:
                        return
                    one = left.pop()
                began = time.monotonic()
                answer = ask(connection, one)
                answer.read()
                if answer.status == 200:
                    load.seconds.append(time.monotonic() - began)
                else:
                    load.refused += 1

    together(client, CLIENTS)
    return load


@contextmanager
def serving(command: str, snapshots: Path) -> Iterator[tuple[str, int]]:
    """Serve the snapshots by a command; give the address and the number of the process in front."""
    words = [command, "serve", "--snapshots", str(snapshots), "--port", "0", "--workers", str(WORKERS)]
    with open(OUT / "pages.log", "w") as log:
        server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line:
            sys.exit(f"the server does not start; see {OUT / 'pages.log'}")
        yield line.split()[-1], server.pid
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2] if len(sys.argv) > 2 else "")
