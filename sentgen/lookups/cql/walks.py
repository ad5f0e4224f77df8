"""Walk along an automaton over arrays of tokens, all begins of a range of sentences at once.

The statement of a query walks by joins: each step builds a table of all tokens anew, and a match of any
length takes as many steps as the longest sentence has tokens. Here DuckDB says of each token, in one scan,
which states it may be read into, a bit each, and a step of all walks together is a look-up and a few
operations on arrays of numbers: a set of states for each begin (Thompson 1968, "Regular expression search
algorithm"), and for each way to place the labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.lookups.statement import Statement
from sentgen.schema.engine import arrow_table, raw

if TYPE_CHECKING:
    import pyarrow as pa

#: Sets of states, of as few bits as hold all of them.
States = npt.NDArray[np.unsignedinteger[Any]]

_BYTE = 8
#: Bits of the position of a token: no document has as many.
_WIDTH = 32


@dataclass(frozen=True, slots=True)
class Walk:
    """An automaton over tokens.

    Args:
        tokens: the statement for its tokens, of whole sentences: ``sentence_id``, ``position``, and
            as sets of states ``read``, in which the token is read; ``begin``, in which a match may begin with
            it; and ``final``, in which one may end with it.
        steps: pairs of states, the second one right after the first.
        labels: column of a label to the states that it stands for.
        starts: the statement for the first sentences of documents, if matches reach over the ends of
            sentences, and all tokens of documents are there; they are numbered here then.
    """

    tokens: Statement
    steps: Sequence[tuple[int, int]]
    labels: Mapping[str, frozenset[int]]
    starts: Statement | None = None

    def spans(self, connection: Connection) -> pa.Table:
        """Return the matches, each with each way to place its labels once.

        The columns are ``sentence_id``, ``first``, ``last``, and those of the labels, null where one stands
        for nothing. Time grows with the tokens of all walks, memory with the tokens and matches.
        """
        found = arrow_table(raw(connection), self.tokens.text, self.tokens.used)
        starts = None if self.starts is None else self.starts.run(connection).column(0).to_numpy()
        return _Walker(self, starts, *(column.to_numpy() for column in found.columns)).spans()


class _Walker:
    """Walks over some tokens; a walk is the number of its first token, states, and the places of labels."""

    def __init__(
        self,
        walk: Walk,
        starts: Longs | None,
        sentences: Longs,
        positions: Ints,
        read: States,
        begin: States,
        final: States,
    ) -> None:
        order = _order(sentences, positions)
        if order is not None:
            sentences, positions, read = sentences[order], positions[order], read[order]
            begin, final = begin[order], final[order]
        if starts is not None:
            sentences, positions = _numbered(sentences, starts)
        self._sentences, self._positions, self._read, self._final = sentences, positions, read, final
        self._begin = read & begin
        # Whether another token of the sentence follows.
        follows = (sentences[1:] == sentences[:-1]) & (positions[1:] - positions[:-1] == 1)
        self._goes_on: Bools = np.append(follows, np.zeros(min(len(read), 1), bool))
        self._follow = _followers(walk.steps, read.dtype)
        self._labels = walk.labels
        self._groups = _groups(walk.labels, read.dtype)

    def spans(self) -> pa.Table:
        """Walk until no walk goes on."""
        import pyarrow as pa

        firsts, lasts, labels = list[Longs](), list[Longs](), list[Ints]()
        first = np.flatnonzero(self._begin)
        states, at = self._begin[first], first
        places = np.zeros((len(first), len(self._labels)), np.int32)
        first, states, places, at = self._labelled(first, states, places, at)
        while len(first):
            ends = (states & self._final[at]) != 0
            firsts.append(first[ends])
            lasts.append(at[ends])
            labels.append(places[ends])
            on = self._goes_on[at]
            first, states, places, at = first[on], states[on], places[on], at[on] + 1
            states = self._followed(states) & self._read[at]
            on = states != 0
            first, states, places, at = first[on], states[on], places[on], at[on]
            first, states, places, at = self._labelled(first, states, places, at)
        begins, ends_at = (np.concatenate([np.zeros(0, np.int64), *one]) for one in (firsts, lasts))
        placed = np.concatenate([places[:0], *labels])
        columns = {
            "sentence_id": pa.array(self._sentences[begins]),
            "first": pa.array(self._positions[begins]),
            "last": pa.array(self._positions[ends_at]),
        }
        for number, name in enumerate(self._labels):
            columns[name] = pa.array(placed[:, number], mask=placed[:, number] == 0)
        return pa.table(columns)

    def _followed(self, states: States) -> States:
        """Return the states that come after any of these."""
        found: States = self._follow[0][states & 255]
        for number, table in enumerate(self._follow[1:], 1):
            found |= table[(states >> states.dtype.type(number * _BYTE)) & 255]
        return found

    def _labelled(
        self, first: Longs, states: States, places: Ints, at: Longs
    ) -> tuple[Longs, States, Ints, Longs]:
        """Part the walks by the labels that stand for the token that they have come to."""
        if not self._labels or not len(first):
            return first, states, places, at
        parts = []
        for columns, group in self._groups:
            some = np.flatnonzero(states & group)
            placed = places[some]
            placed[:, columns] = self._positions[at[some], np.newaxis]
            parts.append((first[some], states[some] & group, placed, at[some]))
        first, states, places, at = (np.concatenate(one) for one in zip(*parts, strict=True))
        # Those that have come to the same by several ways are one.
        order = np.lexsort((*places.T, first))
        first, states, places, at = first[order], states[order], places[order], at[order]
        new = np.append(True, (first[1:] != first[:-1]) | (places[1:] != places[:-1]).any(axis=1))
        kept = np.flatnonzero(new)
        return first[kept], np.bitwise_or.reduceat(states, kept), places[kept], at[kept]


def _order(sentences: Longs, positions: Ints) -> Longs | None:
    """Return the order of tokens, if they do not come in it: the threads of DuckDB take turns."""
    keys = (sentences << _WIDTH) + positions
    # Made for runs that are in order.
    return None if (keys[1:] > keys[:-1]).all() else np.argsort(keys, kind="stable")


def _numbered(sentences: Longs, starts: Longs) -> tuple[Longs, Ints]:
    """Return the first sentences of the documents of tokens, and their numbers in these."""
    begins = np.flatnonzero(np.diff(sentences, prepend=-1))
    documents = starts[np.searchsorted(starts, sentences[begins], "right") - 1]
    first = np.repeat(documents, np.diff(begins, append=len(sentences)))
    of_document = np.flatnonzero(np.diff(first, prepend=-1))
    before = np.repeat(of_document, np.diff(of_document, append=len(first)))
    return first, (np.arange(1, len(first) + 1) - before).astype(np.int32)


def _followers(steps: Iterable[tuple[int, int]], kind: np.dtype[Any]) -> list[States]:
    """Return for each byte of a set of states, and each value of it, the states that come after."""
    tables = [np.zeros(1 << _BYTE, kind) for _ in range(kind.itemsize)]
    values = np.arange(1 << _BYTE)
    for source, target in steps:
        number, bit = divmod(source, _BYTE)
        tables[number][(values >> bit & 1) != 0] |= kind.type(1 << target)
    return tables


def _groups(
    labels: Mapping[str, frozenset[int]], kind: np.dtype[Any]
) -> list[tuple[list[int], np.unsignedinteger[Any]]]:
    """Return the sets of states for which the same labels stand, with the numbers of these."""
    found: dict[tuple[int, ...], int] = {}
    for state in range(kind.itemsize * _BYTE):
        own = tuple(number for number, states in enumerate(labels.values()) if state in states)
        found[own] = found.get(own, 0) | 1 << state
    return [(list(own), kind.type(group)) for own, group in found.items()]
