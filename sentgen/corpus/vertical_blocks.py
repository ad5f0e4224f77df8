"""Vertical files in blocks, without a Python object per token, as `treebank_blocks` reads CoNLL-U.

A block in which anything may be wrong takes the slow path through the `vertical` reader instead, which says
what: both paths store the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sentgen.arrays import Bools, Longs
from sentgen.corpus.readers._columns import Carried
from sentgen.corpus.readers._named_columns import UNSAID, NamedColumns, is_space
from sentgen.corpus.readers._tags import decoded
from sentgen.corpus.readers._vertical_pieces import GLUED, Piece, Pieces
from sentgen.corpus.readers.vertical import notes_on, read_piece
from sentgen.corpus.sentence import ABSENT, Sentence
from sentgen.corpus.sources import LineReader
from sentgen.corpus.token_columns import STRINGS, Column, TokenColumns
from sentgen.corpus.treebank_blocks import (
    Careful,
    TreebankBlock,
    check_strings,
    heads_of,
    split_rows,
    values_of,
)
from sentgen.corpus.validation import InputLimits
from sentgen.errors import Rejection

_UNSAID = pa.array(sorted(UNSAID - {ABSENT}))


def read_blocks(
    reader: LineReader, *, columns: str | None = None, sentences: str | None = None
) -> Iterator[TreebankBlock | Sentence | Rejection]:
    """Yield the sentences of a vertical file, as blocks wherever nothing in them is refused."""
    pieces, carried = Pieces(reader.source.name, reader.limits, columns, sentences), Carried()
    for line, block in reader.whole_lines():
        yield from _read(pieces.of(block, line), pieces, carried)
    yield from _read(pieces.end(), pieces, carried)
    reader.notes += notes_on(pieces)


def _read(
    found: Sequence[Piece], pieces: Pieces, carried: Carried
) -> Iterator[TreebankBlock | Sentence | Rejection]:
    if not found:
        return
    try:
        block = _block(found, pieces.columns, pieces.limits)
    except (Careful, pa.ArrowInvalid):
        for piece in found:
            yield from read_piece(piece, pieces, carried)
        return
    # What was carried to the first sentence ends there.
    list(carried.give(block.sentences[0], block.sentences[:1]))
    yield block


def _block(found: Sequence[Piece], columns: NamedColumns, limits: InputLimits) -> TreebankBlock:
    lengths = np.array([piece.size for piece in found], np.int32)
    if lengths.max() > limits.sentence_tokens:
        raise Careful
    text = b"\n".join(part for piece in found for _, part in piece.parts)
    table = split_rows(text, columns.names)
    if table.num_rows != lengths.sum():
        raise Careful
    named = [table[name].combine_chunks() for name in columns.names]
    after = np.ones(table.num_rows, bool)
    if GLUED in text:
        glued = pc.ends_with(named[-1], GLUED.decode())
        after = ~np.asarray(glued)
        named[-1] = pc.if_else(glued, pc.replace_substring(named[-1], GLUED.decode(), ""), named[-1])
    if b"&" in text:
        named = [_decoded(column) for column in named]
    plain = dict(enumerate(named))
    for number in plain.keys() - {columns.word, columns.spaces}:
        if b"__UNDEF__" in text or not pc.min(pc.binary_length(plain[number])).as_py():
            plain[number] = _plain(plain[number])
    read = {field: plain[number] for field, number in columns.fields.items()}
    strings: dict[str, Column | None] = {name: read.get(name) for name in STRINGS}
    check_strings(read, limits)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    heads, trees = None, np.zeros(lengths.size, bool)
    if "heads" in read:
        heads, trees = heads_of(read["heads"], lengths, starts)
    strings["misc"] = _misc([(name, plain[number]) for name, number in columns.others])
    if columns.spaces is not None:
        after &= values_of(named[columns.spaces], is_space).astype(bool)
    for start, piece in zip(starts.tolist(), found, strict=True):
        for token in piece.glued:
            after[start + token] = False
    for name in ("upos", "deprels"):
        trees = trees & _said(strings[name], starts)
    sentences = [piece.sentence for piece in found]
    return TreebankBlock(sentences, TokenColumns(lengths, strings, heads, None, pa.array(after), trees))


def _decoded(column: pa.Array) -> pa.Array:
    """Return a column with its entities decoded."""
    # Its bytes are looked through before its rows are.
    buffer = column.buffers()[2]
    if buffer is None or b"&" not in buffer.to_pybytes():
        return column
    found = pc.match_substring(column, "&")
    values = [decoded(value) for value in column.filter(found).to_pylist()]
    return pc.replace_with_mask(column, found, pa.array(values, pa.string()))


def _plain(column: pa.Array) -> pa.Array:
    """Return a column with `_` for all that is no value."""
    unsaid = pc.is_in(column, _UNSAID)
    return pc.if_else(unsaid, ABSENT, column) if pc.any(unsaid).as_py() else column


def _said(column: Column | None, starts: Longs) -> Bools:
    """Say in which sentences a column has a value."""
    if column is None:
        return np.zeros(starts.size, bool)
    found: Bools = np.logical_or.reduceat(np.asarray(pc.not_equal(column, ABSENT)), starts)
    return found


def _misc(columns: Sequence[tuple[str, pa.Array]]) -> pa.Array | None:
    """Return MISC, as `_named_columns.misc_of` makes it."""
    pairs = []
    for name, column in columns:
        unsaid = pc.equal(column, ABSENT)
        if pc.all(unsaid).as_py():
            continue
        pair = column
        if name:
            pair = pc.replace_substring(pc.replace_substring(column, "\\", "\\\\"), "|", "\\p")
        pair = pc.binary_join_element_wise(f"|{name}=" if name else "|", pair, "")
        pairs.append(pc.if_else(unsaid, "", pair))
    if not pairs:
        return None
    joined = pc.binary_join_element_wise(*pairs, "")
    return pc.if_else(pc.equal(joined, ""), ABSENT, pc.utf8_slice_codeunits(joined, 1))
