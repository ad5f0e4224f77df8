"""A lake, and a folder of snapshots, answer every command that reads as the store does that they were made of.

They take no other.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import full_store
import pytest
from conftest import Sentgen, refused
from test_reading_commands import READERS, WRITERS, named, write_files

from sentgen.counts import corpora
from sentgen.errors import StoreError
from sentgen.schema import Store
from sentgen.schema.lake_transfer import export
from sentgen.schema.lakes import sort_keys
from sentgen.schema.manifests import Snapshot
from sentgen.schema.places import Place
from sentgen.schema.snapshots import publish
from sentgen.schema.store import fetch_arrow
from sentgen.server import running

#: What tells of the file or of the copy that was made; a backup is of a store alone.
ABOUT_FILES = (
    *("cite", "db info", "db check", "db backup", "publish", "serve", "mcp", "cluster export", "schema"),
)
#: What looks at the files that were read: of a snapshot nobody knows where they are.
ABOUT_SOURCES = ("corpora show", "corpora verify")
#: Lines that find something.
MORE = (
    "ngrams 'The *' --corpus pets",
    "args chased",
    "args --layer unit chased",
    "deps chased --layer unit",
    "kwic 'The dog'",
    "score --model tags 'The cat chased a zebra .'",
    "score --model katz --totals 'The cat chased a zebra .'",
    "score --model katz --corpus odd --by speaker",
)
#: They write beside the store, and to no store.
TO_FILES = ("models export", "lines new")


@pytest.fixture(scope="module")
def lake(full: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of the full store."""
    folder = tmp_path_factory.mktemp("lakes") / "lake"
    with Store(full, read_only=True) as store:
        export(store, Place(folder))
    return folder


@pytest.fixture(scope="module")
def published(full: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two snapshots, of which the newer one is that of the full store."""
    folder = tmp_path_factory.mktemp("published") / "snapshots"
    older = folder.parent / "older.duckdb"
    shutil.copyfile(full, older)
    with Store(older) as store:
        corpora.remove(store, "pets")
    for path in (older, full):
        publish(path, folder)
    return folder


@pytest.mark.nightly(by_day=5)
@pytest.mark.parametrize("line", [*MORE, *(line for line in READERS if named(line) not in ABOUT_FILES)])
def test_lake_and_snapshots_answer_as_their_store(
    lake: Path, published: Path, full: Path, tmp_path: Path, sentgen: Sentgen, line: str
) -> None:
    """Every row, and every file that is written; a snapshot names sources without their folders."""
    told = []
    in_folder = re.compile(rf"(?:{re.escape(str(full.parent))}|…\S*?)/")
    for db in (full, lake, published):
        to = tmp_path / db.name
        to.mkdir()
        words = shlex.split(line.format(folder=full.parent, to=to))
        done = sentgen(*words, "--db", db)
        files = {path.name: _content(path) for path in to.iterdir()}
        assert bool(files) == (named(line) in TO_FILES)
        told.append((done.code, done.out, done.err.replace(str(to), ""), files))

    assert told[0][0] == 0 or line not in MORE, told[0]
    assert told[1] == told[0]
    # Columns are narrower without folders.
    of_store, of_snapshot = (in_folder.sub("", repr(each)).split() for each in (told[0], told[2]))
    assert of_snapshot == of_store or named(line) in ABOUT_SOURCES


def _content(path: Path) -> object:
    """Return what is in a file: of a desk its lines, as it has times, too."""
    if path.suffix != ".desk":
        return path.read_bytes()
    with closing(sqlite3.connect(path)) as desk:
        return desk.execute("select * from line order by set_id, number").fetchall()


def test_large_tables_are_sorted_as_declared(lake: Path) -> None:
    """Row groups prune by the minima and maxima of these columns."""
    with Store(lake, read_only=True) as store:
        for table in ("word", "ngram_3", "token", "model_ngram"):
            with store.connect() as connection:
                found = fetch_arrow(connection, f"select * from {table}").to_pylist()
            keys = [tuple((row[key] is None, row[key]) for key in sort_keys(table)) for row in found]
            assert keys == sorted(keys)
            assert len(keys) > 1


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("name", ["lmo", "greedy", "viterbi", "beam", "prim", "prim-ngram", "cle", "ab"])
def test_sentences_are_ordered_as_from_the_store(lake: Path, full: Path, sentgen: Sentgen, name: str) -> None:
    """By all algorithms, over n-grams and over trees."""
    words = ("regenerate", "--model", "kn", "-a", name, "dog/NN the/DT chased/VBD a/DT cat/NN", "--db")

    assert sentgen(*words, lake) == (told := sentgen(*words, full))
    assert told.code == 0, told


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("line", WRITERS)
def test_writers_are_refused(
    lake: Path, published: Path, full: Path, tmp_path: Path, tiny_model: Path, line: str
) -> None:
    """Commands that write are refused in one line, before they do anything."""
    write_files(tmp_path)
    words = shlex.split(line.format(folder=full.parent, to=tmp_path, model=tiny_model))
    before = _files(lake), _files(published)

    with pytest.raises(StoreError, match="a lake is only read"):
        full_store.run(*words, "--db", lake)
    for place in (published, Snapshot.newest(published).path):
        with pytest.raises(StoreError, match="a snapshot is never changed"):
            full_store.run(*words, "--db", place)

    assert (_files(lake), _files(published)) == before


def _files(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*.*"))


@pytest.mark.parametrize(
    "line", ["cite", "db path", "db info", "db check --quick", "schema", "corpora show pets"]
)
def test_what_tells_of_files_takes_the_newest_snapshot(published: Path, sentgen: Sentgen, line: str) -> None:
    """Of a folder of snapshots it says what it says of that file."""
    chosen = Snapshot.newest(published)

    told = sentgen(*line.split(), "--db", published)
    assert told == sentgen(*line.split(), "--db", chosen.path)
    assert told.code == 0
    assert line != "db path" or told.out == f"{chosen.path}\n"


def test_what_copies_files_takes_the_newest_snapshot(
    published: Path, full: Path, tmp_path: Path, sentgen: Sentgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a server, and what finds the folder by the environment."""
    monkeypatch.setattr(running, "serve", lambda *_, **__: None)
    chosen = Snapshot.newest(published)

    assert sentgen("serve", "--db", published).code == 0
    told = sentgen("publish", "--to", tmp_path / "again", "--db", published)
    assert Path(told.out.strip()).name == chosen.path.name
    assert sentgen("cluster", "export", "--to", tmp_path / "lake", "--db", published).code == 0
    monkeypatch.setenv("SENTGEN_DB", str(published))
    assert sentgen("ngrams", "the *") == sentgen("ngrams", "the *", "--db", full)


def test_folder_without_a_whole_snapshot(tmp_path: Path, sentgen: Sentgen) -> None:
    """A manifest whose file is gone is no snapshot, and what makes one is said."""
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "snapshots" / "sentgen-0.json").write_text("{}")

    refused(sentgen("corpora", "list", "--db", tmp_path / "snapshots"), "no snapshot here", "sentgen publish")


def test_a_lake_is_served(lake: Path, sentgen: Sentgen, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers as for a store made from the lake."""
    monkeypatch.setattr(running, "serve", lambda *_, **__: None)

    assert sentgen("serve", "--db", lake).code == 0


@pytest.fixture(scope="module")
def packed(lake: Path) -> Path:
    """The snapshot that is published of the lake."""
    return publish(lake, lake.parent / "snapshots").snapshot.path


def test_a_published_lake_is_a_store(packed: Path, full: Path, sentgen: Sentgen) -> None:
    """One file that has every row of the store."""
    shown = (sentgen("schema", "--db", path).out.splitlines() for path in (packed, full))
    # But the files that it was read from, which are of the machine.
    mine, whole = ([line for line in lines if not line.startswith("source_file ")] for lines in shown)
    assert mine == whole
    query = ("sql", "select * from v_model_ngrams")
    assert sentgen(*query, "--db", packed).out == sentgen(*query, "--db", full).out


def test_a_published_lake_passes_all_checks(packed: Path, sentgen: Sentgen) -> None:
    assert sentgen("db", "check", "--db", packed).code == 0


def test_a_lake_is_published(lake: Path, tmp_path: Path, sentgen: Sentgen) -> None:
    """The command says where the snapshot is."""
    told = sentgen("publish", "--to", tmp_path / "snapshots", "--db", lake)

    assert Path(told.out.strip()) == Snapshot.newest(tmp_path / "snapshots").path


def test_a_damaged_file_is_found(lake: Path, tmp_path: Path, sentgen: Sentgen) -> None:
    """By its hash, where a check or a copy reads all of it; by its size wherever it is opened."""
    copy = shutil.copytree(lake, tmp_path / "copy")
    (path,) = (copy / "ngram_2").iterdir()
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.unlink()
    path.write_bytes(data)

    told = sentgen("db", "check", "--db", copy)
    assert told.code == 1, told
    assert [line.split()[:5] for line in told.out.splitlines() if "failed" in line] == [
        ["files", "of", "ngram_2", "failed", "1"]
    ]
    refused(sentgen("publish", "--to", tmp_path, "--db", copy), "changed since it was written")
    path.write_bytes(data[:-20] + bytes(20))
    refused(sentgen("ngrams", "*", "--db", copy), "ngram_2: not what was written, or not there")
    path.write_bytes(data[:-1])
    refused(sentgen("ngrams", "*", "--db", copy), "the lake's manifest says")
    path.unlink()
    refused(sentgen("sql", "select 1", "--db", copy), "the lake's manifest names this file")


def test_the_size_of_a_lake_is_that_of_its_files(lake: Path, full: Path, sentgen: Sentgen) -> None:
    """Table by table, with as many rows as the store has."""
    told = sentgen("db", "info", "--db", lake, "--csv")
    rows = {line.split(",")[0]: line.split(",")[1:] for line in told.out.splitlines()[1:]}

    size = sum(path.stat().st_size for path in lake.rglob("*.parquet"))
    assert sum(int(bytes) for _, bytes in rows.values()) == size
    assert f"bytes: {size:,}" in told.err
    told = sentgen("schema", "--db", lake)
    assert told.out == sentgen("schema", "--db", full).out
