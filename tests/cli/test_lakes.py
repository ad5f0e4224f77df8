"""A lake answers every command that reads as the store does that it was made of, and takes no other."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import full_store
import pytest
from conftest import Sentgen, refused
from test_reading_commands import READERS, WRITERS, named

from sentgen.errors import StoreError
from sentgen.schema import Store
from sentgen.schema.lakes.export import export
from sentgen.schema.lakes.layout import sort_keys
from sentgen.schema.lakes.places import Place
from sentgen.schema.store import fetch_arrow
from sentgen.server import running

#: What tells of the file or of the copy that was made.
ABOUT_FILES = ("cite", "db info", "db check", "publish", "serve", "cluster export", "schema")
#: Lines that find something.
MORE = (
    "ngrams 'The *' --corpus pets",
    "args chased",
    "args --layer unit chased",
    "deps chased --layer unit",
    "kwic 'The dog'",
    "score --model tags 'The cat chased a zebra .'",
    "score --model katz --totals 'The cat chased a zebra .'",
)
#: They write beside the store, and to no store.
TO_FILES = ("models export",)


@pytest.fixture(scope="module")
def lake(full: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of the full store."""
    folder = tmp_path_factory.mktemp("lakes") / "lake"
    with Store(full, read_only=True) as store:
        export(store, Place(folder))
    return folder


@pytest.mark.parametrize("line", [*MORE, *(line for line in READERS if named(line) not in ABOUT_FILES)])
def test_a_lake_answers_as_its_store(
    lake: Path, full: Path, tmp_path: Path, sentgen: Sentgen, line: str
) -> None:
    """Every row, and every file that is written."""
    told = []
    for db in (full, lake):
        to = tmp_path / db.name
        to.mkdir()
        words = shlex.split(line.format(folder=full.parent, to=to))
        done = sentgen(*words, "--db", db)
        files = {path.name: path.read_bytes() for path in to.iterdir()}
        assert bool(files) == (named(line) in TO_FILES)
        told.append((done.code, done.out, done.err.replace(str(to), ""), files))

    assert told[0][0] == 0 or line not in MORE, told[0]
    assert told[1] == told[0]


def test_large_tables_are_sorted_as_declared(lake: Path) -> None:
    """Row groups prune by the minima and maxima of these columns."""
    with Store(lake, read_only=True) as store:
        for table in ("word", "ngram_3", "token", "model_ngram"):
            with store.connect() as connection:
                found = fetch_arrow(connection, f"select * from {table}").to_pylist()
            keys = [tuple((row[key] is None, row[key]) for key in sort_keys(table)) for row in found]
            assert keys == sorted(keys)
            assert len(keys) > 1


@pytest.mark.parametrize("name", ["lmo", "greedy", "viterbi", "beam", "prim", "prim-ngram", "cle", "ab"])
def test_sentences_are_ordered_as_from_the_store(lake: Path, full: Path, sentgen: Sentgen, name: str) -> None:
    """By all algorithms, over n-grams and over trees."""
    words = ("regenerate", "--model", "kn", "-a", name, "dog/NN the/DT chased/VBD a/DT cat/NN", "--db")

    assert sentgen(*words, lake) == (told := sentgen(*words, full))
    assert told.code == 0, told


@pytest.mark.parametrize("line", WRITERS)
def test_writers_are_refused(lake: Path, full: Path, tmp_path: Path, tiny_model: Path, line: str) -> None:
    """Before they do anything; in one line."""
    (tmp_path / "gold").write_text("a b ||| b ||| 1-0\n")
    for section in ("wsj_0100.mrg", "wsj_0180.mrg"):
        (tmp_path / section).write_text("")
    before = sorted(lake.rglob("*"))

    with pytest.raises(StoreError, match="a lake is only read"):
        full_store.run(
            *shlex.split(line.format(folder=full.parent, to=tmp_path, model=tiny_model)), "--db", lake
        )

    assert sorted(lake.rglob("*")) == before


def test_a_published_lake_is_a_store(
    lake: Path, full: Path, tmp_path: Path, sentgen: Sentgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file that has every row of the store, and passes all checks."""
    monkeypatch.setattr(running, "serve", lambda *_, **__: None)
    assert sentgen("serve", "--db", lake).code == 0
    told = sentgen("publish", "--to", tmp_path / "snapshots", "--db", lake)
    path = told.out.strip()

    assert sentgen("db", "check", "--db", path).code == 0
    assert sentgen("schema", "--db", path).out == sentgen("schema", "--db", full).out
    query = ("sql", "select * from v_model_ngrams")
    assert sentgen(*query, "--db", path).out == sentgen(*query, "--db", full).out


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
