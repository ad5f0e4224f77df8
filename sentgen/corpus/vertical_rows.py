"""The different lines of a vertical file, each looked at once: what a tag is, and the columns of a token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sentgen.arrays import Bools, Bytes, Ints
from sentgen.corpus.readers._named_columns import UNSAID, is_space
from sentgen.corpus.readers._tags import LONGEST, Tag, decoded
from sentgen.corpus.readers._vertical_pieces import ASIDE, DOCUMENTS, GLUE, GLUED, Pieces
from sentgen.corpus.sentence import ABSENT
from sentgen.corpus.token_columns import Coded, Values
from sentgen.corpus.treebank_blocks import Careful, check_strings, split_rows
from sentgen.corpus.vocabulary import Vocabulary

#: Kinds of lines: a token; nothing; `<g/>`; a tag of a region; a tag where a sentence begins, one that ends
#: it, one that begins it and says something of it; and what only `Pieces` knows how to take.
TOKEN, NOTHING, GLUES, TELLS, BEGINS, ENDS, SAYS, OTHER = range(8)
_UNSAID = pa.array(sorted(UNSAID - {ABSENT}))


class DistinctRows:
    """The different lines of a file.

    Args:
        pieces: knows the columns of the file, and what its tags are.

    Attributes:
        kinds: (different lines,) what each is.
        tags: those of sentences and regions, by the number of their line.
    """

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.kinds: Bytes = np.empty(0, np.uint8)
        self.tags: dict[int, Tag] = {}
        self._lines = Vocabulary()
        columns = pieces.columns
        names = [*columns.fields, *(["misc"] if columns.others else [])]
        #: The different values of each column, and the number of that of each line.
        self._values = {name: Values() for name in names}
        self._codes = {name: np.empty(0, np.int32) for name in names}
        self._spaces = np.empty(0, bool)

    def __len__(self) -> int:
        return len(self._lines)

    def number(self, text: bytes) -> Ints:
        """Return the number of each line of a text.

        Raises:
            Careful: something may be wrong in one of them; then all are to be forgotten.
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

    def _take(self, lines: Sequence[str], first: int) -> None:
        """Take lines that are new, whose numbers begin with this one."""
        kinds = np.zeros(len(lines), np.uint8)
        for at, line in enumerate(lines):
            if not line or line[0] == "<":
                kinds[at] = self._kind(line, first + at)
        tokens = kinds == TOKEN
        read, after = self._read([line for line, one in zip(lines, tokens.tolist(), strict=True) if one])
        for name, values in read.items():
            codes = np.zeros(len(lines), np.int32)
            codes[tokens] = self._values[name].add(values)
            self._codes[name] = np.concatenate((self._codes[name], codes))
        spaces = np.ones(len(lines), bool)
        spaces[tokens] = after
        self._spaces = np.concatenate((self._spaces, spaces))
        self.kinds = np.concatenate((self.kinds, kinds))

    def _kind(self, line: str, number: int) -> int:
        """Say what a line is that is blank or begins as a tag does."""
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

    def _read(self, lines: Sequence[str]) -> tuple[dict[str, Sequence[str]], Bools]:
        """Split tokens into columns; return these, and whether a space follows each."""
        columns = self.pieces.columns
        after = np.ones(len(lines), bool)
        if not lines:
            return dict.fromkeys(self._values, ()), after
        text = "\n".join(lines).encode()
        table = split_rows(text, columns.names)
        if table.num_rows != len(lines):
            raise Careful
        named = [table[name].combine_chunks() for name in columns.names]
        if GLUED in text:
            glued = pc.ends_with(named[-1], GLUED.decode())
            after = ~np.asarray(glued)
            named[-1] = pc.if_else(glued, pc.replace_substring(named[-1], GLUED.decode(), ""), named[-1])
        if b"&" in text:
            named = [_decoded(column) for column in named]
        plain = [
            column if number in (columns.word, columns.spaces) else _plain(column)
            for number, column in enumerate(named)
        ]
        read: dict[str, Sequence[str]] = {
            field: plain[number].to_pylist() for field, number in columns.fields.items()
        }
        check_strings(read, self.pieces.limits)
        if columns.others:
            read["misc"] = _misc([(name, plain[number]) for name, number in columns.others])
        if columns.spaces is not None:
            after &= np.array([*map(is_space, named[columns.spaces].to_pylist())], bool)
        return read, after


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


def _misc(columns: Sequence[tuple[str, pa.Array]]) -> list[str]:
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
        return [ABSENT] * len(columns[0][1])
    joined = pc.binary_join_element_wise(*pairs, "")
    values: list[str] = pc.if_else(
        pc.equal(joined, ""), ABSENT, pc.utf8_slice_codeunits(joined, 1)
    ).to_pylist()
    return values
