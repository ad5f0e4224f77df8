"""Statistics of the caches of a store: the models and trees that they hold, and their hits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, fields

from sentgen.models.dependency.tree_counts import TreeLookups
from sentgen.models.ngrams.ngram_cache import CacheStatistics, NgramCache
from sentgen.output.tabular import Rows
from sentgen.schema import Store


def cache_statistics(store: Store) -> Mapping[str, CacheStatistics]:
    """Return the statistics of each cache of an open store by its content; a look-up is of one anchor."""
    return {
        "n-grams": NgramCache.of_store(store).statistics,
        "trees": TreeLookups.of_store(store).cache.statistics,
    }


def overview(store: Store) -> Rows:
    """Return a row for each cache."""
    names = [statistics.name for statistics in fields(CacheStatistics)]
    return Rows(
        ["cache", *names],
        [(name, *astuple(statistics)) for name, statistics in cache_statistics(store).items()],
    )
