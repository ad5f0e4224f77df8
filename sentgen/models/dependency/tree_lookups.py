"""What the store has counted in the trees of some corpora about some words, looked up and cached by anchor.

A row that is about two words comes with the greater id of both, its anchor: as a rule that of the rarer
word, which has few rows. Pairs of words in one sentence are stored for frequent words alone; those of a rare
one are counted in the postings, in the few sentences that have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import duckdb
import numpy as np

from sentgen.models.base.anchor_cache import AnchorCache, anchor_slices
from sentgen.models.base.sql import among, statements
from sentgen.models.dependency.tree_counts import TreeRows
from sentgen.schema import Store
from sentgen.schema.engine import arrow_reader
from sentgen.schema.tables.counts import FREQUENT

Layer = Literal["word", "unit"]

#: The anchor of what is about tags alone.
TAGS = 0
#: The id of what the store does not know.
UNKNOWN = -1
_CHUNK_ROWS = 100_000
_MAX_NAMES = 500_000
#: The column of a table that holds its names.
_NAMES = {"word": "form", "tag": "name"}
_IDS = "select {column}, min(id) from {table} where {column} in (select unnest($names)) group by all"
#: Rows about tags alone, in all tables that have levels.
_OF_TAGS = "level in ('tag', 'tag-tag')"
_SEGMENTS = """
select id, sentences, tokens, created_at
from segment
where corpus_id in (select unnest($1::integer[]))
order by id
"""


class _SegmentState(NamedTuple):
    """A segment with what says when it was written; another state means other counts, whatever the id."""

    id: int
    sentences: int
    tokens: int
    created_at: datetime


class TreeLookups:
    """Keeps what was looked up in the trees of a store, and the ids of names, within bounds.

    Nothing goes stale: other counts come under another key, and ids never change their meaning.
    """

    def __init__(self, limit: int) -> None:
        self.cache = AnchorCache[TreeRows](limit)
        self._names: dict[object, dict[str, int]] = {}

    def trees(self, duck: duckdb.DuckDBPyConnection, corpora: Sequence[int], layer: Layer) -> CountedTrees:
        """Return what was counted in the trees of corpora, in a layer; takes a query."""
        states = duck.execute(_SEGMENTS, [list(corpora)]).fetchall()
        return CountedTrees(self, duck, layer, tuple(_SegmentState(*state) for state in states))

    def names(self, key: object) -> dict[str, int]:
        """Return the ids of the names that were looked up, by what they were looked up for.

        What was unknown then has no counts there, even if the store knows it by now.
        """
        if sum(map(len, self._names.values())) > _MAX_NAMES:
            self._names = {}  # whoever works with one goes on
        return self._names.setdefault(key, {})


class CountedTrees(NamedTuple):
    """What was counted in the trees of some segments, in one layer."""

    lookups: TreeLookups
    duck: duckdb.DuckDBPyConnection
    layer: Layer
    segments: tuple[_SegmentState, ...]

    def ids(self, table: Literal["word", "tag"], names: Set[str]) -> dict[str, int]:
        """Return the ids of names, -1 for what is not known; a query if some were not looked up before."""
        known = self.lookups.names((table, self.segments))
        missing = sorted(name for name in names if name not in known)
        if missing:
            query = _IDS.format(table=table, column=_NAMES[table])
            found = dict(self.duck.execute(query, {"names": missing}).fetchall())
            known.update(dict.fromkeys(missing, UNKNOWN) | found)
        return {name: known[name] for name in names}

    def rows(self, words: Iterable[int]) -> Iterator[TreeRows]:
        """Yield all that is counted about some words, and about all tags, a part at a time."""
        cache, key = self.lookups.cache, (self.segments, self.layer)
        found, missing = cache.take(key, {TAGS, *words})
        if found:
            # Together: to begin with each takes more than to add it.
            yield TreeRows.joined(found)
        if missing and self.segments:
            yield from self._fetch(missing)

    def _fetch(self, anchors: list[int]) -> Iterator[TreeRows]:
        """Yield the rows of some anchors, ascending, and keep them if half of the cache has room for all."""
        cache = self.lookups.cache
        kept: dict[int, list[TreeRows]] = {anchor: [] for anchor in anchors}
        room = cache.limit // 2
        for query, parameters in self._queries(anchors):
            for batch in arrow_reader(self.duck, query, parameters, rows=_CHUNK_ROWS):
                numbers, *keys, counts = (column.to_numpy() for column in batch.columns)
                rows = TreeRows(np.stack(keys, axis=1), counts)
                yield rows
                room -= rows.nbytes
                if room < 0:
                    kept.clear()
                for anchor, part in anchor_slices(numbers) if kept else ():
                    kept[anchor].append(TreeRows(rows.keys[part], rows.counts[part]))
        for anchor in sorted(kept, reverse=True):
            cache.put((self.segments, self.layer), anchor, TreeRows.joined(kept.pop(anchor)))

    def _queries(self, anchors: list[int]) -> Iterator[tuple[str, dict[str, bytes]]]:
        """Yield the queries for the rows of some anchors, ascending, with their parameters."""
        if anchors[0] == TAGS:
            siblings = self._query("siblings")
            yield self._query("counted", events=_OF_TAGS, heads=_OF_TAGS, siblings=siblings), {}
        events, bits = among("anchor", anchors)
        word_asked, _ = among("word_id", anchors)
        events = f"{events} and not {_OF_TAGS}"
        yield self._query("counted", events=events, heads=word_asked, siblings=""), bits
        query = self._query("frequent", word_asked=word_asked, frequent=FREQUENT)
        frequent = set(self.duck.execute(query, bits).fetchall())
        postings: list[str] = []
        parameters: dict[str, bytes] = {}
        for segment in self.segments:
            if rare := [word for word in anchors if (segment.id, word) not in frequent]:
                word_asked, bits = among("word_id", rare, f"bits{segment.id}")
                postings.append(self._query("postings", segment=segment.id, word_asked=word_asked))
                parameters |= bits
        if postings:
            union = "\nunion all\n".join(postings)
            yield self._query("rare", postings=union, frequent=FREQUENT), parameters

    def _query(self, name: str, **values: object) -> str:
        segments = _listed(segment.id for segment in self.segments)
        return statements("tree_rows.sql")[name].format(segments=segments, layer=self.layer, **values)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(str(int(number)) for number in numbers)


_lookups: WeakKeyDictionary[Store, TreeLookups] = WeakKeyDictionary()


def lookups_of(store: Store) -> TreeLookups:
    """Return the look-ups of an open store: they keep an eighth of its memory limit, at most 256 MB."""
    return _lookups.setdefault(store, TreeLookups(min(2**28, store.memory_limit // 8)))
