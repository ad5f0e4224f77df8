"""Documents: their text and its regions, what they say of themselves, and what is broken or hostile in them."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import document_files as files
import pytest

from sentgen.corpus.formats import READERS, choose_reader
from sentgen.corpus.paths import expand
from sentgen.corpus.reader import Reader
from sentgen.corpus.reading import read_source
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.counts.treebank_rows import RegionRows
from sentgen.errors import InputError


def items(path: Path, **given: object) -> list[RawText]:
    """Return what a document holds, as `sentgen ingest` reads it."""
    (source,) = expand([str(path)])
    reader = choose_reader(source, str(given.pop("form", "")) or None, given)
    assert isinstance(reader, Reader)
    found = list(reader.items(source.open()))
    assert all(isinstance(one, RawText) for one in found)
    return found  # type: ignore[return-value]


def texts(path: Path, **given: object) -> list[str]:
    return [one.text for one in items(path, **given)]


def regions(path: Path, **given: object) -> list[tuple[str, str]]:
    """Return the regions of a document, each with its words, in the order in which they end."""
    (source,) = expand([str(path)])
    reader = choose_reader(source, str(given.pop("form", "")) or None, given)
    assert isinstance(reader, Reader)
    sentences = [one for one in read_source(reader, source.open()) if isinstance(one, Sentence)]
    rows, found = RegionRows(), []
    words = [(n, at, form) for n, one in enumerate(sentences, 1) for at, form in enumerate(one.forms, 1)]
    for number, one in enumerate(sentences, 1):
        rows.add(number, len(one.forms), one, first=number == 1)
    rows.end_source()
    attributes = {(one[0], one[1]): f"{one[2]}={one[3]}" for one in rows.attributes}
    for first, place, kind, position, *last in rows.regions:
        told = f"{kind} {attributes.get((first, place), '')}".strip()
        inside = [form for n, at, form in words if (first, position) <= (n, at) <= tuple(last)]
        found.append((told, " ".join(inside)))
    return found


PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head><title>A &amp; B</title><meta name="author" content="Ann"><style>p { }</style>
<script>var x = "<p>no</p>";</script></head>
<body><nav><ul><li>Home</li></ul></nav><div role="banner">Shop</div>
<h1>First <em>things</em></h1>
Loose text.
<p>It is so, <b>bo</b>ld.<br>And&nbsp;more.
<p>Second.</p>
<ul><li>Outer.<ul><li>Inner.</li></ul></li><li><p>Two.</p></li></ul>
<blockquote><p>One said.</p><p>Two said.</p></blockquote>
<table><tr><td>Left</td><td>Right</td></tr></table>
<div hidden>no <p>no</div>
After.
</body></html>
"""


def test_a_page(tmp_path: Path) -> None:
    """The visible text is in blocks with their lines; title and author are metadata."""
    path = tmp_path / "a.html"
    path.write_text(PAGE)

    found = items(path)
    assert [(one.line, one.text) for one in found] == [
        (6, "First things"),
        (7, "Loose text."),
        (8, "It is so, bold. And more."),
        (9, "Second."),
        (10, "Outer."),
        (10, "Inner."),
        (10, "Two."),
        (11, "One said."),
        (11, "Two said."),
        (12, "Left"),
        (12, "Right"),
        (14, "After."),
    ]
    assert found[0].metadata == ["meta::language = en", "meta::title = A & B", "meta::author = Ann"]
    assert found[0].document == "a.html"
    assert all(one.document is None and not one.metadata for one in found[1:])
    assert regions(path) == [
        ("head level=1", "First things"),
        ("p", "Loose text ."),
        ("p", "It is so , bold . And more ."),
        ("p", "Second ."),
        ("item", "Inner ."),
        ("item", "Outer . Inner ."),
        ("p", "Two ."),
        ("item", "Two ."),
        ("p", "One said ."),
        ("p", "Two said ."),
        ("quote", "One said . Two said ."),
        ("p", "Left"),
        ("p", "Right"),
        ("p", "After ."),
    ]


@pytest.mark.parametrize(
    ("data", "given", "expected"),
    [
        ("<p>é</p>".encode(), {}, "é"),
        (b'<meta charset="latin-1"><p>\xe9</p>', {}, "é"),
        (b"<meta http-equiv=x content='text/html; charset=windows-1252'><p>\x93\xe9\x94</p>", {}, "“é”"),
        (b"<p>\xe9</p>", {"encoding": "latin-1"}, "é"),
        ("\ufeff<p>é</p>".encode(), {}, "é"),
        ("\ufeff<p>é</p>".encode("utf-16-le"), {}, "é"),
    ],
)
def test_encodings_of_a_page(tmp_path: Path, data: bytes, given: dict[str, object], expected: str) -> None:
    """The given encoding is used, else the one that the page names, else UTF-8."""
    (tmp_path / "a.html").write_bytes(data)

    assert texts(tmp_path / "a.html", **given) == [expected]


MARKDOWN = """\
---
title: "My text"
author: Ann
---
# A *heading*

It is so,
and [a link](b.md). `code` too.

* One.
* Two
  and more.

1. First.

   Another.

> Quoted.

```py
no
```

| a | b |
|---|---|
| c | d |
"""


def test_markdown(tmp_path: Path) -> None:
    """Markup is left out; headings, paragraphs, items and quotations are regions."""
    path = tmp_path / "a.md"
    path.write_text(MARKDOWN)

    found = items(path)
    assert found[0].metadata == ["meta::title = My text", "meta::author = Ann"]
    assert [(one.line, one.text) for one in found][:4] == [
        (5, "A heading"),
        (7, "It is so, and a link. code too."),
        (10, "One."),
        (11, "Two and more."),
    ]
    assert regions(path) == [
        ("head level=1", "A heading"),
        ("p", "It is so , and a link . code too ."),
        ("item", "One ."),
        ("item", "Two and more ."),
        ("p", "First ."),
        ("p", "Another ."),
        ("item", "First . Another ."),
        ("p", "Quoted ."),
        ("quote", "Quoted ."),
        *((("p", letter)) for letter in "abcd"),
    ]


BODY = "".join(
    (
        files.paragraph("On cats", '<w:pStyle w:val="Titel"/>'),
        files.paragraph("On cats 1", '<w:pStyle w:val="Verzeichnis1"/>'),
        files.paragraph("One", '<w:pStyle w:val="berschrift1"/>'),
        "<w:p><w:r><w:t>It is</w:t><w:tab/><w:t>so.</w:t></w:r>",
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>",
        "<w:ins><w:r><w:t> Co</w:t></w:r><w:r><w:t>me.</w:t></w:r></w:ins></w:p>",
        files.paragraph("Two", '<w:pStyle w:val="Mine"/>'),
        files.paragraph("An item.", '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>'),
        files.paragraph("Somebody said it.", '<w:pStyle w:val="Zitat"/>'),
        files.paragraph(""),
        f"<w:tbl><w:tr><w:tc>{files.paragraph('In a cell.')}</w:tc></w:tr></w:tbl>",
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>",
        files.paragraph("In a box."),
        "</w:txbxContent></mc:Choice><mc:Fallback><w:t>In a box.</w:t></mc:Fallback>",
        "</mc:AlternateContent></w:r><w:r><w:t>Around it.</w:t></w:r></w:p>",
        files.paragraph("Last.", '<w:outlineLvl w:val="9"/><w:pStyle w:val="Round"/>'),
    )
)
CORE = "<dc:title>Of cats</dc:title><dc:creator>Ann</dc:creator><dcterms:created>2001</dcterms:created>"
WORD = [
    ("head level=0", "On cats"),
    ("head level=1", "One"),
    ("p", "It is so . Come ."),
    ("head level=1", "Two"),
    ("item", "An item ."),
    ("quote", "Somebody said it ."),
    ("p", "In a cell ."),
    ("p", "In a box ."),
    ("p", "Around it ."),
    ("p", "Last ."),
]


def test_word(tmp_path: Path) -> None:
    """Styles have English names whatever the ids are; deleted text and a table of contents are none of it."""
    path = files.docx(tmp_path / "a.docx", BODY, core=CORE)

    assert regions(path) == WORD
    first = items(path)[0]
    assert first.metadata == ["meta::title = Of cats", "meta::author = Ann", "meta::date = 2001"]
    assert [one.line for one in items(path)][:3] == [1, 3, 4]


def test_word_in_an_archive(tmp_path: Path) -> None:
    """A document in an archive is read as a document, and named as a member of the archive."""
    files.docx(tmp_path / "a.docx", BODY)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(tmp_path / "a.docx", "letters/a.docx")

    assert regions(tmp_path / "all.zip") == WORD
    assert items(tmp_path / "all.zip")[0].document == "letters/a.docx"


def test_open_document(tmp_path: Path) -> None:
    body = (
        '<text:h text:outline-level="2">Head</text:h>'
        "<text:table-of-content><text:p>Head 1</text:p></text:table-of-content>"
        '<text:p>It<text:s text:c="2"/>is<text:line-break/>so<text:note><text:p>no</text:p></text:note>.</text:p>'
        "<text:list><text:list-item><text:p>One.</text:p></text:list-item>"
        "<text:list-item><text:p>Two.</text:p><text:list><text:list-item><text:p>In.</text:p></text:list-item>"
        '</text:list></text:list-item></text:list><text:p text:style-name="Quotations">Said.</text:p>'
    )
    meta = "<initial-creator>Ann</initial-creator><dc:title>T</dc:title><dc:creator>Bob</dc:creator>"
    path = files.odt(tmp_path / "a.odt", body, meta=meta)

    assert items(path)[0].metadata == ["meta::author = Ann", "meta::title = T"]
    assert regions(path) == [
        ("head level=2", "Head"),
        ("p", "It is so ."),
        ("p", "One ."),
        ("item", "One ."),
        ("p", "Two ."),
        ("p", "In ."),
        ("item", "In ."),
        ("item", "Two . In ."),
        ("quote", "Said ."),
    ]


def test_a_book(tmp_path: Path) -> None:
    """Chapters in the order of the spine, with entities that HTML has; the table of contents is left out."""
    chapters = {
        "two.xhtml": '<?xml version="1.0"?><html><head><title/><script src="x"/></head>'
        "<body><h2>Second</h2><p>A&nbsp;b&eacute;.</p></body></html>",
        "one%20.xhtml": "<html><body><p>A &lt; b.</p></body></html>",
    }
    chapters = {name.replace("%20", "x"): page for name, page in chapters.items()}
    path = files.epub(tmp_path / "a.epub", chapters, meta="<dc:title>T</dc:title><dc:creator>A</dc:creator>")

    assert texts(path) == ["Second", "A bé.", "A < b."]
    assert items(path)[0].metadata == ["meta::title = T", "meta::author = A"]


def test_what_ends_with_a_chapter_does_not_go_on(tmp_path: Path) -> None:
    """Regions end with the last text of their chapter, closed or not, as in a single page."""
    chapters = {
        "a.xhtml": "<html><body><h2>One</h2><blockquote><p>A b.</p></blockquote></body></html>",
        "b.xhtml": "<html><body><ul><li><p>C d.",
        "c.xhtml": "<html><body>E f.</body></html>",
    }

    assert regions(files.epub(tmp_path / "a.epub", chapters)) == [
        ("head level=2", "One"),
        ("p", "A b ."),
        ("quote", "A b ."),
        ("p", "C d ."),
        ("item", "C d ."),
        ("p", "E f ."),
    ]


def test_pages_of_a_pdf(tmp_path: Path) -> None:
    """A paragraph may continue on the next page."""
    lines = [f"The line number {n} of the text goes on" for n in range(6)]
    path = files.pdf(tmp_path / "a.pdf", [lines[:4], [*lines[4:], "and ends."]], information="/Title (T)")

    (found,) = items(path)
    assert found.text == " ".join([*lines, "and ends."])
    assert found.metadata == ["meta::title = T"]
    marked = [(one.region.kind, found.text[: one.place].count("line"), one.begins) for one in found.marks]
    assert marked == [
        ("page", 0, True),
        ("p", 0, True),
        ("page", 4, False),
        ("page", 4, True),
        ("p", 6, False),
    ]
    assert found.marks[0].region.attributes == (("n", "1"),)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["A beau-", "tiful day of it,", "and more of it."], "A beautiful day of it, and more of it."),
        (["THE OP-", "TIONAL PART."], "THE OPTIONAL PART."),
        (["An Anglo-", "Saxon word in it."], "An Anglo-Saxon word in it."),
        (["It is cut, and so is per-", "fect.", "And this goes on", "here."], "It is cut, and so is perfect. And this goes on here."),
        (["It goes - so", "it goes on."], "It goes - so it goes on."),
        # The code of a ligature in the encoding of Adobe.
        (["It is a \\256ne day", "and a \\257ood."], "It is a fine day and a flood."),
    ],
)  # fmt: skip
def test_hyphens_at_the_ends_of_lines(tmp_path: Path, lines: list[str], expected: str) -> None:
    """What they cut is joined, and ligatures are letters; lines keep their lengths, by which a wrapped text is told."""
    long = ["so that many lines stand here that are as long as lines of books are, and"] * 30
    path = files.pdf(tmp_path / "a.pdf", [[*lines[:-1], lines[-1]], [*long, "end."]])

    assert " ".join(texts(path)) == " ".join([expected, *long, "end."])


def test_ligatures_are_letters(tmp_path: Path) -> None:
    """Ligatures are split in documents, where they are typesetting, but not in plain text."""
    text = "\ufb00 \ufb01 \ufb02 e\ufb03cient ba\ufb04e \ufb05 \ufb06"
    (tmp_path / "a.html").write_text(f"<meta charset=utf-8><p>{text}</p>", "utf-8")
    (tmp_path / "a.md").write_text(text, "utf-8")
    (tmp_path / "a.txt").write_text(text, "utf-8")
    files.docx(tmp_path / "a.docx", files.paragraph(text))
    files.odt(tmp_path / "a.odt", f"<text:p>{text}</text:p>")
    files.epub(tmp_path / "a.epub", {"a.xhtml": f"<p>{text}</p>"})

    for name in ("a.html", "a.md", "a.docx", "a.odt", "a.epub"):
        assert texts(tmp_path / name) == ["ff fi fl efficient baffle st st"]
    assert texts(tmp_path / "a.txt") == [text]


def test_controls_are_blanks(tmp_path: Path) -> None:
    """Soft hyphens are dropped; tokens have no characters that other formats refuse."""
    (tmp_path / "a.html").write_text("<p>a\x01b\x7fc\u00add\tmore\0over</p>")

    assert texts(tmp_path / "a.html") == ["a b cd more over"]


def refused(path: Path, message: str, **given: object) -> None:
    with pytest.raises(InputError) as caught:
        list(items(path, **given))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


def hostile(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield files that are broken or hostile, with what is said of them."""
    for name in ("a.docx", "a.odt", "a.epub"):
        path = folder / name
        path.write_bytes(b"PK\3\4 and rubbish")
        yield path, "cannot read this zip"
        path.write_bytes(b"no zip at all")
        yield path, "is no"
        yield files.write_zip(path, {"other.xml": "<a/>"}), "is no"
    good = files.docx(folder / "cut.docx", BODY).read_bytes()
    (folder / "cut.docx").write_bytes(good[: len(good) // 2])
    yield folder / "cut.docx", "cannot read this zip"
    yield files.docx(folder / "a.docx", "<w:p><w:r></w:p>"), "cannot read this docx"
    document = f"{BOMB}<document>&b;</document>"
    yield files.write_zip(folder / "a.docx", {"word/document.xml": document}), "defines entities"
    yield files.docx(folder / "a.docx", "", more={"word/styles.xml": f"{BOMB}<a>&b;</a>"}), "defines entities"
    wide = files.paragraph("a" * 20_000_000)
    yield files.docx(folder / "a.docx", wide), "decompression bomb"
    attribute = f"<w:p w:x='{'ab' * 6_000_000}'/>"
    yield files.docx(folder / "a.docx", attribute), "cannot read this docx"
    secret = "<manifest><encryption-data/></manifest>"
    yield files.odt(folder / "a.odt", "<text:p>a</text:p>", manifest=secret), "encrypted"
    yield files.epub(folder / "a.epub", {"a.xhtml": "\x83\x01secret"}), "encrypted, or no page"
    yield files.epub(folder / "a.epub", {"a.xhtml": f"{BOMB}<html>&b;</html>"}), "defines entities"
    yield files.pdf(folder / "a.pdf", [[]]), "has no text"
    (folder / "a.pdf").write_bytes(b"%PDF-1.4\nrubbish")
    yield folder / "a.pdf", "cannot read this PDF"
    (folder / "a.html").write_bytes(b"<p>a</p>\n<p>\xe9</p>")
    yield folder / "a.html", ":2: byte 0xe9 is not utf-8"
    (folder / "a.html").write_bytes(b"<meta charset=klingon><p>a")
    yield folder / "a.html", "encoding that is not known"


def test_broken_and_hostile_documents(tmp_path: Path) -> None:
    """One line each, without a traceback, in little time and memory."""
    for path, message in hostile(tmp_path):
        refused(path, message)


def test_encrypted_pdf(tmp_path: Path) -> None:
    whole = files.pdf(tmp_path / "a.pdf", [["It is so."]]).read_bytes()
    # What no password fits.
    locked = b"/Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s>" % (b"ab" * 32, b"cd" * 32)
    told = b"trailer\n<< /ID [<00><00>] /Encrypt << %s >>" % locked
    (tmp_path / "b.pdf").write_bytes(whole.replace(b"trailer\n<<", told))

    refused(tmp_path / "b.pdf", "is encrypted; save it without a password")


@pytest.mark.parametrize(
    ("module", "name", "package"),
    [
        ("lxml", "a.html", "lxml"),
        ("lxml", "a.docx", "lxml"),
        ("pypdfium2", "a.pdf", "pypdfium2"),
        ("python_calamine", "a.xlsx", "python-calamine"),
    ],
)
def test_what_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, package: str
) -> None:
    """The error names the extra with the missing package."""
    files.docx(tmp_path / "a.docx", BODY)
    files.pdf(tmp_path / "a.pdf", [["It."]])
    files.xlsx(tmp_path / "a.xlsx", [["text"], ["It."]])
    (tmp_path / "a.html").write_text("<p>It.</p>\n")
    monkeypatch.setitem(sys.modules, module, None)
    given = {"text": "text"} if name == "a.xlsx" else {}

    with pytest.raises(
        InputError, match=rf"{package} is not installed; run: pip install 'sentgen\[documents\]'"
    ):
        items(tmp_path / name, **given)


def extensions() -> Sequence[str]:
    return [one for reader in READERS.values() for one in reader.extensions]


def test_no_two_formats_have_an_extension() -> None:
    assert len(set(extensions())) == len(extensions())
