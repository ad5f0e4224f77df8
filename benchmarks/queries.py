"""Queries over ten million tokens: requests for trees, beside udapi on one treebank.

``python benchmarks/queries.py [CASE ...]`` makes a store of the training parts of EWT and GUM, 26 times over, once
(benchmarks/out/trees.duckdb, some minutes), opens it with two threads and a limit of 1.5 GB, and asks each case
three times: the best time by the clock, and the CPU seconds of that. With the module `udapi` (extra `bench`), the
first cases are counted by it too, over EWT as a file; reading the file is a column of its own, since a store is
read once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import OUT, SENTGEN, data, measure, megabytes, own_usage, show
from sqlalchemy import Connection

from sentgen.lookups.grew.matches import Match
from sentgen.schema import Store

COPIES, TREEBANKS = 26, ("en_ewt-ud-train.conllu", "en_gum-ud-train.conllu")
LIMIT, THREADS, TIMES = 1_500 * 2**20, 2, 3
SVO = "pattern { V [upos=VERB]; V -[nsubj]-> S; V -[obj]-> O }"


@dataclass(frozen=True)
class Case:
    """A query that is timed.

    Args:
        name: of the case.
        ask: asks it, and returns the number of its hits.
        target: seconds that it should take at most by the clock; 0 for none.
        beside: counts the same at a node of udapi, if it can.
    """

    name: str
    ask: Callable[[Connection], int]
    target: float = 0
    beside: Callable[[Any], int] | None = None


def trees(request: str, **options: Any) -> Callable[[Connection], int]:
    """Return what counts the hits of a request, or its rows if options say how to count."""

    def ask(connection: Connection) -> int:
        if options:
            return int(Match(request=request, **options).ask(connection).rows.num_rows)
        return int(Match(request=request, count=True).ask(connection).total or 0)

    return ask


def _objects(node: Any, *, without: bool) -> int:
    """Count what udapi finds at a node: its subjects times its objects."""
    labels = [child.deprel for child in node.children]
    if node.upos != "VERB" or (without and "aux" in labels):
        return 0
    return labels.count("nsubj") * labels.count("obj")


def _dominated(node: Any) -> int:
    """Count the verbs above a relative pronoun."""
    if node.upos != "PRON" or node.feats["PronType"] != "Rel":
        return 0
    found = 0
    while (node := node.parent) is not None and not node.is_root():
        found += node.upos == "VERB"
    return found


CASES = (
    Case("subject, verb, object", trees(SVO), 0.5, lambda node: _objects(node, without=False)),
    Case(
        "without an auxiliary",
        trees(f"{SVO} without {{ V -[aux]-> A }}"),
        0.5,
        lambda node: _objects(node, without=True),
    ),
    Case(
        "dominates", trees("pattern { V [upos=VERB]; V ->> P; P [upos=PRON, PronType=Rel] }"), 2, _dominated
    ),
    Case("dominates, frequent", trees("pattern { V [upos=VERB]; V ->> N; N [upos=NOUN] }")),
    Case("agreement", trees("pattern { V -[nsubj]-> S; V.Number = S.Number }")),
    Case("not projective", trees("global { is_not_projective }")),
    Case("twenty hits in context", trees(SVO, limit=20)),
    Case("by lemma and order", trees(SVO, key=["V.lemma", "S#V#O"], limit=20)),
)


def store() -> Path:
    """Return the store, made if it is not there."""
    path = OUT / "trees.duckdb"
    if not path.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        text, draft = OUT / "trees.conllu", OUT / "trees.draft.duckdb"
        with open(text, "wb") as sink:
            for _ in range(COPIES):
                for name in TREEBANKS:
                    sink.write(data(f"ud/{name}").read_bytes())
        command = [SENTGEN, "ingest", str(text), "--corpus", "trees", "--order", "1", "--db", str(draft)]
        measure([*command, "--memory-limit", "2GB"])
        text.unlink()
        draft.rename(path)
    return path


def timed(ask: Callable[[], int]) -> tuple[int, float, float]:
    """Return what is asked, and the seconds of the fastest of some times: by the clock, and of the processor."""
    found, best = 0, (float("inf"), 0.0)
    for _ in range(TIMES):
        began, used = time.perf_counter(), time.process_time()
        found = ask()
        best = min(best, (time.perf_counter() - began, time.process_time() - used))
    return found, *best


def beside(cases: list[Case]) -> None:
    """Count the same in EWT with udapi and with a store."""
    try:
        import udapi
    except ImportError:
        print("udapi is not installed; pip install udapi, or the extra bench", file=sys.stderr)
        return
    source, path = data(f"ud/{TREEBANKS[0]}"), OUT / "ewt.duckdb"
    if not path.exists():
        measure([SENTGEN, "ingest", str(source), "--corpus", "ewt", "--order", "1", "--db", str(path)])
    began = time.perf_counter()
    document = udapi.Document(str(source))
    reading = time.perf_counter() - began
    rows = []
    with Store(path, read_only=True, memory_limit=LIMIT, threads=THREADS) as ewt, ewt.connect() as connection:
        for case in cases:
            if case.beside is not None:
                count = case.beside
                found, wall, _ = timed(lambda: case.ask(connection))  # noqa: B023
                other, walk, _ = timed(lambda: sum(count(node) for node in document.nodes))  # noqa: B023
                assert found == other, (case.name, found, other)
                rows.append((case.name, found, wall, walk, reading))
    show("EWT (train), 0.2M tokens", ("query", "hits", "sentgen s", "udapi s", "udapi reads s"), rows)


def main(names: list[str]) -> None:
    """Ask all cases, or those that are named."""
    cases = [case for case in CASES if not names or case.name in names]
    rows = []
    opened = Store(store(), read_only=True, memory_limit=LIMIT, threads=THREADS)
    with opened, opened.connect() as connection:
        for case in cases:
            found, wall, cpu = timed(lambda: case.ask(connection))  # noqa: B023
            rows.append((case.name, found, wall, cpu, case.target or ""))
    peak = megabytes(own_usage()[1])
    title = f"{COPIES} times {' and '.join(TREEBANKS)}, 10M tokens; peak {peak} MB"
    show(title, ("query", "hits or rows", "s", "CPU s", "target s"), rows)
    beside(cases)


if __name__ == "__main__":
    main(sys.argv[1:])
