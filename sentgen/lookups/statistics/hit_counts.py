"""Hits counted in arrays: by the numbers of what they are counted by, and of the part that each is in.

Strings come last, for each number once: groups that have the same are one then. The measures are those that
`sentgen.lookups.statistics.hit_frequency_statements` has in SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from sentgen.lookups.statistics.row_sums import Packed, RowSums, begins_of, each_once, summed

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


@dataclass(slots=True)
class HitCounts:
    """Counts hits by keys and parts.

    Args:
        keys: what they are counted by.
        parts: the parts.
        mean: the number of which there are sums, too, and the label of its token.
    """

    keys: Sequence[HitKey]
    parts: Parts
    mean: HitKey | None = None
    _sums: dict[int, RowSums] = field(default_factory=dict)

    def add(self, hits: BlockHits) -> None:
        """Count the hits of a block."""
        spans = _spans(hits, {one.label for one in (*self.keys, *([self.mean] if self.mean else []))})
        if not len(spans):
            return
        for some in self._by_length(spans):
            self._add(hits.block, some)

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
            columns += [key.attribute.numbers(block, at).astype(np.int64) for at in places]
        columns.append(self.parts.places(block, spans.first))
        numbers = list[Floats]()
        if self.mean:
            values = self.mean.attribute.values(block, spans.labels[self.mean.label]).to_numpy(
                zero_copy_only=False
            )
            there = ~np.isnan(values)
            numbers = [np.where(there, values, 0.0), there.astype(float)]
        if len(columns) not in self._sums:
            self._sums[len(columns)] = RowSums(len(columns), len(numbers))
        self._sums[len(columns)].add(columns, numbers)

    @staticmethod
    def _tokens(spans: Spans) -> Iterator[Longs]:
        for after in range(int(spans.last[0] - spans.first[0]) + 1):
            yield spans.first + after

    def groups(self) -> Groups:
        """Return the groups of all hits that were counted."""
        whole = sum(not one.label for one in self.keys)
        columns: list[list[list[Longs]]] = [[] for _ in self.keys]
        rows = list[_Rows]()
        begun = 0
        for every, sums in self._sums.items():
            *numbers, parts = (found := sums.all())[0]
            begins = begins_of(numbers)
            length = (every - 1 - (len(self.keys) - whole)) // max(whole, 1)
            groups = np.cumsum(begins) - 1 + begun
            begun += int(begins.sum())
            rows.append(_Rows(groups, parts, found[1], found[2]))
            left = iter(numbers)
            for place, key in enumerate(self.keys):
                columns[place].append([next(left)[begins] for _ in range(1 if key.label else length)])
        named = [_named(key.attribute, one) for key, one in zip(self.keys, columns, strict=True)]
        return Groups(
            [one for one, _ in named], [one for _, one in named], _together(rows, 2 if self.mean else 0)
        ).merged()


@dataclass(frozen=True, slots=True)
class _Rows:
    """Counts of groups in parts: by the number of the group, and the place of the part."""

    groups: Longs
    parts: Longs
    counts: Longs
    sums: Sequence[Floats]

    def take(self, some: Bools) -> _Rows:
        """Return some of them."""
        return _Rows(self.groups[some], self.parts[some], self.counts[some], [one[some] for one in self.sums])


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of hits.

    Args:
        names: the strings of each key, in their order, each once.
        places: those of the strings of the groups among them, key by key.
        rows: how many hits of each group are in which part.
    """

    names: Sequence[pa.Array]
    places: Sequence[Longs]
    rows: _Rows

    @property
    def counts(self) -> Longs:
        """How many hits each has."""
        return np.bincount(self.rows.groups, self.rows.counts, len(self.places[0])).astype(np.int64)

    def merged(self) -> Groups:
        """Return groups that have the same strings as one."""
        if len(self) < 2:
            return self
        keys, rows = np.unique(Packed(self.places).keys, return_index=True, return_inverse=True)[1:]
        if len(keys) == len(self):
            return self
        (groups, parts), counts, sums = summed(
            [rows[self.rows.groups], self.rows.parts], self.rows.counts, self.rows.sums
        )
        return Groups(self.names, [one[keys] for one in self.places], _Rows(groups, parts, counts, sums))

    def __len__(self) -> int:
        return len(self.places[0])

    def strings(self, key: int) -> pa.Array:
        """Return the strings of a key."""
        import pyarrow as pa

        return self.names[key].take(pa.array(self.places[key]))

    def first(self, limit: int) -> Groups:
        """Return the most frequent ones, then by their strings; 0 for all of them."""
        order = np.lexsort((*self.places[::-1], -self.counts))[: limit or None]
        place = np.full(len(self), NONE)
        place[order] = np.arange(len(order))
        rows = self.rows.take(place[self.rows.groups] != NONE)
        rows = replace(rows, groups=place[rows.groups])
        return Groups(self.names, [one[order] for one in self.places], rows)

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


def _named(attribute: Attribute, groups: Sequence[Sequence[Longs]]) -> tuple[pa.Array, Longs]:
    """Return the strings of groups, in their order and each once, and the place of that of each group.

    Args:
        attribute: what the numbers are of.
        groups: columns with the numbers of groups; those of several tokens make a string together.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not groups:
        return pa.array([], pa.string()), np.zeros(0, np.int64)
    numbers = each_once(np.concatenate([one for columns in groups for one in columns]))
    strings = attribute.of_numbers(numbers)
    if all(len(columns) == 1 for columns in groups):
        names, places = _ordered(strings)
        return names, places[np.searchsorted(numbers, np.concatenate([one for (one,) in groups]))]
    every = [
        pc.binary_join_element_wise(
            *(strings.take(pa.array(np.searchsorted(numbers, one))) for one in columns), " "
        )
        for columns in groups
    ]
    return _ordered(pa.concat_arrays(every))


def _ordered(strings: pa.Array) -> tuple[pa.Array, Longs]:
    """Return strings in their order and each once, and the place of each string among them."""
    import pyarrow.compute as pc

    found = strings.dictionary_encode()
    order = pc.array_sort_indices(found.dictionary)
    place = np.empty(len(order), np.int64)
    place[order.to_numpy()] = np.arange(len(order))
    return found.dictionary.take(order), place[found.indices.to_numpy()]
