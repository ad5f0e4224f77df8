"""Hits counted in arrays: by the numbers of what they are counted by, and of the part that each is in.

Strings come last, for each number once: groups that have the same are one then. The measures are those that
`sentgen.lookups.statistics.frequency_statement` has in SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sentgen.arrays import Bools, Floats, Longs
from sentgen.lookups.search.attributes import Attribute
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.spans import Spans
from sentgen.lookups.search.tokens import NONE, Block
from sentgen.lookups.statistics.hit_parts import Parts
from sentgen.lookups.statistics.intervals import means_of
from sentgen.lookups.statistics.row_sums import (
    HELD,
    Packing,
    RowSums,
    are_among,
    begins_of,
    each_once,
    kinds_of,
    summed,
)

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class HitKey:
    """What hits are counted by.

    Args:
        attribute: the attribute.
        label: that of the token; empty for all tokens of a hit.
    """

    attribute: Attribute
    label: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Hits that were counted.

    Args:
        groups: those that are asked for.
        hits: how many hits there are.
        more: whether there are more groups.
    """

    groups: Groups
    hits: int
    more: bool


def count_hits(
    find: Callable[[], Iterable[BlockHits]],
    keys: Sequence[HitKey],
    parts: Parts,
    limit: int,
    mean: HitKey | None = None,
) -> Counted:
    """Count hits by keys and parts.

    Where there are many groups, they are counted as a whole first, and a second time in each part those that
    are asked for: memory holds each group once.

    Args:
        find: yields the hits.
        keys: what they are counted by.
        parts: the parts.
        limit: groups that are asked for, the most frequent ones, then by their strings; 0 for all.
        mean: the number of which there are sums, too, and the label of its token.
    """
    counts = _HitCounts(keys, parts, mean, whole=not limit)
    for hits in find():
        counts.add(hits)
    every = counts.groups()
    order = every.order(limit)
    hits_of_all, more = int(every.counts.sum()), len(every) > len(order)
    if not counts.in_parts:
        chosen = counts.numbers(np.isin(every.rows.groups, order))
        counts = _HitCounts(keys, parts, mean, whole=True, chosen=chosen)
        for hits in find():
            counts.add(hits)
        every = counts.groups()
        order = every.order(limit)
    return Counted(every.take(order), hits_of_all, more)


@dataclass(slots=True)
class _HitCounts:
    """Counts hits by keys and parts.

    Args:
        keys: what they are counted by.
        parts: the parts.
        mean: the number of which there are sums, too, and the label of its token.
        whole: whether parts are told apart to the end; else as long as that makes few rows.
        chosen: the rows of numbers that are counted, by how many they are; none for all.
    """

    keys: Sequence[HitKey]
    parts: Parts
    mean: HitKey | None
    whole: bool
    chosen: Mapping[int, tuple[Packing, Longs]] | None = None
    in_parts: bool = True
    _sums: dict[int, RowSums] = field(default_factory=dict)

    def add(self, hits: BlockHits) -> None:
        """Count the hits of a block."""
        spans = _spans(hits, {one.label for one in (*self.keys, *([self.mean] if self.mean else []))})
        if not len(spans):
            return
        for some in self._by_length(spans):
            self._add(hits.block, some)
        if self.in_parts and not self.whole and sum(one.rows for one in self._sums.values()) > HELD:
            self._sums = {length: one.without_last() for length, one in self._sums.items()}
            self.in_parts = False

    def _by_length(self, spans: Spans) -> Iterator[Spans]:
        """Yield spans of the same length each, if all of their tokens are asked for."""
        lengths = spans.last - spans.first
        if all(one.label for one in self.keys) or (lengths == lengths[0]).all():
            yield spans
            return
        for length in each_once(lengths):
            yield spans.take(lengths == length)

    def _add(self, block: Block, spans: Spans) -> None:
        columns = list[Longs]()
        for key in self.keys:
            places = [spans.label(key.label)] if key.label else list(self._tokens(spans))
            columns += [key.attribute.numbers(block, at) for at in places]
        if self.chosen is not None:
            some = _are_chosen(columns, *self.chosen[len(columns)])
            columns, spans = [one[some] for one in columns], spans.take(some)
        length = len(columns)
        if self.in_parts:
            columns.append(self.parts.places(block, spans.first))
        numbers = list[Floats]()
        if self.mean:
            values = self.mean.attribute.values(block, spans.labels[self.mean.label]).to_numpy(
                zero_copy_only=False
            )
            there = ~np.isnan(values)
            numbers = [np.where(there, values, 0.0), there.astype(float)]
        if length not in self._sums:
            self._sums[length] = RowSums(len(columns), len(numbers))
        self._sums[length].add(columns, numbers)

    @staticmethod
    def _tokens(spans: Spans) -> Iterator[Longs]:
        yield spans.first
        for after in range(1, int(spans.last[0] - spans.first[0]) + 1):
            yield spans.first + after

    def groups(self) -> Groups:
        """Return the groups of all hits that were counted."""
        whole = sum(not one.label for one in self.keys)
        columns: list[list[list[Longs]]] = [[] for _ in self.keys]
        rows = list[_Rows]()
        begun = 0
        for every, sums in self._sums.items():
            numbers, counts, added = sums.all()
            parts = numbers.pop() if self.in_parts else np.zeros(len(counts), np.int64)
            begins = begins_of(numbers)
            groups = np.cumsum(begins) - 1 + begun
            begun += int(begins.sum())
            rows.append(_Rows(groups, parts, counts, added))
            length = (every - (len(self.keys) - whole)) // max(whole, 1)
            left = iter(numbers)
            for place, key in enumerate(self.keys):
                columns[place].append([next(left)[begins] for _ in range(1 if key.label else length)])
        named = [_named(key.attribute, one) for key, one in zip(self.keys, columns, strict=True)]
        found = Groups([one for one, _ in named], _together(rows, 2 if self.mean else 0))
        # Two numbers that stand for the same string may have made two groups of one.
        return found if all(once for _, once in named) else found.merged(in_parts=self.in_parts)

    def numbers(self, some: Bools) -> dict[int, tuple[Packing, Longs]]:
        """Return some of the rows of numbers, of which parts were not told apart, by how many they are."""
        found, begin = dict[int, tuple[Packing, Longs]](), 0
        for length, sums in self._sums.items():
            keys, counts, _ = sums.packed()
            # Of rows that take several numbers, others with the same first one are counted, too.
            found[length] = sums.packing, keys[0][some[begin : begin + len(counts)]]
            begin += len(counts)
        return found


def _are_chosen(columns: Sequence[Longs], packing: Packing, numbers: Longs) -> Bools:
    """Return which rows are among some that were counted."""
    if not len(numbers):
        return np.zeros(len(columns[0]), bool)
    return are_among(packing.pack(columns)[0], numbers)


@dataclass(frozen=True, slots=True)
class _Names:
    """What groups have for a key.

    Args:
        strings: all strings of tokens, in their order and each once.
        columns: the places of those of the groups among them, of one token after the other; `NONE` behind
            the last token.
    """

    strings: pa.Array
    columns: Sequence[Longs]

    def of(self, groups: Longs) -> _Names:
        """Return the names of some groups."""
        return _Names(self.strings, [one[groups] for one in self.columns])

    def joined(self) -> pa.Array:
        """Return the string of each group."""
        import pyarrow as pa
        import pyarrow.compute as pc

        strings = [self.strings.take(pa.array(one, mask=one == NONE)) for one in self.columns]
        return pc.binary_join_element_wise(*strings, " ", null_handling="skip")


@dataclass(frozen=True, slots=True)
class _Rows:
    """Counts of groups in parts: by the number of the group, and the place of the part."""

    groups: Longs
    parts: Longs
    counts: Longs
    sums: Sequence[Floats]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of hits.

    Args:
        names: what they have for each key.
        rows: how many hits of each group are in which part.
    """

    names: Sequence[_Names]
    rows: _Rows

    @property
    def counts(self) -> Longs:
        """How many hits each has."""
        return np.bincount(self.rows.groups, self.rows.counts, len(self)).astype(np.int64)

    @property
    def _columns(self) -> list[Longs]:
        return [column for names in self.names for column in names.columns]

    def merged(self, *, in_parts: bool) -> Groups:
        """Return groups that have the same strings as one; the rows of one part become one, too."""
        if not len(self):
            return self
        firsts, kinds = kinds_of(self._columns)
        rows = replace(self.rows, groups=kinds[self.rows.groups])
        if in_parts:
            (groups, parts), counts, sums = summed([rows.groups, rows.parts], rows.counts, rows.sums)
            rows = _Rows(groups, parts, counts, sums)
        return Groups([one.of(firsts) for one in self.names], rows)

    def __len__(self) -> int:
        return len(self.names[0].columns[0])

    def strings(self, key: int) -> pa.Array:
        """Return the strings of a key."""
        return self.names[key].joined()

    def order(self, limit: int) -> Longs:
        """Return the groups from the most frequent one on, equals by their strings; 0 for all of them."""
        counts, some = self.counts, np.arange(len(self))
        if 0 < limit < len(self):
            some = np.flatnonzero(counts >= np.partition(counts, -limit)[-limit])
        columns = [one[some] for one in self._columns]
        return some[np.lexsort((*columns[::-1], -counts[some]))][: limit or None]

    def take(self, order: Longs) -> Groups:
        """Return some groups."""
        place = np.full(len(self), NONE)
        place[order] = np.arange(len(order))
        groups = place[self.rows.groups]
        some, rows = groups != NONE, self.rows
        sums = [one[some] for one in rows.sums]
        return Groups(
            [one.of(order) for one in self.names],
            _Rows(groups[some], rows.parts[some], rows.counts[some], sums),
        )

    def measures(self, parts: Parts, hits: int) -> dict[str, Longs | Floats]:
        """Return the counts, and what follows from them, by the names that the statement has for it.

        Args:
            parts: the parts.
            hits: how many hits there are in all groups.
        """
        of, counts = self.rows.groups, self.counts
        tokens, sizes = parts.tokens, parts.sizes[self.rows.parts]

        def added(values: Floats) -> Floats:
            return np.bincount(of, values, len(self)).astype(np.float64)

        with np.errstate(divide="ignore", invalid="ignore"):
            inside, rates = self.rows.counts / counts[of], self.rows.counts / sizes
            dp = 0.5 * (added(np.abs(inside - sizes / tokens)) + 1 - added(sizes.astype(float)) / tokens)
            many = len(parts.sizes)
            variation = np.maximum(many * added(rates**2) / added(rates) ** 2 - 1, 0)
            juilland = 1 - np.sqrt(variation / (many - 1)) if many > 1 else np.full(len(self), np.nan)
            there = np.bincount(of, minlength=len(self))
            found = {
                "count": counts,
                "share": counts / hits if hits else counts * 1.0,
                "per_million": 1e6 * counts / tokens if tokens else counts * 1.0,
                "parts": there,
                "dp": np.maximum(dp, 0) if many > 1 else np.full(len(self), np.nan),
                "juilland_d": np.maximum(juilland, 0),
                "part_share": there / many if many else there * 1.0,
                "coverage": np.cumsum(counts) / tokens if tokens else counts * 1.0,
            }
        if self.rows.sums:
            values, valued = self.rows.sums
            found |= means_of(self.rows.groups, values, valued, len(self))
        return found


def _spans(hits: BlockHits, asked: set[str]) -> Spans:
    """Return the hits once for each way to place the labels that are asked for, in which none is missing."""
    ends = {"match": hits.first, "matchend": hits.last}
    placed = sorted(asked - {"", *ends})
    if not placed:
        return Spans(hits.first, hits.last, ends)
    ways = hits.ways
    found = Spans(ways.first, ways.last, {name: ways.label(name) for name in placed})
    some = np.logical_and.reduce([at != NONE for at in found.labels.values()])
    if np.array_equal(ways.first, hits.first) and np.array_equal(ways.last, hits.last):
        found = found if some.all() else found.take(some)
    else:
        width = hits.block.size + 1
        some &= np.isin(ways.first * width + ways.last, hits.first * width + hits.last)
        found = found.take(some).ordered()
    return Spans(found.first, found.last, {"match": found.first, "matchend": found.last, **found.labels})


def _together(rows: Sequence[_Rows], sums: int) -> _Rows:
    """Return the rows of several tables, which have so many sums each, as one table."""
    if len(rows) == 1:
        return rows[0]
    nothing = np.zeros(0, np.int64)
    return _Rows(
        np.concatenate([nothing, *(one.groups for one in rows)]),
        np.concatenate([nothing, *(one.parts for one in rows)]),
        np.concatenate([nothing, *(one.counts for one in rows)]),
        [np.concatenate([np.zeros(0), *(one.sums[place] for one in rows)]) for place in range(sums)],
    )


def _named(attribute: Attribute, groups: Sequence[Sequence[Longs]]) -> tuple[_Names, bool]:
    """Return what groups are called, and whether these are different strings.

    Args:
        attribute: what the numbers are of.
        groups: columns with the numbers of different groups; those of several tokens make a string together.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not groups:
        return _Names(pa.array([], pa.string()), [np.zeros(0, np.int64)]), True
    numbers = each_once(np.concatenate([each_once(one) for columns in groups for one in columns]))
    strings, ordered = _ordered(attribute.of_numbers(numbers))
    places = np.zeros(int(numbers[-1]) + 2, np.int32)
    places[numbers + 1] = ordered
    found = [
        np.concatenate(
            [places[of[at] + 1] if at < len(of) else np.full(len(of[0]), NONE, np.int32) for of in groups]
        )
        for at in range(max(map(len, groups)))
    ]
    names, once = _Names(strings, found), len(strings) == len(numbers)
    # Else what follows a string would come before the blank behind it.
    if len(found) > 1 and pc.any(pc.match_substring_regex(strings, r"[\x00-\x20]")).as_py():
        strings, ordered = _ordered(names.joined())
        return _Names(strings, [ordered]), False
    return names, once


def _ordered(strings: pa.Array) -> tuple[pa.Array, Longs]:
    """Return strings in their order and each once, and the place of each string among them."""
    import pyarrow.compute as pc

    found = strings.dictionary_encode()
    order = pc.array_sort_indices(found.dictionary)
    place = np.empty(len(order), np.int64)
    place[order.to_numpy()] = np.arange(len(order))
    return found.dictionary.take(order), place[found.indices.to_numpy()]
