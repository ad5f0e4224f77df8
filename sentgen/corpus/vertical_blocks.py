"""Vertical files in blocks, without a Python object per token or sentence.

Each distinct line is numbered and read once (`_DistinctRows`), and whole sentences are found in the array of
the kinds of lines. Tags with attributes are given to `Pieces` one by one, as are lines near tags that only it
can handle. Where anything may be wrong, the slower `vertical` reader finds out what. The results of all of
them are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sentgen.arrays import Bools, Bytes, Ints, Longs
from sentgen.corpus.markup import LONGEST, Tag
from sentgen.corpus.readers._columns import Carried, FormatError, is_space, misc_of
from sentgen.corpus.readers.vertical import ASIDE, DOCUMENTS, GLUE, GLUED, Piece, Pieces
from sentgen.corpus.sentence import ABSENT, Sentence
from sentgen.corpus.sources import LineReader
from sentgen.corpus.token_columns import STRINGS, Coded, TokenColumns, Values
from sentgen.corpus.treebank_blocks import (
    Careful,
    RegionSpans,
    TreebankBlock,
    check_strings,
    heads_of,
)
from sentgen.corpus.validation import CONTROL_BYTES, LIMITS
from sentgen.corpus.vocabulary import Vocabulary
from sentgen.errors import Rejection

#: Kinds of lines: a token; a line without effect; `<g/>`; a tag of a region; a tag that begins a sentence,
#: one that ends it, one that begins it and has attributes; and a line that only `Pieces` can handle.
TOKEN, NOTHING, GLUES, TELLS, BEGINS, ENDS, SAYS, OTHER = range(8)


class _DistinctRows:
    """The distinct lines of a file.

    Args:
        pieces: reader of the file, with its columns and its kinds of tags.

    Attributes:
        kinds: (distinct lines,) kind of the line, as `TOKEN`.
        tags: tags of sentences and regions, by the number of their distinct line.
    """

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.kinds: Bytes = np.empty(0, np.uint8)
        self.tags: dict[int, Tag] = {}
        self._lines = Vocabulary()
        columns = pieces.columns
        names = [*columns.fields, *(["misc"] if columns.others else [])]
        #: The distinct values of each column, and the number of the value for each distinct line.
        self._values = {name: Values() for name in names}
        self._codes = {name: np.empty(0, np.int32) for name in names}
        self._spaces = np.empty(0, bool)

    def __len__(self) -> int:
        return len(self._lines)

    def number(self, text: bytes) -> Ints:
        """Return the number of each line of a text.

        Raises:
            Careful: something may be wrong in a line; this object must not be used any more.
        """
        known = len(self)
        numbers = self._lines.encode_rows(text)
        if len(self) > known:
            self._take(self._lines.strings(known).to_pylist(), known)
        return numbers

    def columns_of(self, numbers: Ints) -> tuple[dict[str, Coded], Bools]:
        """Return the columns of tokens, and whether a space follows each."""
        codes = {name: known[numbers] for name, known in self._codes.items()}
        return {name: Coded(self._values[name], codes[name]) for name in codes}, self._spaces[numbers]

    def _take(self, lines: list[str], first: int) -> None:
        """Read distinct lines that are new, numbered from ``first``."""
        kinds = np.zeros(len(lines), np.uint8)
        for at, line in enumerate(lines):
            if not line or line[0] == "<":
                kinds[at] = self._kind(line, first + at)
        tokens = kinds == TOKEN
        read, after = self._read(
            [line for line, is_token in zip(lines, tokens.tolist(), strict=True) if is_token]
        )
        for name, values in read.items():
            codes = np.zeros(len(lines), np.int32)
            codes[tokens] = self._values[name].add(values)
            self._codes[name] = np.concatenate((self._codes[name], codes))
        spaces = np.ones(len(lines), bool)
        spaces[tokens] = after
        self._spaces = np.concatenate((self._spaces, spaces))
        self.kinds = np.concatenate((self.kinds, kinds))

    def _kind(self, line: str, number: int) -> int:
        """Return the kind of a line that is blank or begins as a tag does."""
        text = line.encode()
        if len(text) > LONGEST:
            return TOKEN if "\t" in line else OTHER
        tag = self.pieces.tag(text) if line else ASIDE
        if tag is None:
            return TOKEN
        kind = tag.kind.lower()
        if kind == GLUE and tag.opens:
            return GLUES
        if kind == GLUE or (tag.opens and tag.closes):
            return NOTHING
        if kind in DOCUMENTS:
            return OTHER
        self.tags[number] = tag
        if kind not in self.pieces.sentences:
            return TELLS
        if tag.attributes:
            return SAYS if tag.opens else OTHER
        return BEGINS if tag.opens else ENDS

    def _read(self, lines: list[str]) -> tuple[dict[str, Sequence[str]], Bools]:
        """Split the lines of tokens into columns; return these, and whether a space follows each token."""
        columns = self.pieces.columns
        after = np.ones(len(lines), bool)
        if not lines:
            return dict.fromkeys(self._values, ()), after
        rows, text = lines, "\n".join(lines)
        if CONTROL_BYTES.search(text.encode()):
            raise Careful
        if GLUED.decode() in text:
            rows = [line.removesuffix(GLUED.decode()) for line in lines]
            after = np.array([row is line for row, line in zip(rows, lines, strict=True)])
        try:
            values = columns.split(rows)
        except FormatError as error:
            raise Careful from error
        read: dict[str, Sequence[str]] = {field: values[number] for field, number in columns.fields.items()}
        check_strings(read)
        if columns.others:
            misc = misc_of([(name, values[number]) for name, number in columns.others])
            read["misc"] = misc or [ABSENT] * len(lines)
        if columns.spaces is not None:
            after &= np.array([*map(is_space, values[columns.spaces])], bool)
        return read, after


#: Most distinct lines that are kept: more than most texts of ten million tokens have.
_KEPT = 1 << 17
#: The tag that ends the first sentence.
_FIRST_END = re.compile(rb"(?:\A|\n)</s(?:entence)?>\n")

Found = TreebankBlock | Sentence | Rejection


def read_blocks(
    reader: LineReader, *, columns: str | None = None, sentences: str | None = None
) -> Iterator[Found]:
    """Yield the sentences of a vertical file, in blocks where nothing may be wrong, else one by one."""
    reading = _Reading(Pieces(reader.source.name, columns, sentences))
    for line, block in reader.whole_lines():
        yield from reading.read(block, line)
    yield from reading.take(reading.pieces.end())
    reader.notes += reading.pieces.notes()


class _Reading:
    """Reads a file, block by block."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces, self.carried = pieces, Carried()
        self._rows: _DistinctRows | None = None

    @property
    def rows(self) -> _DistinctRows:
        """The distinct lines; they are dropped when there are too many."""
        if self._rows is None or len(self._rows) > _KEPT:
            self._rows = _DistinctRows(self.pieces)
        return self._rows

    def read(self, block: bytes, line: int) -> Iterator[Found]:
        """Yield the sentences that end in a block of whole lines; ``line`` is the number of the first."""
        if not self.pieces.is_settled and (first := _FIRST_END.search(block)):
            # After the first sentence, the columns and the kind of tags for sentences are known.
            end = first.end()
            yield from self.take(self.pieces.cut_text(block[: end - 1], line))
            line, block = line + block.count(b"\n", 0, end), block[end:]
        if self.pieces.is_settled:
            try:
                lines = _Lines(block, line, self.rows)
            except (Careful, pa.ArrowInvalid):
                self._rows = None
            else:
                yield from self._read(lines)
                return
        yield from self.take(self.pieces.cut_text(block, line))

    def _read(self, lines: _Lines) -> Iterator[Found]:
        at = 0
        for first, end in lines.parts():
            try:
                stretch = _Stretch(lines, first, end)
            except Careful:
                continue
            pieces = self.pieces.cut_text(*lines.text(at, stretch.first)) if at < stretch.first else []
            block = stretch.read(self.pieces)
            yield from self.take([*pieces, *self.pieces.take_pieces()])
            yield self._carried_to(block)
            at = stretch.end
        yield from self.take(self.pieces.cut_text(*lines.text(at, lines.numbers.size)))

    def take(self, pieces: Sequence[Piece]) -> Iterator[Found]:
        if not pieces:
            return
        try:
            block = _block(pieces, self.rows)
        except (Careful, pa.ArrowInvalid):
            self._rows = None
            for piece in pieces:
                yield from piece.read(self.pieces, self.carried)
        else:
            yield self._carried_to(block)

    def _carried_to(self, block: TreebankBlock) -> TreebankBlock:
        """Give the first sentence of a block the document, metadata and marks carried over from before it."""
        list(self.carried.give(block.sentences[0], [block.sentences[0]]))
        return block


class _Lines:
    """The lines of a block.

    Attributes:
        numbers: (lines,) number of the distinct line.
        kinds: (lines,) kind of the line, as `TOKEN`.
    """

    def __init__(self, block: bytes, line: int, rows: _DistinctRows) -> None:
        self.block, self.line, self.rows = block, line, rows
        self.numbers = rows.number(block)
        self.kinds: Bytes = rows.kinds[self.numbers]
        feeds = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
        #: Offset in bytes of each line, and of the end of the last, plus one.
        self._starts = np.concatenate(([0], feeds + 1, [len(block) + 1]))

    def text(self, first: int, end: int) -> tuple[bytes, int]:
        """Return the lines from ``first`` to before ``end``, and the number of the first in the file."""
        return self.block[self._starts[first] : self._starts[end] - 1], self.line + first

    def parts(self) -> list[tuple[int, int]]:
        """Return the ranges of lines (begin, end) between those that only `Pieces` can handle."""
        others = np.flatnonzero(self.kinds == OTHER).tolist()
        return list(zip([0, *(other + 1 for other in others)], [*others, self.numbers.size], strict=True))


class _Stretch:
    """Whole sentences of a block, from a tag of a sentence on.

    Raises:
        Careful: there are no such sentences, or they have to be read in another way.

    Attributes:
        first: index of the line of the first tag.
        end: index of the line of the first token after the last sentence.
    """

    def __init__(self, lines: _Lines, first: int, end: int) -> None:
        self._lines, kinds = lines, lines.kinds[first:end]
        borders = np.isin(kinds, (BEGINS, ENDS, SAYS))
        tokens = np.flatnonzero(kinds == TOKEN)
        #: Number of borders of sentences before each token.
        before = np.cumsum(borders, dtype=np.int32)[tokens]
        tokens, before = tokens[before > 0], before[before > 0]
        starts = np.flatnonzero(np.diff(before, prepend=0))
        if starts.size < 2:
            raise Careful
        self._borders = np.flatnonzero(borders) + first
        if (lines.kinds[self._borders][before[starts] - 1] == ENDS).any():
            raise Careful
        self.first, self.end = int(self._borders[0]), first + int(tokens[starts[-1]])
        self._tokens = tokens[: starts[-1]] + first
        self._starts, self._lengths = starts[:-1], np.diff(starts).astype(np.int32)
        glues = np.flatnonzero(kinds == GLUES) + first
        glues = glues[(glues >= self.first) & (glues < self.end)]
        glued = np.searchsorted(self._tokens, glues) - 1
        if self._lengths.max() > LIMITS.sentence_tokens or (glued < 0).any():
            raise Careful
        self._columns = _columns(lines.rows, lines.numbers[self._tokens], self._lengths, glued)

    def _events(self) -> Longs:
        """Return the lines of tags of regions, of sentences with attributes, and of the next tags there."""
        kinds = self._lines.kinds[self.first : self.end]
        says = np.flatnonzero(self._lines.kinds[self._borders] == SAYS)
        borders = self._borders[self._borders < self.end]
        after = self._borders[np.minimum(says + 1, borders.size - 1)]
        tells = np.flatnonzero((kinds == TELLS) | (kinds == SAYS)) + self.first
        return np.unique(np.concatenate((tells, after, borders[[0, -1]])))

    def _spans(self, events: Longs) -> tuple[RegionSpans | None, Bools]:
        """Return the regions that begin and end between the first token and the last, and the other events.

        ``None`` if a sentence has attributes, as these may name regions, too, or if a region has no token.
        """
        rest = np.ones(events.size, bool)
        kinds = self._lines.kinds[events]
        tells = np.flatnonzero((kinds == TELLS) & (events > self._tokens[0]))
        if not tells.size or (kinds == SAYS).any():
            return None, rest
        numbers, which = np.unique(self._lines.numbers[events[tells]], return_inverse=True)
        tags = [self._lines.rows.tags[number] for number in numbers.tolist()]
        regions = [tag.region for tag in tags]
        opens = np.array([tag.opens for tag in tags])[which]
        of_kind = np.unique([region.kind for region in regions], return_inverse=True)[1]
        first, last = _pairs_of(opens, of_kind[which])
        tokens = np.searchsorted(self._tokens, events[tells])
        if not first.size or (tokens[first] == tokens[last]).any():
            return None, rest
        rest[tells[first]] = rest[tells[last]] = False
        order = np.cumsum(opens)[first] - 1
        return RegionSpans(regions, which[first], tokens[first], tokens[last], order), rest

    def read(self, pieces: Pieces) -> TreebankBlock:
        """Give all tags to ``pieces``; return the sentences."""
        lines = self._lines.line + self._tokens[self._starts].astype(np.int64)
        events = self._events()
        spans, rest = self._spans(events)
        events = events[rest]
        # Number of tokens before each event, and the sentence of the last of these tokens.
        tokens = np.searchsorted(self._tokens, events)
        numbers = np.searchsorted(self._starts, tokens) - 1
        # The marks are collected in one sentence, as if the stretch were one.
        whole, known_pieces = Piece(Sentence([])), dict[int, Piece]()

        def begin(number: int) -> None:
            """Begin a sentence with the metadata and marks read before it."""
            if not number:
                pieces.flush()
            pieces.inside = True
            known_pieces[number] = pieces.begin(int(lines[number]))
            pieces.piece = whole

        waiting, nothing = 0, lines.size
        for line, kind, tag, number, size in zip(
            events.tolist(),
            self._lines.kinds[events].tolist(),
            self._lines.numbers[events].tolist(),
            numbers.tolist(),
            tokens.tolist(),
            strict=True,
        ):
            if number >= waiting:
                begin(waiting)
                waiting = nothing
            whole.size = size
            if kind == TELLS:
                pieces.take_region(self._lines.rows.tags[tag])
            else:
                pieces.take(self._lines.rows.tags[tag], self._lines.line + line)
                waiting = number + 1 if kind == SAYS else waiting
        if waiting < nothing:
            begin(waiting)
        pieces.leave(known_pieces.values())
        sentences = {number: piece.sentence for number, piece in known_pieces.items()}
        return TreebankBlock(lines, sentences, self._columns, whole.marks or [], spans)


def _pairs_of(opens: Bools, kinds: Longs) -> tuple[Longs, Longs]:
    """Return the indices of begin and end tags of regions, in the order of the ends.

    A tag that ends a region belongs to the last open one of its kind.

    >>> _pairs_of(np.array([True, True, False, False, False]), np.array([0, 0, 0, 1, 0]))
    (array([1, 0]), array([2, 4]))
    """
    left = np.argsort(kinds, kind="stable")
    firsts, lasts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    while True:
        # A begin tag right before an end tag is a pair; without them, the tags around them may be one.
        adjacent = opens[left[:-1]] & ~opens[left[1:]] & (kinds[left[:-1]] == kinds[left[1:]])
        if not adjacent.any():
            break
        at = np.flatnonzero(adjacent)
        firsts.append(left[at])
        lasts.append(left[at + 1])
        left = np.delete(left, np.concatenate((at, at + 1)))
    first, last = np.concatenate(firsts), np.concatenate(lasts)
    by_end = np.argsort(last)
    return first[by_end], last[by_end]


def _block(pieces: Sequence[Piece], rows: _DistinctRows) -> TreebankBlock:
    lengths = np.array([piece.size for piece in pieces], np.int32)
    if lengths.max() > LIMITS.sentence_tokens:
        raise Careful
    numbers = rows.number(b"\n".join(part for piece in pieces for _, part in piece.parts))
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    glued = [
        start + token for start, piece in zip(starts.tolist(), pieces, strict=True) for token in piece.glued
    ]
    lines = np.array([piece.sentence.line for piece in pieces], np.int64)
    sentences = {}
    for number, piece in enumerate(pieces):
        known = piece.sentence
        if not number or known.marks or known.metadata or known.sent_id or known.document is not None:
            sentences[number] = known
    return TreebankBlock(lines, sentences, _columns(rows, numbers, lengths, np.array(glued, np.int64)))


def _columns(rows: _DistinctRows, numbers: Ints, lengths: Ints, glued: Longs) -> TokenColumns:
    """Return the columns of sentences; ``glued`` are the tokens that no space follows.

    ``numbers`` are the distinct lines of the tokens, ``lengths`` the numbers of tokens of the sentences.
    """
    read, after = rows.columns_of(numbers)
    strings = {name: read.get(name) for name in STRINGS}
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    heads, trees = None, np.zeros(lengths.size, bool)
    if "heads" in read:
        heads, trees = heads_of(read["heads"], lengths, starts)
    after[glued] = False
    for name in ("upos", "deprels"):
        trees = trees & (name in read and read[name].has_values(starts))
    return TokenColumns(lengths, strings, heads, None, pa.array(after), trees)
