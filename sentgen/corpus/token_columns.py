"""The columns of many sentences end to end, a value a token: what is stored of words and trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sentgen.arrays import Bools, Ints
from sentgen.corpus.base_np import NO_HEAD
from sentgen.corpus.sentence import ABSENT, Sentence

NO_NP = -1
#: Columns of a sentence that are strings.
STRINGS = ("forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps", "misc")


Column: TypeAlias = pa.Array | pa.ChunkedArray


def positions_of(lengths: Ints) -> Ints:
    """Return 1, 2, ... for the tokens of each sentence."""
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    return (np.arange(lengths.sum(), dtype=np.int64) - np.repeat(starts, lengths) + 1).astype(np.int32)


class Coded(NamedTuple):
    """A column as the different values in the order of their first occurrence, and which one each row has."""

    values: list[str]
    codes: Ints

    @classmethod
    def of(cls, column: Column) -> Coded:
        """Find the different values of a column."""
        encoded = pc.dictionary_encode(column)
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        return cls(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())


@dataclass(frozen=True, slots=True)
class TokenColumns:
    """Columns of sentences; one that none of them has is ``None``.

    Attributes:
        lengths: (sentences,) tokens of each.
        strings: those of `STRINGS`, with `_` for no value; of forms, which there always are, it is the word.
        heads: `NO_HEAD` for none.
        nps: numbers of base noun phrases as the source marks them, `NO_NP` where it does not.
        space_after: null where it is not known.
        unmarked: (sentences,) whether each has tags and a tree, but no noun phrases marked.
    """

    lengths: Ints
    strings: dict[str, Column | None]
    heads: Ints | None
    nps: Ints | None
    space_after: Column | None
    unmarked: Bools

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Self:
        """Join the columns of sentences."""
        lengths = np.array([len(sentence.forms) for sentence in sentences], np.int32)

        def joined(name: str, missing: object) -> list[object] | None:
            lists = [getattr(sentence, name) for sentence in sentences]
            if all(values is None for values in lists):
                return None
            filled = (
                [missing] * size if values is None else values
                for values, size in zip(lists, lengths.tolist(), strict=True)
            )
            return list(chain.from_iterable(filled))

        strings = {name: joined(name, ABSENT) for name in STRINGS}
        heads, nps, spaces = joined("heads", NO_HEAD), joined("nps", NO_NP), joined("space_after", None)
        return cls(
            lengths,
            {name: None if one is None else pa.array(one, pa.string()) for name, one in strings.items()},
            None if heads is None else np.array(heads, np.int32),
            None if nps is None else np.array(nps, np.int32),
            None if spaces is None else pa.array(spaces, pa.bool_()),
            np.array([bool(s.nps is None and s.upos and s.heads and s.deprels) for s in sentences], bool),
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put parts one after the other."""
        if len(parts) == 1:
            return parts[0]
        sizes = [int(part.lengths.sum()) for part in parts]

        def arrow(columns: Sequence[Column | None], missing: str | pa.Scalar) -> Column | None:
            if all(column is None for column in columns):
                return None
            filled = (
                pa.repeat(missing, n) if one is None else one for one, n in zip(columns, sizes, strict=True)
            )
            joined: Column = pa.chunked_array(list(chain.from_iterable(map(_chunks, filled))))
            return joined

        def numbers(columns: Sequence[Ints | None], missing: int) -> Ints | None:
            if all(column is None for column in columns):
                return None
            filled = [
                np.full(n, missing, np.int32) if one is None else one
                for one, n in zip(columns, sizes, strict=True)
            ]
            return np.concatenate(filled)

        return cls(
            np.concatenate([part.lengths for part in parts]),
            {name: arrow([part.strings[name] for part in parts], ABSENT) for name in STRINGS},
            numbers([part.heads for part in parts], NO_HEAD),
            numbers([part.nps for part in parts], NO_NP),
            arrow([part.space_after for part in parts], pa.scalar(None, pa.bool_())),
            np.concatenate([part.unmarked for part in parts]),
        )

    def cut(self, first: int, end: int) -> Self:
        """Return the sentences from ``first`` up to ``end``, without columns that say nothing of them."""
        begin, size = int(self.lengths[:first].sum()), int(self.lengths[first:end].sum())

        def numbers(column: Ints | None, missing: int) -> Ints | None:
            part = None if column is None else column[begin : begin + size]
            return None if part is None or (part == missing).all() else part

        return type(self)(
            self.lengths[first:end],
            {
                # Of forms `_` is a word like any other, and all of them may be it.
                name: None if column is None else _part(column, begin, size, whole=name == "forms")
                for name, column in self.strings.items()
            },
            numbers(self.heads, NO_HEAD),
            numbers(self.nps, NO_NP),
            None if self.space_after is None else self.space_after.slice(begin, size),
            self.unmarked[first:end],
        )


def _part(column: Column, begin: int, size: int, *, whole: bool) -> Column | None:
    """Return part of a column, or ``None`` if it says nothing, and need not be ``whole``."""
    part = column.slice(begin, size)
    return part if whole or not pc.all(pc.equal(part, ABSENT)).as_py() else None


def _chunks(column: Column) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]
