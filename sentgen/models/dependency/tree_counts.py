"""Counts of trees, as the dependency model of a batch of sentences needs them: from rows of the store.

The rows of the store about some words are cached by anchor. The anchor of a row about two words is the
greater of their ids: usually that of the rarer word, which has few rows. Pairs of words in one sentence are
stored for frequent words only; those of a rare word are counted from the postings, in the few sentences that
have it.

A batch needs the counts of some *kinds*, which are tagged words, and of their tags; rows about other words
are skipped. Kind 0 is the root and tag 0 its tag: the root is in every sentence once. All numerators and
denominators of Wan et al. 2007, section 3, are sums over sentences, so that counts of parts of a corpus add
up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime
from typing import Literal, NamedTuple, Self
from weakref import WeakKeyDictionary

import duckdb
import numpy as np

from sentgen.arrays import Ints, Longs, compiled
from sentgen.models.base.sql import among, statements
from sentgen.models.ngrams.ngram_cache import AnchorCache, anchor_slices
from sentgen.schema import Store
from sentgen.schema.engine import arrow_reader
from sentgen.schema.tables.counts import FREQUENT

Layer = Literal["word", "unit"]
#: The anchor of rows about tags only.
TAGS = 0
#: The id of a word or tag that the store does not know.
UNKNOWN = -1
_CHUNK_ROWS = 100_000
_MAX_NAMES = 500_000
#: The column of each table that holds the names.
_NAMES = {"word": "form", "tag": "name"}
_IDS = "select {column}, min(id) from {table} where {column} in (select unnest($names)) group by all"
#: The condition on rows about tags only, in all tables with back-off levels.
_OF_TAGS = "level in ('tag', 'tag-tag')"
_SEGMENTS = """
select id, sentences, tokens, created_at
from segment
where corpus_id in (select unnest($1::integer[]))
order by id
"""
MAX_ARGUMENTS = 7
DISTANCES = 3
#: First column of the key of a row (see `_TreeRows`): lower numbers are events.
_PAIR, _ARGUMENTS, _SIBLINGS = 6, 7, 23
_NUMBERS = MAX_ARGUMENTS + 1


class _SegmentState(NamedTuple):
    """A segment and when it was written; the same id with another state has other counts."""

    id: int
    sentences: int
    tokens: int
    created_at: datetime


class TreeLookups:
    """A bounded cache of tree counts of a store, and of the ids of names.

    Entries never go stale: new counts have a new key, and ids are never reused.
    """

    def __init__(self, limit: int) -> None:
        self.cache = AnchorCache[_TreeRows](limit)
        self._names: dict[object, dict[str, int]] = {}

    def trees(self, duck: duckdb.DuckDBPyConnection, corpora: Sequence[int], layer: Layer) -> CountedTrees:
        """Return the counted trees of some corpora in a layer; takes one query."""
        states = duck.execute(_SEGMENTS, [list(corpora)]).fetchall()
        return CountedTrees(self, duck, layer, tuple(_SegmentState(*state) for state in states))

    def names(self, key: object) -> dict[str, int]:
        """Return the ids of the names that were looked up under a key.

        A name that was unknown then has no counts under this key, even if the store knows it by now.
        """
        if sum(map(len, self._names.values())) > _MAX_NAMES:
            self._names = {}  # callers keep the dictionaries that they hold
        return self._names.setdefault(key, {})

    @classmethod
    def of_store(cls, store: Store) -> TreeLookups:
        """Return the cache of an open store: at most an eighth of its memory limit and 256 MB."""
        return _lookups.setdefault(store, cls(min(2**28, store.memory_limit // 8)))


_lookups: WeakKeyDictionary[Store, TreeLookups] = WeakKeyDictionary()


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(str(int(number)) for number in numbers)


class CountedTrees(NamedTuple):
    """The counts of the trees of some segments in one layer."""

    lookups: TreeLookups
    duck: duckdb.DuckDBPyConnection
    layer: Layer
    segments: tuple[_SegmentState, ...]

    def ids(self, table: Literal["word", "tag"], names: Set[str]) -> dict[str, int]:
        """Return the ids of names, -1 for unknown ones; takes a query if some were not looked up before."""
        known = self.lookups.names((table, self.segments))
        missing = sorted(name for name in names if name not in known)
        if missing:
            query = _IDS.format(table=table, column=_NAMES[table])
            by_name = dict(self.duck.execute(query, {"names": missing}).fetchall())
            known.update(dict.fromkeys(missing, UNKNOWN) | by_name)
        return {name: known[name] for name in names}

    def rows(self, words: Iterable[int]) -> Iterator[_TreeRows]:
        """Yield all rows about some words, and about all tags, in parts."""
        cache, key = self.lookups.cache, (self.segments, self.layer)
        cached, missing = cache.take(key, {TAGS, *words})
        if cached:
            # Joined, since the overhead of a part is greater than the time for its rows.
            yield _TreeRows.joined(cached)
        if missing and self.segments:
            yield from self._fetch(missing)

    def _fetch(self, anchors: list[int]) -> Iterator[_TreeRows]:
        """Yield the rows of ascending anchors, and cache them if all fit into half of the cache."""
        cache = self.lookups.cache
        by_anchor: dict[int, list[_TreeRows]] = {anchor: [] for anchor in anchors}
        free = cache.limit // 2
        for query, parameters in self._queries(anchors):
            for batch in arrow_reader(self.duck, query, parameters, rows=_CHUNK_ROWS):
                numbers, *keys, counts = (column.to_numpy() for column in batch.columns)
                rows = _TreeRows(np.stack(keys, axis=1), counts)
                yield rows
                free -= rows.nbytes
                if free < 0:
                    by_anchor.clear()
                for anchor, part in anchor_slices(numbers) if by_anchor else ():
                    by_anchor[anchor].append(_TreeRows(rows.keys[part], rows.counts[part]))
        for anchor in sorted(by_anchor, reverse=True):
            cache.put((self.segments, self.layer), anchor, _TreeRows.joined(by_anchor.pop(anchor)))

    def _queries(self, anchors: list[int]) -> Iterator[tuple[str, dict[str, bytes]]]:
        """Yield the queries for the rows of ascending anchors, with their parameters."""
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


class _TreeRows(NamedTuple):
    """N rows of counts.

    The columns of a key are the type of the count, the ids of a word and its tag, and of another word and its
    tag, -1 where there is none. The type is 3 * side + distance - 1 for an event of a head and its modifier,
    6 for pairs of different tokens in one sentence, 7 + 8 * side + number for heads with a number of
    modifiers on a side, and 23 + side for a modifier next after another below a head; then the columns are
    the tag of the head, in place of the other word the tag of the modifier before, and the tag of the
    modifier.
    """

    keys: Ints  # (N, 5)
    counts: Longs  # (N,)

    @property
    def nbytes(self) -> int:
        """Return the memory that the rows take."""
        return self.keys.nbytes + self.counts.nbytes

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return all rows of some parts, in new arrays."""
        nothing = cls(np.zeros((0, 5), np.int32), np.zeros(0, np.int64))
        keys, counts = zip(nothing, *parts, strict=True)
        return cls(np.concatenate(keys), np.concatenate(counts))


class TreeNumbering(NamedTuple):
    """Maps ids of the store to the numbers of a batch, -1 for words and tags that are not in the batch.

    Nor are ids beyond the end of an array.
    """

    words: Ints  # (highest word id + 1,) row of `kinds`
    tags: Ints  # (highest tag id + 1,) number of the tag
    kinds: Ints  # (words, T) number of the kind


class TreeCounts(NamedTuple):
    """The counts of K kinds and T tags; the last axis of events is the side, or 3 * side + distance - 1.

    The side is 0 for left, 1 for right of the head; 7 arguments stand for seven and more.
    """

    kinds: Longs  # (K,) occurrences
    tags: Longs  # (T,)
    together: Longs  # (K, K) sum over the sentences of the products of occurrences
    with_tags: Longs  # (K, T)
    tags_together: Longs  # (T, T)
    events: Longs  # (B,) of all words, whether the batch asks for them or not
    word_word: Ints  # (K, K, B) events, head first
    tag_word: Ints  # (T, K, B)
    word_tag: Ints  # (K, T, B)
    tag_tag: Ints  # (T, T, B)
    arguments: Longs  # (K, 2, 8) occurrences with a number of modifiers on a side
    tag_arguments: Longs  # (T, 2, 8)
    siblings: Ints  # (T, T + 2, T + 2, 2) modifiers by head and the modifier before; see `zeros`

    def add_root(self, tag_of: Ints) -> None:
        """Add the pairs that no row has, with the root and of a token with itself; after all rows."""
        sentences = self.kinds[0]
        self.together[0] += self.kinds
        self.together[1:, 0] += self.kinds[1:]
        kinds = np.arange(1, len(self.kinds))
        self.together[kinds, kinds] += self.kinds[1:]
        np.add.at(self.with_tags, (kinds, tag_of[1:]), self.kinds[1:])
        self.with_tags[1:, 0] += self.kinds[1:]
        tokens = self.tags.copy()
        tokens[0] -= sentences
        tags = np.arange(len(tokens))
        self.with_tags[0] += tokens
        self.with_tags[0, 0] += sentences
        self.tags_together[tags, tags] += tokens
        self.tags_together[0] += tokens
        self.tags_together[:, 0] += tokens
        self.tags_together[0, 0] += sentences

    @classmethod
    def zeros(cls, kinds: int, tags: int, *, distances: bool) -> TreeCounts:
        """Return counts of zero for some numbers of kinds and tags.

        With ``distances`` siblings are counted, too, nearest to the head first: [h, b, m, side] is the number
        of modifiers of tag m whose head has tag h, and whose preceding modifier has tag b. T as b means no
        preceding modifier, T as m the end of the side; T + 1 is any tag that is not in the batch.
        """
        bins = 2 * DISTANCES if distances else 2
        return cls(
            kinds=np.zeros(kinds, np.int64),
            tags=np.zeros(tags, np.int64),
            together=np.zeros((kinds, kinds), np.int64),
            with_tags=np.zeros((kinds, tags), np.int64),
            tags_together=np.zeros((tags, tags), np.int64),
            events=np.zeros(bins, np.int64),
            # The largest tables have 32 bits: no pair is attached two billion times.
            word_word=np.zeros((kinds, kinds, bins), np.int32),
            tag_word=np.zeros((tags, kinds, bins), np.int32),
            word_tag=np.zeros((kinds, tags, bins), np.int32),
            tag_tag=np.zeros((tags, tags, bins), np.int32),
            arguments=np.zeros((kinds, 2, MAX_ARGUMENTS + 1), np.int64),
            tag_arguments=np.zeros((tags, 2, MAX_ARGUMENTS + 1), np.int64),
            siblings=np.zeros((tags, tags + 2, tags + 2, 2) if distances else (0, 0, 0, 0), np.int32),
        )


@compiled
def add_rows(rows: _TreeRows, numbering: TreeNumbering, counts: TreeCounts) -> None:
    """Add rows to the counts of a batch; add each row once, in any order."""
    for i in range(len(rows.counts)):
        what, word, tag_id, other_word, other_tag_id = rows.keys[i]
        count = rows.counts[i]
        tag, other_tag = _number(numbering.tags, tag_id), _number(numbering.tags, other_tag_id)
        if what >= _SIBLINGS:
            if len(counts.siblings) and tag >= 0:
                before = _number(numbering.tags, other_word)
                _add_sibling(counts.siblings, tag, before, other_tag, what - _SIBLINGS, count)
            continue
        is_word, of_word = word >= 0, other_word >= 0
        if what < _PAIR and not is_word and not of_word:
            # The rows about tags only have each event once.
            counts.events[_bin(counts.events, what)] += count
            if len(counts.siblings) and tag >= 0:
                _add_modifiers(counts.siblings, tag, other_tag, what // DISTANCES, count)
        own = _kind(numbering.words, numbering.kinds, word, tag) if is_word else tag
        if own < 0:
            continue
        if what > _PAIR:
            side, number = (what - _ARGUMENTS) // _NUMBERS, (what - _ARGUMENTS) % _NUMBERS
            if is_word:
                _add_arguments(counts.arguments, counts.kinds, own, side, number, count)
            else:
                _add_arguments(counts.tag_arguments, counts.tags, own, side, number, count)
                if len(counts.siblings) and number == 0:
                    counts.siblings[own, len(counts.tags), len(counts.tags), side] += count
            continue
        other = _kind(numbering.words, numbering.kinds, other_word, other_tag) if of_word else other_tag
        if other >= 0 and what < _PAIR:
            b = _bin(counts.events, what)
            if is_word and of_word:
                counts.word_word[own, other, b] += count
            elif is_word:
                counts.word_tag[own, other, b] += count
            elif of_word:
                counts.tag_word[own, other, b] += count
            else:
                counts.tag_tag[own, other, b] += count
        elif other >= 0:
            if is_word and of_word:
                _add_pair(counts.together, own, other, count)
            elif is_word:
                counts.with_tags[own, other] += count
            else:
                _add_pair(counts.tags_together, own, other, count)


# The following functions get only the arrays that they need: passing all counts takes longer than adding a
# row.


@compiled
def _number(numbers: Ints, number: int) -> int:
    return numbers[number] if 0 <= number < len(numbers) else -1


@compiled
def _kind(words: Ints, kinds: Ints, word: int, tag: int) -> int:
    """Return the number of the kind of a word id and a tag number."""
    row = _number(words, word)
    return kinds[row, tag] if row >= 0 and tag >= 0 else -1


@compiled
def _bin(events: Longs, what: int) -> int:
    """Return the index of an event: its side, or its side and distance."""
    return what if len(events) > 2 else what // DISTANCES


@compiled
def _add_pair(pairs: Longs, first: int, second: int, count: int) -> None:
    """Count pairs of different tokens, in both orders."""
    pairs[first, second] += count
    if first != second:
        pairs[second, first] += count


@compiled
def _add_arguments(arguments: Longs, heads: Longs, head: int, side: int, number: int, count: int) -> None:
    """Count heads with a number of modifiers on a side; each node is once a head on the left."""
    arguments[head, side, number] += count
    if side == 0:
        heads[head] += count


@compiled
def _add_modifiers(siblings: Ints, head: int, modifier: int, side: int, count: int) -> None:
    """Count modifiers as the first and last on their side; `_add_sibling` takes off those that are not."""
    none, mine = len(siblings), modifier if modifier >= 0 else len(siblings) + 1
    siblings[head, none, mine, side] += count
    siblings[head, mine, none, side] += count


@compiled
def _add_sibling(siblings: Ints, head: int, before: int, modifier: int, side: int, count: int) -> None:
    """Count a modifier next after another: take it off the first ones, and the other off the last ones."""
    none, other = len(siblings), len(siblings) + 1
    first, second = before if before >= 0 else other, modifier if modifier >= 0 else other
    siblings[head, first, second, side] += count
    siblings[head, none, second, side] -= count
    siblings[head, first, none, side] -= count
