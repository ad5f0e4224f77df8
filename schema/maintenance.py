"""Maintain a store: report sizes, check its integrity, repair it, merge its counts, and pack its file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import duckdb
from sqlalchemy import Engine, Table, select, text

from sentgen.errors import DamagedError, StoreError
from sentgen.output.tabular import Rows
from sentgen.schema import folders
from sentgen.schema.base import literal, metadata, quote_identifier, row_digest
from sentgen.schema.checks import REINGEST, REPAIR, RESTORE, Check, OrphanRows
from sentgen.schema.counting import COUNTED, PAIRS, merge_segments, recount, recount_pairs
from sentgen.schema.dictionary import VERSION_TABLE
from sentgen.schema.durability import block_journal, write_lock
from sentgen.schema.engine import one_number, one_row, open_engine, raw, translated_errors
from sentgen.schema.lakes import Manifest
from sentgen.schema.migrate import back_up
from sentgen.schema.places import Place
from sentgen.schema.store import Store
from sentgen.schema.sum_checks import checks
from sentgen.schema.tables import alignment, models, runs
from sentgen.schema.tables.corpus import corpus, sentence
from sentgen.schema.tables.counts import segment
from sentgen.schema.tables.parses import parse
from sentgen.schema.tables.saved import saved_query
from sentgen.system.files import READ_WHILE_WRITTEN, replace, sync_folder

_RETRAIN = "restore a backup; if there is none, train the model again in a new store"
_CURES = {
    **dict.fromkeys(
        (t.name for t in (models.model, models.model_corpus, models.model_parameter, models.model_ngram)),
        "restore a backup; if there is none, build the models again in a new store",
    ),
    models.surprisal.name: "restore a backup; if there is none, apply the models again in a new store",
    models.model_weight.name: "restore a backup; if there is none, tune again in a new store",
    **dict.fromkeys(
        (t.name for t in (models.vector_space, *models.OF_SPACE)),
        "restore a backup; if there is none, build the vectors again in a new store",
    ),
    **dict.fromkeys((t.name for t in (alignment.alignment_model, *alignment.OF_MODEL)), _RETRAIN),
    **dict.fromkeys(
        (t.name for t in (runs.run, runs.score, runs.output)),
        "restore a backup; if there is none, evaluate again in a new store",
    ),
    saved_query.name: "restore a backup; if there is none, save the queries again in a new store",
    parse.name: "restore a backup; if there is none, parse again in a new store",
}

#: Settings with which DuckDB scans an index from end to end. Otherwise it reads the table instead, or nothing
#: at all if its statistics say that all rows match.
_THROUGH_INDEXES = {
    "index_scan_percentage": "1.0",
    "index_scan_max_count": "9223372036854775807",
    "disabled_optimizers": "'statistics_propagation'",
}


def block_checks() -> Iterator[Check]:
    """Yield a check for each table that reads all of it, as DuckDB compares each block with its checksum.

    A query reads only the blocks of the columns that it needs. To find any damaged block, a check reads all
    values of all columns, with long strings and dictionaries, and every index from end to end. The other
    blocks are free, or hold the catalog, without which the store does not open.
    """
    for table in metadata.sorted_tables:
        yield Check(
            f"blocks of {table.name}",
            "\nunion all\n".join((_all_values(table), *_indexes(table))),
            _CURES.get(table.name, RESTORE),
            settings=_THROUGH_INDEXES,
        )
    yield Check(
        f"blocks of {VERSION_TABLE}",
        _index(VERSION_TABLE, "version_num", "''"),
        RESTORE,
        settings=_THROUGH_INDEXES,
    )


def _all_values(table: Table) -> str:
    """Return a query that reads all values and yields no row, as a sum of hashes is not negative."""
    # A hash needs whole values; DuckDB answers counts and minima from statistics.
    columns = ", ".join(quote_identifier(column.name) for column in table.columns)
    return f"select 'values' as part, sum(hash({columns})) as found from {table.name} having found < 0"


def _indexes(table: Table) -> Iterator[str]:
    for column in table.columns:
        if column.primary_key or column.unique:
            yield _index(table.name, column.name, "-1" if column.primary_key else "''")


def _index(table: str, column: str, least: str) -> str:
    """Return a query that yields a row if the index of a column lacks rows of the table."""
    return f"""
        select 'index of {column}', count(*) as found
        from {table}
        where {column} >= {least}
        having found <> (select count(*) from {table})
    """


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check: the number of problems, and an example.

    ``problems`` is ``None`` if the check was skipped because a block that it reads is damaged.
    """

    check: Check
    problems: int | None
    example: str

    @property
    def status(self) -> str:
        """Return ``ok``, ``failed`` or ``skipped``."""
        return "skipped" if self.problems is None else "failed" if self.problems else "ok"

    @staticmethod
    def table(results: Iterable[CheckResult]) -> Rows:
        """Return the results of checks as a table."""
        rows = [(result.check.name, result.status, result.problems, result.example) for result in results]
        return Rows(("check", "status", "problems", "first problem"), rows)


@dataclass(frozen=True, slots=True)
class Compaction:
    """The result of a compaction; without enough room on the disk, the file is not packed."""

    segments_before: int
    segments_after: int
    bytes_before: int
    bytes_after: int
    packed: bool


def sizes(store: Store) -> Rows:
    """Return the rows and bytes of each table, largest first.

    Bytes count whole blocks, which small tables share.
    """
    unsorted = _lake_sizes(store.lake) if store.lake else _sizes(store)
    rows = sorted(unsorted, key=lambda row: (-row[2], -row[1], row[0]))
    return Rows(("table", "rows", "bytes"), rows)


def _lake_sizes(lake: Place) -> Iterator[tuple[str, int, int]]:
    manifest = Manifest.read(lake)
    for name in metadata.tables:
        yield name, manifest.rows(name), sum(file.bytes for file in manifest.tables.get(name, ()))


def _sizes(store: Store) -> Iterator[tuple[str, int, int]]:
    with store.connect() as connection:
        duck = raw(connection)
        block = one_number(duck, "select block_size from pragma_database_size()")
        for table in metadata.sorted_tables:
            rows = one_number(duck, f"select count(*) from {table.name}")
            # Columns share blocks; a constant or unwritten column has block -1.
            blocks = f"select count(distinct block_id) from pragma_storage_info('{table.name}')"
            yield table.name, rows, one_number(duck, f"{blocks} where block_id >= 0") * block


def facts(store: Store) -> dict[str, str | int]:
    """Return properties of the file as a whole, by their names."""
    with store.connect() as connection:
        duck = raw(connection)
        revision = connection.execute(text("select version_num from alembic_version")).scalar()
        segment_count = one_number(duck, "select count(*) from segment")
        free = one_number(duck, "select free_blocks * block_size from pragma_database_size()")
    lake = store.lake and Manifest.read(store.lake)
    return {
        "path": str(store.lake or store.path),
        "bytes": sum(file.bytes for file in lake.files) if lake else store.path.stat().st_size,
        "free bytes inside": free,
        "segments": segment_count,
        "schema revision": str(revision),
        "sentgen": version("sentgen"),
        "duckdb": duckdb.__version__,
        "memory limit": store.memory_limit,
    }


def check(store: Store, extra: Iterable[Check] = (), *, quick: bool = False) -> Iterator[CheckResult]:
    """Read all blocks, then run the checks of `sentgen.schema.checks` and ``extra``.

    A damaged block fails the check of its table; checks that need that table are skipped, and all others run.
    The files of a lake are compared with their hashes instead; if one differs, no other check runs.

    Args:
        extra: checks of higher packages; each is created just before it runs.
        quick: leave out slow checks.
    """
    if store.lake:
        files = list(_files_of(store.lake))
        yield from files
        if any(planned.problems for planned in files):
            return  # checks that read wrong files would fail, or report problems that are none
    # Blocks come first: when a later check is skipped for a damaged block, that block was reported.
    for planned in () if store.lake else block_checks():
        try:
            yield _run(store, planned)
        except DamagedError:
            yield CheckResult(planned, 1, "a block is damaged: it is not what was written")
    for planned in chain(content_checks(store), _until_damage(extra)):
        if quick and planned.slow:
            continue
        try:
            yield _run(store, planned)
        except DamagedError:
            yield CheckResult(planned, None, "needs a table with a damaged block")


def content_checks(store: Store) -> Iterator[Check]:
    """Yield the checks of the contents of tables; each is created just before it runs."""
    yield from checks([corpus_id for corpus_id, _ in corpora_without_sentences(store)])
    yield from _until_damage(_tree_recounts(store))


def corpora_without_sentences(store: Store) -> list[tuple[int, str]]:
    """Return id and name of the corpora of which a lake has counts only, from ``sentgen cluster count``."""
    if not store.lake:
        return []
    with_sentences = select(sentence.c.corpus_id)
    query = (
        select(corpus.c.id, corpus.c.name).where(corpus.c.id.not_in(with_sentences)).order_by(corpus.c.name)
    )
    with store.connect() as connection:
        return [(row.id, row.name) for row in connection.execute(query)]


def _files_of(lake: Place) -> Iterator[CheckResult]:
    """Compare the files of each table with their hashes."""
    manifest = Manifest.read(lake)
    for table in manifest.tables:
        wrong = manifest.changed_files(lake, table)
        files_check = Check(f"files of {table}", "", "copy the lake again, or make it again")
        yield CheckResult(files_check, len(wrong), f"path {wrong[0].path}" if wrong else "")


def _until_damage(made: Iterable[Check]) -> Iterator[Check]:
    """Yield checks until creating one meets a damaged block, which the check of blocks has reported."""
    with suppress(DamagedError):
        yield from made


def _tree_recounts(store: Store) -> Iterator[Check]:
    """Yield a check for every table that is counted from trees, in every corpus with sentences."""
    with store.connect() as connection:
        corpora = [(row.id, row.name) for row in connection.execute(select(corpus.c.id, corpus.c.name))]
        counted_in = [(row.id, row.corpus_id) for row in connection.execute(select(segment))]
    without = corpora_without_sentences(store)
    for corpus_id, name in (each for each in corpora if each not in without):
        for table in COUNTED:
            yield Check(f"{table} of {name} recounted", recount(table, corpus_id), slow=True)
        mine = [number for number, owner in counted_in if owner == corpus_id]
        if mine:
            yield Check(f"{PAIRS} of {name} recounted", recount_pairs(mine), slow=True)


def _run(store: Store, check: Check) -> CheckResult:
    """Run one check.

    Raises:
        DamagedError: a block that the check reads is damaged.
    """
    with store.connect() as connection:
        duck = raw(connection)
        duck.execute("; ".join(f"set {name} = {value}" for name, value in check.settings.items()))
        try:
            # One row however many problems there are: their number, and an example value of each column.
            answer = duck.execute(f"select count(*), any_value(columns(*)) from ({check.query})")
            columns = (answer.description or [])[1:]
            (row,) = answer.fetchall() or [(0,)]
        finally:
            connection.rollback()
            duck.execute("; ".join(f"reset {name}" for name in check.settings))
    example = ", ".join(f"{c[0]} {value}" for c, value in zip(columns, row[1:], strict=True))
    return CheckResult(check, int(row[0]), example if row[0] else "")


def compact(path: Path, *, memory_limit: int | None = None) -> Compaction:
    """Merge the segments of each corpus into one, sorted, and pack the file.

    The merge is one transaction. The packed copy is written beside the file, compared with it, and only then
    replaces it; if the process is killed at any moment, one of the two is complete.

    Raises:
        StoreError: the copy differs, or another step failed; the store is as it was before that step.
    """
    before = path.stat().st_size if path.exists() else 0
    with Store(path, memory_limit=memory_limit) as store:
        with store.begin() as connection:
            before_merge = one_number(raw(connection), "select count(*) from segment")
            merge_segments(connection)
            remaining = one_number(raw(connection), "select count(*) from segment")
        limit = store.memory_limit
    packed = _pack(path, limit)
    return Compaction(before_merge, remaining, before, path.stat().st_size, packed)


def _pack(path: Path, memory_limit: int) -> bool:
    """Copy the store into a new file that replaces it; return whether the disk had room for the copy.

    The store is locked before the draft is touched, as another compaction uses the same name for its draft.
    """
    folder = path.with_name(f".{path.name}.compact")
    with translated_errors(path):
        lock = write_lock.WriteLock.take(path)
        engine = open_engine(path, read_only=False, memory_limit=memory_limit)
        try:
            folders.remove(folder)
            # The copy is hardly ever larger than the store; a quarter and 16 MiB are a margin.
            if shutil.disk_usage(path.parent).free < path.stat().st_size * 5 // 4 + 2**24:
                return False
            folders.make(folder)
            draft = folder / "packed.duckdb"
            Store(draft, create=True, memory_limit=memory_limit).close()
            _copy_into(engine, path, draft)
        finally:
            folders.remove(folder)
            engine.dispose()
            lock.release()
    return True


def _copy_into(engine: Engine, path: Path, draft: Path) -> None:
    """Fill the draft, compare it, and rename it over the store, which stays locked until then."""
    with engine.connect() as connection:
        connection.rollback()
        duck = raw(connection)
        with block_journal.keep_blocks(duck, path):
            duck.execute("checkpoint")
        duck.execute(f"attach {literal(str(draft))} as draft")
        current = _current(duck)
        for reserved in ("word", "tag"):  # a transaction each: DuckDB cannot delete and insert a key in one
            duck.execute(f"delete from draft.main.{reserved}")
        duck.execute("begin")
        for table in metadata.sorted_tables:
            duck.execute(f"insert into draft.main.{table.name} by name from {current}.main.{table.name}")
        duck.execute("commit")
        _compare(duck, current, path)
        duck.execute("detach draft")
    # The draft has the umask of this process; its mode must be that of the store for other users.
    shutil.copymode(path, draft)
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    # The content is synced before the rename: after a power cut, the name must not refer to an empty file.
    if not READ_WHILE_WRITTEN:
        engine.dispose()  # Windows replaces nothing that is open; the lock of the writer stays
    replace(draft, path)
    sync_folder(path.parent)


def _compare(duck: duckdb.DuckDBPyConnection, current: str, path: Path) -> None:
    for table in metadata.sorted_tables:
        rows = [duck.execute(row_digest(table, f"{each}.main")).fetchall() for each in (current, "draft")]
        if rows[0] != rows[1]:
            raise StoreError(f"{path}: the packed copy of {table.name} differs; the store was left as it was")


def _current(duck: duckdb.DuckDBPyConnection) -> str:
    """Return the name of the database, as SQL has it."""
    (name,) = one_row(duck, "select current_database()") or ("",)
    return quote_identifier(name)


#: Models of corpora with wrong counts or texts are wrong, too.
_MODELS = """
select distinct m.name || '@' || m.version
from model m
join model_corpus k on k.model_id = m.id
where k.corpus_name in (select unnest($names::varchar[]))
order by all
"""
_ALIGNMENT_MODELS = """
select name
from alignment_model
where corpus_id <> 0
    and corpus_name in (select unnest($names::varchar[]))
order by name
"""


@dataclass(frozen=True, slots=True)
class RemovedRows:
    """Rows of a table without an owner that were removed, such as counts of a segment that does not exist."""

    table: str
    rows: int
    reason: str


@dataclass(slots=True)
class Repair:
    """The result of a repair, with what is left for the user to make again.

    Attributes:
        removed: the rows that were removed, or in a dry run would be.
        backup: the copy of the store as it was, if one was made.
        corpora: names of corpora whose counts do not add up.
        models: labels of models that are damaged, or were built from those corpora.
        alignment_models: names of alignment models that were trained on those corpora.
        others: other checks that the store does not pass.
    """

    removed: list[RemovedRows] = field(default_factory=list)
    backup: Path | None = None
    corpora: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    alignment_models: list[str] = field(default_factory=list)
    others: list[Check] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing is left for the user to do."""
        return not (self.corpora or self.models or self.alignment_models or self.others)


def repair(
    path: Path, *, dry_run: bool = False, backup: bool = True, memory_limit: int | None = None
) -> Repair:
    """Remove rows without an owner in one transaction, after a backup, and find what must be made again.

    Nothing is counted again: wrong counts whose sums are right are found only by `sentgen db check`.

    Args:
        dry_run: change nothing, and return what would be removed and what would be left to do.
        backup: copy the store to a file beside it first, if there is anything to remove.

    Raises:
        NotFoundError: there is no store.
        StoreError: the store cannot be opened, or there is no room for the backup; the store is unchanged.
    """
    done = Repair()
    opened = Store(path, read_only=dry_run, memory_limit=memory_limit)
    with opened as store, store.connect() as connection:
        # A dry run sees the repaired store through temporary views over its tables, and writes nothing.
        done.removed = _hide(raw(connection))
        if dry_run or not done.removed:
            _look_for_the_rest(raw(connection), done)
    if dry_run:
        return done
    if done.removed:
        if backup:
            with translated_errors(path):
                # The store is closed here: a copy of an open one might have half of a commit.
                done.backup = back_up(path, "repair")
        with Store(path, memory_limit=memory_limit) as store, store.begin() as connection:
            duck = raw(connection)
            counts = ((rows, one_number(duck, rows.removal)) for rows in OrphanRows.all())
            done.removed = [RemovedRows(rows.table, count, rows.name) for rows, count in counts if count]
            _look_for_the_rest(duck, done)
    return done


def _hide(duck: duckdb.DuckDBPyConnection) -> list[RemovedRows]:
    """Cover tables with temporary views that hide rows without an owner, and return the hidden rows."""
    current = _current(duck)
    hidden: dict[str, list[str]] = {}
    removed = []
    for rows in OrphanRows.all():
        if count := one_number(duck, f"select count(*) from ({rows.query})"):
            removed.append(RemovedRows(rows.table, count, rows.name))
            # `is not true`: the deletion would keep a row for which the condition is null.
            hidden.setdefault(rows.table, []).append(f"({rows.condition}) is not true")
            shown = " and ".join(hidden[rows.table])
            table = f"{current}.main.{rows.table}"
            duck.execute(f"create or replace temp view {rows.table} as from {table} where {shown}")
    return removed


def _look_for_the_rest(duck: duckdb.DuckDBPyConnection, done: Repair) -> None:
    """Run the quick checks, and add to the result what must be made again."""
    corpora: set[str] = set()
    model_names: set[str] = set()
    for each in checks():
        if each.slow:
            continue
        columns = [
            str(column[0]) for column in duck.execute(f"from ({each.query}) limit 0").description or ()
        ]
        named = {"corpus": corpora, "model": model_names}.get(columns[0])
        if named is not None:
            named |= {
                str(row[0])
                for row in duck.execute(f"select distinct {columns[0]} from ({each.query})").fetchall()
            }
        elif one_row(duck, f"from ({each.query}) limit 1"):
            done.others.append(each)
    built = duck.execute(_MODELS, {"names": sorted(corpora)}).fetchall()
    trained = duck.execute(_ALIGNMENT_MODELS, {"names": sorted(corpora)}).fetchall()
    done.corpora = sorted(corpora)
    done.models = sorted(model_names | {label for (label,) in built})
    done.alignment_models = [name for (name,) in trained]
    if corpora:  # reading these corpora again cures the other checks, too
        done.others = [each for each in done.others if each.cure not in (REINGEST, REPAIR)]
