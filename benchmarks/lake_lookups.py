"""Bags of 25 words looked up in a lake through a model of stupid back-off: ms, rows that are read, memory.

``python benchmarks/lake_lookups.py LAKE MODEL [BAGS] [TEXT]``: bags are sentences of TEXT (one a line; the novels
if not given), cut to 25 words: all of them in batches of 100, as commands look them up, and the first 50 one by
one. Nothing is cached but what DuckDB keeps, within a limit of 1 GB. Rows read are those of the row groups that
minima and maxima do not exclude for one bag, of all orders; rows found are the n-grams within it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import duckdb
import numpy as np
from harness import megabytes, novels, own_usage, show
from lookups import LIMIT, WORDS, picked

from sentgen.models.base import registry
from sentgen.models.base.registry import ModelInfo
from sentgen.models.ngrams.ngram_cache import NgramCache
from sentgen.models.submodel import prefetch
from sentgen.schema import Store
from sentgen.schema.store import raw
from sentgen.schema.tables.corpus import BOS, EOS, UNK

#: Bags of a batch, and those that are looked up one by one.
_BATCH, _ALONE = 100, 50
_GROUPS = """
select row_group_num_rows, stats_min_value::integer, stats_max_value::integer
from parquet_metadata('{}/ngram_{}/*.parquet')
where path_in_schema = 'w{}'
order by file_name, row_group_id
"""


def main(lake: str, name: str, number: int, text: Path) -> None:
    bags = picked(text, number)
    with Store(lake, read_only=True, memory_limit=LIMIT, threads=1) as store:
        model = registry.find(store, name)
        prefetch(store, model, [["the"]])  # loads what is compiled
        before = own_usage()[1]
        batches = [bags[at : at + _BATCH] for at in range(0, len(bags), _BATCH)]
        rows = [(f"{len(bags):,} in batches of {_BATCH}", *_timed(store, model, batches))]
        alone = bags[:_ALONE]
        rows.append((f"{len(alone)} one by one", *_timed(store, model, [[bag] for bag in alone])))
        peak = own_usage()[1]
        found = [prefetch(store, model, [bag]).ngrams for bag in alone]
        with store.connect() as connection:
            duck = raw(connection).cursor()
            words = [
                [*NgramCache(0).word_ids(duck, model, set(bag)).values(), UNK, BOS, EOS] for bag in alone
            ]
    read, size = _read(lake, model.order, words)
    show(
        f"Bags of {WORDS} words, {model.label} of order {model.order}, {lake}, limit 1 GB",
        ("bags", "median ms a bag", "p95", "CPU ms"),
        rows,
    )
    print(
        f"one bag, median: {int(np.median(read)):,} of {size:,} rows read, {int(np.median(found)):,} found\n"
        f"peak memory {megabytes(peak):,} MB, {megabytes(before):,} MB of it before the look-ups"
    )


def _timed(store: Store, model: ModelInfo, asked: list[list[list[str]]]) -> tuple[float, float, float]:
    """Return median and 95th percentile by the clock, and the median CPU time, ms a bag."""
    took = []
    for bags in asked:
        wall, cpu = time.perf_counter(), time.process_time()
        prefetch(store, model, bags)
        took.append(((time.perf_counter() - wall) / len(bags), (time.process_time() - cpu) / len(bags)))
    walls, cpus = np.array(took).T * 1000
    return float(np.median(walls)), float(np.percentile(walls, 95)), float(np.median(cpus))


def _read(lake: str, order: int, bags: list[list[int]]) -> tuple[list[int], int]:
    """Return the rows of the row groups that a bag's words do not exclude, and the rows of the lake."""
    read, rows = [0] * len(bags), 0
    with duckdb.connect() as duck:
        for n in range(1, order + 1):
            kept = np.ones((len(bags), 1), np.bool_)
            for i in range(1, n + 1):
                sizes, least, most = (
                    np.array(column)
                    for column in zip(*duck.execute(_GROUPS.format(lake, n, i)).fetchall(), strict=True)
                )
                within = np.array(
                    [
                        np.searchsorted(sorted(bag), least) < np.searchsorted(sorted(bag), most, side="right")
                        for bag in bags
                    ]
                )
                kept = kept & within
            rows += int(sizes.sum())
            read = [total + int(sizes[row].sum()) for total, row in zip(read, kept, strict=True)]
    return read, rows


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python benchmarks/lake_lookups.py LAKE MODEL [BAGS] [TEXT]")
    text = Path(sys.argv[4]) if len(sys.argv) > 4 else novels(10_000_000)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1000, text)
