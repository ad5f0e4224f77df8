"""Names and values of metadata, whatever they are, come back from each format of an export."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lxml import etree
from stored import empty

from sentgen.corpus.markup import comment_key, name_written, xml_name
from sentgen.corpus.readers._flow import clean_text
from sentgen.counts import corpora
from sentgen.counts.document_tables import DocumentTable
from sentgen.counts.exports import FORMATS, export
from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

SAID = {
    "documents": "select key, value from document_meta order by all",
    "sentences": "select key, value from sentence_meta order by all",
    "regions": """
        select r.kind, m.key, m.value
        from region_meta m
        join region r on r.sentence_id = m.sentence_id and r.place = m.place
        order by all
    """,
    "kinds": "select kind from region order by all",
    "misc": "select misc from token_misc order by all",
    "trees": "select head from token order by sentence_id, position",
    "names": "select d.name, s.sent_id from sentence s join document d on d.id = s.document_id order by all",
}
ENDINGS = {"conllu": "conllu", "vertical": "vert", "tei": "xml", "docbin": "spacy"}
#: Names that people give to columns, and names with a meaning in a format.
NAMES = [
    *(
        "Speaker name",
        "Speaker_name",
        "2nd",
        "a&b",
        "x<y",
        'say "x"',
        "Ort/Land",
        "2019 sales",
        "-x",
        "a=b",
        "a_b",
    ),
    *("_x0020_", "_x0020", "_x_", "_x ", "xml", "xmlns", "xml:id", "id", "ID", "n", "name", "file", "title"),
    *(
        "author",
        "date",
        "licence",
        "language",
        "lang",
        "unit",
        "spanTo",
        "break",
        "sent_id",
        "newdoc id",
        "meta::x",
    ),
    *(
        "a\u0301",
        "\u00b2",
        "\u00aa",
        "\u00b7",
        "p\u2028q",
        "год",
        "年",
        "🙂",
        "a\tb",
        "a'b",
        "type",
        "doc",
        "s",
        "g",
    ),
]
VALUES = [
    "v",
    "_",
    "__UNDEF__",
    "a  b",
    '"',
    "'",
    "<&>",
    "&amp;",
    "&#95;",
    "a\nb\tc",
    "\u2028",
    "=",
    "x; y; x",
    "|",
    "\\p",
]
_PIECES = st.one_of(
    st.sampled_from(["_x0041", "_", "x", " ", "=", ":", "-", "é"]), st.characters(codec="utf-8")
)
_SAID = st.dictionaries(
    st.lists(_PIECES, max_size=6).map("".join) | st.sampled_from(NAMES),
    st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(VALUES),
    min_size=1,
    max_size=20,
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
EVERYTHING = {name: VALUES[number % len(VALUES)] for number, name in enumerate(NAMES)}


@pytest.fixture
def store(emptied_store: Store) -> Store:
    return emptied_store


def told(store: Store) -> dict[str, list[dict[str, object]]]:
    with store.connect() as connection:
        return {name: fetch_arrow(connection, query).to_pylist() for name, query in SAID.items()}


def goes_round(
    store: Store, form: str, source: Path, table: Path | None = None
) -> tuple[dict[str, list[dict[str, object]]], tuple[str, ...]]:
    """Ingest a source, export it in a format, read the export in its place and compare; return the metadata."""
    empty(store)
    ingest(store, [str(source)], Settings("c"))
    if table is not None:
        DocumentTable(name="c", table=str(table), key="key").join(store)
    before = told(store)
    with store.connect() as connection:
        blocks, lost = export(connection, "c", form)
        again = source.with_name(f"again.{ENDINGS[form]}")
        again.write_bytes(b"".join(blocks))
    corpora.remove(store, "c")
    ingest(store, [str(again)], Settings("c"))
    after = told(store)
    for name, rows in before.items():
        assert after[name] == rows, name
    return before, lost


def written_jsonl(folder: Path, said: Mapping[str, str], *, named: bool) -> Path:
    """Write a JSON object with metadata of its document, or of its sentence."""
    path = folder / "a.jsonl"
    known = {"id": "d"} if named else {}
    others = {key: value for key, value in said.items() if key not in ("id", "sent_id", "text")}
    path.write_text(json.dumps({**known, "tokens": ["ok"], **others}) + "\n", "ascii")
    return path


def written_table(folder: Path, key: str, said: Mapping[str, str]) -> Path:
    path = folder / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["key", *said])
        rows.writerow([key, *said.values()])
    return path


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("form", [form for form in FORMATS if form != "tei"])
@pytest.mark.parametrize("named", [True, False])
@given(said=_SAID)
@example(said=EVERYTHING)
@settings(
    max_examples=settings.default.max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
def test_keys_of_json_lines_come_back(
    store: Store, tmp_path: Path, form: str, named: bool, said: dict[str, str]
) -> None:
    if form == "docbin":
        pytest.importorskip("spacy", reason="spaCy is large: pip install 'sentgen[spacy]'")
        said = {key: value for key, value in said.items() if clean_text(value).strip() == value.strip() != ""}
        named = True
    before, _ = goes_round(store, form, written_jsonl(tmp_path, said, named=named))

    if said is EVERYTHING and named:
        keys = {row["key"] for row in before["documents"]}
        assert keys >= said.keys() - {"id", "sent_id", "text", "a\tb"}


@pytest.mark.parametrize("of", ["document", "region"])
@given(said=_SAID)
@example(said=EVERYTHING)
@settings(
    max_examples=settings.default.max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
def test_columns_of_tables_come_back_from_tei(
    store: Store, tmp_path: Path, of: str, said: dict[str, str]
) -> None:
    """Names come back for documents, and for regions that are elements or milestones with anchors."""
    source = tmp_path / "d.xml"
    source.write_text(
        '<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:id="d"><teiHeader/><text><body>'
        '<p>One <hi unit="u" break="yes" xml:id="r">two. Three</hi> four.</p></body></text></TEI>'
    )
    # A header names a column; a table must not have attributes that a source gives to regions.
    taken = ("key", "unit", "break", "id")
    # Tables refuse control characters.
    clean = {_CONTROL.sub("", key): _CONTROL.sub("", value) for key, value in said.items()}
    others = {" ".join(key.split()): value for key, value in clean.items() if key.strip() not in taken}
    table = written_table(tmp_path, "d" if of == "document" else "r", others)
    goes_round(store, "tei", source, table)


def test_attributes_of_words_and_sentences_come_back_from_tei(store: Store, tmp_path: Path) -> None:
    """Names with a meaning in a format are exported under other names."""
    source = tmp_path / "d.xml"
    said = " ".join(
        f"{xml_name(name, taken=True)}={quoteattr(name)}" for name in ("id", "n", "lemma", "join", "a b", "é")
    )
    source.write_text(
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body><p><s {said}><w {said}>a</w>'
        f'<w pos="NN" msd="Ns" {said}>b</w><w pos="NN" msd="UPosTag=NOUN" {said}>c</w></s></p></body></text></TEI>'
    )
    before, lost = goes_round(store, "tei", source)

    assert {"key": "id", "value": "id"} in before["sentences"]
    assert "lemma=lemma" in str(before["misc"])
    assert lost == (
        "names that cannot stand there are written with numbers for characters, and read as they were: "
        "'a b' as a_x0020_b",
    )


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("head", ["2", "0", "x\\p1"])
@pytest.mark.parametrize("tree", [True, False])
def test_what_misc_says_of_a_head_is_no_head(store: Store, tmp_path: Path, head: str, tree: bool) -> None:
    source = tmp_path / "a.conllu"
    place = "0\troot" if tree else "_\t_"
    source.write_text(f"1\ta\t_\t_\t_\t_\t{place}\t_\thead={head}\n")
    before, _ = goes_round(store, "vertical", source)

    assert before["misc"] == [{"misc": f"head={head}"}]


def test_regions_whose_kinds_mean_something_come_back(store: Store, tmp_path: Path) -> None:
    source = tmp_path / "a.vert"
    source.write_text("<text>\n<doc>\n<_x0067_>\na\tA\ta\n</_x0067_>\n</doc>\n</text>\n")
    before, _ = goes_round(store, "vertical", source)

    assert {row["kind"] for row in before["kinds"]} >= {"text", "doc", "g"}


@given(st.lists(_PIECES, max_size=8).map("".join), st.booleans())
def test_no_two_names_become_one(name: str, taken: bool) -> None:
    written = xml_name(name, taken=taken)
    etree.fromstring(f'<a {written}=""/>')

    assert written != name or not taken
    assert name_written(written) == name or any(
        character < " " or "\x7f" <= character < "\xa0" for character in name
    )
    key = comment_key(name, taken=taken)
    assert "=" not in key
    assert key.strip() == key
