"""From how many tokens on the pairs of a word are worth to be stored: rows, CPU to count them, and look-ups.

``python benchmarks/cooccurrence.py [TOKENS]``: makes a store of a treebank of so many tokens (3,300,000 if not
given; see `harness.large_treebank`), counts the pairs of its words anew for each bound, and looks up bags of 25
units as `dependency_lookups.py` does, each bag once and with nothing kept.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from dependency_lookups import CORPUS, bags_of
from harness import SENTGEN, fresh, large_treebank, measure, show

from sentgen.models.dependency import tree_counts
from sentgen.models.dependency.dependencies import prefetch_dependencies
from sentgen.models.dependency.tree_counts import TreeLookups
from sentgen.schema import Store, counting
from sentgen.schema.store import raw

BOUNDS = (64, 128, 256, 512, 1024, 2048, 1 << 30)
BAGS = 10


def main(tokens: int) -> None:
    path = fresh("cooccurrence")
    treebank = large_treebank(tokens)
    measure([SENTGEN, "ingest", str(treebank), "--corpus", CORPUS, "--order", "2", "--db", str(path)])
    bags = bags_of("unit")[: BAGS + 1]
    table = []
    with Store(path) as store:
        for bound in BOUNDS:
            counting.FREQUENT = tree_counts.FREQUENT = bound  # type: ignore[attr-defined]
            rows, counted = _counted(store)
            took = [_took(store, bag) for bag in bags]
            # The first one compiles.
            table.append(
                (f"{bound:,}" if bound < 1 << 30 else "none", rows, counted, float(np.median(took[1:])))
            )
    columns = ("tokens from which on", "rows", "CPU s to count", "CPU ms a bag, median")
    show(f"Pairs of frequent words, {tokens:,} tokens", columns, table)


def _counted(store: Store) -> tuple[int, float]:
    """Count the pairs of all segments anew; return their rows and the CPU seconds."""
    with store.begin() as connection:
        duck = raw(connection)
        segments = [number for (number,) in duck.execute("select id from segment").fetchall()]
        duck.execute(f"delete from {counting.PAIRS}")
        before = time.process_time()
        for number in segments:
            counting.count_pairs(connection, number)
        took = time.process_time() - before
        ((rows,),) = duck.execute(f"select count(*) from {counting.PAIRS}").fetchall()
    return int(rows), took


def _took(store: Store, bag: list[tuple[str, str | None]]) -> float:
    before = time.process_time()
    prefetch_dependencies(store, [1], "unit", [bag], distances=True, lookups=TreeLookups(0))
    return (time.process_time() - before) * 1000


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3_300_000)
