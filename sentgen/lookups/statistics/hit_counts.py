"""Hits counted in arrays: by the numbers of what they are counted by, and of the part that each is in.

Strings come last, for each number once: groups that have the same are one then. The measures are those that
`sentgen.lookups.statistics.frequency_statement` has in SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, Longs
from sentgen.lookups.base.tokens import NONE, Block
from sentgen.lookups.search.attributes import Attribute
from sentgen.lookups.search.hits import BlockHits, Spans
from sentgen.lookups.search.number_sets import among, begins_of, unique
from sentgen.lookups.statistics.hit_parts import Parts
from sentgen.lookups.statistics.intervals import means_of
from sentgen.lookups.statistics.row_sums import HELD, MISSING, Packing, RowSums, kinds_of

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
class CountedHits:
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
) -> CountedHits:
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
        chosen = counts.rows(np.isin(every.rows.groups, order))
        counts = replace(counts, whole=True, chosen=chosen, in_parts=True)
        for hits in find():
            counts.add(hits)
        every = counts.groups()
        order = every.order(limit)
    return CountedHits(every.take(order), hits_of_all, more)


@dataclass(slots=True)
class _HitCounts:
    """Counts hits by keys and parts.

    A row has a number for each key of a label; then, for one token of a hit after the other, one for each key
    without; then the part.

    Args:
        keys: what they are counted by.
        parts: the parts.
        mean: the number of which there are sums, too, and the label of its token.
        whole: whether parts are told apart to the end; else as long as that makes few rows.
        chosen: the rows that are counted, packed and without their parts; none for all.
        in_parts: whether parts are still told apart.
        length: how many tokens hits have at most.
    """

    keys: Sequence[HitKey]
    parts: Parts
    mean: HitKey | None
    whole: bool
    chosen: tuple[Packing, Longs] | None = None
    in_parts: bool = True
    length: int = 0
    _sums: RowSums = field(init=False)

    def __post_init__(self) -> None:
        columns = len(self._labelled) + self.length * len(self._of_all) + 1
        self._sums = RowSums(columns, 2 if self.mean else 0)

    @property
    def _labelled(self) -> list[HitKey]:
        return [one for one in self.keys if one.label]

    @property
    def _of_all(self) -> list[HitKey]:
        return [one for one in self.keys if not one.label]

    def add(self, hits: BlockHits) -> None:
        """Count the hits of a block."""
        spans = _spans(hits, {one.label for one in (*self.keys, *([self.mean] if self.mean else []))})
        if not len(spans):
            return
        columns = self._columns(hits.block, spans)
        if self.chosen is not None:
            packing, rows = self.chosen
            some = among(packing.pack(columns)[0], rows)
            columns, spans = [one[some] for one in columns], spans.take(some)
        if self.in_parts:
            columns.append(self.parts.places(hits.block, spans.first))
        numbers = list[Floats]()
        if self.mean:
            found = self.mean.attribute.values(hits.block, spans.label(self.mean.label))
            values = found.to_numpy(zero_copy_only=False)
            there = ~np.isnan(values)
            numbers = [np.where(there, values, 0.0), there.astype(float)]
        self._sums.add(columns, numbers)
        if self.in_parts and not self.whole and self._sums.rows > HELD:
            self._sums = self._sums.changed(lambda columns: columns[:-1])
            self.in_parts = False

    def _columns(self, block: Block, spans: Spans) -> list[Ints | Longs]:
        """Return the numbers of the keys; a hit that ends before others has `MISSING` there."""
        columns = [one.attribute.numbers(block, spans.label(one.label)) for one in self._labelled]
        lengths = spans.last - spans.first + 1 if self._of_all else np.zeros(1, np.int64)
        if (most := int(lengths.max())) > self.length:
            self._sums = self._sums.changed(partial(self._longer, more=most - self.length))
            self.length = most
        least = int(lengths.min())
        for after in range(self.length):
            at = spans.first + after
            for one in self._of_all:
                if after < least:
                    columns.append(one.attribute.numbers(block, at))
                else:
                    numbers = one.attribute.numbers(block, np.minimum(at, spans.last))
                    columns.append(np.where(at <= spans.last, numbers, MISSING))
        return columns

    def _longer(self, columns: list[Longs], more: int) -> list[Longs]:
        end = len(columns) - self.in_parts
        none = [np.full(len(columns[0]), MISSING)] * (more * len(self._of_all))
        return [*columns[:end], *none, *columns[end:]]

    def groups(self) -> Groups:
        """Return the groups of all hits that were counted."""
        columns, counts, sums = self._sums.all()
        parts = columns.pop() if self.in_parts else np.zeros(len(counts), np.int64)
        # Without hits it is not known how many tokens they have.
        begins = begins_of(columns) if columns else np.zeros(0, bool)
        rows = _Rows(np.cumsum(begins) - 1, parts, counts, sums)
        left = iter([one[begins] for one in columns])
        of_key = {id(one): [next(left)] for one in self._labelled} | {id(one): [] for one in self._of_all}
        for _ in range(self.length):
            for one in self._of_all:
                of_key[id(one)].append(next(left))
        named = [_named(one.attribute, of_key[id(one)]) for one in self.keys]
        found = Groups([one for one, _ in named], rows)
        # Two numbers that stand for the same string may have made two groups of one.
        return found if all(once for _, once in named) else found.merged(in_parts=self.in_parts)

    def rows(self, some: Bools) -> tuple[Packing, Longs]:
        """Return some of the rows, of which parts were not told apart.

        Of rows that take several packed numbers, others with the same first one are among them.
        """
        keys, *_ = self._sums.packed()
        return self._sums.packing, keys[0][some]


@dataclass(frozen=True, slots=True)
class _Names:
    """What groups have for a key.

    Args:
        strings: all strings of tokens, in their order and each once.
        columns: the places of those of the groups among them, of one token after the other; `NONE` behind
            the last token.
    """

    strings: pa.Array
    columns: Sequence[Ints | Longs]

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
    def _columns(self) -> list[Ints | Longs]:
        return [column for names in self.names for column in names.columns]

    def merged(self, *, in_parts: bool) -> Groups:
        """Return groups that have the same strings as one; the rows of one part become one, too."""
        if not len(self):
            return self
        firsts, kinds = kinds_of(self._columns)
        rows = replace(self.rows, groups=kinds[self.rows.groups])
        if in_parts:
            sums = RowSums(2, len(rows.sums))
            sums.add([rows.groups, rows.parts], rows.sums, rows.counts)
            (groups, parts), counts, added = sums.all()
            rows = _Rows(groups, parts, counts, added)
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


def _named(attribute: Attribute, columns: Sequence[Longs]) -> tuple[_Names, bool]:
    """Return what groups are called, and whether these are different strings.

    Args:
        attribute: what the numbers are of.
        columns: the numbers of the groups, of one token after the other: their strings are one together.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = unique(np.concatenate([np.zeros(0, np.int64), *map(unique, columns)]))
    numbers = numbers[numbers != MISSING]
    if not len(numbers):
        return _Names(pa.array([], pa.string()), [np.zeros(0, np.int64)]), True
    strings, ordered = _ordered(attribute.of_numbers(numbers))
    places = np.full(int(numbers[-1]) - MISSING + 1, NONE, np.int32)
    places[numbers - MISSING] = ordered
    names = _Names(strings, [places[one - MISSING] for one in columns])
    # Else what follows a string would come before the blank behind it.
    if len(columns) > 1 and pc.any(pc.match_substring_regex(strings, r"[\x00-\x20]")).as_py():
        strings, ordered = _ordered(names.joined())
        return _Names(strings, [ordered]), False
    return names, len(strings) == len(numbers)


def _ordered(strings: pa.Array) -> tuple[pa.Array, Longs]:
    """Return strings in their order and each once, and the place of each string among them."""
    import pyarrow.compute as pc

    found = strings.dictionary_encode()
    order = pc.array_sort_indices(found.dictionary)
    place = np.empty(len(order), np.int64)
    place[order.to_numpy()] = np.arange(len(order))
    return found.dictionary.take(order), place[found.indices.to_numpy()]
