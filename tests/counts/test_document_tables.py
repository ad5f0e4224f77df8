"""Tables of metadata of documents: joining them at any time and repeatedly, and refusals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import document_files as files
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentgen.counts import corpora
from sentgen.counts.document_tables import DocumentTable
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, NotFoundError
from sentgen.schema import Store
from sentgen.schema.engine import raw

Said = dict[str, dict[str, list[str]]]

NAMES, KEYS, VALUES = "abcd", "xyz", "123"
#: A table: name of a document to its metadata.
TABLE = st.dictionaries(
    st.sampled_from(NAMES), st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES)), min_size=1
)
#: Steps: a table is joined, or a source is read again with other metadata of its own.
STEP = st.one_of(
    st.tuples(st.sampled_from(["one.csv", "two.csv"]), TABLE),
    st.tuples(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))),
)


def source(folder: Path, name: str, said: Mapping[str, str], content: str = "One") -> Path:
    """Write a source with one document."""
    told = "".join(f"# meta::{key} = {value}\n" for key, value in said.items())
    path = folder / f"{name}.conllu"
    path.write_text(f"{told}1\t{content}\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    return path


def table(path: Path, rows: Mapping[str, Mapping[str, str]], columns: Sequence[str] = KEYS) -> Path:
    """Write a table about documents."""
    lines = [
        ["name", *columns],
        *([name, *(row.get(key, "") for key in columns)] for name, row in rows.items()),
    ]
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    return path


def said(store: Store) -> Said:
    """Return the metadata in the store: name of the file to keys with their values."""
    found: Said = {}
    query = """
        select parse_filename(s.path, true), m.key, m.value
        from document_meta m
        join document d on d.id = m.document_id
        join source s on s.id = d.source_id
        order by all
    """
    with store.connect() as connection:
        for name, key, value in raw(connection).execute(query).fetchall():
            found.setdefault(name, {}).setdefault(key, []).append(value)
    return found


@settings(max_examples=settings.default.max_examples // 8)
@given(first=st.lists(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES)), min_size=4, max_size=4), steps=st.lists(STEP, max_size=5))  # fmt: skip
def test_the_last_table_is_believed_then_the_source(
    tmp_path_factory: pytest.TempPathFactory, first: list[dict[str, str]], steps: list[tuple[str, object]]
) -> None:
    """After any steps, each table counts with its last version, in the order of the last joins."""
    folder = tmp_path_factory.mktemp("tables")
    own = dict(zip(NAMES, first, strict=True))
    tables: dict[str, dict[str, dict[str, str]]] = {}
    numbers = itertools.count()
    with Store(folder / "s.duckdb", create=True) as store:
        for name in NAMES:
            ingest(store, [str(source(folder, name, own[name], f"w{next(numbers)}"))], Settings("c"))
        for name, step in steps:
            assert isinstance(step, dict)
            if name.endswith(".csv"):
                tables.pop(name, None)
                tables[name] = step
                DocumentTable(name="c", table=str(table(folder / name, step)), key="name").join(store)
            else:
                own[name] = step
                path = source(folder, name, step, f"w{next(numbers)}")
                ingest(store, [str(path)], Settings("c", replace=True))
        found = said(store)

    expected: Said = {}
    for name in NAMES:
        for told in (own[name], *(one.get(name, {}) for one in tables.values())):
            for key, value in told.items():
                expected.setdefault(name, {})[key] = [value]
    assert found == expected


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store of three documents: one with an author, one that its source names, one in a folder of texts."""
    source(tmp_path, "a", {"author": "Ann"})
    (tmp_path / "b.conllu").write_text("# newdoc id = B-1\n1\tTwo\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    (tmp_path / "c.v2.txt").write_text("It is so.\n")
    store = Store(tmp_path / "s.duckdb", create=True)
    ingest(store, [str(tmp_path / name) for name in ("a.conllu", "b.conllu", "c.v2.txt")], Settings("c"))
    return store


def join(store: Store, path: Path, key: str = "name", **options: bool):
    return DocumentTable(name="c", table=str(path), key=key).join(store, **options)


def test_documents_are_found_by_name_or_file(store: Store, tmp_path: Path) -> None:
    """Rows are joined by the name that a source gives, or by the file name, with or without extension and folders."""
    for names in (
        ["a", "B-1", "c.v2"],
        ["a.conllu", "b", "c.v2.txt"],
        [str(tmp_path / "a.conllu"), "b.conllu"],
    ):
        found = join(store, table(tmp_path / "t.csv", {name: {"x": name} for name in names}))
        assert (found.documents, len(found.without_row), found.without_document) == (3, 3 - len(names), [])
        values = [value for one in said(store).values() for value in one.get("x", ())]
        assert sorted(values) == sorted(names)


def test_what_matches_nothing_is_told(store: Store, tmp_path: Path) -> None:
    """The answer lists rows and documents without a partner, and keys where the table replaces the source."""
    rows = {"a": {"author": "Bob", "year": "1990"}, "zz": {"year": "1"}, "": {"year": "2"}}
    path = table(tmp_path / "t.csv", rows, ["author", "year"])

    dry = join(store, path, dry_run=True)
    assert said(store) == {"a": {"author": ["Ann"]}}
    found = join(store, path)
    assert dry == found
    assert found.without_row == ["B-1", str(tmp_path / "c.v2.txt")]
    assert found.without_document == [("zz", 3), ("", 4)]
    assert found.replaced == {"author": 1}
    assert said(store) == {"a": {"author": ["Bob"], "year": ["1990"]}}
    # A document read later gets its row; an empty table removes all metadata of the table.
    ingest(store, [str(source(tmp_path, "zz", {}, "Late"))], Settings("c"))
    assert said(store)["zz"] == {"year": ["1"]}
    join(store, table(path, {"a": {}}, []))
    assert said(store) == {"a": {"author": ["Ann"]}}


def test_all_formats(store: Store, tmp_path: Path) -> None:
    """Tables with tabs, workbooks and other formats are read."""
    (tmp_path / "t.tsv").write_text('name\tauthor-gender\tnote\na\tF\t"A" b\n')
    files.xlsx(tmp_path / "t.xlsx", [["name", "year"], ["a", 1990]])

    join(store, tmp_path / "t.tsv")
    join(store, tmp_path / "t.xlsx")
    assert said(store)["a"] == {
        "author": ["Ann"],
        "author-gender": ["F"],
        "note": ['"A" b'],
        "year": ["1990"],
    }
    corpora.remove(store, "c")
    with store.connect() as connection:
        for name in ("table_meta", "document_meta"):
            assert raw(connection).execute(f"select count(*) from {name}").fetchone() == (0,)


@pytest.mark.parametrize(
    ("content", "key", "message"),
    [
        (
            "name,x\na,1\nb,2\na,3\n",
            "name",
            r"t\.csv: two rows for the document .*a\.conllu', lines 2 and 4; remove",
        ),
        ("name,x\na,1\n", "nam", r"t\.csv: `key` 'nam' is no column; there are: name, x"),
        ("name,x\na,1\n", "", r"t\.csv: which column names the documents\? give `key`: name, x"),
        ("name,x\na,1,2\n", "name", r"t\.csv:2: 3 fields in a row where the header has 2"),
        (
            "name,x\nq,1\n",
            "name",
            r"t\.csv: no row is of a document of c: it has .*, and `key` name 'q'; give another",
        ),
        ('name,x\na,"1\n', "name", r"t\.csv:2: no row of CSV begins here"),
        ("name,x\na,\xe9\n", "name", r"t\.csv:2: byte 0xe9 is not UTF-8"),
    ],
)
def test_tables_that_are_refused(store: Store, tmp_path: Path, content: str, key: str, message: str) -> None:
    """A wrong table is refused, and nothing is written."""
    (tmp_path / "t.csv").write_bytes(content.encode("latin-1"))

    with pytest.raises(InputError, match=message):
        join(store, tmp_path / "t.csv", key)
    assert said(store) == {"a": {"author": ["Ann"]}}


def test_no_such_corpus(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no corpus 'd'; there are: c"):
        DocumentTable(name="d", table=str(table(tmp_path / "t.csv", {"a": {}})), key="name").join(store)
