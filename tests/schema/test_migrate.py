"""New stores, current ones, older ones, newer ones, and files that are no stores."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import duckdb
import numpy as np
import pytest
from sqlalchemy.schema import CreateTable

from sentgen.alignment.phrase_hmm.rewriting.lexicon import phrase_keys
from sentgen.errors import NotFoundError, StoreError
from sentgen.models.registry import next_version, remove
from sentgen.schema import Store, dictionary, inspection, metadata, migrate
from sentgen.schema.dialect import DuckDialect
from sentgen.schema.engine import default_memory_limit, open_engine
from sentgen.schema.tables import fidelity
from sentgen.schema.tables.alignment import OF_CORPUS, OF_MODEL
from sentgen.schema.tables.corpus import RESERVED_TAGS, RESERVED_WORDS

pytestmark = pytest.mark.migrates

#: The revision that this sentgen makes stores of.
NEWEST = migrate.REVISIONS[-1]
#: Tables of the revisions after the fourth.
LATER = (
    *("removed_model", "subcorpus", "saved_query", "model_weight"),
    *("alignment_weight", "alignment_link_count", "vector_space", "word_vector"),
    *(table.name for table in fidelity.OF_CORPUS),
)
NEXT = '''"""A migration that is not there yet."""
from alembic import op

revision = "0999"
down_revision = "{newest}"


def upgrade() -> None:
    op.execute("create table first_step (x integer)")
    op.execute("update corpus set name = 'renamed'")
    {last}
'''


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sentgen that knows one more revision; write versions/0999.py into the folder."""
    folder = tmp_path / "migrations 100%"
    shutil.copytree(migrate.script_location(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(migrate, "script_location", lambda: folder)
    monkeypatch.setattr(migrate, "REVISIONS", (*migrate.REVISIONS, "0999"))
    return folder / "versions" / "0999.py"


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    """An empty store that all migrations made."""
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
    """Tables, columns, types, nullability and primary keys."""
    primary_keys = "select table_name, constraint_column_names from duckdb_constraints() where constraint_type = 'PRIMARY KEY'"
    with duckdb.connect() as made, duckdb.connect(str(migrated), read_only=True) as duck:
        for table in metadata.sorted_tables:
            made.execute(str(CreateTable(table).compile(dialect=DuckDialect())))
        made.execute(f"create table {inspection.VERSION_TABLE} (version_num varchar not null)")
        tables = {name for name, *_ in dictionary.catalogue(made)}
        assert tables == {inspection.VERSION_TABLE, *metadata.tables}
        assert [row for row in dictionary.catalogue(duck) if row[0] in tables] == dictionary.catalogue(made)
        assert {name for name, *_ in dictionary.catalogue(duck)} - tables == {
            v.name for v in inspection.views()
        }
        keys = [sorted(one.execute(primary_keys).fetchall()) for one in (duck, made)]
    assert [key for key in keys[0] if key[0] != inspection.VERSION_TABLE] == keys[1]


def test_unique_columns_are_unique(template: Path) -> None:
    """What the metadata declares unique cannot be written twice."""
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

    assert [file.name[:4] for file in files] == list(migrate.REVISIONS)


@pytest.mark.parametrize("create", [False, True])
def test_opening_a_store_leaves_alembic_alone(path: Path, create: bool) -> None:
    """Alembic takes a third of a second to import, also where a store is made."""
    if create:
        path.unlink()
    code = (
        f"import sys; from sentgen.schema import Store; Store({str(path)!r}, create={create}).close();"
        " print('alembic' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_older_store_is_refused_then_upgraded(path: Path, later: Path) -> None:
    """The message names the command; the backup holds the old revision, the store the new one."""
    later.write_text(NEXT.format(newest=NEWEST, last=""))

    with pytest.raises(
        StoreError, match=r"made by an older sentgen .*run: sentgen db upgrade --db .*store\.duckdb"
    ):
        Store(path)
    backup = migrate.upgrade(path)

    assert backup is not None
    assert backup.name.startswith(f"store.duckdb.backup-{NEWEST}-")
    Store(path).close()
    with duckdb.connect(str(path)) as new, duckdb.connect(str(backup)) as old:
        names = "select name from corpus"
        assert (new.execute(names).fetchall(), old.execute(names).fetchall()) == ([("renamed",)], [("demo",)])
    assert migrate.upgrade(path) is None


def test_half_a_backup_has_no_name_of_a_backup(
    path: Path, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 12: killed while it copied, an upgrade left a part of the store under the name of a backup."""
    later.write_text(NEXT.format(newest=NEWEST, last=""))
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


def test_store_of_the_first_revision_is_upgraded(path: Path) -> None:
    """What later revisions brought is there, and what was in the store still is."""
    with duckdb.connect(str(path)) as duck:
        for view in inspection.view_names():
            duck.execute(f"drop view {view}")
        for table in (
            "parse",
            "removed_model",
            "saved_query",
            "model_weight",
            "vector_space",
            "word_vector",
            "subcorpus",
            "alignment_model",
            *(table.name for table in {*OF_CORPUS, *OF_MODEL, *fidelity.OF_CORPUS}),
        ):
            duck.execute(f"drop table {table}")
        duck.execute("update alembic_version set version_num = '0001'")

    migrate.upgrade(path)

    Store(path, read_only=True).close()
    with duckdb.connect(str(path)) as duck:
        found = duck.execute("select table_name from duckdb_tables()").fetchall()
        assert {name for (name,) in found} == {inspection.VERSION_TABLE, *metadata.tables}
        assert duck.execute("select name from corpus").fetchall() == [("demo",)]


def test_rewrite_tables_of_the_third_revision_stay(path: Path) -> None:
    """Strings become flags; the view shows what it showed."""
    with duckdb.connect(str(path)) as duck:
        for view in inspection.view_names():
            duck.execute(f"drop view {view}")
        for table in ("alignment_rewrite", *LATER):
            duck.execute(f"drop table {table}")
        duck.execute(
            "create table alignment_rewrite (model_id integer, direction varchar, layer varchar, "
            "iteration smallint, source bigint, target bigint, kind smallint, prob double)"
        )
        duck.execute(
            "insert into alignment_rewrite values "
            "(1, 'forward', 'words', 2, 0, 1, 1, 0.25), (1, 'forward', 'words', 2, 0, 0, 3, 0.75), "
            "(1, 'reverse', 'words', 2, 1, 0, 1, 1.0), (1, 'forward', 'stems', 2, 1, 1, 2, 1.0), "
            "(1, 'forward', 'words', 2, -9, 1, 0, 1.0)"
        )
        duck.execute("insert into alignment_model values (1, 'm', 1, 'c', 1, '', '{}', 2, '0', now())")
        phrases = [("words", 0, "old"), ("words", 1, "new"), ("stems", 0, "ol"), ("stems", 1, "ne")]
        phrases.append(("words", -9, "new old"))
        duck.executemany("insert into alignment_phrase values (1, ?, ?, ?)", phrases)
        duck.execute("update alembic_version set version_num = '0003'")

    migrate.upgrade(path)

    with duckdb.connect(str(path)) as duck:
        rows = duck.execute("select direction, layer, source, target, prob from v_rewrites").fetchall()
        kinds = duck.execute("select target, kind from alignment_rewrite where not reverse and not stems")
        assert kinds.fetchall() == [(1, 0), (0, 3), (1, 1)]
        (key,) = phrase_keys(np.array([1, 0], np.int32), 2).tolist()
        assert duck.execute("select min(source) from alignment_rewrite").fetchone() == (key,)
    assert sorted(rows) == [
        ("forward", "stems", "ne", "ne", 1.0),
        ("forward", "words", "new old", "new", 1.0),
        ("forward", "words", "old", "new", 0.25),
        ("forward", "words", "old", "old", 0.75),
        ("reverse", "words", "new", "old", 1.0),
    ]


def test_versions_go_on_in_a_store_of_the_fourth_revision(path: Path) -> None:
    """Its models stay; those that are removed from now on are remembered."""
    with duckdb.connect(str(path)) as duck:
        for view in inspection.view_names():
            duck.execute(f"drop view {view}")
        for table in LATER:
            duck.execute(f"drop table {table}")
        duck.execute("insert into model values (7, 'old', 3, 1, 'arpa', '', 'word', 1, 0, 0, now())")
        duck.execute("update alembic_version set version_num = '0004'")

    migrate.upgrade(path)

    with Store(path) as store:
        assert [model.label for model in remove(store, "old")] == ["old@3"]
        with store.connect() as connection:
            assert next_version(connection, "old") == (8, 4)
            assert next_version(connection, "new") == (8, 1)


def test_comments_of_the_fifth_revision_become_metadata(path: Path) -> None:
    """What an earlier sentgen kept of a treebank can be asked; the order of the comments is not known."""
    with duckdb.connect(str(path)) as duck:
        for view in inspection.view_names():
            duck.execute(f"drop view {view}")
        for table in LATER[1:]:  # the first one is of the fifth revision
            duck.execute(f"drop table {table}")
        duck.execute("insert into document values (7, 1, 1, 'news', 3, 2)")
        duck.execute(
            "insert into sentence values (3, 1, 7, 'a', 1, 1, null, 'meta::genre = essay\nnewpar\nspeaker = Ann = B'), "
            "(4, 1, 7, 'b', 1, 5, null, 'meta::genre = no\ns_type='), (5, 1, 7, 'c', 1, 9, null, null)"
        )
        duck.execute("update alembic_version set version_num = '0005'")

    migrate.upgrade(path)

    with duckdb.connect(str(path)) as duck:
        rows = duck.execute(
            "select document, sent_id, key, value from v_metadata order by all nulls first"
        ).fetchall()
    assert rows == [
        ("news", None, "genre", "essay"),
        ("news", "a", "speaker", "Ann = B"),
        ("news", "b", "meta::genre", "no"),
        ("news", "b", "s_type", ""),
    ]


def test_migration_that_fails_leaves_no_trace(path: Path, later: Path) -> None:
    """It raises after a table and a change of data; neither is there afterwards."""
    later.write_text(NEXT.format(newest=NEWEST, last='op.execute("select * from no_such_table")'))

    with pytest.raises(StoreError, match="no_such_table"):
        migrate.upgrade(path)

    with duckdb.connect(str(path)) as duck:
        assert duck.execute("select name from corpus").fetchall() == [("demo",)]
        assert duck.execute("select version_num from alembic_version").fetchall() == [(NEWEST,)]
        assert duck.execute("select * from duckdb_tables() where table_name = 'first_step'").fetchall() == []


def test_new_store_that_cannot_be_made_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second attempt starts from nothing and succeeds."""

    def stop(_: object) -> None:
        raise OSError("stop")

    with monkeypatch.context() as broken:
        broken.setattr(inspection, "apply", stop)
        with pytest.raises(StoreError, match="stop"):
            Store(tmp_path / "new.duckdb", create=True)

    Store(tmp_path / "new.duckdb", create=True).close()


def test_backup_that_fails_leaves_the_store(path: Path, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a backup nothing is upgraded, and half a backup is removed."""
    later.write_text(NEXT.format(newest=NEWEST, last=""))

    def full(source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(StoreError, match="the disk is full"):
        migrate.upgrade(path)

    assert [file.name for file in path.parent.glob("*backup*")] == []
    with duckdb.connect(str(path)) as duck:
        assert duck.execute("select version_num from alembic_version").fetchall() == [(NEWEST,)]


@pytest.mark.parametrize("read_only", [False, True])
def test_newer_store_is_refused(path: Path, read_only: bool) -> None:
    """A revision that this version does not know."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("update alembic_version set version_num = '9999'")

    with pytest.raises(StoreError, match=r"made by a newer sentgen \(revision 9999\); upgrade sentgen"):
        Store(path, read_only=read_only)
    with pytest.raises(StoreError, match="newer sentgen"):
        migrate.upgrade(path)


@pytest.mark.parametrize("read_only", [False, True])
def test_foreign_database_is_refused(tmp_path: Path, read_only: bool) -> None:
    """Somebody else's DuckDB file keeps its tables and gets none."""
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
    """No file is made by the attempt."""
    with pytest.raises(NotFoundError, match="no store here"):
        migrate.upgrade(tmp_path / "none.duckdb")

    assert list(tmp_path.iterdir()) == []


def test_writer_renews_views_that_changed(path: Path) -> None:
    """A view of an older version goes, one that is gone comes back; a reader leaves them as they are."""
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
    assert sorted(name for (name,) in after) == list(inspection.view_names())


def test_views_come_after_those_that_they_read() -> None:
    """v_ngrams reads v_ngrams_1 to v_ngrams_5."""
    order = [view.name for view in inspection.views()]

    assert order.index("v_ngrams") > max(order.index(f"v_ngrams_{n}") for n in range(1, 6))


def test_killed_upgrades_leave_one_backup(path: Path, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each made a copy of the whole store; the last one stays, and those of others than upgrades do."""
    later.write_text(NEXT.format(newest=NEWEST, last=""))
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
