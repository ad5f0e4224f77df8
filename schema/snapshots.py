"""Snapshots: immutable copies of a store, named by their content, that servers open.

A snapshot is a file ``sentgen-HASH.duckdb`` of mode 0444 with a manifest ``sentgen-HASH.json`` beside it;
HASH is the beginning of the SHA-256 of the file. The manifest is renamed into place last, and a file without
a manifest is no snapshot: whenever publishing stops, there is a complete snapshot or none.

A store has the paths of all sources, so that `sentgen corpora verify` finds the files again. A snapshot is
for other people and must not reveal folders: it names the sources of a corpus relative to their common
folder, and other files by their names alone; all else is as in the store. Paths of Windows are recognized on
any system, as a store may be published on another system than it was made on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path, PurePosixPath, PureWindowsPath
from posixpath import commonpath, normpath

import duckdb
import pyarrow as pa
from sqlalchemy import Connection, text

from sentgen.errors import InputError, NotFoundError, StoreError, spell
from sentgen.schema import folders
from sentgen.schema.base import metadata, row_digest
from sentgen.schema.durability import write_lock
from sentgen.schema.durability.duckdb_faults import log_of
from sentgen.schema.engine import one_row, raw, translated_errors
from sentgen.schema.excerpt import write_excerpt
from sentgen.schema.lake_transfer import load
from sentgen.schema.manifests import Snapshot, place_of
from sentgen.schema.places import lake_at
from sentgen.schema.store import Store, fetch_arrow
from sentgen.schema.tables.fidelity import source_file
from sentgen.system import files

_DIGITS = 16
#: The file that locks a folder against other writers, and its text.
_LOCK = ".sentgen-lock"
_OF_LOCK = b"Made by sentgen: it is locked while a snapshot or a backup is made in this folder.\n"
#: Folder for the draft of a snapshot, and for the files that DuckDB makes beside it.
_DRAFTS = ".sentgen-draft"
#: A fixed name, as DuckDB writes it into the catalog, and the hash of a snapshot depends on it.
_DRAFT = ".sentgen-draft.tmp"
#: The entries of corpora in manifests and citations.
CORPORA = "select corpus as name, licence, sentences, tokens from v_corpora order by corpus"
_MODELS = 'select name, version, max_order as "order", smoothing from model order by name, version'


@dataclass(frozen=True, slots=True)
class Publication:
    """The result of publishing: the snapshot, whether it is new, and the snapshots that were removed."""

    snapshot: Snapshot
    new: bool
    removed: tuple[str, ...] = ()


def publish(
    store: Path,
    folder: Path,
    *,
    corpora: Sequence[str] = (),
    keep: int | None = None,
    memory_limit: int | None = None,
) -> Publication:
    """Copy a store into a folder of snapshots, unless a snapshot there has the same content.

    The snapshot published last is the newest, also if it had been published before. The store is only read.
    A lake is loaded into one file, whose bytes differ each time; its files are compared with their hashes
    first. Linear in the size of the file.

    Args:
        store: the store, to which nobody may be writing, or a lake.
        folder: the folder of the snapshots; it is made if only the folder above it exists.
        corpora: publish only these corpora, and models of these alone (`sentgen.schema.excerpt`); empty for
            all.
        keep: remove all but this many of the newest snapshots.
        memory_limit: bytes that DuckDB may use, a quarter of the machine's memory if ``None``.

    Raises:
        NotFoundError: there is no store, a corpus is not in it, or there is no folder above ``folder``.
        InputError: ``keep`` is less than 1.
        StoreError: the store is in use, damaged or of another version, or the copy cannot be written.
    """
    if keep is not None and keep < 1:
        raise InputError(f"{spell('keep')} {keep} would remove what is published; give 1 or more")
    store = place_of(store)
    if not (lake_at(store) or store.exists()):
        raise write_lock.no_store(store)
    with drafts_in(folder) as drafts:
        draft = _copy(store, drafts, corpora, memory_limit)
        digest = digest_of(draft)
        content = _content(draft, memory_limit) if corpora else digest
        path = folder / f"sentgen-{content[:_DIGITS]}.duckdb"
        existing = Snapshot.read(path.with_suffix(".json"))
        # A file without a manifest is from an interrupted publication, and is replaced.
        snapshot = describe(draft, path, digest, memory_limit)
        if existing is None:
            files.replace(draft, path)
        else:  # the existing file stays; that of an excerpt has the same rows, but other bytes than the draft
            snapshot = replace(snapshot, sha256=existing.sha256, bytes=existing.bytes)
        # Written for an existing snapshot, too: the time in the manifest makes it the newest.
        _write_manifest(snapshot, drafts)
        removed = _prune(folder, keep) if keep else ()
    return Publication(snapshot, existing is None, removed)


def verify(snapshot: Snapshot) -> None:
    """Compare a snapshot with its hash.

    Raises:
        StoreError: the file is not what was published.
    """
    with translated_errors(snapshot.path):
        digest = digest_of(snapshot.path)
    if digest != snapshot.sha256:
        raise StoreError(f"{snapshot.path}: changed since it was published; publish the store again")


@contextmanager
def drafts_in(folder: Path) -> Iterator[Path]:
    """Lock a folder of snapshots, and yield a folder for drafts; drafts of killed processes are removed."""
    with translated_errors(folder):
        if not folder.parent.exists():  # mistyped, more likely than not
            raise NotFoundError(
                f"{folder}: there is no folder {folder.parent}; make it, or choose another {spell('to')}"
            )
        folder.mkdir(exist_ok=True)
        with (folder / _LOCK).open("ab") as lock:
            # The lock ends with the process. Its file stays: if it were removed, two processes could each
            # lock a file of that name.
            files.lock(lock.fileno(), wait=True)
            if not os.fstat(lock.fileno()).st_size:
                lock.write(_OF_LOCK)
                lock.flush()
            with folders.for_drafts(folder / _DRAFTS) as drafts:
                yield drafts


def _copy(store: Path, folder: Path, corpora: Sequence[str], memory_limit: int | None) -> Path:
    """Copy the file of a store, while nobody can write to it, without private names; return the copy.

    The log that a killed writer left is applied to the copy; the store stays as it is.
    """
    draft = folder / _DRAFT
    if lake := lake_at(store):
        load(lake, draft, memory_limit=memory_limit)
    else:
        copy_file(store, draft, memory_limit)
    make_public(draft, memory_limit=memory_limit)
    if corpora:
        whole = folder / f"whole{_DRAFT}"
        files.replace(draft, whole)
        write_excerpt(whole, draft, corpora, memory_limit=memory_limit)
    with draft.open("rb+") as copy:  # Windows syncs only files that are open for writing
        os.chmod(draft, 0o444)
        os.fsync(copy.fileno())
    return draft


def copy_file(store: Path, draft: Path, memory_limit: int | None) -> None:
    """Copy the file of a store while nobody can write to it, and apply its log to the copy."""
    log = log_of(store)
    with Store(store, read_only=True, memory_limit=memory_limit):
        if log.exists():
            shutil.copyfile(log, log_of(draft))
        shutil.copyfile(store, draft)  # last, as closing the file gives up the lock against writers
    if log_of(draft).exists():
        with Store(draft, memory_limit=memory_limit) as copy, copy.connect() as connection:
            connection.rollback()
            raw(connection).execute("checkpoint")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(draft: Path, path: Path, digest: str, memory_limit: int | None) -> Snapshot:
    """Open the draft, which proves that it is a store, and return its description as a snapshot."""
    with Store(draft, read_only=True, memory_limit=memory_limit) as store, store.connect() as connection:
        revision = connection.execute(text("select version_num from alembic_version")).scalar()
        corpora = fetch_arrow(connection, CORPORA).to_pylist()
        models = fetch_arrow(connection, _MODELS).to_pylist()
    return Snapshot(
        path=path,
        sha256=digest,
        bytes=draft.stat().st_size,
        published_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        corpora=tuple(corpora),
        models=tuple(models),
        versions={"sentgen": version("sentgen"), "duckdb": duckdb.__version__, "schema": str(revision)},
    )


def _content(draft: Path, memory_limit: int | None) -> str:
    """Return a hash of all rows: the bytes of a file differ each time DuckDB makes it anew."""
    digest = hashlib.sha256()
    with Store(draft, read_only=True, memory_limit=memory_limit) as store, store.connect() as connection:
        for table in metadata.sorted_tables:
            digest.update(repr((table.name, one_row(raw(connection), row_digest(table)))).encode())
    return digest.hexdigest()


def _write_manifest(snapshot: Snapshot, drafts: Path) -> None:
    """Write or replace the manifest atomically, which makes the file a snapshot."""
    values = {"file": snapshot.path.name, **asdict(snapshot)}
    del values["path"]
    with folders.draft(drafts) as (file, name):
        file.write(f"{json.dumps(values, ensure_ascii=False, indent=2)}\n".encode())
        file.flush()
        os.chmod(name, 0o444)
        os.fsync(file.fileno())
        files.sync_folder(snapshot.path.parent)  # the snapshot first, so that no manifest is without its file
        file.close()  # Windows renames no open file
        files.replace(name, snapshot.manifest)
    files.sync_folder(snapshot.path.parent)


def _prune(folder: Path, keep: int) -> tuple[str, ...]:
    """Remove all but the newest snapshots; servers can go on reading those that they have open."""
    # Snapshots that somebody has renamed are kept.
    old = [
        each for each in Snapshot.all_in(folder) if re.fullmatch(f"sentgen-[0-9a-f]{{{_DIGITS}}}", each.name)
    ]
    removed = []
    for snapshot in old[:-keep]:
        # The file first: if the process is killed in between, a manifest without its file is no snapshot.
        if not files.remove_unless_open(snapshot.path):
            continue  # the snapshot stays complete; a later publication removes it
        files.remove(snapshot.manifest)
        removed.append(snapshot.name)
    return tuple(removed)


#: Parameters of a run whose values are paths as a user typed them.
_FILES = frozenset({"test", "gold", "clusters", "train", "ptb", "lm-text", "source"})
#: The folders of a path that begins at the root, a drive, a home or a parent folder; not those of a URL.
_FOLDERS = re.compile(
    r"(?<![^\s\"':=,;|@\[({])"
    r"(?:~[^/\\\s]*|\.{1,2}|(?:\\\\\?\\)?[A-Za-z]:)?(?:/(?!/)|\\+)(?:[^:=,;|\"']*[/\\])?"
)
#: Parent folders at the beginning of a path.
_LEADING_UP = re.compile(r"^(\.\./)+")
#: Columns with text as a user typed it that may have paths, such as a parser or a system with its files.
_TYPED = (
    ("source", "reader_version"),
    ("table_meta", "path"),
    ("run", "parameters"),
    ("score", "system"),
    ("score", "signature"),
    ("output", "system"),
    ("alignment_model", "settings"),
    ("parse", "parser"),
    ("parse", "version"),
)


def names_of_sources(paths: Iterable[str]) -> dict[str, str]:
    r"""Return the public names of the sources of a corpus, all different.

    A member of an archive keeps its path within the archive; standard input has no folder.

    >>> names_of_sources(["/home/ann/wsj/00/a.mrg", "/home/ann/wsj/01/a.mrg", "-"])
    {'-': '-', '/home/ann/wsj/00/a.mrg': '00/a.mrg', '/home/ann/wsj/01/a.mrg': '01/a.mrg'}
    >>> names_of_sources(["/home/ann/texts.zip!news/a.txt"])
    {'/home/ann/texts.zip!news/a.txt': 'texts.zip!news/a.txt'}
    >>> names_of_sources([r"C:\Users\ann\wsj\00\a.mrg", r"C:\Users\ann\wsj\01\a.mrg"]).values()
    dict_values(['00/a.mrg', '01/a.mrg'])
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    # Sorted, so that numbers added to equal names do not depend on the order of the rows.
    paths = sorted(set(paths))
    slashed = {path: _with_slashes(path.partition("!")[0]) for path in paths}
    # By root or drive, as `commonpath` refuses a mix of absolute and relative paths, or of drives.
    roots = {path: PureWindowsPath(file).anchor for path, file in slashed.items()}
    common = {
        root: _common_folder([slashed[path] for path in paths if roots[path] == root])
        for root in set(roots.values())
    }
    for path in paths:
        _, mark, member = path.partition("!")
        name = _below(slashed[path], common[roots[path]]) + mark + member
        number, base = 1, name
        while name in taken:
            number += 1
            name = f"{base} ({number})"
        taken.add(name)
        names[path] = name
    return names


def _with_slashes(file: str) -> str:
    """Return a path of any system with single forward slashes."""
    return re.sub("^/+", "/", normpath(file.replace("\\", "/")))


def _common_folder(files: list[str]) -> str:
    """Return the common folder of files, absolute or relative; empty if there is none."""
    folder = commonpath([str(PurePosixPath(file).parent) for file in files])
    parts = PureWindowsPath(folder)
    # A root, a drive or `..` alone does not count as a common folder.
    return folder if {*parts.parts} - {parts.anchor, ".."} else ""


def _below(file: str, folder: str) -> str:
    """Return the path of a file relative to a folder; its name alone if the folder is empty."""
    path = PurePosixPath(file)
    return str(path.relative_to(folder)) if folder else path.name


def public_text(text: str) -> str:
    """Return text that a user typed without the folders of paths in it; JSON is searched value by value.

    >>> public_text("udpipe:/home/ann/ewt.udpipe@2"), public_text('{"test": "../ann/dev.conllu", "n": 1}')
    ('udpipe:ewt.udpipe@2', '{"n": 1, "test": "dev.conllu"}')
    """
    if text.startswith("{"):
        with suppress(ValueError):
            value = json.loads(text)
            public = _public_value(value)
            # Unchanged JSON keeps its spelling, so that nothing needs to be rewritten.
            return text if public == value else json.dumps(public, sort_keys=True)
    return _FOLDERS.sub("", text)


def _public_value(value: object, key: str = "") -> object:
    if isinstance(value, dict):
        return {name: _public_value(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_public_value(each, key) for each in value]
    if not isinstance(value, str):
        return value
    if key in _FILES:
        return next(iter(names_of_sources([value]).values()))
    return _FOLDERS.sub("", value)


#: A table, a column of it, the column or number ``key``, and a table of old and new values by its values.
_Replacement = tuple[str, str, str, pa.Table]


def make_public(path: Path, *, memory_limit: int | None = None) -> bool:
    """Replace the names of files in a copy of a store, and overwrite the old names.

    The first eight bytes of an old name may stay in unused parts of the catalog. Equal files give equal
    files; a store without such names is not changed. Linear in the tables of sources and documents, and in
    the free space of the file.

    Returns:
        Whether there was anything to replace.
    """
    with (
        # Opened for reading first, as opening for writing would change the bytes of the file.
        Store(path, read_only=True, memory_limit=memory_limit, threads=1) as store,
        store.connect() as connection,
    ):
        duck = raw(connection)
        if not (any(_replacements(duck)) or duck.execute("select 1 from source_file limit 1").fetchone()):
            return False
    # One thread writes rows and blocks in a fixed order: the hash of the bytes is the name of the snapshot.
    with Store(path, memory_limit=memory_limit, threads=1) as store, store.connect() as connection:
        connection.rollback()
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        duck = raw(connection)
        # Gaps in its blocks have old content of memory (seen in 2.0.0), which varies and may be private.
        duck.execute("set disabled_compression_methods = 'dict_fsst'")
        for replacement in list(_replacements(duck)):
            _replace(connection, *replacement)
        # This table is of use only on the machine whose folders it names.
        source_file.drop(connection)
        source_file.create(connection)
        duck.execute("checkpoint")
        _overwrite_free_blocks(duck)
    return True


def _replacements(duck: duckdb.DuckDBPyConnection) -> Iterator[_Replacement]:
    named: dict[int, list[str]] = {}
    query = "select corpus_id, path from source union select corpus_id, path from rejection order by all"
    for number, path in duck.execute(query).fetchall():
        named.setdefault(number, []).append(path)
    names = {(number, old): new for number in named for old, new in names_of_sources(named[number]).items()}
    sources = duck.execute("select id, corpus_id, path from source order by id").fetchall()
    # A document without a name has the path of its source, as the user typed it.
    query = r"select distinct source_id, name from document where regexp_matches(name, '[/\\]') order by all"
    named_with_folders: dict[int, list[str]] = {}
    for source, name in duck.execute(query).fetchall():
        named_with_folders.setdefault(source, []).append(name)
    by_source = {
        (source, name): names[corpus, path]
        for source, corpus, path in sources
        for name in (path, *(name for name in named_with_folders.get(source, ()) if _is_end(name, path)))
    }
    yield from _replacement(duck, "document", "name", "source_id", by_source)
    yield from _replacement(duck, "source", "path", "corpus_id", names)
    yield from _replacement(duck, "rejection", "path", "corpus_id", names)
    for table, column in _TYPED:
        values = duck.execute(f"select distinct {column} from {table} where {column} is not null order by 1")
        texts = {(0, str(value)): public_text(str(value)) for (value,) in values.fetchall()}
        yield from _replacement(duck, table, column, "0", texts)


def _is_end(name: str, path: str) -> bool:
    """Return whether a name is the end of a path, as one that was typed relative to a folder."""
    return _with_slashes(path).endswith(f"/{_LEADING_UP.sub('', _with_slashes(name))}")


def _replacement(
    duck: duckdb.DuckDBPyConnection, table: str, column: str, key: str, names: Mapping[tuple[int, str], str]
) -> Iterator[_Replacement]:
    """Yield the replacement of the names that change, if the column has any."""
    changed = [(number, old, new) for (number, old), new in names.items() if old != new]
    _names = pa.table(
        {
            "key": pa.array([number for number, _, _ in changed], pa.int32()),
            "old": pa.array([old for _, old, _ in changed], pa.string()),
            "new": pa.array([new for _, _, new in changed], pa.string()),
        }
    )
    same = f"n.old = {table}.{column} and n.key = {table}.{key}"
    query = f"select count(*) from {table} semi join _names n on {same}"
    if changed and duck.execute(query.replace(f"{table}.0", "0")).fetchall() != [(0,)]:
        yield table, column, key, _names


def _replace(connection: Connection, table: str, column: str, key: str, names: pa.Table) -> None:
    """Make a table anew: an update leaves old values in its statistics, and a deletion (1.4) its rows."""
    duck = raw(connection)
    _names = names
    duck.execute(
        f"""
        create or replace temp table rewritten as
        select t.* replace (coalesce(n.new, t.{column}) as {column})
        from {table} t
        left join _names n on n.old = t.{column} and n.key = {key if key == "0" else f"t.{key}"}
        order by t.rowid
        """
    )
    metadata.tables[table].drop(connection)
    metadata.tables[table].create(connection)
    duck.execute(f"insert into {table} by name select * from rewritten")
    duck.execute("drop table rewritten")


def _overwrite_free_blocks(duck: duckdb.DuckDBPyConnection) -> None:
    """Overwrite free blocks, which still have deleted data, by filling them with a table and dropping it."""
    query = "select free_blocks * block_size // 8 from pragma_database_size()"
    ((numbers,),) = duck.execute(query).fetchall()
    duck.execute(f"create table filler as select hash(range) as number from range({numbers})")
    duck.execute("checkpoint")
    duck.execute("drop table filler")
    duck.execute("checkpoint")
