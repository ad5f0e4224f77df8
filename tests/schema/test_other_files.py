"""Files that are no stores are refused, and no extensions are loaded without request."""

from __future__ import annotations

import ast
import gzip
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import sentgen.schema
from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel
from sentgen.errors import SentgenError, StoreError
from sentgen.schema import Store
from sentgen.schema.dictionary import catalogue
from sentgen.schema.engine import new_engine, raw, settings
from sentgen.schema.readonly import open_locked, open_locked_store

ROOTS = {Path(sentgen.__file__).parent, Path(sentgen.schema.__file__).parent}


def sqlite(path: Path) -> None:
    with sqlite3.connect(path) as made:
        made.execute("create table store (name text)")


def desk(path: Path) -> None:
    with pytest.raises(SentgenError):
        GivenLabel(name="none", lines="1", label="x", labeler="ann").give(Desk(path, create=True))


def of(kind: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        duckdb.connect().execute(f"copy (select 1 as x) to '{path}' (format {kind})")

    return write


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("store.duckdb", "x" * 100)


#: Kind of file to a function that writes it, and its name.
KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a.db": (sqlite, "a SQLite database, and not a sentgen store"),
    "study.desk": (desk, "a desk of line sets, and not a sentgen store; give the store"),
    "a.parquet": (of("parquet"), "a Parquet file, and not a sentgen store"),
    "a.csv": (of("csv"), "a text file: not a sentgen store, or damaged"),
    "a.json": (of("json"), "a text file: not a sentgen store, or damaged"),
    "a.duckdb": (lambda path: path.write_text("naïve\n" * 800, "utf-8"), "a text file: not a sentgen store"),
    "a.zip": (zipped, "a ZIP archive, or a document that is one, and not"),
    "a.gz": (lambda path: path.write_bytes(gzip.compress(b"x" * 99)), "a file compressed with gzip, and not"),
    "a.pdf": (lambda path: path.write_bytes(b"%PDF-1.7\n" + bytes(99)), "a PDF, and not a sentgen store"),
    "a.bin": (
        lambda path: path.write_bytes(bytes(range(256)) * 20),
        "a.bin: not a sentgen store, or damaged",
    ),
    "short": (lambda path: path.write_bytes(b"\xff"), "short: not a sentgen store, or damaged"),
}


#: Ways to open a file.
WAYS: dict[str, Callable[[Path], object]] = {
    "read": lambda path: Store(path, read_only=True),
    "write": lambda path: Store(path, create=True),
    "sql": open_locked,
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("how", WAYS)
def test_what_is_no_store_is_told_and_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, how: str
) -> None:
    """A file of any name is refused unchanged, and no file is made beside it or in the home folder."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    path = tmp_path / name
    make, told = KINDS[name]
    make(path)
    before = path.read_bytes()

    with pytest.raises(StoreError) as refused:
        WAYS[how](path)

    assert told in str(refused.value)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == sorted([home, path])
    assert not list(home.iterdir())


def test_the_folder_that_one_is_in_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path `.` has no name, to which endings could be added, and is refused as a folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="this is a folder"):
        Store(Path(), read_only=True)


OFF = """
select name, value from duckdb_settings()
where name in ('autoinstall_known_extensions', 'autoload_known_extensions') and value <> 'false'
"""


def test_no_connection_loads_extensions_by_itself(template: Path) -> None:
    """No connection that sentgen makes loads extensions by itself."""
    engine = new_engine(None, {}, read_only=False, memory_limit=0)
    with engine.connect() as connection:
        assert not raw(connection).execute(OFF).fetchall()
        catalogue(raw(connection))
    engine.dispose()
    for read_only in (True, False):
        with Store(template, read_only=read_only) as store, store.connect() as connection:
            assert not raw(connection).execute(OFF).fetchall()
    with open_locked_store(template) as duck:
        assert not duck.execute(OFF).fetchall()
    with duckdb.connect(config=settings(2**26, 1)) as duck:
        assert not duck.execute(OFF).fetchall()


def test_each_call_that_makes_a_connection_is_known() -> None:
    """A new call has to be added to the test above."""
    texts = [(file.name, file.read_text("utf-8")) for root in ROOTS for file in root.rglob("*.py")]
    calls = [
        (name, ast.unparse(node))
        for name, text in texts
        if "duckdb.connect" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "duckdb.connect"
    ]
    assert sorted(calls) == [
        ("completion.py", "duckdb.connect(database, read_only=not lake, config=NEVER_LOADED)"),
        ("engine.py", "duckdb.connect(*words, config={**NEVER_LOADED, **config}, **options)"),
        ("merging.py", "duckdb.connect(config=config)"),
        (
            "readonly.py",
            "duckdb.connect(':memory:', config=settings(memory_limit, threads) | _SWITCHES | _OPEN)",
        ),
        (
            "readonly.py",
            "duckdb.connect(str(path), read_only=True, config=settings(limit, threads) | _SWITCHES)",
        ),
    ]
