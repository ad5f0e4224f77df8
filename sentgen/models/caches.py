"""What the caches of a store hold of models and trees, and how often they helped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, fields

from sentgen.models.dependency.tree_counts import lookups_of
from sentgen.models.ngrams.ngram_cache import CacheStatistics, cache_of
from sentgen.output.tabular import Rows
from sentgen.schema import Store


def cache_statistics(store: Store) -> Mapping[str, CacheStatistics]:
    """Return the state of each cache of an open store, by what it keeps; a look-up is that of one anchor."""
    return {"n-grams": cache_of(store).statistics, "trees": lookups_of(store).cache.statistics}


def overview(store: Store) -> Rows:
    """Return a row for each cache."""
    names = [statistics.name for statistics in fields(CacheStatistics)]
    return Rows(
        ["cache", *names],
        [(name, *astuple(statistics)) for name, statistics in cache_statistics(store).items()],
    )


def describe_caches(store: Store) -> str:
    """Say in one line how many look-ups were found in the caches, of those that were asked."""
    used = [
        (name, statistics)
        for name, statistics in cache_statistics(store).items()
        if statistics.hits or statistics.misses
    ]
    parts = (
        f"{name}: {statistics.hits} in the cache, {statistics.misses} fetched" for name, statistics in used
    )
    return f"look-ups of {'; of '.join(parts)}"
