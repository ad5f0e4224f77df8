"""Keep a store in order: its sizes, its integrity, and its counts merged and packed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import duckdb
from sqlalchemy import select, text

from sentgen.errors import StoreError
from sentgen.schema import segments
from sentgen.schema.base import metadata, quoted
from sentgen.schema.checks import Check, checks, tree_recounts
from sentgen.schema.corpus import corpus
from sentgen.schema.engine import open_engine, raw, sync_folder, translated_errors
from sentgen.schema.store import Store


@dataclass(frozen=True, slots=True)
class Size:
    """How large a table is; ``bytes`` counts whole blocks, which small tables share."""

    table: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Result:
    """What a check found: the number of problems and the first of them."""

    check: Check
    problems: int
    example: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """What compaction did; without enough room on the disk, the file is not packed."""

    segments_before: int
    segments_after: int
    bytes_before: int
    bytes_after: int
    packed: bool


def sizes(store: Store) -> list[Size]:
    """Return the size of each table, largest first."""
    found = []
    with store.connect() as connection:
        duck = raw(connection)
        block = _one(duck, "select block_size from pragma_database_size()")
        for table in metadata.sorted_tables:
            rows = _one(duck, f"select count(*) from {table.name}")
            blocks = f"select count(distinct block_id) from pragma_storage_info('{table.name}')"
            found.append(Size(table.name, rows, _one(duck, f"{blocks} where block_id >= 0") * block))
    return sorted(found, key=lambda size: (-size.bytes, -size.rows, size.table))


def facts(store: Store) -> dict[str, str | int]:
    """Return what there is to say about the file as a whole."""
    with store.connect() as connection:
        duck = raw(connection)
        revision = connection.execute(text("select version_num from alembic_version")).scalar()
        segments = _one(duck, "select count(*) from segment")
        free = _one(duck, "select free_blocks * block_size from pragma_database_size()")
    return {
        "path": str(store.path),
        "bytes": store.path.stat().st_size,
        "free bytes inside": free,
        "segments": segments,
        "schema revision": str(revision),
        "sentgen": version("sentgen"),
        "duckdb": duckdb.__version__,
        "memory limit": store.memory_limit,
    }


def check(store: Store, extra: Sequence[Check] = (), *, quick: bool = False) -> Iterator[Result]:
    """Run the checks of `sentgen.schema.checks` and ``extra``, without the slow ones if ``quick``."""
    with store.connect() as connection:
        corpora = [
            (int(row.id), str(row.name)) for row in connection.execute(select(corpus.c.id, corpus.c.name))
        ]
    for one in (*checks(), *tree_recounts(corpora), *extra):
        if quick and one.slow:
            continue
        with store.connect() as connection:
            duck = raw(connection)
            columns = duck.execute(f"from ({one.query}) limit 0").description or []
            rest = "".join(f", any_value({quoted(str(c[0]))})" for c in columns)
            row = duck.execute(f"select count(*){rest} from ({one.query})").fetchone() or (0,)
        example = ", ".join(f"{c[0]} {value}" for c, value in zip(columns, row[1:], strict=True))
        yield Result(one, int(row[0]), example if row[0] else "")


def compact(path: Path, *, memory_limit: int | None = None) -> Compaction:
    """Merge the segments of each corpus into one, sorted, and pack the file.

    The merge is one transaction. The packed copy is made beside the file, compared with it, and only then
    takes its place; killed at any moment, one of the two is there whole.

    Raises:
        StoreError: the copy differs, or something else failed; the store is as it was before that step.
    """
    before = path.stat().st_size if path.exists() else 0
    with Store(path, memory_limit=memory_limit) as store:
        with store.begin() as connection:
            before_merge = _one(raw(connection), "select count(*) from segment")
            segments.merge(connection)
            remaining = _one(raw(connection), "select count(*) from segment")
        limit = store.memory_limit
    packed = _pack(path, limit)
    return Compaction(before_merge, remaining, before, path.stat().st_size, packed)


def _pack(path: Path, memory_limit: int) -> bool:
    """Copy the store into a new file that takes its place; return whether there was room for it."""
    draft = path.with_name(f".{path.name}.compact")
    _discard(draft)
    if shutil.disk_usage(path.parent).free < path.stat().st_size * 5 // 4 + 2**24:
        return False
    try:
        with translated_errors(path):
            Store(draft, create=True, memory_limit=memory_limit).close()
            _copy_into(path, draft, memory_limit)
    finally:
        _discard(draft)
    return True


def _copy_into(path: Path, draft: Path, memory_limit: int) -> None:
    """Fill the draft, compare it, and rename it over the store, which stays locked until then."""
    engine = open_engine(path, read_only=False, memory_limit=memory_limit)
    try:
        with engine.connect() as connection:
            connection.rollback()
            duck = raw(connection)
            duck.execute("checkpoint")
            place = str(draft).replace("'", "''")
            duck.execute(f"attach '{place}' as draft")
            current = quoted(_text(duck, "select current_database()"))
            for reserved in ("word", "tag"):  # a transaction each: a key cannot go and come in one
                duck.execute(f"delete from draft.main.{reserved}")
            duck.execute("begin")
            for table in metadata.sorted_tables:
                duck.execute(f"insert into draft.main.{table.name} by name from {current}.main.{table.name}")
            duck.execute("commit")
            _compare(duck, current, path)
            duck.execute("detach draft")
        shutil.copymode(path, draft)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(draft, path)
        sync_folder(path.parent)
    finally:
        engine.dispose()


def _compare(duck: duckdb.DuckDBPyConnection, current: str, path: Path) -> None:
    for table in metadata.sorted_tables:
        columns = ", ".join(quoted(c.name) for c in table.columns)
        digest = f"select count(*), sum(hash({columns})) from {{}}.main.{table.name}"
        if duck.execute(digest.format(current)).fetchall() != duck.execute(digest.format("draft")).fetchall():
            raise StoreError(f"{path}: the packed copy of {table.name} differs; the store was left as it was")


def _discard(draft: Path) -> None:
    for leftover in (draft, draft.with_name(f"{draft.name}.wal")):
        leftover.unlink(missing_ok=True)


def _one(duck: duckdb.DuckDBPyConnection, query: str) -> int:
    row = duck.execute(query).fetchone()
    return int(row[0] or 0) if row else 0


def _text(duck: duckdb.DuckDBPyConnection, query: str) -> str:
    row = duck.execute(query).fetchone()
    return str(row[0]) if row else ""
