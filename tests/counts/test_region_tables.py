"""Tables of attributes of regions, such as speeches of ParlaMint, which are added, changed and removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from stored import rows

from sentgen.counts import corpora
from sentgen.counts.document_tables import DocumentTable
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.schema import Store

SAID = """
select named.value, m.key, m.value
from region_meta m
join region_meta named on named.sentence_id = m.sentence_id and named.place = m.place and named.key = 'id'
where m.key <> 'id'
order by all
"""


def speech(name: str, *utterances: str) -> str:
    """Return a vertical file with a document whose utterances have ids."""
    told = "".join(
        f'<u id="{name}.u{number}" who="W{number}">\n<s>\n{word}\tX\t{word}\n</s>\n</u>\n'
        for number, word in enumerate(utterances, 1)
    )
    return f'<doc id="{name}">\n{told}</doc>\n'


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "a.vert").write_text(speech("a", "Yes", "No"))
    store = Store(tmp_path / "s.duckdb", create=True)
    ingest(store, [str(tmp_path / "a.vert")], Settings("p"))
    return store


def said(store: Store) -> list[tuple[str, str, str]]:
    return rows(store, SAID)


def join(store: Store, path: Path, content: str, key: str = "ID"):
    path.write_text(content)
    return DocumentTable(name="p", table=str(path), key=key).join(store)


OWN = [("a.u1", "who", "W1"), ("a.u2", "who", "W2")]


def test_a_table_about_speeches(store: Store, tmp_path: Path) -> None:
    """The columns of a table are attributes for queries, and are removed if its next version lacks them."""
    table = tmp_path / "p-meta.tsv"
    found = join(store, table, "Text_ID\tID\tParty\na\ta.u1\tX\na\ta.u9\tY\n")
    assert (found.of, found.documents, found.without_row, found.without_document) == (
        "region",
        2,
        ["a.u2"],
        [("a.u9", 3)],
    )
    assert said(store) == sorted([*OWN, ("a.u1", "Party", "X"), ("a.u1", "Text_ID", "a")])
    with store.connect() as connection:
        lines = Kwic(pattern='<u Party="X"/>').ask(connection).table.to_pylist()
        assert [line["node"] for line in lines] == ["Yes"]
    join(store, table, "ID\tParty\na.u2\tX\n")
    assert said(store) == sorted([*OWN, ("a.u2", "Party", "X")])
    other = tmp_path / "other.tsv"
    join(store, other, "ID\tParty\na.u2\tZ\n")
    assert ("a.u2", "Party", "Z") in said(store)
    join(store, other, "ID\tAge\na.u2\t9\n")
    assert said(store) == sorted([*OWN, ("a.u2", "Party", "X"), ("a.u2", "Age", "9")])


def test_regions_that_are_read_later_have_it_too(store: Store, tmp_path: Path) -> None:
    join(store, tmp_path / "m.csv", "ID,Party\na.u1,X\nb.u1,Y\n")
    (tmp_path / "b.vert").write_text(speech("b", "So"))
    ingest(store, [str(tmp_path / "b.vert")], Settings("p"))
    assert [row for row in said(store) if row[1] == "Party"] == [
        ("a.u1", "Party", "X"),
        ("b.u1", "Party", "Y"),
    ]
    (tmp_path / "a.vert").write_text(speech("a", "Yes", "Never"))
    ingest(store, [str(tmp_path / "a.vert")], Settings("p", replace=True))
    assert [row for row in said(store) if row[1] == "Party"] == [
        ("a.u1", "Party", "X"),
        ("b.u1", "Party", "Y"),
    ]
    corpora.remove(store, "p")
    assert said(store) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("ID,who\na.u1,X\n", "u have 'who' from their source; leave that column out"),
        ("ID,Party\na.u1,X\na.u1,Y\n", "two rows for the region 'a.u1', lines 2 and 3"),
        ("ID,Party\nzz,X\n", "no row is of a document of p: it has 'a', and `key` ID 'zz'"),
    ],
)
def test_what_is_refused(store: Store, tmp_path: Path, content: str, message: str) -> None:
    before = said(store)
    with pytest.raises(InputError, match=message):
        join(store, tmp_path / "t.csv", content)
    assert said(store) == before
