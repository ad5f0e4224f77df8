"""Pages that nobody has asked for before, under load: each of some words once, by 8 clients.

``python benchmarks/pages.py [--store FILE] [--pages NAMES] [--rounds N] [--peer SENTGEN]`` serves UD English
EWT (train), or another store with tags in xpos, with two workers for each kind of work, and asks for pages
and rows about 100 words of its greatest corpus: the most frequent ones ("the"), and as many of the ranks from
500 to 10,000, as most of those are that people look up. No two questions are the same, and no answers are
kept (``--cache 0``). A server of its own has each round; the median of N (1 if not given) is shown. CPU time
is that of the front and of the workers, of which clients in the same machine take nothing away, as they do of
pages a second; memory is that of all processes after the page, with what they share counted once.

NAMES are some of the pages, such as ``word,/v1/kwic``. SENTGEN is the command of another checkout: both are
asked in turns, which is what tells them apart on a machine that others use.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlencode

import numpy as np
from harness import OUT, SENTGEN, fresh, show
from server import WORKERS, Asked, Load, ask, connected, cpu_seconds, megabytes, run, together, treebank

CLIENTS = 8
WORDS, WARM = 100, 8
#: The first rank of words that people look up.
_LOOKED_UP = 500
COLUMNS = (
    "words",
    "page",
    "server",
    "pages",
    "refused",
    "pages/s",
    "median ms",
    "p95 ms",
    "CPU ms each",
    "MB",
)


def main(rounds: int, store: Path, wanted: Sequence[str], peer: str) -> None:
    to = fresh("pages-snapshots")
    run("publish", "--db", store, "--to", to)
    servers = {"this": SENTGEN, **({"peer": peer} if peer else {})}
    seen = defaultdict[tuple[str, str, str], list[tuple[float, ...]]](list)
    for _ in range(rounds):
        for server, command in servers.items():
            for words, page, numbers in measured(command, to, wanted):
                seen[words, page, server].append(numbers)
    rows = []
    for key, rounds_of in seen.items():
        answered, refused, *shown = np.median(rounds_of, axis=0).tolist()
        rows.append((*key, int(answered), int(refused), *shown))
    show(f"{store.name}: {CLIENTS} clients, {WORKERS} workers a kind, nothing kept", COLUMNS, rows)


def measured(
    command: str, snapshots: Path, wanted: Sequence[str]
) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    """Yield kinds of words and pages with what the table shows of them."""
    with serving(command, snapshots) as (address, server):
        corpus = max(rows_of(address, "/v1/corpora"), key=lambda row: int(row["tokens"]))["corpus"]
        first = urlencode({"pattern": "*", "corpus": corpus, "limit": 10_000})
        frequent = [str(row["w1"]) for row in rows_of(address, f"/v1/ngrams?{first}")]
        ranked = [word for word in frequent if word.isascii() and word.isalpha()]
        for kind, words in chosen(ranked).items():
            asked_of = pages(words, corpus)
            for page in wanted or asked_of:
                asked = asked_of[page]
                once(address, asked[WORDS:])
                began, used = time.monotonic(), cpu_seconds(server)
                load = once(address, asked[:WORDS])
                wall, cpu, answered = time.monotonic() - began, cpu_seconds(server) - used, len(load.seconds)
                taken = np.array(load.seconds) * 1000
                late = float(np.percentile(taken, 95))
                speed = answered / wall, float(np.median(taken)), late, cpu * 1000 / answered
                yield kind, page, (answered, load.refused, *speed, megabytes(server)[2])


def rows_of(address: str, path: str) -> list[dict[str, Any]]:
    """Return the rows of an answer of the API."""
    with connected(address) as connection:
        rows: list[dict[str, Any]] = json.load(ask(connection, Asked("GET", path)))["rows"]
    return rows


def chosen(ranked: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return words to ask for and a few to begin with, of both kinds."""
    rest = ranked[_LOOKED_UP:]
    return {"most frequent": ranked[: WORDS + WARM], "looked up": rest[:: len(rest) // (WORDS + WARM)]}


def pages(words: Sequence[str], corpus: str) -> dict[str, list[Asked]]:
    """Return questions of each kind, one a word."""

    def each(path: str, parameter: str, pattern: str = "{}", **others: object) -> list[Asked]:
        return [
            Asked("GET", f"{path}?{urlencode({parameter: pattern.format(word), **others})}") for word in words
        ]

    return {
        "word": each("/word", "word"),
        "query": each("/query", "query", '[xpos="DT"] "{}"'),
        "/v1/kwic": each("/v1/kwic", "pattern"),
        "/v1/frequencies": each("/v1/frequencies", "pattern"),
        "sketch": each("/sketch", "word", by="word"),
        "n-grams": each("/corpus", "pattern", "{} *", name=corpus, show="ngrams"),
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
    words = [command, "serve", "--snapshots", str(snapshots), "--port", "0"]
    words += ["--workers", str(WORKERS), "--cache", "0", "--no-warm-up"]
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
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--pages", default="")
    parser.add_argument("--peer", default="")
    given = parser.parse_args()
    main(given.rounds, given.store or treebank()[0], list(filter(None, given.pages.split(","))), given.peer)
