"""Rows for the annotation of sentences beyond tokens and trees (tables of `sentgen.schema.tables.fidelity`).

Marks of begins and ends become rows of `region` and `region_meta`. Columns are parsed once for each different
value, not for each token: some treebanks fill DEPS and MISC on every token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sentgen.arrays import Bools, Ints, Longs
from sentgen.corpus.comments import OF_DOCUMENT, SPEAKER, key_and_value, regions_in_comments, usual_letters
from sentgen.corpus.sentence import ABSENT, Mark, Region, Sentence
from sentgen.corpus.token_columns import Coded, TokenColumns, Values, positions_of
from sentgen.corpus.treebank_blocks import RegionSpans
from sentgen.schema.lakes import file_schema

#: The values of a row behind that of its corpus.
Row = tuple[object, ...]


class _Begun(NamedTuple):
    """The first token of a region, and the number of the region among those that begin in its sentence."""

    sentence: int
    place: int
    position: int


@dataclass(slots=True)
class RegionRows:
    """Makes the rows of regions from the marks in sentences.

    A region that spans documents becomes one in each of them. A region without tokens is dropped.

    Attributes:
        regions: rows of `region`, of regions that have ended.
        attributes: rows of `region_meta`, of regions that have ended.
        begun: by sentence, how many regions have begun in it; only current sentences are kept.
    """

    regions: list[Row] = field(default_factory=list)
    attributes: list[Row] = field(default_factory=list)
    begun: Counter[int] = field(default_factory=Counter)
    _open: dict[Region, _Begun] = field(default_factory=dict)
    #: Regions that begin with the next sentence.
    _waiting: list[Region] = field(default_factory=list)
    #: By kind, the last region from comments, which lasts until comments begin another one of its kind.
    _said: dict[str, Region] = field(default_factory=dict)
    #: The last token, by sentence and position.
    _last: tuple[int, int] = (0, 0)

    def add(self, number: int, length: int, sentence: Sentence, *, first: bool) -> None:
        """Add the marks and comments of a sentence.

        Args:
            number: id of the sentence; sentences are added in the order of their ids.
            sentence: the sentence; its columns are not used.
            first: whether it is the first one of its document.
        """
        if first:
            self._begin_document()
        self._begin_waiting(number)
        for mark in (*self._of_comments(sentence.metadata), *sentence.marks):
            if not mark.begins:
                self._end(mark.region, (number, mark.place) if mark.place else self._last)
            elif mark.place < length:
                self._begin(mark.region, number, mark.place + 1)
            else:
                self._waiting.append(mark.region)
        self._last = number, length

    def pass_by(self, first: int, last: int, length: int) -> None:
        """Add sentences without marks or comments; ``length`` is the number of tokens of the last one."""
        self._begin_waiting(first)
        self._last = last, length

    def end_source(self) -> None:
        """End all regions at the last token."""
        for region in tuple(self._open):
            self._end(region, self._last)
        self._waiting, self._said = [], {}

    def add_block(self, first: int, lengths: Ints, marks: Sequence[Mark], spans: RegionSpans | None) -> None:
        """Add the regions of a block of sentences, after the marks of its first sentence itself.

        Args:
            marks: marks of regions; the place of a mark is the number of tokens before it in the block, at
                least 1.
            spans: regions without marks, by their tokens.
        """
        ends = np.cumsum(lengths, dtype=np.int64)
        places = np.array([mark.place for mark in marks], np.int64)
        at = np.searchsorted(ends, places)
        within = places - (ends - lengths)[at]
        last, whole = first + lengths.size - 1, (within == lengths[at]).tolist()
        begun = iter(list[_Begun]())
        if spans is not None:
            begins = places[np.array([mark.begins for mark in marks], bool)]
            begun = iter(self._add_spans(first, ends, lengths, begins, spans))
            # `begun` has regions marked behind the last token of a sentence in the next one; only those
            # behind the whole block must wait.
            whole = (places == ends[-1]).tolist()
        # The sentence behind whose last token waiting regions were marked: they begin with the next one.
        since = last
        for mark, number, position, behind in zip(
            marks, (first + at).tolist(), within.tolist(), whole, strict=True
        ):
            if number > since:
                self._begin_waiting(since + 1)
                since = last
            if not mark.begins:
                self._end(mark.region, (number, position))
            elif behind:
                self._waiting.append(mark.region)
                since = number
            elif spans is not None:
                self._open[mark.region] = next(begun)
            else:
                self._begin(mark.region, number, position + 1)
        if last > since:
            self._begin_waiting(since + 1)

    def _add_spans(
        self, first: int, ends: Longs, lengths: Ints, places: Longs, spans: RegionSpans
    ) -> list[_Begun]:
        """Add the rows of spans; return the first tokens of regions marked at ``places``."""
        total = spans.order.size + places.size
        others = np.setdiff1d(np.arange(total), spans.order, assume_unique=True)
        all_places = np.empty(total, np.int64)
        all_places[spans.order], all_places[others] = spans.begins, places
        # The sentence of the next token, and the number of the region among those that begin in it.
        at = np.searchsorted(ends, all_places, "right")
        numbers = np.arange(total) - np.searchsorted(at, at) + np.where(at == 0, self.begun[first], 0) + 1
        starts = np.concatenate((ends - lengths, ends[-1:]))
        begun = [
            _Begun(*values)
            for values in zip(
                (first + at).tolist(), numbers.tolist(), (all_places - starts[at] + 1).tolist(), strict=True
            )
        ]
        last = np.searchsorted(ends, spans.ends)
        for which, number, sentence, position in zip(
            spans.which.tolist(),
            spans.order.tolist(),
            (first + last).tolist(),
            (spans.ends - starts[last]).tolist(),
            strict=True,
        ):
            self._add(spans.regions[which], begun[number], (sentence, position))
        return [begun[number] for number in others.tolist()]

    def _begin_waiting(self, number: int) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for region in waiting:
                self._begin(region, number, 1)

    def _begin_document(self) -> None:
        """End all regions, and let marked ones begin again in the new document."""
        still = [region for region in self._open if region not in self._said.values()] + self._waiting
        self.end_source()
        self._waiting = still

    def _of_comments(self, comments: Sequence[str]) -> Iterator[Mark]:
        """Yield the marks of regions from comments; each ends the previous region of its kind."""
        for region in regions_in_comments(comments):
            before = self._said.get(region.kind)
            if before is not None:
                if region.kind == SPEAKER and before.attributes == region.attributes:
                    continue  # the same speaker goes on
                yield Mark(0, before, begins=False)
            self._said[region.kind] = region
            yield Mark(0, region, begins=True)

    def _begin(self, region: Region, sentence: int, position: int) -> None:
        self.begun[sentence] += 1
        self._open[region] = _Begun(sentence, self.begun[sentence], position)

    def _end(self, region: Region, last: tuple[int, int]) -> None:
        if region in self._waiting:
            self._waiting.remove(region)
        begun = self._open.pop(region, None)
        if begun is not None and last >= (begun.sentence, begun.position):
            self._add(region, begun, last)

    def _add(self, region: Region, begun: _Begun, last: tuple[int, int]) -> None:
        self.regions.append((begun.sentence, begun.place, region.kind, begun.position, *last))
        if region.attributes:
            self.attributes += [(begun.sentence, begun.place, *attribute) for attribute in region.attributes]


#: An edge in DEPS: head, number of an empty node, and relation. Longer numbers are no positions.
_EDGE = r"^(?P<head>0|[1-9][0-9]{0,4})(?:\.(?P<minor>[1-9][0-9]{0,4}))?:(?P<relation>.+)$"
_DEPS = 7

Rows = tuple[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Placed:
    """Sentences with their ids in the store.

    Attributes:
        corpus_id: id of the corpus.
        ids: ids of the sentences.
        columns: columns of the tokens of all sentences.
        told: id to sentence, for sentences with more than columns, such as comments.
        documents: id of the first sentence to document, for documents that begin among the sentences.
    """

    corpus_id: int
    ids: Longs
    columns: TokenColumns
    told: Mapping[int, Sentence]
    documents: Mapping[int, int]

    def rows(self, table: str, rows: Sequence[tuple[object, ...]]) -> Iterator[Rows]:
        """Yield the table with rows, to which the corpus is added, if there are any."""
        if rows:
            yield table, rows_of(self.corpus_id, table, rows)

    def table(self, table: str, columns: Mapping[str, object], size: int) -> Rows:
        """Return the table with columns, to which that of the corpus is added."""
        return table, _of_corpus(self.corpus_id, table, columns, size)

    def tables(self, encode: Callable[[list[str]], Ints]) -> Iterator[Rows]:
        """Yield the tables that the sentences need, with their rows in order.

        Args:
            encode: returns the ids of relations (in tag).
        """
        yield from _metadata(self)
        yield from _misc(self)
        yield from _enhanced(self, encode)
        yield from self.rows(
            "empty_node",
            [
                (number, node.position, node.minor, *_without_deps(node.columns), node.behind_range)
                for number, sentence in self.told.items()
                for node in sentence.empty_nodes
            ],
        )
        yield from self.rows(
            "multiword_row",
            [
                (number, first, *map(_present, columns))
                for number, sentence in self.told.items()
                for first, columns in sentence.ranges
            ],
        )
        yield from self.rows("sentence_layout", list(_layouts(self)))


def rows_of(corpus_id: int, table: str, rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """Return rows of a table, at least one, with the column of the corpus added."""
    names = file_schema(table).names[1:]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return _of_corpus(corpus_id, table, columns, len(rows))


def _of_corpus(corpus_id: int, table: str, columns: Mapping[str, object], size: int) -> pa.Table:
    schema = file_schema(table)
    rows = {"corpus_id": np.full(size, corpus_id, np.int32), **columns}
    return pa.table([pa.array(rows[column.name], column.type) for column in schema], schema=schema)


def _present(value: str) -> str | None:
    return None if value == "_" else value


def _without_deps(columns: Sequence[str]) -> Iterator[str | None]:
    return map(_present, (*columns[:_DEPS], *columns[_DEPS + 1 :]))


def _metadata(placed: Placed) -> Iterator[Rows]:
    documents, sentences = [], []
    for number, sentence in placed.told.items():
        document = placed.documents.get(number)
        for comment in sentence.metadata:
            pair = key_and_value(comment)
            if pair is None:
                continue
            key, value = pair
            if document is not None and key.startswith(OF_DOCUMENT):
                documents.append((document, key.removeprefix(OF_DOCUMENT), value))
            else:
                sentences.append((number, key, value))
    yield from placed.rows("document_meta", documents)
    yield from placed.rows("sentence_meta", sentences)


def _misc(placed: Placed) -> Iterator[Rows]:
    values = placed.columns.strings["misc"]
    if values is None:
        return
    chosen = np.flatnonzero(~values.equals(ABSENT))
    ids, positions = _tokens(placed)
    strings = values.values.strings
    misc = [strings[code] for code in values.codes[chosen].tolist()]
    rows = {"sentence_id": ids[chosen], "position": positions[chosen], "misc": misc}
    yield placed.table("token_misc", rows, chosen.size)


def _tokens(placed: Placed) -> tuple[Longs, Ints]:
    """Return the sentence and the position of each token."""
    lengths = placed.columns.lengths
    return np.repeat(placed.ids, lengths), positions_of(lengths)


def _layouts(placed: Placed) -> Iterator[tuple[int, str, str | None]]:
    """Yield the order of comments, as letters, of sentences in which it is not the usual one."""
    for number, sentence in placed.told.items():
        if sentence.comments is None:
            continue
        usual = usual_letters(
            document=number in placed.documents,
            sent_id=bool(sentence.sent_id),
            text=bool(sentence.text),
            # Export cannot tell a single comment without a text from none.
            metadata=0 if sentence.metadata == [""] else len(sentence.metadata),
        )
        if sentence.comments != usual:
            yield number, sentence.comments, "\n".join(sentence.verbatim) or None


def _enhanced(placed: Placed, encode: Callable[[list[str]], Ints]) -> Iterator[Rows]:
    """Yield the edges in all cells of DEPS, and the cells that are no lists of edges."""
    deps = placed.columns.strings["deps"]
    first = int(placed.ids[0])
    nodes = [(number - first, node) for number, one in placed.told.items() for node in one.empty_nodes]
    if deps is None and not nodes:
        return
    ids, positions = _tokens(placed)
    lengths = placed.columns.lengths
    limits = np.repeat(lengths, lengths)
    if deps is None:
        ids, positions, limits = ids[:0], positions[:0], limits[:0]
        deps = Coded(Values(), positions)
    strings, codes = deps.used_values()
    cells = Values(strings)
    codes = np.concatenate((codes, cells.add(node.columns[_DEPS] for _, node in nodes)))
    of_nodes = np.array([(i, lengths[i], node.position, node.minor) for i, node in nodes], np.int64)
    of_nodes = of_nodes.reshape(-1, 4)
    # The sentence, the position, the number of the empty node, and the greatest head of each cell.
    places = np.vstack(
        (
            np.column_stack((ids, positions, np.zeros_like(positions), limits)),
            np.column_stack((placed.ids[of_nodes[:, 0]], of_nodes[:, 2], of_nodes[:, 3], of_nodes[:, 1])),
        )
    )
    if nodes:
        order = np.lexsort((places[:, 2], places[:, 1], places[:, 0]))
        places, codes = places[order], codes[order]
    edges, known = _Edges.read(pa.array(cells.strings, pa.string()), encode), np.ones(codes.size, bool)
    parents, which = edges.expand(codes)
    known[parents[edges.heads[which] > places[parents, 3]]] = False
    known[edges.broken[codes]] = False
    if not known.all():
        unread = [
            (*place[:3], cells.strings[code])
            for place, code in zip(places[~known].tolist(), codes[~known].tolist(), strict=True)
        ]
        yield from placed.rows("enhanced_cell", unread)
        which, parents = which[known[parents]], parents[known[parents]]
    rows = {
        "sentence_id": places[parents, 0],
        "position": places[parents, 1],
        "minor": places[parents, 2],
        "place": edges.places[which],
        "head": edges.heads[which],
        "head_minor": edges.minors[which],
        "deprel_id": edges.relations[which],
    }
    if parents.size:
        yield placed.table("enhanced_edge", rows, parents.size)


@dataclass(frozen=True, slots=True)
class _Edges:
    """The edges of all different cells; those of a cell are ``sizes`` many, from index ``starts`` on."""

    starts: Longs
    sizes: Longs
    broken: Bools
    places: Ints
    heads: Ints
    minors: Ints
    relations: Ints

    @classmethod
    def read(cls, cells: pa.Array, encode: Callable[[list[str]], Ints]) -> _Edges:
        """Parse different cells: `_`, or a list of head:relation."""
        # `_` becomes null, so that it is not split.
        lists = pc.split_pattern(pc.if_else(pc.equal(cells, "_"), pa.scalar(None, pa.string()), cells), "|")
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64)
        edges = pc.extract_regex(lists.flatten(), _EDGE)
        unread = np.zeros(sizes.size, np.int64)
        np.add.at(unread, np.repeat(np.arange(sizes.size), sizes), edges.is_null().to_numpy(False))
        heads, minors = (_numbers(edges.field(name)) for name in ("head", "minor"))
        relations = encode(pc.fill_null(edges.field("relation"), "_").to_pylist())
        starts = np.cumsum(sizes) - sizes
        places = np.arange(heads.size) - np.repeat(starts, sizes) + 1
        return cls(starts, sizes, unread > 0, places.astype(np.int32), heads, minors, relations)

    def expand(self, codes: Ints) -> tuple[Longs, Longs]:
        """Return the cell and the index of each edge, for cells with the values ``codes``."""
        sizes = self.sizes[codes]
        parents = np.repeat(np.arange(codes.size), sizes)
        within = np.arange(parents.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return parents, self.starts[codes][parents] + within


def _numbers(digits: pa.Array) -> Ints:
    """Return numbers from their digits, 0 for null or an empty string."""
    given = pc.if_else(pc.equal(digits, ""), "0", pc.fill_null(digits, "0"))
    numbers: Ints = given.cast(pa.int32()).to_numpy()
    return numbers
