"""SQL from untrusted users: which queries run, which are refused, and that the file does not change."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sql_attacks import ATTACKS

from sentgen.errors import NotFoundError, QueryRejected, StoreError
from sentgen.schema import readonly
from sentgen.schema.guard import FUNCTIONS, MAX_BYTES, TABLE_FUNCTIONS, require_harmless

HARMLESS = [
    "select 1",
    "from word limit 1",
    "select form, count(*) as n from word group by all having n > 0 order by n desc limit 3;",
    "with a as (select * from word), b as (select * from a) select * from b where form like 't%'",
    "with recursive r(i) as (select 1 union all select i + 1 from r where i < 5) select sum(i) from r",
    "select w1, count, rank() over (partition by corpus order by count desc) from v_ngrams_2 qualify count > 1",
    "select case when id > 3 then upper(form) else '-' end, id::varchar, form collate nocase from main.word",
    "select regexp_extract(form, '(.)o', 1), levenshtein(form, 'dog'), [id, 2][1], {'a': id}.a from word",
    "select list_transform([1, 2], lambda x: x + 1), date '2026-01-01', interval 1 day, extract(year from now())",
    "select * from range(3) r(i), lateral (select i * 2)",
    "select unnest([1, 2]) union all select 3",
    "values (1, 'a'), (2, 'b')",
    "select exists (select 1 from tag), 1 in (select id from tag), id between 1 and 2 from tag",
    "select string_agg(form, ' ' order by id) filter (where id > 3) from word",
    "with DUCKDB_tables as (select 1 as x), b as (from duckdb_TABLES) from b, (with word as (from b) from word)",
    "with recursive a(x) as (with b as (select 1) from b union select x + 1 from a where x < 3) from a",
    "with größe as (select 1) from größe",
    "-- a remark\nselect * exclude (id), columns('id') from word using sample 2 rows",
]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def shared(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that no test changes."""
    copy = tmp_path_factory.mktemp("locked") / "store.duckdb"
    copy.write_bytes(template.read_bytes())
    return copy


@pytest.fixture(scope="module")
def victim(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that is attacked."""
    copy = tmp_path_factory.mktemp("attacked") / "store.duckdb"
    copy.write_bytes(template.read_bytes())
    return copy


@pytest.fixture(scope="module")
def duck(victim: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A locked connection; at the end, the file has the same bytes, and no file was added."""
    before = digest(victim)
    with readonly.open_locked_store(victim, memory_limit=2**27) as connection:
        yield connection
    assert digest(victim) == before
    assert list(victim.parent.iterdir()) == [victim]


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_is_refused_by_the_guard(duck: duckdb.DuckDBPyConnection, victim: Path, attack: str) -> None:
    """The guard refuses it in one line, before DuckDB runs anything."""
    with pytest.raises(QueryRejected) as refusal:
        require_harmless(duck, attack.format(file=victim, folder=victim.parent))

    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("attack", [a for a in ATTACKS if "{" in a or "/etc" in a])
def test_attack_fails_without_the_guard_too(
    duck: duckdb.DuckDBPyConnection, victim: Path, attack: str
) -> None:
    """Without the guard, the locks alone protect files; the fixture compares the bytes at the end."""
    statement = attack.format(file=victim, folder=victim.parent)
    if attack.startswith("explain (format json) copy") and duckdb.__version__ == "2.0.0":
        duck.execute(statement).fetchall()  # DuckDB only explains it, without reading the file
        return
    with pytest.raises(duckdb.Error):
        duck.execute(statement).fetchall()


@pytest.mark.parametrize("sql", HARMLESS)
def test_harmless_query_runs(duck: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Queries as linguists write them run."""
    require_harmless(duck, sql)

    assert readonly.ask(duck, sql, (), max_rows=0).table.columns


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("selct 1", 'syntax error at or near "selct"'),
        (
            "select fom from word",
            'Referenced column "fom" not found in FROM clause! Candidate bindings: "form"',
        ),
        ("select * from wrod", "no table or view 'wrod' to read here; did you mean word?"),
        (
            "select levenshtien('a', 'b')",
            "the function 'levenshtien' is not allowed here; did you mean levenshtein?",
        ),
        ("", "give exactly one query, not 0"),
        ("select 1; select 2", "give exactly one query, not 2"),
        ("delete from word", "only SELECT queries run here, not DELETE"),
        ("select cast('x' as integer)", "Could not convert string 'x' to INT32"),
        ("select " + "abs(" * 120 + "1" + ")" * 120, "nested more than 100 deep"),
        ("select " + "1 + " * 20_000 + "1", "longer than 20000 bytes"),
        ("select '\ud800'", "is not valid UTF-8"),
        ("select ?", "parameter"),
    ],
)
def test_mistakes_get_one_clear_line(shared: Path, sql: str, message: str) -> None:
    """The message is DuckDB's where it helps, without the echo of the query."""
    with pytest.raises(QueryRejected) as refusal:
        readonly.query(shared, sql)

    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_parameters_are_bound(shared: Path) -> None:
    """Parameters are bound by position or name, and never inserted as text."""
    by_place = readonly.query(shared, "select id from word where form = ?", ["dog"])
    by_name = readonly.query(shared, "select id from word where form = $form", {"form": "' or true --"})

    assert by_place.table.to_pylist() == [{"id": 5}]
    assert by_name.table.num_rows == 0


@pytest.mark.parametrize(
    ("limit", "rows", "truncated"), [(0, 9, False), (8, 8, True), (9, 9, False), (10, 9, False)]
)
def test_rows_are_limited(shared: Path, limit: int, rows: int, truncated: bool) -> None:
    """The store has nine words; one more row than asked for is enough to know that there are more."""
    answer = readonly.query(shared, "select * from word", max_rows=limit)

    assert (answer.table.num_rows, answer.truncated) == (rows, truncated)


def test_memory_is_limited(shared: Path) -> None:
    """A query beyond the memory limit fails, as the file system for temporary files is disabled."""
    big = "select count(*) from (select a.range, b.range from range(10000) a, range(1000) b group by all)"
    with pytest.raises(QueryRejected, match="too much memory; filter more, or raise `memory_limit`"):
        readonly.query(shared, big, memory_limit=2**25)


def test_python_variables_are_out_of_reach(shared: Path) -> None:
    """DuckDB does not read Python's variables as tables, which it does by default."""
    import pyarrow as pa

    secrets = pa.table({"x": [1]})
    with readonly.open_locked_store(shared) as duck, pytest.raises(duckdb.CatalogException):
        duck.execute("select * from secrets")
    assert secrets.num_rows == 1


def test_store_with_functions_of_its_own_is_not_opened(path: Path) -> None:
    """A store with a macro is refused, as the macro could have the name of a harmless function."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("create macro levenshtein(a, b) as (select 1)")

    with pytest.raises(StoreError, match="brings its own SQL functions"):
        readonly.open_locked(path)


def test_broken_locks_are_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a version of DuckDB lets an attack through, the store is not opened."""
    real = duckdb.connect

    class Leaky:
        def __init__(self, inner: duckdb.DuckDBPyConnection) -> None:
            self.inner = inner

        def execute(self, sql: str) -> duckdb.DuckDBPyConnection:
            return self.inner.execute("select 1" if "read_text" in sql else sql)

        def close(self) -> None:
            self.inner.close()

    leaky = SimpleNamespace(
        connect=lambda *a, **k: Leaky(real(*a, **k)), Error=duckdb.Error, __version__=duckdb.__version__
    )
    monkeypatch.setattr(readonly, "duckdb", leaky)
    with pytest.raises(StoreError, match="let through what it must refuse"):
        readonly.open_locked(path)


def test_needs_a_current_store(tmp_path: Path) -> None:
    """A query to a missing store makes no file."""
    with pytest.raises(NotFoundError, match="no store here"):
        readonly.query(tmp_path / "none.duckdb", "select 1")

    assert list(tmp_path.iterdir()) == []


def test_store_without_write_permission_is_readable(path: Path) -> None:
    """A store of mode 0444, as snapshots have, can be read."""
    path.chmod(0o444)

    assert readonly.query(path, "select count(*) as n from token").table.to_pylist() == [{"n": 8}]
    assert not os.path.exists(f"{path}.wal")


def test_allowed_functions_exist_and_dangerous_ones_are_not_among_them() -> None:
    """No function of a fixed list of dangerous ones is allowed, and all allowed ones exist."""
    dangerous = {
        "getenv",
        "current_setting",
        "getvariable",
        "nextval",
        "setseed",
        "write_log",
        "sleep_ms",
        "pg_sleep",
    }
    dangerous |= {"json_execute_serialized_sql", "query", "query_table", "read_text", "read_blob", "glob"}

    assert not dangerous & (FUNCTIONS | TABLE_FUNCTIONS)
    assert MAX_BYTES == 20_000


@given(st.text(max_size=60))
def test_any_text_runs_or_is_rejected(duck: duckdb.DuckDBPyConnection, text: str) -> None:
    """The guard raises nothing but its own error."""
    with suppress(QueryRejected):
        require_harmless(duck, text)
