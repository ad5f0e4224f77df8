"""Translate strings to their ids in the store, and add new strings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, Table

from sentgen.arrays import Ints, Longs
from sentgen.corpus.token_columns import Coded, Values
from sentgen.corpus.vocabulary import Vocabulary
from sentgen.schema.engine import one_number, register_arrow
from sentgen.schema.store import fetch_arrow, raw

#: Strings of a table up to which all are read at once, which is faster than a query for each batch.
_FEW = 1_000
#: Takes rows for a table.
Append = Callable[[str, pa.Table], None]


class StoredStrings:
    """A vocabulary whose numbers are translated to the ids of a table (`word` or `tag`).

    It is valid for one transaction, as a rollback removes the ids of new strings.

    Args:
        connection: connection for look-ups, which may be replaced by another.
        table, column: table and column of the strings.
        append: receives the rows of new strings.
    """

    def __init__(self, connection: Connection, table: Table, column: str, append: Append) -> None:
        self.connection, self.table, self.column, self._append = connection, table, column, append
        self.vocabulary = Vocabulary()
        self._ids = np.empty(0, np.int32)
        self._next = -1
        #: For strings that columns share, the number of each; -1 before a row had it.
        self._numbers = WeakKeyDictionary[Values, Ints]()

    def encode(self, strings: list[str]) -> Ints:
        """Return the ids of strings."""
        return self.resolve(self.vocabulary.encode(strings))

    def encode_column(self, column: Coded, *, lowercase: bool = False) -> Ints:
        """Return the ids of a column; strings that earlier columns shared are not encoded again."""
        strings = column.values.strings
        numbers = self._numbers.get(column.values, np.empty(0, np.int32))
        if numbers.size < len(strings):
            more = np.full(len(strings) - numbers.size, -1, np.int32)
            numbers = self._numbers[column.values] = np.concatenate((numbers, more))
        ids = numbers[column.codes]
        new = column.codes[ids < 0]
        if new.size:
            # New strings get numbers in the order of their first occurrence.
            codes = pa.array(new).unique().to_numpy()
            numbers[codes] = self.vocabulary.encode(
                [strings[code] for code in codes.tolist()], lowercase=lowercase
            )
            ids = numbers[column.codes]
        return self.resolve(ids)

    def resolve(self, numbers: Ints) -> Ints:
        """Translate numbers of the vocabulary to ids; new strings get the next ids, frequent ones first."""
        known = self._ids.size
        if len(self.vocabulary) > known:
            fresh = self._look_up(known)
            missing = np.flatnonzero(fresh < 0)
            if missing.size:
                # Small ids for frequent words: models sort by the greatest id of an n-gram (docs/design.md).
                frequency = np.bincount(numbers, minlength=len(self.vocabulary))[known:][missing]
                # Stable: equally frequent strings keep the order of the text, so that ids are deterministic.
                missing = missing[np.argsort(-frequency, kind="stable")]
                fresh[missing] = self._add(known, missing)
            self._ids = np.concatenate((self._ids, fresh))
        return self._ids[numbers]

    @cached_property
    def _few(self) -> dict[str, int] | None:
        """All strings of the table with their ids, if they are few, as in a new store; else None."""
        query = f"select {self.column}, id from {self.table.name} limit {_FEW + 1}"
        rows = fetch_arrow(self.connection, query)
        if rows.num_rows > _FEW:
            return None
        return dict(zip(rows[self.column].to_pylist(), rows["id"].to_pylist(), strict=True))

    def _look_up(self, first: int) -> Ints:
        if self._few is not None:
            new = self.vocabulary.strings(first).to_pylist()
            return np.array([self._few.get(string, -1) for string in new], np.int32)
        strings = pa.table({"string": self.vocabulary.strings(first).cast(pa.string())})
        fresh = np.full(strings.num_rows, -1, np.int32)
        strings = strings.append_column("number", pa.array(np.arange(strings.num_rows, dtype=np.int32)))
        query = f"select number, id from _strings join {self.table.name} on {self.column} = string"
        with register_arrow(raw(self.connection), _strings=strings):
            rows = fetch_arrow(self.connection, query)
        fresh[rows["number"].to_numpy()] = rows["id"].to_numpy()
        return fresh

    def _add(self, first: int, missing: Longs) -> Ints:
        if self._next < 0:  # read once, as added rows may not be in the table yet
            highest = f"select coalesce(max(id), -1) + 1 from {self.table.name}"
            self._next = one_number(raw(self.connection), highest)
        ids = np.arange(missing.size, dtype=np.int32) + np.int32(self._next)
        self._next += missing.size
        strings = self.vocabulary.strings(first).take(pa.array(missing)).cast(pa.string())
        self._append(self.table.name, pa.table({"id": pa.array(ids), self.column: strings}))
        return ids
