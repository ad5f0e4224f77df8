"""Snapshots name files without the folders of the machine on which they were read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store, metadata
from sentgen.schema.snapshots import make_public, names_of_sources, public_text, publish


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([], []),
        (["-"], ["-"]),
        (["/home/ann/a.txt"], ["a.txt"]),
        (["notes/a.txt"], ["a.txt"]),
        (["../ann/a.txt", "../ann/more/b.txt"], ["a.txt", "more/b.txt"]),
        (["/home/ann/wsj/00/a.mrg", "/home/ann/wsj/01/a.mrg"], ["00/a.mrg", "01/a.mrg"]),
        (["/home/ann/t.zip!x/a.txt", "/home/ann/t.zip!y/a.txt"], ["t.zip!x/a.txt", "t.zip!y/a.txt"]),
        (["/home/ann/a.txt", "/srv/news/a.txt"], ["a.txt", "a.txt (2)"]),
        (["/home/ann/a.txt", "a.txt"], ["a.txt", "a.txt (2)"]),
        (["ann/a.txt", "bob/a.txt", "../a.txt"], ["a.txt", "a.txt (2)", "a.txt (3)"]),
        ([r"C:\Users\ann\texts\a.txt"], ["a.txt"]),
        ([r"texts\ann\a.txt", r"..\ann\a.txt", r"~\a.txt"], ["a.txt", "a.txt (2)", "a.txt (3)"]),
        ([r"C:\Users\ann\w\00\a.mrg", "C:/Users/ann\\w/01/a.mrg"], ["00/a.mrg", "01/a.mrg"]),
        ([r"C:\ann\x\a.txt", r"D:\ann\y\b.txt", r"c:\Ann\c.txt"], ["a.txt", "b.txt", "c.txt"]),
        ([r"C:\a.txt", r"C:\ann\a.txt", "/home/ann/b.txt"], ["a.txt", "a.txt (2)", "b.txt"]),
        ([r"\\nas\ann\x\a.txt", r"\\nas\ann\y\a.txt"], ["x/a.txt", "y/a.txt"]),
        ([r"\\?\C:\Users\ann\a.txt", "//nas/ann/b.txt"], ["a.txt", "b.txt"]),
        ([r"C:\Users\ann\t.zip!x/a.txt"], ["t.zip!x/a.txt"]),
    ],
)
def test_sources_of_a_corpus(paths: list[str], names: list[str]) -> None:
    """Sources are named relative to their common folder, or by their names alone if that is the root or none."""
    found = names_of_sources(paths)

    assert sorted(found) == sorted(paths)
    assert sorted(found.values()) == names


_PARTS = st.sampled_from(["a", "b", "ann", "x.zip!a", "..", "."])


_ROOTS = st.sampled_from(["", "/", "//", "C:/", "D:/", "C:"])


@given(
    st.sets(
        st.tuples(_ROOTS, st.lists(_PARTS, max_size=4).map(tuple), st.sampled_from("/\\")),
        max_size=8,
    )
)
def test_names_stay_apart(parts: set[tuple[str, tuple[str, ...], str]]) -> None:
    """Different paths get different names, none of which begins at a root or a parent folder."""
    paths = {(root + "/".join([*folders, "f"])).replace("/", slash) for root, folders, slash in parts}

    found = names_of_sources(paths)

    assert len(set(found.values())) == len(found) == len(paths)
    assert not any(name.partition("!")[0].startswith(("/", "..", "C:/", "D:/")) for name in found.values())
    assert not any("\\" in name.partition("!")[0] for name in found.values())
    assert found == names_of_sources(sorted(paths, reverse=True))


@pytest.mark.parametrize(
    ("typed", "public"),
    [
        ("lmo", "lmo"),
        ("nrefs:1|case:lc|tok:13a", "nrefs:1|case:lc|tok:13a"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("and/or", "and/or"),
        ("udpipe:/home/ann/my models/ewt.udpipe@12ab", "udpipe:ewt.udpipe@12ab"),
        ("~ann/links.txt", "links.txt"),
        ("hmm:links=../ann/l.txt,beam=2", "hmm:links=l.txt,beam=2"),
        ('{"test": "ann/dev.conllu", "model": "a/b"}', '{"model": "a/b", "test": "dev.conllu"}'),
        ('{"train": ["/home/ann/a.zip!b/c"], "n": 1}', '{"n": 1, "train": ["a.zip!b/c"]}'),
        ('{"b": 1, "a": [true, null]}', '{"b": 1, "a": [true, null]}'),
        ("{no JSON} /home/ann/x", "{no JSON} x"),
        (r"udpipe:C:\Users\ann\my models\ewt.udpipe@12ab", "udpipe:ewt.udpipe@12ab"),
        ("hmm:links=C:/Users\\ann/l.txt,beam=2", "hmm:links=l.txt,beam=2"),
        (r"..\ann\l.txt \\nas\ann\l.txt", "l.txt"),
        (r"\\?\C:\Users\ann\l.txt", "l.txt"),
        (
            r'{"test": "C:\\Users\\ann\\dev.conllu", "model": "D:\\m\\a"}',
            '{"model": "a", "test": "dev.conllu"}',
        ),
        ("ftp://C:80/a/b", "ftp://C:80/a/b"),
    ],
)
def test_what_somebody_typed(typed: str, public: str) -> None:
    """The folders of paths from a root, a home or a parent folder are removed; all other text stays."""
    assert public_text(typed) == public


def test_a_snapshot_tells_no_folder(full: Path, tmp_path: Path) -> None:
    """No string of a table, no manifest and no byte of the file has a folder; all other data are the same."""
    folder = full.parent.name
    snapshot = publish(full, tmp_path / "to").snapshot

    assert folder not in snapshot.manifest.read_text()
    assert folder.encode() in full.read_bytes()
    assert folder.encode() not in snapshot.path.read_bytes()
    with duckdb.connect(str(snapshot.path), read_only=True) as duck:
        for table in metadata.sorted_tables:
            columns = ", ".join(f'"{column.name}"' for column in table.columns)
            assert folder not in str(duck.execute(f"select {columns} from {table.name}").fetchall())
        sources = duck.execute("select path from source order by path").fetchall()
        trees, texts = ("clusters", "ends", "odd", "pets"), ("held.jsonl", "notes.txt", "pairs.jsonl")
        names = sorted([*(f"{name}.conllu" for name in trees), *texts])
        assert [path for (path,) in sources] == names
        assert duck.execute("select path from rejection").fetchall() == [("pets.conllu",)]
        assert duck.execute("select count(*) from document where name = 'notes.txt'").fetchall() == [(1,)]
        ((parameters,),) = duck.execute("select parameters from run").fetchall()
        assert json.loads(parameters)["test"] == "pets.conllu"
        duck.execute(f"attach '{full}' as original (read_only)")
        assert duck.execute("select count(*) from source_file").fetchall() == [(0,)]
        for table in metadata.sorted_tables:
            if table.name == "source_file":
                continue
            columns = ", ".join(
                f'"{column.name}"'
                for column in table.columns
                if f"{table.name}.{column.name}"
                not in ("source.path", "rejection.path", "table_meta.path", "document.name", "run.parameters")
            )
            same = f"select count(*), sum(hash({columns})) from {{}}{table.name}"
            assert (
                duck.execute(same.format("")).fetchall() == duck.execute(same.format("original.")).fetchall()
            )


@pytest.mark.parametrize("typed", ["ann/notes.txt", "../{}/ann/notes.txt", "./ann//notes.txt"])
def test_a_document_named_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """Neither the document nor its source, with its absolute path, shows a folder; names from the text stay."""
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "notes.txt").write_text("A cat sat .\n")
    (tmp_path / "p.jsonl").write_text('{"id": "b/notes.txt", "tokens": ["A", "dog"]}\n')
    monkeypatch.chdir(tmp_path)
    with Store("s.duckdb", create=True) as store:
        ingest(store, [typed.format(tmp_path.name), "p.jsonl"], Settings("notes", format=None))

    with duckdb.connect(str(publish(tmp_path / "s.duckdb", tmp_path / "to").snapshot.path)) as duck:
        assert duck.execute("select path from source order by id").fetchall() == [
            ("ann/notes.txt",),
            ("p.jsonl",),
        ]
        names = duck.execute("select name from document order by id").fetchall()
    assert names == [("ann/notes.txt",), ("b/notes.txt",)]


def test_a_store_of_windows_is_published_elsewhere(tmp_path: Path) -> None:
    """No byte of the snapshot has Windows paths; a document has the name of its source."""
    (tmp_path / "notes.txt").write_text("A cat sat .\n", "utf-8")
    with Store(tmp_path / "s.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "notes.txt")], Settings("notes", format=None))
        with store.begin() as connection:
            connection.exec_driver_sql(r"update document set name = 'texts\notes.txt'")
            connection.exec_driver_sql(r"update source set path = 'C:\Users\ann\texts\notes.txt'")

    path = publish(tmp_path / "s.duckdb", tmp_path / "to").snapshot.path
    with duckdb.connect(str(path), read_only=True) as duck:
        assert duck.execute("select path, name from source, document").fetchall() == [("notes.txt",) * 2]
    assert rb"\ann" not in path.read_bytes()


def test_what_is_public_already_stays_as_it_is(full: Path, tmp_path: Path) -> None:
    """A snapshot that is published again, as a store, keeps its bytes."""
    copy = Path(shutil.copy(publish(full, tmp_path / "to").snapshot.path, tmp_path / "copy.duckdb"))
    before = copy.read_bytes()

    assert not make_public(copy)
    assert copy.read_bytes() == before
