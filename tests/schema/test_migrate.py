"""New stores, current ones, older ones, newer ones, and files that are no stores."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import duckdb
import next_revision
import pytest
from next_revision import NEWEST, NEXT
from sqlalchemy.schema import CreateTable

from sentgen.errors import NotFoundError, StoreError
from sentgen.schema import Store, dictionary, maintenance, metadata, migrate, readonly
from sentgen.schema.engine import DuckDialect, default_memory_limit, open_engine
from sentgen.schema.tables.corpus import RESERVED_TAGS, RESERVED_WORDS

pytestmark = pytest.mark.usefixtures("made_stores")


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a migration to one more revision, which this sentgen then knows."""
    folder = next_revision.write(tmp_path / "migrations 100%")
    monkeypatch.setattr(migrate, "script_location", lambda: folder)
    monkeypatch.setattr(migrate, "REVISIONS", (*migrate.REVISIONS, NEXT))
    return folder / "versions" / f"{NEXT}.py"


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    """An empty store made by all migrations."""
    path = tmp_path / "migrated.duckdb"
    engine = open_engine(path, read_only=False, memory_limit=default_memory_limit())
    migrate._migrate(engine)
    engine.dispose()
    return path


def test_new_store_equals_a_migrated_one(migrated: Path, tmp_path: Path) -> None:
    """A new store is made of the declared tables, without the migrations; the catalog and all rows agree."""
    catalog = (
        "select table_name, sql, comment from duckdb_tables()",
        "select view_name, sql, comment from duckdb_views() where not internal",
        "select table_name, column_name, comment from duckdb_columns() where not internal",
        "select table_name, constraint_text from duckdb_constraints()",
    )
    Store(tmp_path / "new.duckdb", create=True).close()
    with duckdb.connect(str(migrated)) as old, duckdb.connect(str(tmp_path / "new.duckdb")) as new:
        tables = [name for (name,) in new.execute("select table_name from duckdb_tables()").fetchall()]
        for query in (*catalog, *(f"from {name}" for name in tables)):
            assert new.execute(f"{query} order by all").fetchall() == (
                old.execute(f"{query} order by all").fetchall()
            ), query


def test_migrated_store_equals_the_metadata(migrated: Path) -> None:
    """Tables, columns, types, nullability and primary keys are those of the metadata."""
    primary_keys = "select table_name, constraint_column_names from duckdb_constraints() where constraint_type = 'PRIMARY KEY'"
    with duckdb.connect() as made, duckdb.connect(str(migrated), read_only=True) as duck:
        for table in metadata.sorted_tables:
            made.execute(str(CreateTable(table).compile(dialect=DuckDialect())))
        made.execute(f"create table {dictionary.VERSION_TABLE} (version_num varchar not null)")
        tables = {name for name, *_ in dictionary.catalogue(made)}
        assert tables == {dictionary.VERSION_TABLE, *metadata.tables}
        assert [row for row in dictionary.catalogue(duck) if row[0] in tables] == dictionary.catalogue(made)
        assert {name for name, *_ in dictionary.catalogue(duck)} - tables == {
            v.name for v in dictionary.views()
        }
        keys = [sorted(one.execute(primary_keys).fetchall()) for one in (duck, made)]
    assert [key for key in keys[0] if key[0] != dictionary.VERSION_TABLE] == keys[1]


def test_unique_columns_are_unique(template: Path) -> None:
    """A value cannot be written twice into a column that the metadata declares unique."""
    expected = {(t.name, c.name) for t in metadata.sorted_tables for c in t.columns if c.unique}
    with duckdb.connect(str(template), read_only=True) as duck:
        found = duck.execute(
            "select table_name, constraint_column_names[1] from duckdb_constraints() where constraint_type = 'UNIQUE'"
        ).fetchall()

    assert set(found) == expected


def test_new_store_has_the_reserved_rows(tmp_path: Path) -> None:
    """Words 0 to 3 and the first tags are there before anything is ingested."""
    Store(tmp_path / "new.duckdb", create=True).close()
    with duckdb.connect(str(tmp_path / "new.duckdb")) as duck:
        words = duck.execute("select id, form from word order by id").fetchall()
        tags = duck.execute("select id, name from tag order by id").fetchall()

    assert words == list(enumerate(RESERVED_WORDS))
    assert tags == list(enumerate(RESERVED_TAGS))


def test_known_revisions_are_the_files() -> None:
    """`REVISIONS` spares opening a store the import of Alembic, so it must be kept by hand."""
    files = sorted(migrate.script_location().joinpath("versions").glob("[0-9]*.py"))

    assert [file.name[:5] for file in files] == [revision[:5] for revision in migrate.REVISIONS]


def test_the_revision_of_the_baseline_is_that_of_its_tables() -> None:
    """Until the first release: a store with other tables has another revision, and is refused.

    With the release this test goes, and the baseline never changes again.
    """
    columns = [
        f"{table.name}.{c.name} {c.type} {c.nullable} {c.unique} {c.primary_key}"
        for table in metadata.sorted_tables
        for c in table.columns
    ]
    expected = f"0001_{hashlib.sha256(chr(10).join(columns).encode()).hexdigest()[:8]}"

    assert migrate.REVISIONS[0] == expected, f'the tables have changed: REVISIONS = ("{expected}",)'


@pytest.mark.parametrize("create", [False, True])
def test_opening_a_store_leaves_alembic_alone(path: Path, create: bool) -> None:
    """Neither opening nor making a store imports Alembic, which takes a third of a second."""
    if create:
        path.unlink()
    code = (
        f"import sys; from sentgen.schema import Store; Store({str(path)!r}, create={create}).close();"
        " print('alembic' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


@pytest.mark.parametrize("read_only", [False, True])
def test_older_store_is_refused_then_upgraded(path: Path, later: Path, read_only: bool) -> None:
    """The message names the command; the backup holds the old revision, the store the new one."""
    before = path.read_bytes()
    with pytest.raises(
        StoreError, match=r"made by an older sentgen .*run: sentgen db upgrade --db .*store\.duckdb"
    ):
        Store(path, read_only=read_only)
    assert path.read_bytes() == before
    backup = migrate.upgrade(path)

    assert backup is not None
    assert backup.name.startswith(f"store.duckdb.backup-{NEWEST}-")
    Store(path, read_only=read_only).close()
    with duckdb.connect(str(path)) as new, duckdb.connect(str(backup)) as old:
        assert new.execute("select name, note from corpus").fetchall() == [("renamed demo", "of demo")]
        assert new.execute("select count(*) from later").fetchall() == [(next_revision.ROWS,)]
        assert new.execute("select corpus, sentences from v_corpora").fetchall() == [("renamed demo", 2)]
        assert old.execute("select name from corpus").fetchall() == [("demo",)]
    assert migrate.upgrade(path) is None


def test_a_new_store_is_of_the_newest_revision(tmp_path: Path, later: Path) -> None:
    """A new store has the same revision as an upgraded one."""
    path = tmp_path / "new.duckdb"
    Store(path, create=True).close()
    with duckdb.connect(str(path)) as duck:
        assert duck.execute("select version_num from alembic_version").fetchall() == [(NEXT,)]
    assert migrate.upgrade(path) is None


def test_half_a_backup_has_no_name_of_a_backup(
    path: Path, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If an upgrade is killed while it copies the store, the partial copy does not have the name of a backup."""
    names = []

    def copy_half(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:100_000])
        names.extend(file.name for file in path.parent.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copy2", copy_half)
    with pytest.raises(KeyboardInterrupt):
        migrate.upgrade(path)

    assert [name for name in names if name.startswith("store.duckdb.backup-")] == []
    assert [file.name for file in path.parent.iterdir() if "backup" in file.name] == []


def test_migration_that_fails_leaves_no_trace(path: Path, later: Path) -> None:
    """A migration fails after it made a table and changed data; both are rolled back."""
    later.write_text(later.read_text() + '    op.execute("select * from no_such_table")\n')

    with pytest.raises(StoreError, match="no_such_table"):
        migrate.upgrade(path)

    with duckdb.connect(str(path)) as duck:
        assert duck.execute("select name from corpus").fetchall() == [("demo",)]
        assert duck.execute("select version_num from alembic_version").fetchall() == [(NEWEST,)]
        assert duck.execute("select * from duckdb_tables() where table_name = 'later'").fetchall() == []


def test_new_store_that_cannot_be_made_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second attempt starts from nothing and succeeds."""

    def stop(_: object) -> None:
        raise OSError("stop")

    with monkeypatch.context() as broken:
        broken.setattr(dictionary, "apply", stop)
        with pytest.raises(StoreError, match="stop"):
            Store(tmp_path / "new.duckdb", create=True)

    Store(tmp_path / "new.duckdb", create=True).close()


def test_backup_that_fails_leaves_the_store(path: Path, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a backup nothing is upgraded, and half a backup is removed."""

    def full(source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(StoreError, match="the disk is full"):
        migrate.upgrade(path)

    assert [file.name for file in path.parent.glob("*backup*")] == []
    with duckdb.connect(str(path)) as duck:
        assert duck.execute("select version_num from alembic_version").fetchall() == [(NEWEST,)]


@pytest.mark.parametrize("revision", ["0001", "0016", "0001_00000000", "9999", NEXT, ""])
def test_store_of_another_version_is_refused(path: Path, revision: str) -> None:
    """A store from before the first release or of a newer sentgen is refused, with the cure, and not changed."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("update alembic_version set version_num = ?", [revision])
    before = path.read_bytes()

    for opened in (
        lambda: Store(path),
        lambda: Store(path, read_only=True),
        lambda: readonly.open_locked(path),
        lambda: migrate.upgrade(path),
        lambda: maintenance.compact(path),
    ):
        with pytest.raises(StoreError, match=r"store\.duckdb: made by another version of sentgen") as refusal:
            opened()
        assert f"revision {revision or 'none'})" in str(refusal.value)
        assert "ingest the texts again into a new store: sentgen ingest" in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_foreign_database_is_refused(tmp_path: Path, read_only: bool) -> None:
    """A DuckDB file of another program keeps its tables and gets no others."""
    file = tmp_path / "other.duckdb"
    with duckdb.connect(str(file)) as duck:
        duck.execute("create table customers (x integer)")

    with pytest.raises(StoreError, match="not a sentgen store"):
        Store(file, read_only=read_only)
    with pytest.raises(StoreError, match="not a sentgen store"):
        migrate.upgrade(file)
    with duckdb.connect(str(file)) as duck:
        assert duck.execute("show tables").fetchall() == [("customers",)]


def test_empty_file_is_filled_by_a_writer_only(tmp_path: Path) -> None:
    """An empty DuckDB file is a new store for a writer and nothing for a reader."""
    file = tmp_path / "empty.duckdb"
    duckdb.connect(str(file)).close()

    with pytest.raises(StoreError, match="an empty DuckDB file; fill it with: sentgen ingest"):
        Store(file, read_only=True)
    Store(file).close()
    Store(file, read_only=True).close()


def test_upgrade_needs_a_store(tmp_path: Path) -> None:
    """Upgrading a missing store is refused, and makes no file."""
    with pytest.raises(NotFoundError, match="no store here"):
        migrate.upgrade(tmp_path / "none.duckdb")

    assert list(tmp_path.iterdir()) == []


def test_writer_renews_views_that_changed(path: Path) -> None:
    """A writer replaces old views and adds missing ones; a reader leaves views as they are."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("drop view v_corpora")
        duck.execute("create view v_outdated as select 1")
        duck.execute("comment on table alembic_version is 'Views and comments: other.'")

    Store(path, read_only=True).close()
    with duckdb.connect(str(path)) as duck:
        before = duck.execute("select view_name from duckdb_views() where not internal").fetchall()
    Store(path).close()
    with duckdb.connect(str(path)) as duck:
        after = duck.execute("select view_name from duckdb_views() where not internal").fetchall()

    assert ("v_outdated",) in before
    assert sorted(name for (name,) in after) == sorted(view.name for view in dictionary.views())


def test_views_come_after_those_that_they_read() -> None:
    """v_ngrams reads v_ngrams_1 to v_ngrams_5."""
    order = [view.name for view in dictionary.views()]

    assert order.index("v_ngrams") > max(order.index(f"v_ngrams_{n}") for n in range(1, 6))


def test_killed_upgrades_leave_one_backup(path: Path, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each killed upgrade copied the whole store; only the last copy stays, and backups for other reasons."""
    moments = iter(range(20, 60))

    class Clock:
        @staticmethod
        def now(zone: object) -> datetime:
            return datetime(2026, 1, 1, 0, 0, next(moments))

    def killed(engine: object) -> None:
        raise SystemExit

    mine = migrate.back_up(path, "repair")
    monkeypatch.setattr(migrate, "datetime", Clock)
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "_migrate", killed)
        for _ in range(3):
            with pytest.raises(SystemExit):
                migrate.upgrade(path)
            assert len([*path.parent.glob(f"store.duckdb.backup-{NEWEST}-*")]) == 1
    backup = migrate.upgrade(path)

    assert backup is not None
    assert {file.name for file in path.parent.iterdir() if file.is_file() or file.name.startswith(".")} == {
        path.name,
        mine.name,
        backup.name,
    }
    assert migrate.upgrade(path) is None
    assert backup.exists()
