"""A lake has the files that its manifest lists; DuckDB reads these, and no others."""

from __future__ import annotations

import json
import ntpath
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath, PureWindowsPath

import duckdb
import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sql_attacks import ATTACKS

from sentgen.errors import InputError, NotFoundError, QueryRejected, StoreError
from sentgen.schema import Store, lake_transfer, lakes, metadata, readonly
from sentgen.schema.engine import raw
from sentgen.schema.guard import require_harmless
from sentgen.schema.lake_transfer import export
from sentgen.schema.lakes import MANIFEST, LakeFile, Manifest, file_schema
from sentgen.schema.places import Place
from sentgen.schema.store import fetch_arrow


@pytest.fixture(scope="module")
def lake(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of the filled store; no test changes it."""
    folder = tmp_path_factory.mktemp("lake") / "it's a [lake]*"
    with Store(template, read_only=True) as store:
        export(store, Place(folder))
    return folder


def content(root: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def rows(store: Store, table: str) -> pa.Table:
    with store.connect() as connection:
        return fetch_arrow(connection, f"select * from {table}")


def test_a_lake_has_every_row_of_its_store(template: Path, lake: Path) -> None:
    """Every table has its rows in the order of the store, with the same types except `OneOf`."""
    with Store(template, read_only=True) as store, Store(lake, read_only=True) as opened:
        for table in metadata.tables:
            found = rows(opened, table)
            assert found.equals(rows(store, table).cast(found.schema)), table
        for view in ("v_ngrams_2", "v_dependencies", "v_corpora"):
            kept = rows(store, view).to_pylist()
            assert sorted(map(str, rows(opened, view).to_pylist())) == sorted(map(str, kept)), view


def test_the_same_rows_make_the_same_lake(template: Path, lake: Path, tmp_path: Path) -> None:
    """Two lakes of a store are equal byte for byte, and their files are read-only."""
    with Store(template, read_only=True) as store:
        export(store, Place(tmp_path / "again"))

    assert content(tmp_path / "again") == content(lake)
    assert {stat.S_IMODE(path.stat().st_mode) for path in lake.rglob("*") if path.is_file()} == {0o444}


def test_a_lake_is_not_written_over(template: Path, lake: Path) -> None:
    """An existing lake is refused, even for the same rows."""
    with Store(template, read_only=True) as store, pytest.raises(StoreError, match="a lake here already"):
        export(store, Place(lake))


def test_what_the_manifest_does_not_name_does_not_exist(lake: Path, tmp_path: Path) -> None:
    """A table without files in the manifest is empty, whatever files its folder has."""
    place, target = Place(lake), Place(tmp_path / "lake")
    manifest = Manifest.read(place)
    for file in manifest.files:
        Path(target.path(file.path)).parent.mkdir(parents=True, exist_ok=True)
        os.link(place.path(file.path), target.path(file.path))
    kept = {name: of for name, of in manifest.tables.items() if name != "ngram_2"}
    Manifest(kept).write(target)

    with Store(target.root, read_only=True) as store:
        assert rows(store, "ngram_2").num_rows == rows(store, "v_ngrams_2").num_rows == 0
        assert rows(store, "ngram_1").num_rows == manifest.rows("ngram_1")


def test_killed_it_leaves_no_lake(template: Path, tmp_path: Path) -> None:
    """The manifest is written last; after a kill, a second run makes the same lake."""
    place = Place(tmp_path / "lake")
    code = """
import os, sys
from sentgen.schema import Store
from sentgen.schema.lake_transfer import export
from sentgen.schema.places import Place
def die(line):
    if line.startswith("ngram_2"):
        os.kill(os.getpid(), 9)
with Store(sys.argv[1], read_only=True) as store:
    export(store, Place(sys.argv[2]), progress=die)
"""
    done = subprocess.run([sys.executable, "-c", code, str(template), place.root], timeout=60, check=False)

    assert done.returncode == -9
    with pytest.raises(StoreError, match="this is a folder"):
        Store(place.root, read_only=True)
    with Store(template, read_only=True) as store:
        manifest = export(store, place)
    assert Manifest.read(place) == manifest


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": 2}, "a lake of format 2, and this sentgen reads 1"),
        ({"schema": "0001"}, "a lake with tables of revision 0001"),
        ({"tables": {"word": [{"path": "../x.parquet"}]}}, "no manifest of a lake, or damaged"),
        (
            {"tables": {"word": [{"path": "/etc/passwd", "rows": 1, "bytes": 1, "sha256": ""}]}},
            "no manifest of a lake, or damaged",
        ),
        ({"tables": {"nothing": []}}, "no manifest of a lake, or damaged"),
        ({"tables": []}, "no manifest of a lake, or damaged"),
    ],
)
def test_other_manifests_are_refused(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    """A manifest of another version, with a file elsewhere, or damaged is refused in one line."""
    Manifest({}).write(Place(tmp_path))
    values = json.loads((tmp_path / MANIFEST).read_bytes())
    (tmp_path / MANIFEST).unlink()
    (tmp_path / MANIFEST).write_text(json.dumps(values | changed))

    for opened in (lambda: Store(tmp_path, read_only=True), lambda: readonly.open_locked(tmp_path)):
        with pytest.raises(StoreError, match=message) as refusal:
            opened()
        assert "\n" not in str(refusal.value)


@given(st.lists(st.integers(0, 20), max_size=8), st.integers(1, 9))
def test_row_groups_have_one_size_however_rows_come(sizes: list[int], group: int) -> None:
    """Row groups have the same sizes for batches of any sizes, and all rows keep their order."""
    ids = np.arange(sum(sizes), dtype=np.int64)
    parts = np.split(ids, np.cumsum(sizes)[:-1]) if sizes else []
    # Another order of columns, and another type, than the table has.
    batches = [pa.record_batch({"form": [str(i) for i in part], "id": part}) for part in parts if len(part)]
    before, lake_transfer.ROW_GROUP = lake_transfer.ROW_GROUP, group
    try:
        groups = list(lake_transfer.row_groups(batches, file_schema("word")))
    finally:
        lake_transfer.ROW_GROUP = before

    assert [i for one in groups for i in one["id"].to_pylist()] == ids.tolist()
    assert all(one.num_rows == group for one in groups[:-1])
    assert all(one.schema == file_schema("word") for one in groups)


def test_rows_of_several_files_stay_in_order(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of a table are read in the order of the manifest."""
    monkeypatch.setattr("sentgen.schema.lake_transfer.ROW_GROUP", 3)
    monkeypatch.setattr("sentgen.schema.lake_transfer.FILE_ROWS", 3)
    with Store(template, read_only=True) as store:
        manifest = export(store, Place(tmp_path / "lake"))
        with Store(tmp_path / "lake", read_only=True) as opened:
            assert rows(opened, "ngram_3").equals(rows(store, "ngram_3"))

    assert len(manifest.tables["ngram_3"]) > 2
    (part,) = {pq.ParquetFile(tmp_path / "lake" / f.path).metadata.num_rows for f in manifest.tables["word"]}
    assert part == 3


@pytest.fixture(scope="module")
def duck(lake: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A locked connection; at the end, all files have the same bytes, and no file was added."""
    before = content(lake.parent)
    with readonly.open_locked_store(lake, memory_limit=2**27) as connection:
        yield connection
    assert content(lake.parent) == before


@pytest.mark.nightly(by_day=40)
@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_are_refused(duck: duckdb.DuckDBPyConnection, lake: Path, attack: str) -> None:
    """The guard refuses them, as it does for a store."""
    path = next(lake.rglob("*.parquet"))
    with pytest.raises(QueryRejected):
        require_harmless(duck, attack.format(file=path, folder=lake))


@pytest.mark.nightly(by_day=20)
@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if "/" in attack or "{" in attack])
def test_attacks_on_other_files_do_nothing_without_the_guard(
    duck: duckdb.DuckDBPyConnection, lake: Path, attack: str
) -> None:
    """DuckDB itself opens only the files that the manifest lists."""
    with suppress(duckdb.Error):
        found = duck.execute(attack.format(file=lake / MANIFEST, folder=lake)).fetchall()
        assert "manifest" not in str(found)
        assert "root:" not in str(found)


def test_the_self_test_sees_an_open_door(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If DuckDB did not refuse other files, the lake would not be opened."""
    monkeypatch.setattr(lakes.Manifest, "lock", lambda *_: None)

    with pytest.raises(StoreError, match="let through what it must refuse"):
        readonly.open_locked(lake)
    assert not list(lake.glob("*.attack*")) or [p.unlink() for p in lake.glob("*.attack*")]


def test_a_lake_in_a_bucket(template: Path) -> None:
    """A lake is written, opened and queried through fsspec, and no other file of the bucket is read."""
    place = Place("memory://bucket/lake")
    try:
        with Store(template, read_only=True) as store:
            export(store, place)
            # `--db` makes a path of a URL.
            with Store(Path("memory://bucket/lake"), read_only=True) as opened:
                assert rows(opened, "ngram_2").equals(rows(store, "ngram_2"))
        answer = readonly.query(Path("memory://bucket/lake"), "select count(*) from word")
        assert answer.table.to_pylist()[0]["count_star()"] == rows(opened_again(place), "word").num_rows
        with (
            readonly.open_locked_store(Path("memory:/bucket/lake")) as duck,
            pytest.raises(duckdb.Error, match="Permission"),
        ):
            duck.execute("select * from read_blob('memory://bucket/lake/manifest.json')")
    finally:
        fsspec.filesystem("memory").rm("/bucket", recursive=True)


def opened_again(place: Place) -> Store:
    return Store(place.root, read_only=True)


def test_urls_that_cannot_be_opened(tmp_path: Path) -> None:
    """One line names a missing package, an unknown scheme, or a missing lake."""
    with pytest.raises(InputError, match="nonsense"):
        Place("nonsense://bucket/lake")
    with pytest.raises(NotFoundError, match="no lake here"):
        Store("memory://bucket/nothing", read_only=True)
    Manifest({"word": ()}).write(Place(f"file://{tmp_path}"))
    with Store(f"file://{tmp_path}", read_only=True) as store, store.connect() as connection:
        assert raw(connection).execute("select count(*) from word").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("root", "whole"),
    [
        ("file:///C:/a b/lake", r"C:\a b\lake"),
        (PureWindowsPath("file:///C:/a b/lake"), r"C:\a b\lake"),
        (PureWindowsPath("C:/a b/lake/"), r"C:\a b\lake"),
        (r"C:\a b\Lake", r"C:\a b\Lake"),
        (r"\\nas\ann\lake", r"\\nas\ann\lake"),
        (PureWindowsPath("memory://bucket/lake"), "memory://bucket/lake"),
    ],
)
def test_places_of_windows(monkeypatch: pytest.MonkeyPatch, root: PurePath | str, whole: str) -> None:
    """Paths with drives, and URLs that a path has changed to backslashes, are understood."""
    with monkeypatch.context() as windows:
        windows.setattr(os, "path", ntpath)
        place = Place(root)

    assert (place.root.replace("memory:///", "memory://"), place.files is None) == (
        whole,
        "memory" not in whole,
    )


def test_columns_are_those_of_the_table(tmp_path: Path) -> None:
    """A file with other columns than its table is refused when the lake is opened."""
    place = Place(tmp_path)
    path = tmp_path / "word" / "part=00000-ab.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"id": [1], "shape": ["x"]}), path)
    Manifest({"word": (LakeFile("word/part=00000-ab.parquet", 1, path.stat().st_size, ""),)}).write(place)

    with pytest.raises(StoreError, match="word: not what was written"):
        Store(tmp_path, read_only=True)
