"""Lakes: stores as Parquet files, which a manifest lists by table and DuckDB opens as views.

    LAKE/manifest.json
    LAKE/word/part=00000-HASH.parquet
    LAKE/ngram_3/part=00000-HASH.parquet
    LAKE/ngram_3/part=00001-HASH.parquet

A file has exactly the columns of its table, in their order (`file_schema`). The files of a table, in the
order of the manifest, have its rows as the store sorts them (`sort_keys`), so that queries can skip row
groups by their minima and maxima. HASH is the beginning of the SHA-256 of the file. Files that the manifest
does not list are ignored, and a table without files is empty. The manifest is written under another name and
renamed when all files are there. Nothing in it depends on the time: the same rows make the same lake.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from sqlalchemy import ARRAY, Column, Engine, event

from sentgen.errors import DamagedError, NotFoundError, StoreError
from sentgen.output.wording import quantity
from sentgen.schema import dictionary
from sentgen.schema.base import OneOf, literal, metadata, quote_identifier
from sentgen.schema.engine import (
    DuckDialect,
    duck_of,
    new_engine,
    settings,
    spill_folder,
    temporary_folder,
    translated_errors,
)
from sentgen.schema.migrate import REVISIONS
from sentgen.schema.places import MANIFEST, Place
from sentgen.schema.tables.fidelity import OF_SENTENCE

if TYPE_CHECKING:
    import pyarrow as pa


#: Version of the layout; lakes of another version are refused.
FORMAT = 1
_DIALECT = DuckDialect()
#: Hexadecimal digits of the hash in the name of a file.
_DIGITS = 16
#: Tables of annotation beyond tokens and trees, to the columns that sort them, sentence first.
_WITHIN = {table.name: ("sentence_id", *names) for table, names in OF_SENTENCE.items()}
#: Paths of files; others are refused, so that no manifest can make DuckDB open files elsewhere.
_NAME = re.compile(r"([a-z][a-z0-9_]*)/part=[0-9]+-([0-9a-f]+)\.parquet")


@dataclass(frozen=True, slots=True)
class LakeFile:
    """One Parquet file of a lake: its path below the lake, rows, size in bytes, and SHA-256."""

    path: str
    rows: int
    bytes: int
    sha256: str

    @staticmethod
    def name_of(table: str, part: int, sha256: str) -> str:
        """Return the path of a file below the lake.

        >>> LakeFile.name_of("word", 3, "0123456789abcdef0000")
        'word/part=00003-0123456789abcdef.parquet'
        """
        return f"{table}/part={part:05d}-{sha256[:_DIGITS]}.parquet"

    @staticmethod
    def hash_in(path: str) -> str:
        """Return the hash in the path of a file; empty if the path is not one of a lake.

        >>> [LakeFile.hash_in(f"{table}/part=00003-0123456789abcdef.parquet") for table in ("word", "year")]
        ['0123456789abcdef', '']
        """
        match = _NAME.fullmatch(path)
        return match[2] if match and match[1] in metadata.tables and len(match[2]) == _DIGITS else ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The list of the files of a lake.

    Attributes:
        tables: name of a table to its files, in the order of their rows.
    """

    tables: Mapping[str, Sequence[LakeFile]]

    @property
    def files(self) -> list[LakeFile]:
        """Return the files of all tables."""
        return [file for name in sorted(self.tables) for file in self.tables[name]]

    def rows(self, table: str) -> int:
        """Return how many rows a table has."""
        return sum(file.rows for file in self.tables.get(table, ()))

    @classmethod
    def read(cls, root: Place) -> Manifest:
        """Read the manifest of a lake.

        Raises:
            NotFoundError: there is no lake.
            StoreError: the manifest is damaged, or of a version that this sentgen does not read.
        """
        if not root.exists(MANIFEST):
            raise NotFoundError(
                f"{root}: no lake here: there is no {MANIFEST}; make one with: sentgen cluster"
            )
        try:
            values = json.loads(root.read(MANIFEST))
            if values["format"] != FORMAT:
                raise StoreError(
                    f"{root}: a lake of format {values['format']}, and this sentgen reads {FORMAT}; "
                    "use the sentgen that made it, or make it again"
                )
            tables = {
                name: tuple(LakeFile(**each) for each in listed) for name, listed in values["tables"].items()
            }
            for name, files in tables.items():
                if name not in metadata.tables or not all(_NAME.fullmatch(file.path) for file in files):
                    raise ValueError(name)
            if values["schema"] != REVISIONS[-1]:
                raise StoreError(
                    f"{root}: a lake with tables of revision {values['schema']}, and this sentgen reads "
                    f"{REVISIONS[-1]}; use the sentgen that made it, or make it again"
                )
            return cls(tables)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"{root}/{MANIFEST}: no manifest of a lake, or damaged; make the lake again"
            ) from error

    def write(self, root: Place) -> None:
        """Write the manifest under another name and rename it, which makes its files the lake."""
        tables = {name: [asdict(file) for file in files] for name, files in self.tables.items() if files}
        values = {"format": FORMAT, "schema": REVISIONS[-1], "tables": tables}
        root.write(MANIFEST, f"{json.dumps(values, indent=1, sort_keys=True)}\n".encode())

    def changed_files(self, lake: Place, table: str) -> list[LakeFile]:
        """Return the files of a table whose hashes differ from the manifest; reads all of them."""
        wrong = []
        for file in self.tables.get(table, ()):
            with translated_errors(Path(lake.path(file.path))), lake.open(file.path) as opened:
                if hashlib.file_digest(opened, "sha256").hexdigest() != file.sha256:  # type: ignore[arg-type]
                    wrong.append(file)
        return wrong

    def rows_of(self, lake: Place, name: str) -> str:
        """Return the query for the rows of a table; it yields none if the table has no files."""
        files = self.tables.get(name, ())
        columns = metadata.tables[name].columns
        if not files:
            nothing = ", ".join(f"null::{_type_in_sql(c)} as {quote_identifier(c.name)}" for c in columns)
            return f"select {nothing} where false"
        listed = ", ".join(literal(lake.path(file.path)) for file in files)
        # Columns are named, so that a file without one is refused at the opening, not within a command.
        chosen = ", ".join(quote_identifier(c.name) for c in columns)
        return f"select {chosen} from read_parquet([{listed}], hive_partitioning = false)"

    def create_views(self, duck: duckdb.DuckDBPyConnection, lake: Place) -> None:
        """Create views for all tables of the store, and the views of the store, in an empty database.

        Raises:
            DamagedError: a file is missing, or its size differs from that in the manifest.
        """
        _require_files(lake, self)
        if lake.files is not None:
            duck.register_filesystem(lake.files)
        # The files never change, so that DuckDB can keep the metadata of their row groups.
        duck.execute("set parquet_metadata_cache = true")
        for name in metadata.tables:
            try:
                duck.execute(f"create view {name} as {self.rows_of(lake, name)}")
            except duckdb.Error as error:
                raise DamagedError(
                    f"{lake.path(name)}: not what was written, or not there ({str(error).splitlines()[0]}); "
                    "copy the lake again, or make it again"
                ) from error
        version = f"select '{REVISIONS[-1]}' as version_num"
        duck.execute(f"create view {dictionary.VERSION_TABLE} as {version}")
        for view in dictionary.views():
            duck.execute(view.sql)

    def lock(self, duck: duckdb.DuckDBPyConnection, lake: Place) -> None:
        """Restrict a database with the views of a lake to the files of the lake, irrevocably."""
        listed = ", ".join(literal(lake.path(file.path)) for file in self.files)
        duck.execute(f"set allowed_paths = [{listed}]")
        duck.execute("set enable_external_access = false")
        duck.execute("set lock_configuration = true")


def _type_in_sql(column: Column[Any]) -> str:
    return "varchar" if isinstance(column.type, OneOf) else column.type.compile(_DIALECT)


def file_schema(table: str) -> pa.Schema:
    """Return the names and types of the columns in the files of a table, as in the store."""
    import pyarrow as pa

    types: dict[str, pa.DataType] = {
        "INTEGER": pa.int32(),
        "SMALLINT": pa.int16(),
        "BIGINT": pa.int64(),
        "VARCHAR": pa.string(),
        "BOOLEAN": pa.bool_(),
        "REAL": pa.float32(),
        "DOUBLE": pa.float64(),
        "DATETIME": pa.timestamp("us"),
    }

    def arrow_type(kind: object) -> pa.DataType:
        if isinstance(kind, ARRAY):
            return pa.list_(arrow_type(kind.item_type))
        return pa.string() if isinstance(kind, OneOf) else types[str(kind)]

    columns = metadata.tables[table].columns
    return pa.schema([pa.field(c.name, arrow_type(c.type), c.nullable is not False) for c in columns])


def sort_keys(table: str) -> tuple[str, ...]:
    """Return the columns that sort the rows of a table, nulls last; empty for a small table.

    Layers and levels have few values: the store has them in the order of counting, which need not be kept.

    >>> sort_keys("ngram_2"), sort_keys("word")
    (('segment_id', 'w1', 'w2'), ('id',))
    """
    names = tuple(column.name for column in metadata.tables[table].columns)
    if "segment_id" in names:
        return tuple(name for name in names if name != "count")
    if table == "model_ngram":
        return tuple(name for name in names if name not in ("logp", "backoff"))
    if table in ("token", "multiword"):
        return ("sentence_id", "position" if table == "token" else "first")
    if table in _WITHIN:
        return _WITHIN[table]
    return ("id",) if "id" in names else ()


def open_engine(lake: Place, *, memory_limit: int, threads: int | None = None) -> Engine:
    """Open a lake for reading, until the engine is disposed of.

    Queries beyond the memory limit write temporary files: beside a local lake, else in the temporary folder.

    Raises:
        NotFoundError: there is no lake.
        StoreError: the lake is of another version, or a file of its manifest is missing.
    """
    manifest = Manifest.read(lake)
    local = lake.files is None
    spill = spill_folder(Path(lake.root)) if local else temporary_folder(Path(Path(lake.root).name))
    engine = new_engine(
        None,
        {**settings(memory_limit, threads), "temp_directory": str(spill)},
        read_only=True,
        memory_limit=memory_limit,
    )
    event.listen(engine, "connect", lambda wrapped, _: manifest.create_views(duck_of(wrapped), lake))
    try:
        with engine.connect():
            return engine
    except BaseException:
        engine.dispose()
        raise


def _require_files(lake: Place, manifest: Manifest) -> None:
    """Compare the sizes of local files with the manifest; DuckDB reports missing files of a bucket."""
    if lake.files is not None:
        return
    for file in manifest.files:
        path = Path(lake.path(file.path))
        try:
            size = path.stat().st_size
        except OSError as error:
            raise DamagedError(
                f"{path}: the lake's manifest names this file, and it cannot be read "
                f"({error.strerror or error}); copy the lake again, or make it again"
            ) from error
        if size != file.bytes:
            raise DamagedError(
                f"{path}: {quantity(size, 'byte')}, and the lake's manifest says {file.bytes:,}; "
                "copy the lake again, or make it again"
            )
