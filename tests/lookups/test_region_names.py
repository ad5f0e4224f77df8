"""Names of regions and attributes that queries cannot write, and names with another meaning."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import QueryError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.schema import Store

VERTICAL = """\
<doc id="one" author-gender="f">
<text n="1">
<list-item no="a" xml:id="i1">
<s>
Rain	NN	rain
falls	VBZ	fall
</s>
</list-item>
</text>
<text n="2">
<s>
Rain	NN	rain
</s>
</text>
</doc>
"""


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store of a document with texts and a list."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "one.vert").write_text(VERTICAL)
    with Store(folder / "s.duckdb", create=True) as store:
        ingest(store, [str(folder / "one.vert")], Settings("one", columns="word,pos,lemma"))
        with store.connect() as connection:
            yield connection


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("[] within <list_item/>", 2),
        ('<list_item no="a"> "Rain"', 1),
        ('"Rain" :: match.list_item_no = "a"', 1),
        ('"Rain" :: match.list_item_xml_id = "i.*"', 1),
        ('<text n="2"/>', 1),
        ('"Rain" within <text/>', 2),
        ('<doc author_gender="f"> []', 1),
        ('<document id="one"> []', 1),
        ('"Rain" :: match.doc_author_gender = "f" & match.text_n = "2"', 1),
    ],
)
def test_names_that_queries_can_hold(named: Connection, query: str, hits: int) -> None:
    """A name means a kind of regions in the store before a synonym of documents."""
    assert Kwic(cql=query, count=True).ask(named).total == hits
    assert Kwic(pattern=query, count=True).ask(named).total == hits


@pytest.mark.parametrize(
    ("query", "column", "message"),
    [
        ("[] within <listitem/>", 12, "no region 'listitem'; did you mean list_item?"),
        ("<list_item nr='a'> []", 12, "no attribute 'nr' of list_item; there are no, xml_id"),
        ("<doc author='x'> []", 6, "no attribute 'author' of doc; did you mean author_gender?"),
        ('[] :: match.list_item_x = "a"', 7, "no attribute 'list_item_x'"),
        ('<text n="["> []', 10, "no regular expression: missing ]"),
    ],
)
def test_what_there_is_not(named: Connection, query: str, column: int, message: str) -> None:
    """Unknown names are refused, with their place and similar names."""
    with pytest.raises(QueryError) as caught:
        Kwic(cql=query).ask(named)
    assert str(caught.value).startswith(f"column {column}: {message}")
