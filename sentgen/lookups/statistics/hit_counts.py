"""Count hits in arrays, by the ids of their keys and by the part of the corpus in which each hit is.

Strings are looked up last, once for each id; then groups with equal strings are merged. Parts are the units
of dispersion: documents, or regions of a kind. `frequency_rows` defines the same measures in SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Floats, Ints, Longs
from sentgen.lookups.base.regions import innermost, pieces_of
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.lookups.base.tokens import NONE, Block
from sentgen.lookups.search.attributes import Attribute, ComputedAttribute
from sentgen.lookups.search.hits import BlockHits, Spans
from sentgen.lookups.search.number_sets import (
    HELD,
    MISSING,
    Packing,
    RowSums,
    among,
    begins_of,
    kinds_of,
    unique,
)
from sentgen.lookups.statistics.breakdown import Breakdown
from sentgen.lookups.statistics.intervals import means_of
from sentgen.schema.engine import connection_cache

if TYPE_CHECKING:
    import pyarrow as pa

#: If more than one token (or sentence) of a block in so many is looked up, a pass over the block is faster.
_MANY = 16

_DOCUMENTS = """\
select s.document_id as part_id, sum(s.length)::bigint as size
from sentence as s{conditions}
group by s.document_id
order by s.document_id"""
_REGIONS = """\
select part_id::varchar as part_id, sum(length)::bigint as size
from (select {part_id} as part_id, length from ({pieces}) as h) as p
group by p.part_id
order by p.part_id"""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a corpus over which dispersion is computed, with their sizes in tokens.

    ``indices`` returns the part of each token of a block; ``documents`` are ids, if parts are documents.
    """

    sizes: Longs
    indices: Callable[[Block, Longs], Longs]
    documents: Longs | None = None

    @classmethod
    def of_documents(cls, connection: Connection, selection: Selection) -> Parts:
        """Return the documents of a selection; they are cached if it has no condition."""
        known, key = connection_cache(connection), (Parts, selection.names)
        if selection.condition is None and key in known:
            stored: Parts = known[key]
            return stored
        bindings = Bindings()
        conditions = where(selection.of_sentences(bindings, "s"))
        table = Statement(_DOCUMENTS.format(conditions=conditions), bindings).run(connection)
        documents, sizes = (column.to_numpy().astype(np.int64) for column in table.columns)
        index_of = np.zeros(int(documents.max(initial=0)) + 1, np.int64)
        index_of[documents] = np.arange(len(documents))

        def indices(block: Block, at: Longs) -> Longs:
            _, begins, _, of_sentences = block.sentences()
            if len(at) * _MANY < len(begins):
                few: Longs = index_of[of_sentences[block.sentence_of(at)]]
                return few
            rows = np.flatnonzero(np.diff(of_sentences, prepend=NONE))
            # "clip", as documents of other corpora may have higher ids; none of their tokens are in ``at``.
            in_block, firsts = np.take(index_of, of_sentences[rows], mode="clip"), begins[rows]
            if len(at) * _MANY < block.size:
                at = np.searchsorted(firsts, at, "right") - 1
            else:
                # One pass over all tokens takes less than so many searches.
                in_block = np.repeat(in_block, np.diff(firsts, append=block.size))
            of_tokens: Longs = in_block[at]
            return of_tokens

        parts = cls(sizes, indices, documents)
        if selection.condition is None:
            known[key] = parts
        return parts

    @classmethod
    def of_regions(cls, by: Breakdown) -> Parts:
        """Return the innermost regions of the kinds of a breakdown; text outside is one further part."""
        import pyarrow.compute as pc

        connection, bindings, own = by.store_keys.connection, Bindings(), Bindings()
        pieces = pieces_of(by.parts, bindings, where(by.selection.of_sentences(bindings, "s"), "    "))
        text = _REGIONS.format(part_id=innermost(by.parts, "h", bindings), pieces=pieces)
        table = Statement(text, bindings).run(connection)
        names = table.column(0).combine_chunks()
        attribute = ComputedAttribute(connection, f"{innermost(by.parts, 't', own)}::varchar", own)

        def indices(block: Block, at: Longs) -> Longs:
            ids = attribute.values(block, at)
            of_tokens: Longs = pc.index_in(ids, names.cast(ids.type)).to_numpy().astype(np.int64)
            return of_tokens

        return cls(table.column(1).to_numpy(), indices)


@dataclass(frozen=True, slots=True)
class HitKey:
    """A key by which hits are counted: of the token of a label; of all tokens of a hit without one."""

    attribute: Attribute
    label: str


def count_hits(
    find: Callable[[], Iterable[BlockHits]],
    keys: Sequence[HitKey],
    parts: Parts,
    limit: int,
    mean: HitKey | None = None,
) -> tuple[Groups, int, bool]:
    """Count hits by keys and parts; return the groups, the number of hits, and whether there are more groups.

    If there are many groups, they are first counted without parts, and then the groups within the limit a
    second time by parts, so that memory holds each group once.

    Args:
        limit: how many of the most frequent groups to return, ties by their strings; 0 for all.
        mean: a key whose numbers are summed up, too.
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
    return every.take(order), hits_of_all, more


@dataclass(slots=True)
class _HitCounts:
    """Counts hits by keys and parts.

    A row has an id for each key with a label; then, for each token of the hit in order, an id for each key
    without a label; then the index of the part.

    Args:
        mean: a key whose numbers are summed up, too.
        whole: whether parts are always counted separately; else only while there are few rows.
        chosen: the only rows to count, packed and without their parts; ``None`` for all.
        in_parts: whether parts are still counted separately.
        length: number of tokens of the longest hit.
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
        columns = len(self._keys_of_labels) + self.length * len(self._keys_of_all) + 1
        self._sums = RowSums(columns, 2 if self.mean else 0)

    @property
    def _keys_of_labels(self) -> list[HitKey]:
        return [key for key in self.keys if key.label]

    @property
    def _keys_of_all(self) -> list[HitKey]:
        return [key for key in self.keys if not key.label]

    def add(self, hits: BlockHits) -> None:
        spans = _label_spans(hits, {key.label for key in (*self.keys, *([self.mean] if self.mean else []))})
        if not len(spans):
            return
        columns = self._columns(hits.block, spans)
        if self.chosen is not None:
            packing, rows = self.chosen
            some = among(packing.pack(columns)[0], rows)
            columns, spans = [column[some] for column in columns], spans.take(some)
        if self.in_parts:
            columns.append(self.parts.indices(hits.block, spans.first))
        numbers = list[Floats]()
        if self.mean:
            numbered = self.mean.attribute.values(hits.block, spans.label(self.mean.label))
            values = numbered.to_numpy(zero_copy_only=False)
            known = ~np.isnan(values)
            numbers = [np.where(known, values, 0.0), known.astype(float)]
        self._sums.add(columns, numbers)
        if self.in_parts and not self.whole and self._sums.rows > HELD:
            self._sums = self._sums.with_columns(lambda columns: columns[:-1])
            self.in_parts = False

    def _columns(self, block: Block, spans: Spans) -> list[Ints | Longs]:
        """Return the columns of ids; a hit shorter than others has `MISSING` for further tokens."""
        columns = [key.attribute.numbers(block, spans.label(key.label)) for key in self._keys_of_labels]
        lengths = spans.last - spans.first + 1 if self._keys_of_all else np.zeros(1, np.int64)
        if (most := int(lengths.max())) > self.length:
            self._sums = self._sums.with_columns(partial(self._pad, more=most - self.length))
            self.length = most
        least = int(lengths.min())
        for after in range(self.length):
            at = spans.first + after
            for key in self._keys_of_all:
                if after < least:
                    columns.append(key.attribute.numbers(block, at))
                else:
                    numbers = key.attribute.numbers(block, np.minimum(at, spans.last))
                    columns.append(np.where(at <= spans.last, numbers, MISSING))
        return columns

    def _pad(self, columns: list[Longs], more: int) -> list[Longs]:
        end = len(columns) - self.in_parts
        missing = [np.full(len(columns[0]), MISSING)] * (more * len(self._keys_of_all))
        return [*columns[:end], *missing, *columns[end:]]

    def groups(self) -> Groups:
        columns, counts, sums = self._sums.all()
        parts = columns.pop() if self.in_parts else np.zeros(len(counts), np.int64)
        # Without hits their length is 0, so that keys without a label have no column.
        begins = begins_of(columns) if columns else np.zeros(0, bool)
        rows = _Rows(np.cumsum(begins) - 1, parts, counts, sums)
        left = iter([column[begins] for column in columns])
        of_key: dict[int, list[Longs]] = {id(key): [] for key in self.keys}
        for key in self._keys_of_labels + self._keys_of_all * self.length:
            of_key[id(key)].append(next(left))
        names, different = zip(*(_names_of(key.attribute, of_key[id(key)]) for key in self.keys), strict=True)
        groups = Groups(names, rows)
        # Two ids of the same string have made two groups, which are to be one.
        return groups if all(different) else groups.merge(in_parts=self.in_parts)

    def rows(self, some: Bools) -> tuple[Packing, Longs]:
        """Return some of the rows, which were counted without their parts, packed.

        If a row takes several packed numbers, only the first is returned, which other rows may share.
        """
        keys, *_ = self._sums.pack()
        return self._sums.packing, keys[0][some]


@dataclass(frozen=True, slots=True)
class _Names:
    """The strings of groups for a key.

    Args:
        strings: the strings of tokens, sorted, each once.
        columns: for each token of a hit, first to last, the index of its string by group; `NONE` behind the
            last token.
    """

    strings: pa.Array
    columns: Sequence[Ints | Longs]

    def take(self, groups: Longs) -> _Names:
        return _Names(self.strings, [column[groups] for column in self.columns])

    def join_strings(self) -> pa.Array:
        """Return the string of each group: those of its tokens, with blanks between them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        strings = [self.strings.take(pa.array(column, mask=column == NONE)) for column in self.columns]
        return pc.binary_join_element_wise(*strings, " ", null_handling="skip")


@dataclass(frozen=True, slots=True)
class _Rows:
    """Counts and sums by group and part; ``groups`` and ``parts`` are the indices of each row."""

    groups: Longs
    parts: Longs
    counts: Longs
    sums: Sequence[Floats]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of hits: their strings for each key, and the hits of each group in each part."""

    names: Sequence[_Names]
    rows: _Rows

    @property
    def counts(self) -> Longs:
        """The number of hits of each group."""
        return np.bincount(self.rows.groups, self.rows.counts, len(self)).astype(np.int64)

    @property
    def _columns(self) -> list[Ints | Longs]:
        return [column for names in self.names for column in names.columns]

    def merge(self, *, in_parts: bool) -> Groups:
        """Merge groups that have the same strings, and add up their rows of the same part."""
        if not len(self):
            return self
        firsts, kinds = kinds_of(self._columns)
        rows = replace(self.rows, groups=kinds[self.rows.groups])
        if in_parts:
            sums = RowSums(2, len(rows.sums))
            sums.add([rows.groups, rows.parts], rows.sums, rows.counts)
            (groups, parts), counts, added = sums.all()
            rows = _Rows(groups, parts, counts, added)
        return Groups([names.take(firsts) for names in self.names], rows)

    def __len__(self) -> int:
        return len(self.names[0].columns[0])

    def strings(self, key: int) -> pa.Array:
        """Return the string of each group for a key, by its index."""
        return self.names[key].join_strings()

    def order(self, limit: int) -> Longs:
        """Return the indices of the most frequent groups, ties by their strings; a limit of 0 returns all."""
        counts, some = self.counts, np.arange(len(self))
        if 0 < limit < len(self):
            some = np.flatnonzero(counts >= np.partition(counts, -limit)[-limit])
        columns = [column[some] for column in self._columns]
        return some[np.lexsort((*columns[::-1], -counts[some]))][: limit or None]

    def take(self, order: Longs) -> Groups:
        """Return some groups, by their indices."""
        index = np.full(len(self), NONE)
        index[order] = np.arange(len(order))
        groups = index[self.rows.groups]
        some, rows = groups != NONE, self.rows
        sums = [values[some] for values in rows.sums]
        names = [strings.take(order) for strings in self.names]
        return Groups(names, _Rows(groups[some], rows.parts[some], rows.counts[some], sums))

    def measures(self, parts: Parts, hits: int) -> dict[str, Longs | Floats]:
        """Return the counts and measures of each group, by their columns in `frequency_rows`.

        ``hits`` is how many hits there are, also in groups beyond a limit.
        """
        groups, counts = self.rows.groups, self.counts
        tokens, many = int(parts.sizes.sum()), len(parts.sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            dp, juilland = dispersion(groups, self.rows.counts, self.rows.parts, parts.sizes)
            parts_with = np.bincount(groups, minlength=len(self))
            measures: dict[str, Any] = {
                "count": counts,
                "share": counts / hits if hits else counts * 1.0,
                "per_million": 1e6 * counts / tokens if tokens else counts * 1.0,
                "parts": parts_with,
                "dp": dp,
                "juilland_d": juilland,
                "part_share": parts_with / many if many else parts_with * 1.0,
                "coverage": np.cumsum(counts) / tokens if tokens else counts * 1.0,
            }
        if self.rows.sums:
            values, valued = self.rows.sums
            measures |= means_of(self.rows.groups, values, valued, len(self))
        return measures


def dispersion(groups: Longs, counts: Longs, parts: Longs, sizes: Longs) -> tuple[Floats, Floats]:
    """Return DP and Juilland's D of each group, as `frequency_rows` defines them; NaN if there is one part.

    Args:
        groups: the group of each row, from 0.
        counts: the hits of the group in the part of each row.
        parts: the part of each row.
        sizes: tokens of all parts.
    """
    number = int(groups.max(initial=-1)) + 1

    def sum_by_group(values: Longs | Floats) -> Floats:
        return np.bincount(groups, values, number).astype(np.float64)

    tokens, many, own = sizes.sum(), len(sizes), sizes[parts]
    if many < 2:
        return np.full(number, np.nan), np.full(number, np.nan)
    inside, rates = counts / sum_by_group(counts)[groups], counts / own
    dp = 0.5 * (sum_by_group(np.abs(inside - own / tokens)) + 1 - sum_by_group(own) / tokens)
    largest = np.zeros(number)
    np.maximum.at(largest, groups, rates)
    rates /= largest[groups]
    squares, sums = many * sum_by_group(rates**2), sum_by_group(rates) ** 2
    return np.maximum(dp, 0), np.maximum(1 - np.sqrt(np.maximum(squares - sums, 0) / ((many - 1) * sums)), 0)


def _label_spans(hits: BlockHits, labels: set[str]) -> Spans:
    """Return the hits once for each different placement of the labels; a label without a token drops it."""
    ends = {"match": hits.first, "matchend": hits.last}
    others = sorted(labels - {"", *ends})
    if not others:
        return Spans(hits.first, hits.last, ends)
    ways = hits.ways
    spans = Spans(ways.first, ways.last, {name: ways.label(name) for name in others})
    some = np.logical_and.reduce([at != NONE for at in spans.labels.values()])
    if np.array_equal(ways.first, hits.first) and np.array_equal(ways.last, hits.last):
        spans = spans if some.all() else spans.take(some)
    else:
        width = hits.block.size + 1
        some &= np.isin(ways.first * width + ways.last, hits.first * width + hits.last)
        spans = spans.take(some).sorted_once()
    return Spans(spans.first, spans.last, {"match": spans.first, "matchend": spans.last, **spans.labels})


def _names_of(attribute: Attribute, columns: Sequence[Longs]) -> tuple[_Names, bool]:
    """Return the strings of groups for a key, and whether different ids have different strings.

    ``columns`` have, for each token of a hit, its id by group; their strings are joined by blanks.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = unique(np.concatenate([np.zeros(0, np.int64), *map(unique, columns)]))
    numbers = numbers[numbers != MISSING]
    if not len(numbers):
        return _Names(pa.array([], pa.string()), [np.zeros(0, np.int64)]), True
    strings, order = _order_strings(attribute.of_numbers(numbers))
    indices = np.full(int(numbers[-1]) - MISSING + 1, NONE, np.int32)
    indices[numbers - MISSING] = order
    names = _Names(strings, [indices[column - MISSING] for column in columns])
    # Sorting token by token is sorting the joined strings only if no character sorts before the blank.
    if len(columns) > 1 and pc.any(pc.match_substring_regex(strings, r"[\x00-\x20]")).as_py():
        strings, order = _order_strings(names.join_strings())
        return _Names(strings, [order]), False
    return names, len(strings) == len(numbers)


def _order_strings(strings: pa.Array) -> tuple[pa.Array, Longs]:
    """Return the different strings, sorted, and the index of each string among them."""
    import pyarrow.compute as pc

    encoded = strings.dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)
    index = np.empty(len(order), np.int64)
    index[order.to_numpy()] = np.arange(len(order))
    return encoded.dictionary.take(order), index[encoded.indices.to_numpy()]
