"""Columns of the tokens of many sentences end to end, as the tables of words and trees store them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import pyarrow as pa

from sentgen.arrays import Bools, Ints, Longs
from sentgen.corpus.base_np import NO_HEAD
from sentgen.corpus.sentence import ABSENT, Sentence

NO_NP = -1
#: Columns of a sentence that are strings.
STRINGS = ("forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps", "misc")


Column: TypeAlias = pa.Array | pa.ChunkedArray


def positions_of(lengths: Ints) -> Ints:
    """Return for each token its position in its sentence, from 1; ``lengths`` are tokens by sentence."""
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    return (np.arange(lengths.sum(), dtype=np.int64) - np.repeat(starts, lengths) + 1).astype(np.int32)


class Values:
    """Distinct strings, numbered from 0 in the order in which they were added."""

    def __init__(self, strings: Iterable[str] = ()) -> None:
        self.strings: list[str] = []
        self._numbers: dict[str, int] = {}
        self.add(strings)

    def add(self, strings: Iterable[str]) -> Ints:
        """Add the strings that are new, and return the number of each."""
        known, numbers = self.strings, self._numbers
        positions = []
        for string in strings:
            number = numbers.get(string)
            if number is None:
                number = numbers[string] = len(known)
                known.append(string)
            positions.append(number)
        return np.array(positions, np.int32)

    def number(self, string: str) -> int:
        """Return the number of a string, -1 if it was not added."""
        return self._numbers.get(string, -1)


class Coded(NamedTuple):
    """A dictionary-encoded column: distinct strings, which columns may share, and their number by row."""

    values: Values
    codes: Ints

    @classmethod
    def encode(cls, column: Column) -> Coded:
        """Encode a column of strings."""
        encoded = column.dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        return cls(Values(encoded.dictionary.to_pylist()), encoded.indices.to_numpy())

    def used_values(self) -> tuple[list[str], Ints]:
        """Return the strings of the column in order of first occurrence, and an index into these by row."""
        encoded = pa.array(self.codes).dictionary_encode()
        strings = self.values.strings
        return [strings[code] for code in encoded.dictionary.to_pylist()], encoded.indices.to_numpy()

    def equals(self, string: str) -> Bools:
        """Return for each row whether it has a string."""
        rows: Bools = self.codes == self.values.number(string)
        return rows

    def has_values(self, starts: Longs) -> Bools:
        """Return for each sentence whether it has a value; ``starts`` are the first tokens."""
        sentences: Bools = np.logical_or.reduceat(~self.equals(ABSENT), starts)
        return sentences


@dataclass(frozen=True, slots=True)
class TokenColumns:
    """Columns of sentences; a column that no sentence has is ``None``.

    Attributes:
        lengths: (sentences,) number of tokens.
        strings: the columns named in `STRINGS`, with `_` for no value; a form `_` is the word itself.
        heads: `NO_HEAD` for none.
        nps: numbers of base noun phrases as the source marks them, `NO_NP` where it does not.
        space_after: whether a space follows; null where the source does not say.
        unmarked: (sentences,) whether the sentence has tags and a tree, but no noun phrases marked.
    """

    lengths: Ints
    strings: dict[str, Coded | None]
    heads: Ints | None
    nps: Ints | None
    space_after: Column | None
    unmarked: Bools

    @classmethod
    def join(cls, sentences: Sequence[Sentence]) -> Self:
        """Return the columns of sentences, end to end."""
        lengths = np.array([len(sentence.forms) for sentence in sentences], np.int32)

        def values_of(name: str, missing: object) -> list[object] | None:
            lists = [getattr(sentence, name) for sentence in sentences]
            if all(values is None for values in lists):
                return None
            filled = (
                [missing] * size if values is None else values
                for values, size in zip(lists, lengths.tolist(), strict=True)
            )
            return list(chain.from_iterable(filled))

        strings = {name: values_of(name, ABSENT) for name in STRINGS}
        heads, nps = values_of("heads", NO_HEAD), values_of("nps", NO_NP)
        spaces = values_of("space_after", None)
        return cls(
            lengths,
            {
                n: None if values is None else Coded.encode(pa.array(values, pa.string()))
                for n, values in strings.items()
            },
            None if heads is None else np.array(heads, np.int32),
            None if nps is None else np.array(nps, np.int32),
            None if spaces is None else pa.array(spaces, pa.bool_()),
            np.array([bool(s.nps is None and s.upos and s.heads and s.deprels) for s in sentences], bool),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Concatenate the columns of parts."""
        if len(parts) == 1:
            return parts[0]
        sizes = [int(part.lengths.sum()) for part in parts]

        def bools(columns: Sequence[Column | None]) -> Column | None:
            if all(column is None for column in columns):
                return None
            filled = (
                pa.nulls(n, pa.bool_()) if column is None else column
                for column, n in zip(columns, sizes, strict=True)
            )
            chunks = (column.chunks if isinstance(column, pa.ChunkedArray) else [column] for column in filled)
            # As one chunk, or tables written from the column would be in as many parts.
            joined: Column = pa.concat_arrays(list(chain.from_iterable(chunks)))
            return joined

        def numbers(columns: Sequence[Ints | None], missing: int) -> Ints | None:
            if all(column is None for column in columns):
                return None
            filled = [
                np.full(n, missing, np.int32) if column is None else column
                for column, n in zip(columns, sizes, strict=True)
            ]
            return np.concatenate(filled)

        return cls(
            np.concatenate([part.lengths for part in parts]),
            {name: _concatenate([part.strings[name] for part in parts], sizes) for name in STRINGS},
            numbers([part.heads for part in parts], NO_HEAD),
            numbers([part.nps for part in parts], NO_NP),
            bools([part.space_after for part in parts]),
            np.concatenate([part.unmarked for part in parts]),
        )

    def without_empty(self) -> Self:
        """Return the columns with ``None`` for those without any value."""

        def numbers(column: Ints | None, missing: int) -> Ints | None:
            return None if column is None or (column == missing).all() else column

        # A form `_` is a word like any other, and all forms may be `_`.
        absent = {
            name
            for name, column in self.strings.items()
            if name != "forms" and column is not None and column.equals(ABSENT).all()
        }
        strings = {name: None if name in absent else column for name, column in self.strings.items()}
        heads, nps = numbers(self.heads, NO_HEAD), numbers(self.nps, NO_NP)
        return replace(self, strings=strings, heads=heads, nps=nps)


def _concatenate(columns: Sequence[Coded | None], sizes: Sequence[int]) -> Coded | None:
    """Concatenate columns of these sizes; for a missing one, as many rows have no value."""
    given = [column for column in columns if column is not None]
    if not given:
        return None
    values = given[0].values
    if len(given) == len(columns) and all(column.values is values for column in given):
        return Coded(values, np.concatenate([column.codes for column in given]))
    values, parts = Values(), []
    for column, size in zip(columns, sizes, strict=True):
        strings, codes = ([ABSENT], np.zeros(size, np.int32)) if column is None else column.used_values()
        parts.append(values.add(strings)[codes])
    return Coded(values, np.concatenate(parts))
