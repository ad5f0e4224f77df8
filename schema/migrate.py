"""Upgrade a store to the current revision of the schema, or refuse it with the reason.

Opening a current store costs two small queries; only an upgrade imports Alembic. Files that are no stores are
refused before DuckDB opens them: for SQLite, it would look for an extension on the network, and it opens CSV,
JSON and Parquet as views of a database in memory, so that all changes would be lost.
"""

from __future__ import annotations

import codecs
import os
import shutil
import stat
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

from sqlalchemy import Connection, Engine, insert, text
from sqlalchemy.schema import CreateTable

from sentgen.errors import DamagedError, NotFoundError, StoreError, spell
from sentgen.schema import dictionary, folders
from sentgen.schema.base import metadata
from sentgen.schema.durability import block_journal, write_lock
from sentgen.schema.engine import (
    default_memory_limit,
    explain,
    one_thread,
    open_engine,
    raw,
    translated_errors,
)
from sentgen.schema.manifests import place_of, refuse_snapshot
from sentgen.schema.places import lake_at
from sentgen.schema.tables.corpus import RESERVED_TAGS, RESERVED_WORDS, tag, word
from sentgen.system.files import replace, sync_folder

_HEAD = 4096
_STORE = "choose another {db}"
_INGEST = "sentgen ingest reads such files into a store, which {db} names"
_DESK = "give the store that it belongs to with {db}, and the desk with {desk}"
#: Kinds of files: offset of a mark, the mark, the kind, and the advice to the user; the first match counts.
_MARKS = (
    (68, b"sgds", "a desk of line sets", _DESK),
    (0, b"SQLite format 3\0", "a SQLite database", _STORE),
    (0, b"PAR1", "a Parquet file", "a lake of such files is named by its folder"),
    (0, b"PK\x03\x04", "a ZIP archive, or a document that is one", _INGEST),
    (257, b"ustar", "a TAR archive", _INGEST),
    (0, b"\x1f\x8b", "a file compressed with gzip", "decompress it if it is a store"),
    (0, b"BZh", "a file compressed with bzip2", "decompress it if it is a store"),
    (0, b"\xfd7zXZ\0", "a file compressed with xz", "decompress it if it is a store"),
    (0, b"\x28\xb5\x2f\xfd", "a file compressed with zstd", "decompress it if it is a store"),
    (0, b"%PDF-", "a PDF", _INGEST),
)


def require_database(path: Path) -> None:
    """Refuse a file that is no file of DuckDB; empty and unreadable files are left to DuckDB.

    Raises:
        StoreError: the file is of another kind, which the message names if it is known.
        DamagedError: the file may have been a store.
    """
    try:
        if path.is_dir():
            raise explain(path, IsADirectoryError())
        if not stat.S_ISREG(path.stat().st_mode):
            return
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return
    if not head or head[8:12] == b"DUCK":
        return
    for offset, mark, what, cure in _MARKS:
        if head[offset:].startswith(mark):
            raise StoreError(f"{path}: {what}, and not a sentgen store; {_filled(cure)}")
    if _is_text(head):
        raise DamagedError(f"{path}: a text file: not a sentgen store, or damaged; {_filled(_INGEST)}")
    raise DamagedError(
        f"{path}: not a sentgen store, or damaged; restore a backup, or choose another {spell('db')}"
    )


def _filled(cure: str) -> str:
    return cure.format(db=spell("db"), desk=spell("desk"))


def _is_text(head: bytes) -> bool:
    """Return whether bytes are UTF-8 text, perhaps cut within a character."""
    try:
        decoded = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return False
    return not any(character < " " and character not in "\t\n\r\f\v" for character in decoded)


#: All revisions that this sentgen knows, oldest first: those of the files in migrations/versions.
#: Until the first release, tables are changed in the baseline itself, and its revision gets a new ending
#: (a test gives it), so that older stores, snapshots and lakes are refused.
REVISIONS = ("0001_4427780f",)


def prepare(engine: Engine, path: Path, *, read_only: bool) -> None:
    """Make a new store, or check that a store is current and refresh its views if they changed.

    Raises:
        StoreError: the file is no store of sentgen, or a store of another version.
    """
    with engine.connect() as connection:
        tables = _tables(connection)
        revision = _revision(connection, tables)
    if revision is None:
        if tables:
            raise StoreError(f"{path}: a DuckDB file, but not a sentgen store; choose another {spell('db')}")
        if read_only:
            raise StoreError(
                f"{path}: an empty DuckDB file; fill it with: sentgen ingest PATH --corpus NAME --db {path}"
            )
        _make(engine)
        return
    _require_known(path, revision)
    if revision != REVISIONS[-1]:
        raise StoreError(
            f"{path}: made by an older sentgen (revision {revision}); run: sentgen db upgrade --db {path}"
        )
    # A reader cannot write, and uses the views in the store; old ones still work.
    if not read_only and tables[dictionary.VERSION_TABLE] != dictionary.marker():
        with engine.begin() as connection:
            dictionary.apply(raw(connection))


def upgrade(path: Path, *, memory_limit: int | None = None) -> Path | None:
    """Upgrade an older store to the current revision, after a backup beside it.

    Args:
        memory_limit: bytes that DuckDB may use, a quarter of the machine's memory if ``None``.

    Returns:
        The backup, or ``None`` if the store was current already.

    Raises:
        NotFoundError: there is no store.
        StoreError: the store is of a newer version, or a step failed; the store is unchanged.
    """
    if lake_at(path):
        raise StoreError(f"{path}: a lake is only read; make it again with this sentgen")
    if not path.exists():
        raise NotFoundError(f"{path}: no store here")
    path = place_of(path)
    require_database(path)
    refuse_snapshot(path, "publish the store that it was made from again, with this sentgen")
    with translated_errors(path):
        lock = write_lock.wait_for(path, lambda: write_lock.WriteLock.take(path))
        try:
            return _upgrade(path, memory_limit or default_memory_limit())
        finally:
            lock.release()


def _upgrade(path: Path, memory_limit: int) -> Path | None:
    # A folder with the names of the backups of interrupted upgrades.
    unfinished = path.with_name(f".{path.name}.upgrade")
    # The backup is a copy of one file, which must have the content of the log, too.
    revision = _checkpoint(path, memory_limit)
    if revision == REVISIONS[-1]:
        folders.remove(unfinished)
        return None
    folders.make(unfinished, lasting=True)
    left = [name for name in os.listdir(unfinished) if name.startswith(f"{path.name}.backup-")]
    backup = back_up(path, revision, noted=unfinished)
    # Old backups are removed only now: there is a complete new one, of a store that opens.
    for name in left:
        if name != backup.name:
            path.with_name(name).unlink(missing_ok=True)
            (unfinished / name).unlink()
    engine = open_engine(path, read_only=False, memory_limit=memory_limit)
    try:
        _migrate(engine)
    finally:
        engine.dispose()
    folders.remove(unfinished)
    return backup


def _checkpoint(path: Path, memory_limit: int) -> str:
    """Write the content of the log into the file, and return the revision of the store."""
    engine = open_engine(path, read_only=False, memory_limit=memory_limit)
    try:
        with engine.connect() as connection:
            tables = _tables(connection)
            revision = _revision(connection, tables)
            if revision is None:
                raise StoreError(f"{path}: not a sentgen store; choose another {spell('db')}")
            _require_known(path, revision)
            # DuckDB refuses a checkpoint within a transaction that has changed something.
            connection.rollback()
            duck = raw(connection)
            with block_journal.keep_blocks(duck, path):
                duck.execute("checkpoint")
        return revision
    finally:
        engine.dispose()


def back_up(path: Path, reason: str, *, noted: Path | None = None) -> Path:
    """Copy a closed store to a file beside it, and return the copy.

    Args:
        path: the store, which no process may write meanwhile.
        reason: reason for the copy, which is a part of its name.
        noted: a folder in which an empty file with the name of the copy is made first.
    """
    backup = backup_name(path, reason)
    if noted:
        (noted / backup.name).touch()
    with folders.for_drafts(drafts_of(path)) as folder:  # so that a partial copy is never taken for a backup
        draft = folder / backup.name
        shutil.copy2(path, draft)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        replace(draft, backup)
    sync_folder(path.parent)
    return backup


def backup_name(path: Path, reason: str) -> Path:
    """Return the path for a backup of a store, with the reason and the time in its name."""
    return path.with_name(f"{path.name}.backup-{reason}-{datetime.now(UTC):%Y%m%dT%H%M%S}")


def drafts_of(path: Path) -> Path:
    """Return the folder beside a store in which drafts of a store or a backup are made."""
    return path.with_name(f".{path.name}.backup")


def _tables(connection: Connection) -> dict[str, str | None]:
    """Return the tables of the file with their comments."""
    query = "select table_name, comment from duckdb_tables() where database_name = current_database()"
    return {row.table_name: row.comment for row in connection.execute(text(query))}


def _revision(connection: Connection, tables: dict[str, str | None]) -> str | None:
    if dictionary.VERSION_TABLE not in tables:
        return None
    version = connection.execute(text(f"select version_num from {dictionary.VERSION_TABLE}")).scalar()
    return str(version or "none")


def _require_known(path: Path, revision: str) -> None:
    if revision not in REVISIONS:
        raise StoreError(
            f"{path}: made by another version of sentgen (tables of revision {revision}); use that version, "
            "or ingest the texts again into a new store: sentgen ingest PATH --corpus NAME --db NEW"
        )


def script_location() -> Path:
    """Return the folder of the migrations, in the source tree or in an installed wheel."""
    return Path(str(resources.files("sentgen.migrations")))


def make_tables(connection: Connection) -> None:
    """Make the tables as they are declared, with the rows that every store has."""
    tables = ";\n".join(
        str(CreateTable(table).compile(dialect=connection.dialect)) for table in metadata.sorted_tables
    )
    raw(connection).execute(tables)
    connection.execute(insert(word), [{"id": i, "form": form} for i, form in enumerate(RESERVED_WORDS)])
    connection.execute(insert(tag), [{"id": i, "name": name} for i, name in enumerate(RESERVED_TAGS)])


def _make(engine: Engine) -> None:
    """Make a new store in one transaction, as all migrations would; Alembic would be slow."""
    name = dictionary.VERSION_TABLE
    with engine.connect() as connection, one_thread(connection), connection.begin():
        make_tables(connection)
        connection.execute(
            text(f"create table {name} (version_num varchar not null, primary key (version_num))")
        )
        connection.execute(text(f"insert into {name} values ('{REVISIONS[-1]}')"))
        dictionary.apply(raw(connection))


def _migrate(engine: Engine) -> None:
    """Run the migrations from the store's revision on, in one transaction with the views."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    # Alembic interpolates options as configparser does.
    config.set_main_option("script_location", str(script_location()).replace("%", "%%"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        dictionary.apply(raw(connection))
