"""The text of lines, computed from arrays: left context, node and right context.

`sentgen.lookups.base.surface` defines the same text in SQL: tokens as they are written. Pages and terminals
color the words by which lines are sorted. Each of the first keys has a level, whose words have its color; for
``left`` and ``right``, the level belongs to the word beside the node, and further levels to the words beyond.
Metadata and scores have a level, but no words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.lookups.base.cache import forms_of
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.surface import Surface
from sentgen.lookups.base.tokens import NONE, Array, Block, Tokens, places
from sentgen.lookups.concordances.line_query import PARAGRAPH, LineContext
from sentgen.lookups.concordances.sorting import LEFT, NODE, RIGHT, SortKey
from sentgen.lookups.search.hits import BlockHits, Spans
from sentgen.lookups.search.number_sets import unique, unique_inverse
from sentgen.lookups.search.regions import region_numbers
from sentgen.output.tabular import Rows

if TYPE_CHECKING:
    import pyarrow as pa


_IS_PARAGRAPH = f"r.kind = '{PARAGRAPH}'"


@dataclass(frozen=True, slots=True)
class Stretches:
    """Hits in a block, ascending, with the first and the last token of the line of each."""

    block: Block
    low: Longs
    first: Longs
    last: Longs
    high: Longs

    def __len__(self) -> int:
        return len(self.low)

    @property
    def tokens(self) -> int:
        """The number of tokens in all lines."""
        return int((self.high - self.low + 1).sum())

    def cut(self, lines: int, tokens: int) -> Iterator[Stretches]:
        """Yield parts of at most ``lines`` lines and ``tokens`` tokens; a longer line is yielded alone."""
        behind = np.cumsum(self.high - self.low + 1)
        begin = 0
        while begin < len(self):
            before = behind[begin - 1] if begin else 0
            end = min(int(np.searchsorted(behind, before + tokens, "right")), begin + lines)
            end = max(end, begin + 1)
            some = slice(begin, end)
            yield Stretches(self.block, self.low[some], self.first[some], self.last[some], self.high[some])
            begin = end

    @classmethod
    def of_hits(cls, hits: BlockHits, context: LineContext) -> Stretches:
        """Return the tokens of the lines of hits."""
        low, high = hits.block.unit_ends(hits.first)
        if context.unit:
            low, high = _around(hits, context, low, high)
        else:
            low, high = np.maximum(hits.first - context.size, low), np.minimum(hits.last + context.size, high)
        return cls(hits.block, low, hits.first, hits.last, high)

    @staticmethod
    def in_batches(every: Iterable[Stretches], lines: int, tokens: int) -> Iterator[list[Stretches]]:
        """Yield lists of lines of several blocks, within limits of lines and tokens; one list at least."""
        held, size, length, begun = list[Stretches](), 0, 0, False
        for stretches in every:
            for part in stretches.cut(lines, tokens):
                if held and (size + len(part) > lines or length + part.tokens > tokens):
                    yield held
                    held, size, length, begun = [], 0, 0, True
                held.append(part)
                size, length = size + len(part), length + part.tokens
        if held or not begun:
            yield held

    @staticmethod
    def lines(connection: Connection, shown: Sequence[Stretches]) -> pa.Table:
        """Return lines: the place of the node, and the text before it, of it and behind it.

        The columns are ``sentence_id``, of the first token, ``first`` and ``last``, counted from there, and
        ``left``, ``node`` and ``right``, which may end with a blank.
        """
        import pyarrow as pa

        homes = [part.block.sentences()[:2, part.block.sentence_of(part.first)] for part in shown]
        nodes = [(part.first, part.last) for part in shown]
        home, node = (
            np.concatenate([np.zeros((2, 0), np.int64), *parts], axis=1) for parts in (homes, nodes)
        )
        first, last = (node - home[1] + 1).astype(np.int32)
        columns = {"sentence_id": home[0], "first": first, "last": last}
        texts = zip(("left", "node", "right"), _texts(connection, shown), strict=True)
        return pa.table(columns | dict(texts))


def _around(hits: BlockHits, context: LineContext, low: Longs, high: Longs) -> tuple[Longs, Longs]:
    """Return the first and last tokens of the contexts of hits, in sentences or paragraphs.

    ``low`` and ``high`` are the bounds of their documents. A hit outside of all paragraphs has its sentence.
    """
    block, further = hits.block, context.size - 1
    _, begins, lengths, documents = block.sentences()
    ends = begins + lengths - 1
    first, last = begins, ends
    if context.unit == PARAGRAPH:
        first, last = block.cut(*region_numbers(block, _IS_PARAGRAPH, Bindings()))
    # A region of no document, `NONE`, is added before the first and behind the last one.
    of_stretch = np.append(documents[block.sentence_of(first)], NONE)
    last_token = np.append(last, NONE)

    def bound(at: Longs, alone: Longs, to: Longs, step: int, furthest: Longs) -> Longs:
        sentence = block.sentence_of(at)
        own = np.searchsorted(first, at, "right") - 1
        inside = (of_stretch[own] == documents[sentence]) & (last_token[own] >= at)
        other = np.clip(own + step, -1, len(first))
        there = of_stretch[other] == documents[sentence]
        return np.where(inside, np.where(there, np.append(to, NONE)[other], furthest), alone[sentence])

    return bound(hits.first, begins, first, -further, low), bound(hits.last, ends, last, further, high)


def _texts(
    connection: Connection,
    shown: Sequence[Stretches],
    before: Sequence[int] = (),
    behind: Sequence[int] = (),
) -> list[pa.Array]:
    """Return columns of text before, in and behind nodes, cut at words: before a word, the word, and so on.

    The words are given by ascending offsets: below 0 ``before`` the node, and ``behind`` it.
    """
    import pyarrow as pa

    # Token numbers are the same in all blocks, so that lines of several blocks are computed together.
    ends = [[part.block.numbers(at) for at in (part.low, part.first, part.last, part.high)] for part in shown]
    low, first, last, high = np.concatenate([np.zeros((4, 0), np.int64), *ends], axis=1)
    at = [places(part.low, part.high - part.low + 1) for part in shown]
    nothing = np.zeros(0, np.int32)
    words = np.concatenate(
        [nothing, *(part.block.column("word_id")[here] for part, here in zip(shown, at, strict=True))]
    )
    spaced = np.concatenate(
        [nothing, *(part.block.column("space_after")[here] for part, here in zip(shown, at, strict=True))]
    )
    different, kinds = unique_inverse(words)
    strings = forms_of(connection, different)
    lengths = high - low + 1
    begin = end = np.zeros(0, np.int64)
    if shown and Surface.of_store(connection).multiwords:
        begin, end, forms = _multiwords(shown)
        kinds, spaced = _apply_multiwords(
            places(low, lengths), np.repeat(low, lengths), kinds, spaced, begin, end, len(strings)
        )
        strings = pa.concat_arrays([strings, forms, pa.array([""], pa.large_string())])
    edges_before = _edges(first, before, begin, end)
    edges_behind = _edges(last, behind, begin, end)
    # A surface word belongs to the node if one of its tokens does.
    first = np.maximum(_end(first, begin, end, begin), low)
    last = np.minimum(_end(last, begin, end, end), high)
    pieces = [low, *np.clip(edges_before, low, first), first]
    pieces += [last + 1, *np.clip(edges_behind, last + 1, high + 1)]
    bounds = np.stack(pieces, axis=1) - low[:, None] + (np.cumsum(lengths) - lengths)[:, None]
    return _join_texts(strings, kinds, spaced, np.append(bounds.ravel(), len(kinds)), len(pieces))


def _edges(node: Longs, beside: Sequence[int], begin: Longs, end: Longs) -> Array:
    """Return the begin and the end of each word at some offsets, alternating, a row for each edge.

    Of two words in one multiword token, from ``begin`` to ``end``, the nearer one gets all of its text.
    """
    edges = [np.zeros((0, len(node)), np.int64)]
    for offset in beside:
        word = node + offset
        edges.append(np.stack([_end(word, begin, end, begin), _end(word, begin, end, end) + 1]))
    ascending: Array = np.concatenate(edges)
    if beside and beside[0] < 0:
        return np.minimum.accumulate(ascending[::-1])[::-1]
    return np.maximum.accumulate(ascending)


def _join_texts(strings: pa.Array, kinds: Longs, spaced: Ints, bounds: Longs, columns: int) -> list[pa.Array]:
    import pyarrow as pa
    import pyarrow.compute as pc

    blank = pc.binary_join_element_wise(
        strings, pa.scalar(" ", pa.large_string()), pa.scalar("", pa.large_string())
    )
    tokens = pa.concat_arrays([strings, blank]).take(pa.array(kinds + len(strings) * (spaced != 0)))
    # The strings are adjacent in a buffer: only the offsets of the texts are new.
    _, offsets, letters = tokens.buffers()
    ends = np.frombuffer(offsets, np.int64)[tokens.offset + bounds] if offsets else bounds
    texts = pa.LargeStringArray.from_buffers(len(bounds) - 1, pa.py_buffer(ends), letters)
    return [texts.take(pa.array(np.arange(column, len(texts), columns))) for column in range(columns)]


def _multiwords(shown: Sequence[Stretches]) -> tuple[Longs, Longs, pa.Array]:
    """Return the multiword tokens in some lines: their first and last tokens, and forms."""
    import pyarrow as pa

    parts = list[pa.Table]()
    for part in shown:
        every = part.block.multiwords()
        begins, ends = every["first"].to_numpy(), every["last"].to_numpy()
        low = np.searchsorted(ends, part.block.numbers(part.low))
        high = np.searchsorted(begins, part.block.numbers(part.high), "right")
        parts.append(every.take(pa.array(unique(places(low, high - low)))))
    some = pa.concat_tables(parts)
    # Several lines may have the same sentence.
    begin, rows = np.unique(some["first"].to_numpy(), return_index=True)
    some = some.take(pa.array(rows))
    return begin, some["last"].to_numpy(), some["form"].cast(pa.large_string()).combine_chunks()


def _row_of(numbers: Longs, begin: Longs, end: Longs) -> tuple[Longs, Bools]:
    """Return for each token the last multiword token that begins up to it, and whether that covers it."""
    rows = np.searchsorted(begin, numbers, "right") - 1
    covered = (rows >= 0) & (np.append(end, -1)[rows] >= numbers)
    return rows, covered


def _end(numbers: Longs, begin: Longs, end: Longs, ends: Longs) -> Longs:
    """Replace tokens in a multiword token by its first or last one, as given by ``ends``."""
    rows, covered = _row_of(numbers, begin, end)
    return np.where(covered, np.append(ends, 0)[rows], numbers)


def _apply_multiwords(
    numbers: Longs, low: Longs, kinds: Longs, spaced: Ints, begin: Longs, end: Longs, words: int
) -> tuple[Longs, Ints]:
    """Return the string of each token, and whether a blank follows, with multiword tokens written as one.

    Args:
        numbers: numbers of the tokens.
        low: for each token, the number of the first token of its line.
        kinds: index of the string of each token; strings of multiword tokens, and an empty one, are the last.
        spaced: whether a blank follows each token.
        begin, end: first and last tokens of the multiword tokens.
        words: number of strings of single tokens.
    """
    rows, covered = _row_of(numbers, begin, end)
    begins = numbers == np.maximum(np.append(begin, 0)[rows], low)
    instead = np.where(begins, words + rows, words + len(begin))
    last = np.append(end, 0)[rows]
    return np.where(covered, instead, kinds), spaced * ~(covered & (numbers < last))


#: The number of levels.
_LEVELS = 3
#: Columns with the position of the node: the sentence of its first token, and positions in it.
PLACE = ("sentence_id", "first", "last")

#: A part of a text, and its level; 0 for text by which lines are not sorted.
SortedPart = tuple[str, int]


class SortedSides(NamedTuple):
    """The texts before and behind a node, in parts."""

    left: Sequence[SortedPart]
    right: Sequence[SortedPart]


@dataclass(frozen=True, slots=True)
class SortedWords:
    """The words by which lines are sorted, and the level of each, from 1 to 3.

    A word is its offset from the node: below 0 before it, 0 for the node itself.
    """

    levels: Mapping[int, int]

    @property
    def named(self) -> list[tuple[str, int]]:
        """The names of the offsets in an order, such as ``1L``, each with its level."""
        return [
            (f"{abs(place)}{'L' if place < 0 else 'R'}" if place else NODE, level)
            for place, level in self.levels.items()
        ]

    def of_lines(
        self, connection: Connection, rows: Rows, context: LineContext, *, across: bool
    ) -> list[SortedSides]:
        """Return the sides of lines in parts.

        Args:
            rows: the lines, with the columns `PLACE`.
            across: whether contexts may cross the ends of sentences.
        """
        before = sorted(offset for offset in self.levels if offset < 0)
        behind = sorted(offset for offset in self.levels if offset > 0)
        tokens = Tokens(connection, across=across)
        numbers = _token_numbers(tokens, rows)
        by_place = np.lexsort((numbers.last, numbers.first))
        pieces = list[tuple[str, ...]]()
        for hits in BlockHits.located(tokens, numbers.take(by_place)):
            columns = _texts(connection, [Stretches.of_hits(hits, context)], before, behind)
            pieces += zip(*(column.to_pylist() for column in columns), strict=True)
        levels, levels_behind = self._of_pieces(before), self._of_pieces(behind)
        node = len(levels)
        return [
            SortedSides(_parts(pieces[at][:node], levels), _parts(pieces[at][node + 1 :], levels_behind))
            for at in np.argsort(by_place)
        ]

    @classmethod
    def of_order(cls, order: str) -> SortedWords:
        """Return the words of the first keys of an order, such as ``1L,node``."""
        in_order = chain.from_iterable(map(_places, SortKey.read_all(order)))
        levels = dict[int | str, int]()
        for item in in_order:
            levels.setdefault(item, len(levels) + 1)
        return cls(
            {item: level for item, level in levels.items() if isinstance(item, int) and level <= _LEVELS}
        )

    def _of_pieces(self, places: Sequence[int]) -> list[int]:
        """Return the levels of the pieces of a text that is cut at some offsets; 0 between the words."""
        return [0, *(level for place in places for level in (self.levels[place], 0))]


def _places(key: SortKey) -> Sequence[int | str]:
    """Return the offsets of the words of a key; its name if it has no words."""
    if key.offset or key.name == NODE:
        return [key.offset]
    return key.beside(_LEVELS) if key.name in (LEFT, RIGHT) else [key.name]


def _token_numbers(tokens: Tokens, rows: Rows) -> Spans:
    sentence, first, last = (np.array(rows.column(name), np.int64) for name in PLACE)
    begin = np.zeros(len(sentence), np.int64)
    for block in tokens.blocks():
        inside = (sentence >= block.low) & (sentence <= block.high)
        if inside.any():
            ids, begins, *_ = block.sentences()
            order = np.argsort(ids)
            begin[inside] = block.numbers(begins[order[np.searchsorted(ids[order], sentence[inside])]])
    return Spans(begin + first - 1, begin + last - 1, {})


def _parts(pieces: Sequence[str], levels: Sequence[int]) -> list[SortedPart]:
    """Return pieces with their levels; blanks behind words become pieces, and are dropped at the end."""
    parts, behind = list[SortedPart](), len("".join(pieces).rstrip())
    for piece, level in zip(pieces, levels, strict=True):
        piece, behind = piece[:behind], behind - len(piece)
        word = piece.rstrip() if level else ""
        parts += [(text, of) for text, of in ((word, level), (piece[len(word) :], 0)) if text]
        if behind <= 0:
            break
    return parts
