"""Files are replaced and removed by the rules of Windows, too."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest
import windows_rules

from sentgen import temporary
from sentgen.counts import draft
from sentgen.counts.cluster import catalogue
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, StoreError
from sentgen.evaluation.figures.report import write_files
from sentgen.models import build
from sentgen.output.files import write_text
from sentgen.schema import Store, maintenance
from sentgen.schema.engine import explain
from sentgen.schema.lake_transfer import export
from sentgen.schema.places import Place
from sentgen.schema.snapshots import publish
from sentgen.system import files


@pytest.fixture(autouse=True)
def _windows(monkeypatch: pytest.MonkeyPatch) -> None:
    windows_rules.play(monkeypatch)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An empty store."""
    path = tmp_path / "store.duckdb"
    Store(path, create=True).close()
    return path


def test_the_rules_refuse(tmp_path: Path) -> None:
    """Files that are open or read-only cannot be removed or replaced; all others can."""
    path, other = tmp_path / "a", tmp_path / "b"
    other.touch()
    with path.open("w", encoding="utf-8"):
        for act in (path.unlink, lambda: other.replace(path), lambda: path.replace(other)):
            with pytest.raises(PermissionError):
                act()
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        path.unlink()
    path.chmod(0o644)
    path.unlink()


def test_compaction_closes_the_store_before_it_is_replaced(store: Path) -> None:
    """A compaction works under these rules, and leaves no file beside the store."""
    assert maintenance.compact(store).packed

    Store(store).close()
    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_the_same_is_published_twice(store: Path, tmp_path: Path) -> None:
    """The read-only manifest is replaced, and the read-only second draft removed."""
    first, second = publish(store, tmp_path / "to"), publish(store, tmp_path / "to")

    assert (first.new, second.new) == (True, False)
    assert sorted(path.suffix or path.name for path in (tmp_path / "to").iterdir()) == [
        ".duckdb",
        ".json",
        ".sentgen-lock",
    ]


def test_a_snapshot_that_is_open_goes_with_a_later_one(store: Path, tmp_path: Path) -> None:
    """An open snapshot stays complete until a later publication removes it."""
    first = publish(store, tmp_path / "to").snapshot
    with Store(store) as opened, opened.begin() as connection:
        connection.exec_driver_sql("create table other (number integer)")
    with Store(first.path, read_only=True):
        assert publish(store, tmp_path / "to", keep=1).removed == ()
        assert first.manifest.exists()

    assert publish(store, tmp_path / "to", keep=1).removed == (first.name,)
    assert not first.manifest.exists()
    assert not first.path.exists()


def test_a_file_of_a_lake_takes_the_place_of_another(tmp_path: Path) -> None:
    """A read-only file of a lake can replace another one."""
    place = Place(tmp_path / "lake")
    for content in (b"one", b"two"):
        place.write("manifest.json", content)

    assert place.read("manifest.json") == b"two"


def test_a_report_is_written_over_another(tmp_path: Path) -> None:
    """Each file of a report is closed before it replaces another."""
    for content in (b"one", b"two"):
        write_files(tmp_path, {"index.html": content})

    assert (tmp_path / "index.html").read_bytes() == b"two"


def test_rows_that_wait_on_the_disk_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of drafted rows are closed after reading, or when reading is given up, and then removed."""
    monkeypatch.setattr(draft, "_IN_MEMORY", 0)
    for reads in (True, False):
        waiting = draft.Draft(tmp_path / "spill")
        waiting.append("word", pa.table({"id": [1, 2]}))
        waiting.append("word", pa.table({"id": [3]}))
        if reads:
            assert [reader.read_all()["id"].to_pylist() for _, reader in waiting.read()] == [[1, 2, 3]]
        waiting.close()

    assert [path.name for path in (tmp_path / "spill").iterdir()] == [".sentgen"]


def test_what_a_virus_scanner_looks_at_is_tried_again(tmp_path: Path) -> None:
    """A file that a virus scanner closes soon is replaced; one that stays open is an error."""
    path = tmp_path / "a"
    looked_at = path.open("w", encoding="utf-8")
    threading.Timer(0.05, looked_at.close).start()
    with temporary.aside(path) as aside:
        aside.write_bytes(b"new")
    assert path.read_bytes() == b"new"

    with path.open("rb"), pytest.raises(PermissionError):
        files.remove(path)


@pytest.mark.parametrize(
    "said",
    [
        "The process cannot access the file because it is being used by another process.",
        "Der Prozess kann nicht auf die Datei zugreifen.\n\nFile is already open in \nC:\\python.exe (PID 7)",
    ],
)
def test_a_store_in_use_is_told_in_the_words_of_windows(said: str) -> None:
    """DuckDB's message on Windows is recognized in any language."""
    told = explain(Path("a.duckdb"), OSError(f'IO Error: Cannot open file "C:\\a.duckdb": {said}'))

    assert isinstance(told, StoreError)
    assert "in use by another process" in str(told)


def test_a_file_of_a_lake_is_removed(tmp_path: Path) -> None:
    """A file of a lake is removed though it is read-only; its folder is removed with the last file."""
    lake = Place(tmp_path / "lake")
    lake.write("word/part", b"rows")

    catalogue._remove(lake, "word/part")

    assert list((tmp_path / "lake").iterdir()) == []


@pytest.mark.parametrize("name", ["con", "NUL.txt", "a:b", "x?", "a.", "a ", "OTHER"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    """Names that Windows refuses for files and folders are refused, too; the folder `other` exists."""
    (tmp_path / "other").touch()
    for act in (Path.touch, Path.mkdir, (tmp_path / "other").replace, (tmp_path / "other").rename):
        with pytest.raises(OSError, match="wrong"):
            act(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_no_file_is_called_as_users_call_things(store: Path, tmp_path: Path) -> None:
    """Corpora and models may have any names, also such as differ in case only: no file is named after them."""
    source = tmp_path / "a.lines"
    source.write_bytes(b"A dog barks .\r\n")
    with Store(store) as opened:
        for name in ("con", "a:b?", "x. ", "News", "news"):
            ingest(opened, [str(source)], Settings(name))
        for name in ("a:b?", "News", "news"):
            build(opened, name, [name], order=1)
        export(opened, Place(tmp_path / "lake"))
    publish(store, tmp_path / "to")
    maintenance.compact(store)

    made = list(tmp_path.rglob("*"))
    assert len(made) > 10
    for path in made:
        windows_rules.refuse_name(path)


@pytest.mark.parametrize("name", ["con", "a:b.svg", "x?"])
def test_a_file_of_the_user_that_cannot_have_its_name(tmp_path: Path, name: str) -> None:
    """A file name that Windows refuses is an error of one line, and no file is left."""
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / name, "text")
    assert list(tmp_path.iterdir()) == []
