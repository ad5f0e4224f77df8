"""What a reader of a document does not see is no text, and what is seen is; readings beside characters are none."""

from __future__ import annotations

from pathlib import Path

import document_files as files
import pytest

from sentgen.corpus.formats import choose_reader
from sentgen.corpus.paths import expand
from sentgen.corpus.reader import Reader
from sentgen.corpus.sentence import RawText, Sentence

TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
STYLE = "urn:oasis:names:tc:opendocument:xmlns:style:1.0"


def texts(path: Path) -> list[str]:
    (source,) = expand([str(path)])
    reader = choose_reader(source, None, {})
    assert isinstance(reader, Reader)
    found = reader.items(source.open())
    return [
        one.text if isinstance(one, RawText) else " ".join(one.forms)
        for one in found
        if isinstance(one, RawText | Sentence)
    ]


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def tei(body: str) -> str:
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>{body}</body></text></TEI>'


def ruby(base: str, reading: str) -> dict[str, str]:
    """Return a ruby as each format writes it."""
    word = f"<w:ruby><w:rubyPr/><w:rt>{run(reading)}</w:rt><w:rubyBase>{run(base)}</w:rubyBase></w:ruby>"
    return {
        "html": f"<ruby>{base}<rp>(</rp><rt>{reading}</rt><rp>)</rp></ruby>",
        "docx": f"<w:r>{word}</w:r>",
        "odt": f"<text:ruby><text:ruby-base>{base}</text:ruby-base><text:ruby-text>{reading}</text:ruby-text></text:ruby>",
        "tei": f"<ruby><rb>{base}</rb><rt>{reading}</rt></ruby>",
    }


@pytest.mark.parametrize(
    ("before", "pairs", "after"),
    [
        ("これは", [("漢", "かん"), ("字", "じ")], "です。"),
        ("I read ", [("base", "gloss")], " words."),
        ("", [("東京", "とうきょう")], ""),
    ],
)
def test_readings_are_left_out(tmp_path: Path, before: str, pairs: list[tuple[str, str]], after: str) -> None:
    """Readings beside characters are left out in all formats of documents; the base text is kept in place."""
    each = {form: "".join(ruby(*pair)[form] for pair in pairs) for form in ruby("", "")}
    page = f"<html><body><p>{before}{each['html']}{after}</p></body></html>"
    (tmp_path / "a.html").write_text(f"<meta charset=utf-8>{page}")
    (tmp_path / "a.md").write_text(f"{before}{each['html']}{after}\n")
    files.epub(tmp_path / "a.epub", {"a.xhtml": page})
    files.docx(
        tmp_path / "a.docx",
        f"<w:p>{run(before)}{each['docx']}{run(after)}</w:p>".replace("<w:t>", '<w:t xml:space="preserve">'),
    )
    files.odt(tmp_path / "a.odt", f"<text:p>{before}{each['odt']}{after}</text:p>")
    (tmp_path / "a.xml").write_text(tei(f"<p>{before}{each['tei']}{after}</p>"))

    expected = [f"{before}{''.join(base for base, _ in pairs)}{after}"]
    for name in ("a.html", "a.md", "a.epub", "a.docx", "a.odt", "a.xml"):
        assert texts(tmp_path / name) == expected, name


@pytest.mark.parametrize(
    "page",
    [
        "<ruby>漢<rt>かん<rb>字<rt>じ</ruby>です",
        "<ruby>漢<rp>(<rt>かん<rp>)</ruby>字です",
        "<ruby><rb>漢</rb><rb>字</rb><rt>かん</rt><rt>じ</rt><rtc><rt>kanji</rt></rtc></ruby>です",
        "<RUBY>漢字<RT>かん<b>じ</b></RT></RUBY>です",
    ],
)
def test_readings_without_end_tags(tmp_path: Path, page: str) -> None:
    """In HTML, a reading ends where the next part of the ruby begins."""
    (tmp_path / "a.html").write_text(f"<meta charset=utf-8><p>{page}</p><p>あと</p>")

    assert texts(tmp_path / "a.html") == ["漢字です", "あと"]


def test_readings_within_words_of_tei(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(tei("<p><w><ruby><rb>漢字</rb><rt>かんじ</rt></ruby></w><w>です</w></p>"))

    assert texts(tmp_path / "a.xml") == ["漢字 です"]


@pytest.mark.parametrize(
    ("attributes", "seen"),
    [
        ('style="display:none"', False),
        ('style="color: red; DISPLAY : None !important;"', False),
        ("style='display:block;display:none'", False),
        ("style='display:none!important;display:block'", False),
        ("style='display:/* so */none'", False),
        ("style='visibility: hidden'", False),
        ('hidden="hidden"', False),
        ('hidden="until-found"', False),
        ('role="navigation"', False),
        ('aria-hidden="true"', True),
        ("style='display:none;display:block'", True),
        ("style='display:inline'", True),
        ("style='--display:none'", True),
        ("style='content:\"display:none\"'", True),
        ("hidden='' style='display:block'", True),
        ("data-hidden='true' class='hidden'", True),
    ],
)
@pytest.mark.parametrize("name", ["a.html", "a.epub"])
def test_pages(tmp_path: Path, name: str, attributes: str, seen: bool) -> None:
    page = f"<html><body><p>One.</p><p {attributes}>Two <b>of</b> it.<br/></p><div>Th<i {attributes}>x</i>ree.</div></body></html>"
    if name == "a.epub":
        files.epub(tmp_path / name, {"a.xhtml": page})
    else:
        (tmp_path / name).write_text(page)

    assert texts(tmp_path / name) == (["One.", "Two of it.", "Thxree."] if seen else ["One.", "Three."])


def test_every_page_of_a_book(tmp_path: Path) -> None:
    """Pages outside the linear order, such as answers to exercises, are read, too."""
    path = files.epub(
        tmp_path / "a.epub", {"a.xhtml": "<p>One.</p>", "b.xhtml": "<p>Two.</p>"}, linear={"b.xhtml": "no"}
    )

    assert texts(path) == ["One.", "Two."]


SHOWN = '<w:vanish w:val="0"/>'
STYLES = """<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:style w:type="character" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="character" w:styleId="Heir"><w:name w:val="Heir"/><w:basedOn w:val="Secret"/></w:style>
<w:style w:type="character" w:styleId="Open"><w:name w:val="Open"/><w:basedOn w:val="Secret"/><w:rPr><w:vanish w:val="0"/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Gone"><w:name w:val="Gone"/><w:rPr><w:vanish/></w:rPr></w:style>
</w:styles>"""


@pytest.mark.parametrize(
    ("properties", "seen"),
    [
        ("<w:vanish/>", False),
        ('<w:vanish w:val="true"/>', False),
        ('<w:vanish w:val="1"/>', False),
        ('<w:rStyle w:val="Secret"/>', False),
        ('<w:rStyle w:val="Heir"/>', False),
        ('<w:vanish w:val="0"/>', True),
        ('<w:vanish w:val="false"/>', True),
        ('<w:rStyle w:val="Open"/>', True),
        ('<w:rStyle w:val="Secret"/><w:vanish w:val="off"/>', True),
        ("<w:webHidden/>", True),
    ],
)
def test_word(tmp_path: Path, properties: str, seen: bool) -> None:
    """A run is hidden by itself or its style, a paragraph by its style; the mark of a paragraph is no text."""
    body = (
        f"<w:p>{run('One')}{run('two', properties)}{run('.')}</w:p>"
        f'<w:p><w:pPr><w:pStyle w:val="Gone"/></w:pPr>{run("Gone.")}{run("Not.", SHOWN)}</w:p>'
        f"<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{run('Here.')}</w:p>"
    )
    files.docx(tmp_path / "a.docx", body, more={"word/styles.xml": STYLES})

    assert texts(tmp_path / "a.docx") == ["Onetwo." if seen else "One.", "Not.", "Here."]


def test_a_box_in_a_run(tmp_path: Path) -> None:
    """The hidden mark of its paragraph hides nothing of the run around it."""
    box = f"<w:txbxContent><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{run('Box.')}</w:p></w:txbxContent>"
    files.docx(tmp_path / "a.docx", f"<w:p><w:r>{box}<w:t>Around it.</w:t></w:r>{run(' More.')}</w:p>")

    assert sorted(texts(tmp_path / "a.docx")) == ["Around it. More.", "Box."]


def test_open_document(tmp_path: Path) -> None:
    """Text is hidden by its style, in a section, and in a field."""
    path = files.odt(
        tmp_path / "a.odt",
        '<text:p>One<text:span text:style-name="T1">two</text:span>.</text:p><text:p text:style-name="T1">Gone.</text:p>'
        '<text:section text:display="none"><text:p>Gone.</text:p></text:section><text:section><text:p>Here.</text:p></text:section>'
        '<text:p>There<text:hidden-text text:is-hidden="true">gone</text:hidden-text>.</text:p>',
        styles=f'<style:style xmlns:style="{STYLE}" style:name="T1"><style:text-properties xmlns:text="{TEXT}" text:display="none"/></style:style>'
        f'<style:style xmlns:style="{STYLE}" style:name="T2"><style:text-properties/></style:style>',
    )

    assert texts(path) == ["One.", "Here.", "There."]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("one<space/>two", "one two"),
        ('one<space quantity="2" unit="chars"/>two', "one two"),
        ("one <space/> two", "one two"),
        ("one<lb/>two", "onetwo"),
        ("one<lb/>\ntwo", "one two"),
        ('one<lb break="yes"/>two', "one two"),
        ('one<lb break="no"/>two', "onetwo"),
        ('one <lb break="no"/>two', "onetwo"),
        ('one\n  <pb n="2" break="no"/>\n  two', "onetwo"),
        ('one<pb n="2"/> <lb break="no"/> two three', "onetwo three"),
        ('one<lb break="no"/> <hi>two</hi> three', "onetwo three"),
        ("one<gap/>two", "onetwo"),
    ],
)
def test_what_parts_words_of_tei(tmp_path: Path, written: str, expected: str) -> None:
    (tmp_path / "a.xml").write_text(tei(f"<p>{written}</p><p>Next.</p>"))

    assert texts(tmp_path / "a.xml") == [expected, "Next."]


@pytest.mark.parametrize("own", ["", tei("<p>Own.</p>")])
def test_what_xml_includes_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture, own: str) -> None:
    """It is not followed, and the text that stands there for want of it is none of the corpus."""
    parts = "".join(
        f'<xi:include href="part{n}.xml"><xi:fallback><p>No.</p></xi:fallback></xi:include>'
        for n in (1, 2, 1)
    )
    xi = 'xmlns:xi="http://www.w3.org/2001/XInclude"'
    (tmp_path / "a.xml").write_text(
        f'<teiCorpus xmlns="http://www.tei-c.org/ns/1.0" {xi}>{own}{parts}</teiCorpus>'
    )

    assert texts(tmp_path / "a.xml") == (["Own."] if own else [])
    assert caplog.messages == [
        f"{tmp_path / 'a.xml'}: xi:include is not followed; name what it includes, too: part1.xml, part2.xml"
    ]
