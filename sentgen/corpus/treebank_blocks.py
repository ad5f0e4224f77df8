"""CoNLL-U in blocks of whole sentences, without a Python object per token.

Arrow splits the lines, and each distinct value of a column is checked once. A block in which anything may be
wrong is read by the slower `conllu` reader instead, which finds out what is wrong; the results of both are
the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
from pyarrow import csv

from sentgen.arrays import Bools, Ints, Longs
from sentgen.corpus.base_np import NO_HEAD
from sentgen.corpus.readers import conllu
from sentgen.corpus.readers._columns import HEADS, FormatError, split_columns
from sentgen.corpus.sentence import ABSENT, RESERVED, Mark, Region, Sentence
from sentgen.corpus.sources import LineReader
from sentgen.corpus.token_columns import STRINGS, Coded, TokenColumns
from sentgen.corpus.validation import CONTROL_BYTES, LIMITS
from sentgen.errors import Rejection

_FILE = ("id", "forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc")
#: Columns whose values may not be longer than the limit.
_LIMITED = ("forms", "lemmas", "upos", "xpos", "feats", "deprels")
_COMMENTS = re.compile(r"(?:#[^\n]*\n)*")
_BYTE_ORDER_MARK = "\ufeff".encode()
_UNREAD = -2


@dataclass(frozen=True, slots=True)
class RegionSpans:
    """Regions with tokens that begin and end in the same block, in the order of their ends.

    Attributes:
        regions: distinct kinds and attributes.
        which: (spans,) index into ``regions``.
        begins: (spans,) number of tokens of the block before the region, at least one.
        ends: (spans,) number of tokens of the block up to the last one of the region.
        order: (spans,) number of regions that begin before it, but after the first token of the block.
    """

    regions: Sequence[Region]
    which: Longs
    begins: Longs
    ends: Longs
    order: Longs


@dataclass(frozen=True, slots=True)
class TreebankBlock:
    """Sentences end to end.

    Attributes:
        lines: (sentences,) number of the first line of the sentence.
        sentences: the first sentence, and those with a document, metadata, marks and the like, without
            their columns; by their number in the block, from 0.
        columns: columns of all sentences.
        marks: marks of regions, placed by the tokens of the block before them, at least one; they follow the
            marks of ``sentences``.
        spans: regions without marks; if there are any, ``sentences`` has only the first sentence.
    """

    lines: Longs
    sentences: dict[int, Sentence]
    columns: TokenColumns
    marks: Sequence[Mark] = ()
    spans: RegionSpans | None = None


class Careful(Exception):
    """Something in a block may be wrong: it has to be read by the slower reader."""


def read_blocks(reader: LineReader) -> Iterator[TreebankBlock | Sentence | Rejection]:
    """Yield the sentences of a CoNLL-U file, in blocks where nothing may be wrong, else one by one."""
    path = reader.source.name
    document: str | None = None
    for first_line, text in _whole_sentences(reader, conllu.most_lines()):
        if isinstance(text, str):
            try:
                yield _block(*_cut(text, first_line, document, path))
                document = None
                continue
            except (Careful, FormatError, pa.ArrowInvalid):
                text = text.split("\n")
        document = yield from conllu.read(text, path=path, first_line=first_line, document=document)


def _whole_sentences(reader: LineReader, most: int) -> Iterator[tuple[int, str | Iterable[str]]]:
    """Yield texts of whole sentences, after the number of their first line.

    After more than ``most`` lines without an end of a sentence, the rest of the file is yielded as an
    iterable of lines, so that it is not in memory at once.
    """
    blocks = reader.whole_lines()
    start, rest = 1, ""
    for _, block in blocks:
        text = f"{rest}\n{block.decode()}" if rest else block.decode()
        # A block comes without its last line feed: if it still ends with one, its last line is blank.
        cut = len(text) if text.endswith("\n") or not text else text.rfind("\n\n") + 1
        if cut or not text:
            yield start, text[:cut]
            start += text.count("\n", 0, cut) + 1
            text = text[cut + 1 :]
        rest = text
        if rest.count("\n") > most:
            following = chain.from_iterable(block.decode().split("\n") for _, block in blocks)
            yield start, chain(rest.split("\n"), following)
            return
    if rest:
        yield start, rest


def _cut(text: str, line: int, document: str | None, path: str) -> tuple[list[Sentence], list[str]]:
    """Cut a text at its blank lines; return sentences with their comments, and the texts of their rows."""
    sentences, bodies = [], []
    most = conllu.most_lines()
    for piece in text.split("\n\n"):
        lines = piece.count("\n")
        if rows := piece.strip("\n"):
            sentence = Sentence([], line=line + len(piece) - len(piece.lstrip("\n")))
            match = _COMMENTS.match(rows)
            end = match.end() if match else 0
            document = conllu.read_comments(rows[:end].split("\n")[:-1], sentence, path) or document
            if lines >= most or end == len(rows):
                raise Careful
            sentence.document, document = document, None
            sentences.append(sentence)
            bodies.append(rows[end:])
        line += lines + 2
    if not sentences:
        raise Careful
    return sentences, bodies


def _split_rows(data: bytes) -> pa.Table:
    # Arrow would drop a byte order mark.
    if data.startswith(_BYTE_ORDER_MARK) or CONTROL_BYTES.search(data):
        raise Careful
    return csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=_FILE),
        csv.ParseOptions(delimiter="\t", quote_char=False, double_quote=False, ignore_empty_lines=False),
        csv.ConvertOptions(
            check_utf8=False, column_types=dict.fromkeys(_FILE, pa.string()), strings_can_be_null=False
        ),
    )


def _block(sentences: list[Sentence], bodies: list[str]) -> TreebankBlock:
    rows = _split_rows("\n".join(bodies).encode())
    sizes = np.array([body.count("\n") + 1 for body in bodies], np.int64)
    if rows.num_rows != sizes.sum():
        raise Careful
    starts = np.cumsum(sizes) - sizes
    expected = np.arange(rows.num_rows) - np.repeat(starts, sizes) + 1
    numbers = _numbers_of(Coded.encode(rows["id"]), lambda name: HEADS.get(name, 0))
    chosen = numbers == expected
    spaces: dict[int, list[bool]] = {}
    # Sentences with ranges or empty nodes are read by the functions of the slower reader.
    for number in np.flatnonzero(~np.logical_and.reduceat(chosen, starts)).tolist():
        texts = split_columns(bodies[number].split("\n"), len(_FILE))
        words, misc = conllu.select_words(texts, sentences[number])
        spaces[number] = conllu.spaces_after(misc)
        chosen[starts[number] : starts[number] + sizes[number]] = False
        chosen[starts[number] + np.array(words, np.int64)] = True
    lengths = np.add.reduceat(chosen, starts, dtype=np.int32)
    if not lengths.all() or lengths.max() > LIMITS.sentence_tokens:
        raise Careful
    table = rows.filter(pa.array(chosen)) if spaces else rows
    lines = np.array([sentence.line for sentence in sentences], np.int64)
    columns = _columns(sentences, table, lengths, spaces)
    return TreebankBlock(lines, dict(enumerate(sentences)), columns)


def _columns(
    sentences: list[Sentence],
    table: pa.Table,
    lengths: Ints,
    spaces: dict[int, list[bool]],
) -> TokenColumns:
    coded = {name: Coded.encode(table[name]) for name in _FILE[1:]}
    check_strings({name: column.values.strings for name, column in coded.items()})
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    heads, trees = heads_of(coded["heads"], lengths, starts)
    misc = coded["misc"]
    after = _numbers_of(misc, lambda value: conllu.spaces_after([value])[0]).astype(bool)
    within = np.zeros(heads.size, bool)
    for number, values in spaces.items():
        start = starts[number]
        after[start : start + len(values)] = values
        for first, last, _ in sentences[number].multiwords:
            within[start + first - 1 : start + last] = True
    # The line of a range notes the space after it; a note at one of its words is kept as it is.
    alone = misc.equals(conllu.NO_SPACE) & ~within
    [absent] = misc.values.add([ABSENT])
    strings: dict[str, Coded | None] = {name: coded[name] for name in STRINGS}
    strings["misc"] = Coded(misc.values, np.where(alone, absent, misc.codes))
    unmarked = trees & coded["upos"].has_values(starts) & coded["deprels"].has_values(starts)
    return TokenColumns(lengths, strings, heads, None, pa.array(after), unmarked)


def check_strings(columns: Mapping[str, Sequence[str]]) -> None:
    """Raise `Careful` if a value is empty or too long, or a form is no word; `STRINGS` names the columns."""
    for name, values in columns.items():
        sizes = [*map(len, values)]
        if not min(sizes) or (name in _LIMITED and max(sizes) > LIMITS.field_length):
            raise Careful
    forms = columns["forms"]
    if not (RESERVED.isdisjoint(forms) and all(map(str.strip, forms))):
        raise Careful


def heads_of(column: Coded, lengths: Ints, starts: Longs) -> tuple[Ints, Bools]:
    """Return the heads of tokens, and for each sentence whether it has any; raise `Careful` for no tree."""
    heads = _numbers_of(column, lambda head: NO_HEAD if head == ABSENT else HEADS.get(head, _UNREAD))
    given = np.logical_and.reduceat(heads >= 0, starts)
    if not (given | np.logical_and.reduceat(heads == NO_HEAD, starts)).all():
        raise Careful
    roots = np.add.reduceat(heads == 0, starts, dtype=np.int32)
    if (heads > np.repeat(lengths, lengths)).any() or (roots[given] != 1).any():
        raise Careful
    # Index of each token's head among all tokens, from 1; each step doubles the distance to the ancestor.
    up = np.concatenate(([0], np.where(heads > 0, np.repeat(starts, lengths) + heads, 0)))
    for _ in range(int(lengths.max()).bit_length()):
        up = up[up]
    if up.any():
        raise Careful
    return heads, given


def _numbers_of(column: Coded, number: Callable[[str], int]) -> Ints:
    """Return the number of the string in each row, computed once for each distinct string."""
    return np.array([number(string) for string in column.values.strings], np.int32)[column.codes]
