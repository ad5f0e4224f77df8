"""Tables of pandas, Polars, Arrow, DuckDB, Hugging Face and of dicts are ingested as their files are."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sentgen
from sentgen.corpus import frames
from sentgen.corpus.frames import source_of
from sentgen.errors import InputError
from sentgen.schema.base import metadata
from sentgen.schema.store import raw

ROWS: list[dict[str, object]] = [
    {"id": "a", "text": "It rains.\nSo what?", "year": 1990, "by": None, "tags": ["x", "y"]},
    {"id": "b", "text": "No.", "year": 2001, "by": "Ann", "tags": []},
    {"id": "c", "text": "Yes, it is.", "year": None, "by": "Béa", "tags": None},
]
TOKENS: list[dict[str, object]] = [
    {"tokens": ["Rain", "fell", "."], "upos": ["NOUN", "VERB", "PUNCT"], "heads": [2, 0, 2], "talk": "a"},
    {"tokens": ["Go", "!"], "upos": None, "heads": None, "talk": "b"},
]
#: Columns of `source` on the place and time of a table.
_ELSEWHERE = {"source", "source_file", "corpus", "segment"}


def _dataset(rows: list[dict[str, object]], *, streamed: bool = False) -> Any:
    import datasets

    made = datasets.Dataset.from_list(rows)
    return made.to_iterable_dataset() if streamed else made


def _relation(rows: list[dict[str, object]]) -> object:
    return duckdb.connect().from_arrow(pa.Table.from_pylist(rows))


#: A list of rows as a table of each library.
LIBRARIES: dict[str, Callable[[list[dict[str, object]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, filtered": lambda rows: pd.DataFrame([rows[0], *rows]).iloc[1:],
    "polars": pl.DataFrame,
    "arrow": pa.Table.from_pylist,
    "arrow in parts": lambda rows: pa.concat_tables([pa.Table.from_pylist(rows)[at : at + 1] for at in range(len(rows))]),
    "arrow stream": lambda rows: pa.Table.from_pylist(rows).to_reader(),
    "arrow views": lambda rows: pa.table(pl.DataFrame(rows)),
    "duckdb": _relation,
    "datasets": _dataset,
    "datasets, streamed": lambda rows: _dataset(rows, streamed=True),
    "dicts": list,
    "dicts as they come": iter,
}  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sentgen.Database]:
    with sentgen.open(tmp_path / "x.duckdb", create=True) as opened:
        yield opened


def contents(db: sentgen.Database) -> str:
    """Return the hash of all rows, without the columns on the place of the source."""
    digest = hashlib.sha256()
    with db._session.read() as store, store.connect() as connection:
        for name in sorted(metadata.tables.keys() - _ELSEWHERE):
            rows = raw(connection).execute(f"from {name} order by all").fetchall()
            digest.update(f"{name} {rows}".encode())
    return digest.hexdigest()


@pytest.mark.parametrize("rows", [ROWS, TOKENS], ids=["texts", "tokens"])
def test_a_table_is_what_its_parquet_file_is(rows: list[dict[str, object]], tmp_path: Path) -> None:
    """A table and its Parquet file give the same documents, metadata, tokens, trees and counts."""
    columns = {"id": "talk"} if rows is TOKENS else {}
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "talks.parquet")
    stores = []
    for name, given in (("file", tmp_path / "talks.parquet"), ("memory", pd.DataFrame(rows))):
        with sentgen.open(tmp_path / f"{name}.duckdb", create=True) as db:
            assert db.ingest(given, "talks", **columns).sources == 1
            stores.append(contents(db))

    assert stores[0] == stores[1]


@pytest.mark.parametrize("rows", [ROWS, TOKENS], ids=["texts", "tokens"])
def test_a_table_is_the_same_in_every_library(rows: list[dict[str, object]], db: sentgen.Database) -> None:
    """A table of any library has the hash of its values, so that it is read once."""
    there = importlib.util.find_spec("datasets") is not None
    first, *others = [one for one in LIBRARIES.items() if there or "datasets" not in one[0]]
    expected = source_of(first[1](rows), "x").sha256()

    for name, made in others:
        assert source_of(made(rows), "x").sha256() == expected, name
    assert (db.ingest(first[1](rows), "c").sources, db.ingest(rows, "c").unchanged) == (1, 1)


def test_a_table_has_a_name(db: sentgen.Database) -> None:
    """A table has the name of the corpus or a given one; on request, new content replaces the old."""
    db.ingest(ROWS[:1], "talks", table_name="spring/1.csv")
    db.ingest(ROWS[1:2], "talks")
    assert list(db.corpus("talks")["path"]) == ["table:spring/1.csv", "table:talks"]

    summary = db.ingest(ROWS[2:], "talks", replace=True)
    assert (summary.sources, summary.replaced) == (1, 1)
    assert list(db.sql("select name from document order by name")["name"]) == ["a", "c"]
    # A table is no file that could vanish or change.
    assert not db.sync("talks", dry_run=True).removed
    assert db.remove_corpus("talks", source="table:spring/1.csv") == (2, 6)
    with pytest.raises(InputError, match="needs a name of printable characters; give `table_name`"):
        db.ingest(ROWS, "talks", table_name="a\nb")


def test_documents_without_id_are_named_by_the_table(db: sentgen.Database) -> None:
    db.ingest([{"body": "It is."}, {"body": "So."}], "c", text="body", table_name="t")
    db.ingest([{"tokens": ["a"]}, {"tokens": ["b"]}], "c", table_name="words")
    assert list(db.sql("select name from document order by id")["name"]) == ["t#1", "t#2", "words"]


def test_a_file_may_be_called_as_a_table(
    db: sentgen.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        Path("table:x").write_text("It is.\n")
    except OSError:
        pytest.skip("no such names here")
    db.ingest("table:x", "c")
    db.ingest(ROWS, "c", table_name="x")
    assert list(db.corpus("c")["path"]) == [str(tmp_path / "table:x"), "table:x"]


def test_indexes_and_categories_of_pandas(db: sentgen.Database) -> None:
    """An index with a name is a column, an unnamed one is not; a category is its name."""
    frame = pd.DataFrame(ROWS).drop(columns="tags").set_index("id").astype({"by": "category"})
    db.ingest(frame, "c")
    rows = db.sql("select document, key, value from v_metadata order by all")
    assert [tuple(row) for row in rows] == [
        ("a", "year", "1990"),
        ("b", "by", "Ann"),
        ("b", "year", "2001"),
        ("c", "by", "Béa"),
    ]


def test_columns_that_come_later_and_kinds_that_widen(
    db: sentgen.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows need not have the same keys; whole numbers and fractions are numbers, over parts, too."""
    rows: list[dict[str, object]] = [{"text": "It is.", "n": 1} for _ in range(3)]
    rows += [{"text": "So.", "n": 1.5, "late": "x"}]
    monkeypatch.setattr(frames, "_ROWS", 2)
    db.ingest(rows, "c", order=1)
    told = db.sql("select key, count(*) as many, max(value) as top from v_metadata group by key order by key")
    assert [tuple(row) for row in told] == [("late", 1, "x"), ("n", 4, "1.5")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"text": "a", "y": 1}, {"text": "b", "y": "x"}], "table:c:2: the column 'y' has 'x' here, and numbers before; make it one kind"),
        (pd.DataFrame([{"text": "a", "y": 1}, {"text": "b", "y": "x"}]), "table:c:2: the column 'y' has 'x' here, and numbers before; make it one kind"),
        ([{"tokens": ["a", 1]}], "table:c:1: the column 'tokens' has 1 here, and texts before; make it one kind"),
        ([{"tokens": ["a"]}, {"tokens": "b"}], "table:c:2: the column 'tokens' has 'b' here, and texts before; make it one kind"),
        ([{"tokens": ["a"], "pos": ["x", "y"]}], "table:c:1: 2 of pos for 1 token [column-length]"),
        ([{"text": "a"}, {"text": " "}], "table:c:2: the row has no text (sentence c#2) [text]"),
        ([{"text": "a"}, 3], "table:c:2: is no dict with names of columns"),
        ([{1: "a"}], "table:c:1: is no dict with names of columns"),
        ([{"body": "a", "y": 1}], "table:c: which column is the text? give `text`: body, y"),
        ({"text": ["a"]}, "a dict is no table; give one of its values ('text'), or a list of dicts, a row each"),
        (pl.DataFrame(), "table:c: is a table without a row"),
        (pd.DataFrame({"text": []}), "table:c: is a table without a row"),
        (5, "int is neither a path nor a table; give paths, a data frame, or dicts"),
        (["a.txt", 5], "int is neither a path nor a table; give paths, a data frame, or dicts"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_by_row_and_column(
    given: object, message: str, db: sentgen.Database
) -> None:
    """The error is one line with row and column, and nothing is stored."""
    with pytest.raises(InputError) as refused:
        db.ingest(given, "c")  # type: ignore[arg-type]
    assert str(refused.value) == message
    assert not len(db.corpora())


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, list], ids=["pandas", "polars", "dicts"])
def test_metadata_come_from_a_table(
    made: Callable[[Sequence[Mapping[str, object]]], Any], db: sentgen.Database
) -> None:
    """Metadata of a table given again under its name are replaced; under another name both are kept."""
    db.ingest(ROWS, "talks")
    genres = [{"talk": "a", "genre": "news"}, {"talk": "b", "genre": "talk"}]
    joined = db.add_metadata("talks", made(genres), key="talk")
    assert (joined.rows, joined.without_row) == (2, ["c"])
    db.add_metadata("talks", made([{"talk": "c", "genre": "poem"}]), key="talk")
    db.add_metadata("talks", made([{"talk": "a", "place": "X"}]), key="talk", table_name="places")

    rows = db.sql("select document, value from v_metadata where key in ('genre', 'place') order by all")
    assert [tuple(row) for row in rows] == [("a", "X"), ("c", "poem")]
    with pytest.raises(InputError, match="table:talks: which column names the documents"):
        db.add_metadata("talks", made(genres))
    with pytest.raises(InputError, match="two rows for the document 'a', lines 1 and 2"):
        db.add_metadata("talks", made([genres[0], genres[0]]), key="talk")
