"""Tables in memory of any library: each is written to a Parquet file once, which is then read as a source.

Objects with Arrow's PyCapsule interface are read as its stream: data frames of pandas and Polars, tables and
readers of PyArrow, relations of DuckDB. Data sets of Hugging Face and lists of dicts are read in parts, so
that in addition to the table only a part is in memory.

The hash of a table is over its values, and independent of the library and of the division into parts.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from sentgen import temporary
from sentgen.corpus.sources import TABLE, Source
from sentgen.corpus.tables import as_text, read_parquet
from sentgen.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows of a part.
_ROWS = 4096
#: Name of the column that pandas makes from an index without a name.
_INDEX = re.compile(r"__index_level_\d+__")


class _ArrowStream(Protocol):
    """An object that can be read as a stream of Arrow: a data frame, table or relation."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


#: A table in memory; a data set of Hugging Face is an iterable of mappings, too.
Tabular = _ArrowStream | Iterable[Mapping[str, object]]


def is_table(given: object) -> TypeGuard[Tabular]:
    """Return whether an object is a table in memory; of a list, its first member decides.

    Raises:
        InputError: the object is a dict, which may be of tables, or of columns.
    """
    if isinstance(given, Mapping):
        named = ", ".join(repr(str(key)) for key in [*given][:3])
        raise InputError(
            f"a dict is no table; give one of its values ({named}), or a list of dicts, a row each"
        )
    if isinstance(given, Sequence):
        return bool(given) and isinstance(given[0], Mapping)
    return _has(given, "__arrow_c_stream__") or _has(given, "__arrow_c_array__") or _comes_in_parts(given)


def _has(given: object, method: str) -> bool:
    return callable(getattr(given, method, None))


def _comes_in_parts(given: object) -> bool:
    return _has(given, "with_format") and _has(given, "iter")


class _Sink(io.RawIOBase):
    """The output stream of Parquet, which writes to a spool file."""

    def __init__(self, spool: temporary.Spool) -> None:
        self.spool = spool

    def writable(self) -> bool:
        return True

    def write(self, block: Any, /) -> int:
        return self.spool.write(block)


def source_of(table: Tabular, name: str) -> Source:
    """Return a source with the rows of a table, under a name.

    Raises:
        InputError: the table has no name, or cannot be written: a column has values of several kinds.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not name.strip() or not name.isprintable():
        raise InputError("a table needs a name of printable characters; give `table_name`")
    path = f"{TABLE}{name}"
    spool = temporary.Spool()
    with _errors_of(table, path):
        schema, batches = _read(table, path)
        chosen = [at for at, column in enumerate(schema.names) if not _INDEX.fullmatch(column)]
        plain = pa.schema(
            [pa.field(schema.field(at).name, _plain(schema.field(at).type)) for at in chosen], schema.metadata
        )
        size = 0
        with pq.ParquetWriter(pa.PythonFile(_Sink(spool), mode="w"), plain) as writer:
            for batch in batches:
                size += batch.num_rows
                columns = [
                    _cast(batch.column(at), field.type, field.name, path)
                    for at, field in zip(chosen, plain, strict=True)
                ]
                writer.write_batch(pa.record_batch(columns, schema=plain))
    if not size:
        raise InputError("is a table without a row", path=path)
    with open(spool.path, "rb") as file:
        file.seek(0, io.SEEK_END)
        return Source(path, spool.path, file.tell(), digest=_digest(spool.path, path), _spool=spool)


def _digest(file_path: str, path: str) -> str:
    """Return the hash of the column names, and of the values of each row as they are read."""
    digest = hashlib.sha256()
    with open(file_path, "rb") as file:
        table = read_parquet(file, path=path)
        digest.update(json.dumps(table.columns).encode())
        for row in table.rows:
            digest.update(json.dumps(row.values, default=as_text).encode())
    return digest.hexdigest()


def _read(table: Tabular, path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    import pyarrow as pa

    if _has(table, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(table)
        return reader.schema, iter(reader)
    if _has(table, "__arrow_c_array__"):
        batch = pa.record_batch(table)
        return batch.schema, iter([batch])
    if _comes_in_parts(table):
        parts = iter(table.with_format("arrow").iter(_ROWS))  # type: ignore[union-attr]
        first = next(parts, None)
        if first is None:
            raise InputError("is a table without a row", path=path)
        # A filtered data set has the names of its labels only in this schema.
        declared = getattr(getattr(table, "features", None), "arrow_schema", first.schema)
        schema = first.schema.with_metadata(declared.metadata)
        return schema, (batch for part in chain([first], parts) for batch in part.to_batches())
    rows = list(table)  # type: ignore[arg-type]
    return _parts_of(rows, path)


def _parts_of(rows: Sequence[Mapping[str, object]], path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the schema with the columns of all rows, and the rows in parts."""
    import pyarrow as pa

    names: dict[str, None] = {}
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping) or not all(isinstance(key, str) for key in row):
            raise InputError("is no dict with names of columns", path=path, line=number)
        names.update(dict.fromkeys(row))
    parts = [rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS)]
    kinds = (
        pa.schema([(name, pa.infer_type([row.get(name) for row in part])) for name in names])
        for part in parts
    )
    schema = next(kinds)
    for part_schema in kinds:
        schema = pa.unify_schemas([schema, part_schema], promote_options="permissive")
    arrays = ([pa.array([row.get(f.name) for row in part], f.type) for f in schema] for part in parts)
    return schema, (pa.record_batch(columns, schema=schema) for columns in arrays)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type of Parquet for the same values."""
    import pyarrow as pa
    import pyarrow.types as of

    if isinstance(kind, pa.BaseExtensionType):
        return _plain(kind.storage_type)
    if of.is_dictionary(kind) or of.is_run_end_encoded(kind):
        return _plain(kind.value_type)
    if of.is_null(kind) or of.is_string(kind) or of.is_string_view(kind):
        return pa.large_string()
    if of.is_binary_view(kind):
        return pa.large_binary()
    lists = (of.is_list, of.is_large_list, of.is_fixed_size_list, of.is_list_view, of.is_large_list_view)
    if any(is_one(kind) for is_one in lists):
        return pa.large_list(_plain(kind.value_type))
    return kind


def _cast(column: pa.Array, kind: pa.DataType, name: str, path: str) -> pa.Array:
    import pyarrow as pa

    try:
        return column if column.type.equals(kind) else column.cast(kind)
    except pa.ArrowException as error:
        reason = str(error).split("\n")[0]
        raise InputError(f"the column {name!r} cannot be read ({reason}); make it text", path=path) from error


@contextmanager
def _errors_of(table: object, path: str) -> Iterator[None]:
    """Convert errors on a table to one line, with the row and the value if one is of another type."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError, TypeError) as error:
        rows = table.to_dict("records") if _has(table, "to_dict") else table  # type: ignore[attr-defined]
        if isinstance(rows, list) and (wrong := _other_kind(rows)):
            row, message = wrong
            raise InputError(message, path=path, line=row) from error
        raise InputError(f"is no table that can be read: {str(error).splitlines()[0]}", path=path) from error


def _other_kind(rows: Iterable[Mapping[str, object]]) -> tuple[int, str] | None:
    """Return the first row with a value of another type than the rows before it, and a description of it."""
    kinds: dict[tuple[str, int], str] = {}
    for number, row in enumerate(rows, 1):
        for name, value in row.items():
            for depth, leaf in _leaves(value, 0):
                kind = _kind(leaf)
                known = kinds.setdefault((name, depth), kind)
                if known != kind or any((name, other) in kinds for other in range(4) if other != depth):
                    message = f"the column {name!r} has {leaf!r} here, and {known} before; make it one kind"
                    return number, message
    return None


def _leaves(value: object, depth: int) -> Iterator[tuple[int, object]]:
    """Yield the values of a list, or of lists in it, with their depth."""
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray":
        for item in value:  # type: ignore[attr-defined]
            yield from _leaves(item, depth + 1)
    elif value is not None and value == value:
        yield depth, value


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "truth values"
    if isinstance(value, (int, float)):
        return "numbers"
    return {"str": "texts", "dict": "dicts"}.get(type(value).__name__, type(value).__name__)
