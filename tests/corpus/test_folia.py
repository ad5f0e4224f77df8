"""The reader of FoLiA: the elements that are read, and those that are left out."""

from __future__ import annotations

import io
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_tei import good, regions, tei

from sentgen.corpus.formats import detect
from sentgen.corpus.paths import expand
from sentgen.corpus.readers import vertical
from sentgen.corpus.readers.folia import read_file
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.errors import InputError, Rejection


def folia(text: str, metadata: str = "") -> str:
    return (
        '<FoLiA xmlns="http://ilk.uvt.nl/folia" version="2.5" xml:id="doc">'
        f'<metadata type="native"><annotations><pos-annotation set="x"/></annotations>{metadata}</metadata>'
        f'<text xml:id="doc.text">{text}</text></FoLiA>'
    )


def read(content: str) -> list[Sentence | Rejection | RawText]:
    return list(read_file(io.BytesIO(content.encode()), path="x.folia.xml"))


WORDS = """
<div class="chapter" xml:id="d"><head xml:id="h"><t>Een kop</t></head>
<p xml:id="p" annotator="me"><t>De kat slaapt. Ja</t>
<s xml:id="s1"><t>De kat slaapt.</t>
<w xml:id="w1" class="WORD"><t>De</t><t class="original">Dee</t><pos class="LID(bep)" head="LID"><feat subset="a" class="b"/></pos>
<lemma class="de"/><alt auth="no"><lemma class="dee"/></alt></w>
<w xml:id="w2"><t><t-style class="b">k<t-str>a</t-str></t-style>t</t><pos class="N(soort)"/><lemma class="kat"/></w>
<w xml:id="w3" space="no"><correction><new><t>slaapt</t></new><original auth="no"><t>slapt</t></original></correction>
<pos class="WW(pv)"/><lemma class="slapen"/></w>
<w xml:id="w4"><t>.</t><pos class="LET()"/></w>
<entities><entity><wref id="w2" t="kat"/></entity></entities></s>
<s xml:id="s2"><w><t>Ja</t></w></s></p></div>
"""


def test_words() -> None:
    head, first, second = read(folia(WORDS, '<meta id="title">Een  titel</meta><meta id="x"/>'))

    assert isinstance(head, RawText)
    assert (head.text, head.document, head.metadata) == ("Een kop", "doc", ["meta::title = Een titel"])
    assert first == Sentence(
        ["De", "kat", "slaapt", "."],
        lemmas=["de", "kat", "slapen", ""],
        xpos=["LID(bep)", "N(soort)", "WW(pv)", "LET()"],
        space_after=[True, True, False, True],
        sent_id="s1",
        line=5,
        marks=first.marks,
    )
    assert isinstance(second, Sentence)
    assert (second.forms, second.sent_id) == (["Ja"], "s2")
    found = [first, second]
    assert ("p", {"id": "p"}, "De kat slaapt . Ja") in regions([head, first, second])  # type: ignore[list-item]
    assert len(found) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p><t>One. Two.</t></p>", [("One. Two.", False)]),
        ("<p><s><t>One. Two.</t></s></p>", [("One. Two.", True)]),
        ("<p><t>One. Two.</t><s><t>One.</t></s><s><t>Two.</t></s></p>", [("One.", True), ("Two.", True)]),
        ("<div><t>a b</t><p><t>a</t></p><p><t>b</t></p></div>", [("a", False), ("b", False)]),
        ("<p><t class='ocr'>no</t><t>yes</t></p>", [("yes", False)]),
        ("<utt speaker='Ann'><t>hm</t></utt>", [("hm", False)]),
        ("<p><gap/></p>", []),
    ],
)
def test_text_without_words(text: str, expected: list[tuple[str, bool]]) -> None:
    assert [(one.text, one.whole) for one in read(folia(text))] == expected


def test_a_bad_word_is_a_rejection() -> None:
    (found,) = read(folia("<s xml:id='s'><w><t> </t></w></s>"))

    assert isinstance(found, Rejection)
    assert (found.check, found.sent_id) == ("empty-form", "s")


@pytest.mark.parametrize(
    "content",
    [
        "<FoLiA><text>",
        '<!DOCTYPE FoLiA [<!ENTITY a "lol">]><FoLiA>&a;</FoLiA>',
        "<FoLiA>" + "<p>" * 300,
        f"<FoLiA><text><p class='{'x' * 5000}'/></text></FoLiA>",
    ],
)
def test_refused_in_one_line(content: str) -> None:
    with pytest.raises(InputError, match=r"^x.folia.xml:1: [^\n]*$"):
        read(content)


def test_detected(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<?xml version='1.0'?>\n<?x?>\n" + folia(""))
    (source,) = expand([str(tmp_path / "a.xml")])

    assert detect(source) == "folia"


TOKENS = ("a", "B", "ہے", ".", "?!", "۔", "…", "։", '"', "„", "“", "”", ")", "''", "&")


@given(st.lists(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=12), min_size=1, max_size=3))
@example([["الف", "ہے", "۔", "بے", "ہے", "۔"], ["a", "b", ".", "c", "d", "."]])
def test_tokens_without_sentences_are_cut_as_in_tei_and_vertical_files(paragraphs: list[list[str]]) -> None:
    escaped = [[escape(token, quote=len(tokens) % 2 > 0) for token in tokens] for tokens in paragraphs]
    words = "".join(f"<p>{''.join(f'<w><t>{token}</t></w>' for token in tokens)}</p>" for tokens in escaped)
    rows = [line for tokens in escaped for line in ("<p>", *tokens, "</p>")]

    cut = forms(read(folia(words)))

    assert forms(good(tei(words.replace("<t>", "").replace("</t>", "")))) == cut
    assert forms(vertical.read(rows, path="x.vrt", columns="word")) == cut


def forms(found: Iterable[Sentence | Rejection | RawText]) -> list[list[str]]:
    return [one.forms for one in found if isinstance(one, Sentence)]
