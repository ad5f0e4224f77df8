"""Export to TEI: a corpus read from the export is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lxml import etree
from stored import empty

from sentgen.counts import corpora, exports
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

NAMESPACE = "http://www.tei-c.org/ns/1.0"
#: Queries for the data of a corpus, without ids, which depend on other corpora. No data on spaces and a space
#: after each token are the same.
TABLES = {
    "tokens": """
        select document, position, form, nullif(lemma, '') as lemma, upos, xpos, feats, head, deprel,
            space_after is false as glued
        from v_tokens
        order by sentence_id, position
    """,
    "misc": "select position, form, misc from v_misc order by sentence_id, position",
    "sentences": "select length from sentence order by id",
    "multiwords": "select first, last, form from multiword order by sentence_id, first",
    "metadata": """
        select document, key, value
        from v_metadata
        where sentence_id is null
        order by document_id, key, value
    """,
    "regions": """
        select document, kind, attributes, position, last_sentence_id - sentence_id as sentences, last_position
        from v_regions
        order by sentence_id, position, kind, sentences, last_position, attributes
    """,
}


@pytest.fixture
def store(emptied_store: Store) -> Store:
    return emptied_store


def export(store: Store, name: str) -> bytes:
    with store.connect() as connection:
        blocks, lost = exports.export(connection, name, "tei")
        assert not lost
        return b"".join(blocks)


def tables(store: Store) -> dict[str, list[dict[str, object]]]:
    with store.connect() as connection:
        return {name: fetch_arrow(connection, query, {}).to_pylist() for name, query in TABLES.items()}


def again(store: Store, folder: Path, *contents: str, **given: object) -> bytes:
    """Ingest files, export them, ingest the export in their place, compare, and return the export."""
    paths = []
    for number, content in enumerate(contents):
        paths.append(folder / f"my file {number}.xml")
        paths[-1].write_text(content, encoding="utf-8")
    ingest(store, [str(path) for path in paths], Settings("a", **given))  # type: ignore[arg-type]
    before = tables(store)
    written = export(store, "a")
    etree.fromstring(written)
    corpora.remove(store, "a")
    (folder / "again.xml").write_bytes(written)
    ingest(store, [str(folder / "again.xml")], Settings("a", notes=bool(given.get("notes"))))
    after = tables(store)
    for name, rows in before.items():
        assert after[name] == rows, name
    assert export(store, "a") == written
    return written


def tei(body: str, attributes: str = "", header: str = "") -> str:
    return f'<TEI xmlns="{NAMESPACE}"{attributes}><teiHeader>{header}</teiHeader><text><body>{body}</body></text></TEI>'


HEADER = """
<fileDesc><titleStmt><title>A &amp; B</title><author>Ann</author><author>Bob</author></titleStmt>
<publicationStmt><availability><licence>Public &lt;domain></licence></availability></publicationStmt>
<sourceDesc><bibl><date>about 1900</date></bibl></sourceDesc></fileDesc>
<profileDesc><langUsage><language ident="eng"/></langUsage></profileDesc>
"""
TEXTS = {
    "structure": '<div type="a" n="1" xml:id="d1"><head>One</head><p xml:lang="fr">A b. C d.</p><p>E</p></div>',
    "verse": "<lg><l>A line</l><l>and another. And</l><l>more.</l></lg>",
    "over sentences": "<p>One <hi rend='it'>two. Three</hi> four.</p>",
    "over sentences and regions": "<p>One <hi>two. <name>Ann. He</name></hi> four.</p>",
    "parts of words": "<p>a<hi>b</hi>c <hi>d</hi><emph>e</emph> f.</p>",
    "speech": '<sp who="#a"><speaker>ANN &amp;.</speaker><p>Yes. No.</p></sp>',
    "words": '<p><s n="4" xml:id="s1"><w lemma="be" pos="VBZ" ana="#x|y">Is</w> <w join="left">n\'t</w><pc>?</pc></s></p>',
    "universal": '<s><w pos="NOUN">a</w></s><s><w msd="UPosTag=X|A=b" pos="XX">b</w></s><s><w pos="VBZ">c</w></s>',
    "both tag sets": '<s><w pos="VBZ">a</w></s><s><w pos="NOUN">b</w></s><s><w msd="UPosTag=NOUN">c</w></s>',
    "positional tags": '<s><w msd="NOUN">a</w><w msd="Case=Nom" pos="NN">b</w></s>',
    "reserved": "<p>a &lt; b &amp; \"c\" 'd' ]]&gt; é</p>",
    "ids twice": '<s xml:id="s"><w>a</w></s><s xml:id="s"><w>b</w></s>',
    "not named": '<p xml:id="1 2">a</p>',
    "trees": """<u who="#Ann"><s xml:id="s"><w xml:id="w1" lemma="we" msd="UPosTag=PRON|Number=Plur">We</w>
        <w>cannot<w xml:id="w2" norm="can" lemma="can" msd="UPosTag=AUX"/><w xml:id="w3" norm="not"/></w>
        <name><w xml:id="w4" join="right">go</w></name><pc xml:id="w5">.</pc>
        <linkGrp type="UD-SYN"><link ana="ud-syn:nsubj" target="#w4 #w1"/><link ana="ud-syn:aux_pass" target="#w4 #w2"/>
        <link ana="ud-syn:advmod" target="#w4 #w3"/><link ana="ud-syn:root" target="#s #w4"/>
        <link ana="ud-syn:punct" target="#w4 #w5"/></linkGrp></s></u>""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_was_read_comes_back(store: Store, tmp_path: Path, name: str) -> None:
    again(store, tmp_path, tei(TEXTS[name]))


def test_documents_and_metadata(store: Store, tmp_path: Path) -> None:
    written = again(
        store,
        tmp_path,
        tei("<p>a</p>", ' xml:id="A" xml:lang="en"', HEADER),
        tei("<p>b</p>", ' xml:id="A"'),
        tei("<p>c</p>", "", HEADER),
        meta=["my.key=count(//author)"],
    )
    root = etree.fromstring(written)
    assert root.tag == f"{{{NAMESPACE}}}teiCorpus"
    assert [one.get("n") for one in root.findall(f"{{{NAMESPACE}}}TEI")] == ["A", "A", "my file 2"]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_some_sentences_at_a_time(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(exports, "SENTENCES", size)
    again(store, tmp_path, *(tei(text) for text in TEXTS.values()))


def test_overlaps_are_between_milestones(store: Store, tmp_path: Path) -> None:
    written = again(store, tmp_path, tei(TEXTS["over sentences"])).decode()

    assert '<milestone unit="hi" spanTo="#anchor1"' in written
    assert written.count("<anchor") == 1
    assert "<p><s>" in written


def test_another_format_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("a b\n")
    ingest(store, [str(tmp_path / "a.lines")], Settings("a"))

    with pytest.raises(
        InputError, match=r"only what came as TEI goes out as TEI, and .*a.lines came as lines"
    ):
        export(store, "a")


@st.composite
def bodies(draw: st.DrawFn, depth: int = 0) -> str:
    """Draw text, words, sentences and nested regions."""
    kinds = ["text", "w", "hi", "name", "s", "p", "div", "note"] if depth < 4 else ["text", "w"]
    parts = []
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=4)):
        if kind == "text":
            parts.append(draw(st.sampled_from(["One. ", "two", " Three", " four. Five ", "(", " "])))
        elif kind == "w":
            attributes = draw(
                st.sampled_from(["", ' pos="NOUN"', ' pos="NN"', ' lemma="l"', ' join="right"', ' n="1"'])
            )
            parts.append(f"<w{attributes}>{draw(st.sampled_from(['a', '.', 'b']))}</w>")
        else:
            attributes = draw(st.sampled_from(["", ' n="1"', ' type="x"']))
            parts.append(f"<{kind}{attributes}>{draw(bodies(depth=depth + 1))}</{kind}>")
    return "".join(parts)


@given(st.lists(bodies(), min_size=1, max_size=3))
@example(["<s>a<p>b</p></s><hi>c. <w>d</w></hi>"])
# An element that begins together with others and ends within a sentence.
@example(["<hi type='x'><p><name> Three Three</name><s><w>a</w></s></p> Three</hi> four. Five "])
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_lies_in_what(store: Store, tmp_path: Path, found: list[str]) -> None:
    empty(store)
    again(store, tmp_path, *(tei(f"<p>Begin.</p>{body}") for body in found), notes=True)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["ENG18872_Lyall.xml", pytest.param("ENG18872_Lyall.level2.xml.gz", marks=pytest.mark.nightly)]
)
def test_a_novel_comes_back(store: Store, tmp_path: Path, data_dir: Path, name: str) -> None:
    path = data_dir / "formats" / "eltec" / name
    ingest(store, [str(path)], Settings("a", order=1))
    before = tables(store)
    (tmp_path / "a.xml").write_bytes(export(store, "a"))
    corpora.remove(store, "a")
    ingest(store, [str(tmp_path / "a.xml")], Settings("a", order=1))

    assert tables(store) == before
