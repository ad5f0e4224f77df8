"""The layout of a lake: a manifest, and for each table of the store Parquet files that it names.

    LAKE/manifest.json
    LAKE/word/part=00000-HASH.parquet
    LAKE/ngram_3/part=00000-HASH.parquet
    LAKE/ngram_3/part=00001-HASH.parquet

A file has exactly the columns of its table, in their order (`file_schema`), and the files of a table in the
order of the manifest have its rows as the store sorts them (`sort_keys`), so that the minima and maxima of
row groups prune. HASH is the beginning of the SHA-256 of the file. What the manifest does not name does not
exist: a table without files is empty. The manifest is written aside and renamed when all files are there.
Nothing in it depends on the time: the same rows make the same lake.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import ARRAY

from sentgen.errors import NotFoundError, StoreError
from sentgen.schema.base import OneOf, metadata
from sentgen.schema.engine import translated_errors
from sentgen.schema.lakes.places import MANIFEST as MANIFEST
from sentgen.schema.lakes.places import Place
from sentgen.schema.migrate import REVISIONS
from sentgen.schema.tables.fidelity import OF_SENTENCE

if TYPE_CHECKING:
    import pyarrow as pa

#: Version of the layout; another one is refused.
FORMAT = 1
#: Digits of the hash that are part of the name of a file.
_DIGITS = 16
#: Tables of what sources say beyond tokens and trees, sorted by sentence.
_WITHIN = {table.name: ("sentence_id", *names) for table, names in OF_SENTENCE.items()}
#: No other name is opened: a manifest from elsewhere must not reach other files.
_NAME = re.compile(r"([a-z][a-z0-9_]*)/part=[0-9]+-([0-9a-f]+)\.parquet")


@dataclass(frozen=True, slots=True)
class LakeFile:
    """One Parquet file of a lake: its path below the lake, rows, size in bytes, and SHA-256."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a lake holds.

    Attributes:
        tables: table of the store to its files, in the order of their rows.
        schema: revision of the tables.
        format: version of the layout.
    """

    tables: Mapping[str, Sequence[LakeFile]]
    schema: str = REVISIONS[-1]
    format: int = field(default=FORMAT)

    @property
    def files(self) -> list[LakeFile]:
        """Return the files of all tables."""
        return [file for name in sorted(self.tables) for file in self.tables[name]]

    def rows(self, table: str) -> int:
        """Return how many rows a table has."""
        return sum(file.rows for file in self.tables.get(table, ()))


def file_name(table: str, part: int, sha256: str) -> str:
    """Return the path of a file below the lake.

    >>> file_name("word", 3, "0123456789abcdef0000")
    'word/part=00003-0123456789abcdef.parquet'
    """
    return f"{table}/part={part:05d}-{sha256[:_DIGITS]}.parquet"


def hash_in(path: str) -> str:
    """Return the hash in the path of a file, or nothing if no file of a lake is called so.

    >>> [hash_in(f"{table}/part=00003-0123456789abcdef.parquet") for table in ("word", "year")]
    ['0123456789abcdef', '']
    """
    match = _NAME.fullmatch(path)
    return match[2] if match and match[1] in metadata.tables and len(match[2]) == _DIGITS else ""


def file_schema(table: str) -> pa.Schema:
    """Return the columns of the files of a table: names and types of the store, in its order."""
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
    """Return the columns that the rows of a large table are sorted by, nulls last; empty for a small one.

    Layers and levels are few: a store has them in the order in which it counted, and any order will do.

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


def is_lake(root: Place) -> bool:
    """Say whether there is a manifest."""
    return root.exists(MANIFEST)


def read_manifest(root: Place) -> Manifest:
    """Return what a lake holds.

    Raises:
        NotFoundError: there is no lake.
        StoreError: its manifest is damaged, or of a version that this sentgen does not read.
    """
    if not is_lake(root):
        raise NotFoundError(f"{root}: no lake here: there is no {MANIFEST}; make one with: sentgen cluster")
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
        return Manifest(tables, str(values["schema"]), FORMAT)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{root}/{MANIFEST}: no manifest of a lake, or damaged; make the lake again"
        ) from error


def write_manifest(root: Place, manifest: Manifest) -> None:
    """Write the manifest aside and rename it into place; with it, the lake is what it says."""
    tables = {name: [asdict(file) for file in files] for name, files in manifest.tables.items() if files}
    values = {"format": manifest.format, "schema": manifest.schema, "tables": tables}
    root.write(MANIFEST, f"{json.dumps(values, indent=1, sort_keys=True)}\n".encode())


def changed_files(lake: Place, manifest: Manifest, table: str) -> list[LakeFile]:
    """Return the files of a table that are not what was written; reads all of them."""
    wrong = []
    for file in manifest.tables.get(table, ()):
        with translated_errors(Path(lake.path(file.path))), lake.open(file.path) as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != file.sha256:  # type: ignore[arg-type]
                wrong.append(file)
    return wrong
