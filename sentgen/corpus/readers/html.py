"""Web pages in HTML, and books in EPUB, whose chapters are web pages.

The text of a page is the one that a browser shows, without navigation, scripts, styles and forms.

Headings are regions `head` with their `level`, paragraphs `p`, items of lists `item`, quotations `quote`;
text elsewhere, as in a cell of a table, is a paragraph. The title, author, date and language that the page
names are metadata of the document.
The table of contents of a book is left out.
"""

from __future__ import annotations

import html
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from sentgen.corpus.comments import PARAGRAPH
from sentgen.corpus.encodings import declared_encoding, decoder_of, without_c1
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers._flow import HEAD, ITEM, QUOTE, Blocks, with_metadata
from sentgen.corpus.readers._xml import Elements, document_errors, opened_archive, read_member, xml_parser
from sentgen.corpus.sources import BLOCK_BYTES
from sentgen.errors import InputError, spell
from sentgen.extras import needs

if TYPE_CHECKING:
    from lxml import etree

#: Elements whose text does not belong to the text of the page.
_SKIPPED = frozenset(
    (
        *("script", "style", "nav", "template", "noscript", "svg", "math", "iframe", "object", "audio"),
        *("video", "canvas", "button", "select", "textarea", "option", "datalist", "menu", "head"),
        # Readings beside characters, and the brackets around them.
        *("rt", "rp", "rtc"),
    )
)
#: ARIA roles of such elements.
_SKIPPED_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "menu", "menubar"))
#: Parts of a ruby, which end where the next one begins, with or without a tag.
_RUBY = frozenset(("rb", "rt", "rp", "rtc"))
#: Elements without content.
_VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    )
)
#: Elements that end a block and become no region.
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "body", "caption", "center", "dd", "details", "dialog"),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header"),
        *("hgroup", "hr", "html", "legend", "li", "main", "ol", "p", "pre", "section", "summary"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "blockquote", "h1", "h2"),
        *("h3", "h4", "h5", "h6"),
    )
)
_KINDS = {"p": PARAGRAPH, "li": ITEM, "blockquote": QUOTE}
_HEADING = re.compile("h[1-6]")
#: Keys of metadata by the name of a `<meta>`.
_META = {
    **dict.fromkeys(("author", "dc.creator", "dcterms.creator", "article:author"), "author"),
    **dict.fromkeys(
        ("date", "dc.date", "dcterms.created", "dcterms.date", "article:published_time", "pubdate"), "date"
    ),
}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
#: Number of first bytes in which a page names its encoding.
_DECLARED = 4096
#: Controls that are no white space: some versions of libxml2 drop them, and join the words on both sides.
_CONTROLS = re.compile(r"[\0-\x08\x0b\x0e-\x1f]")


class _Page(Elements):
    """Turns the elements of a page into blocks of text.

    Attributes:
        said: metadata that the page names, by key.
    """

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        self.blocks, self.said = blocks, dict[str, str]()
        #: Names of the open elements, and whether each became a region.
        self._open: list[tuple[str, bool]] = []
        #: Depth at which the skipped element ends; below 0, no element is being skipped.
        self._skipped = -1
        self._title: list[str] | None = None
        #: Whether the open region is a paragraph for text outside of any block element.
        self._loose = False

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        tag = name.lower()
        if tag in ("meta", "html", "body"):
            self._note(tag, attributes)
        if tag in _VOID:
            if tag in ("br", "hr") and self._skipped < 0:
                self._end_loose() if tag == "hr" else self.blocks.add(" ", self.line)
            return
        if tag == "title" and "title" not in self.said:
            self._title = []
        while tag in _RUBY and self._open and self._open[-1][0] in _RUBY - {"rtc"}:
            self.finish(self._open[-1][0])
        is_region = False
        if self._skipped < 0 and (tag in _SKIPPED or _is_hidden(attributes)):
            self._skipped = len(self._open)
        if self._skipped < 0 and tag in _BLOCKS:
            self._end_loose()
            is_region = True
            if tag in _KINDS:
                self.blocks.begin(_KINDS[tag])
            elif _HEADING.fullmatch(tag):
                self.blocks.begin(HEAD, level=tag[1])
            else:
                is_region = False
        self._open.append((tag, is_region))

    def finish(self, name: str) -> None:
        tag = name.lower()
        if tag == "title" and self._title is not None:
            self.said["title"], self._title = "".join(self._title), None
        if tag in _VOID or not any(name == tag for name, _ in self._open):
            return
        while self._open:
            name, is_region = self._open.pop()
            if name in _BLOCKS and self._skipped < 0:
                self._end_loose()
            if is_region:
                self.blocks.end()
            if len(self._open) == self._skipped:
                self._skipped = -1
            if name == tag:
                return

    def write(self, text: str, line: int) -> None:
        text = without_c1(text)
        if self._title is not None:
            self._title.append(text)
        if self._skipped >= 0 or self._title is not None:
            return
        if not self._loose and text.strip() and not any(is_region for _, is_region in self._open):
            self.blocks.begin(PARAGRAPH)
            self._loose = True
        # The parser hands over text when the next element begins: ``line`` is where the text ends.
        self.blocks.add(text, line - text.lstrip().count("\n"))

    def close(self) -> None:
        while self._open:
            self.finish(self._open[-1][0])
        self._end_loose()

    def _end_loose(self) -> None:
        self.blocks.cut()
        if self._loose:
            self.blocks.end()
            self._loose = False

    def _note(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Keep the metadata of a `<meta>`, or the language of the page."""
        if tag == "meta":
            name = (attributes.get("name") or attributes.get("property") or "").lower()
            if (key := _META.get(name)) and attributes.get("content"):
                self.said.setdefault(key, attributes["content"])
        elif language := attributes.get("lang") or attributes.get(
            "{http://www.w3.org/XML/1998/namespace}lang"
        ):
            self.said.setdefault("language", language)


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    if attributes.get("role", "") in _SKIPPED_ROLES:
        return True
    style = _style(attributes.get("style") or "")
    # `aria-hidden` hides text from screen readers only; a style overrides the attribute `hidden`.
    display = style.get("display", "none" if "hidden" in attributes else "")
    return display == "none" or style.get("visibility") in ("hidden", "collapse")


def _style(text: str) -> dict[str, str]:
    """Return the properties of an inline style: the last value of each, but `!important` ones first."""
    properties: dict[str, tuple[bool, str]] = {}
    for declaration in _COMMENT.sub(" ", text).lower().split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        value, mark, _ = value.partition("!")
        if (important := bool(mark)) >= properties.get(name, (False, ""))[0]:
            properties[name] = important, value.strip()
    return {name: value for name, (_, value) in properties.items()}


def read_file(file: BinaryIO, *, path: str, encoding: str = "") -> Iterator[Item]:
    """Yield the blocks of a page, decoded from ``encoding``, else from the one that it names, else UTF-8."""
    with needs("documents", "lxml"):
        from lxml import etree
    target = _Page(Blocks(path))

    def blocks() -> Iterator[Item]:
        parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=False)
        with document_errors(path, "HTML"):
            for number, line in enumerate(_lines(file, path, encoding), 1):
                target.line = number
                parser.feed(line.encode())
                yield from target.blocks.take()
            parser.close()
            target.close()
            yield from target.blocks.take()

    yield from with_metadata(blocks(), target.said)


def _lines(file: BinaryIO, path: str, encoding: str) -> Iterator[str]:
    head = file.read(_DECLARED)
    file.seek(0)
    encoding = encoding or declared_encoding(head, page=True) or "utf-8-sig"
    try:
        decoder = decoder_of(encoding)
    except LookupError as error:
        raise InputError(
            f"names an encoding that is not known, {encoding!r}; give {spell('encoding')}", path=path
        ) from error
    number, carry = 1, ""
    try:
        while block := file.read(BLOCK_BYTES):
            *lines, carry = (carry + decoder.decode(block)).split("\n")
            for line in lines:
                yield _CONTROLS.sub(" ", f"{line}\n")
            number += len(lines)
            if len(carry) > BLOCK_BYTES:
                yield _CONTROLS.sub(" ", carry)
                carry = ""
        yield _CONTROLS.sub(" ", carry + decoder.decode(b"", final=True))
    except UnicodeDecodeError as error:
        line_number = number + error.object.count(b"\n", 0, error.start)
        byte = error.object[error.start]
        message = (
            f"byte 0x{byte:02x} is not {encoding.removesuffix('-sig')}; give another {spell('encoding')}"
        )
        raise InputError(message, path=path, line=line_number) from error


READER = Reader(
    "html",
    "2",
    description="web page: its text, headings and paragraphs",
    extensions=(".html", ".htm", ".xhtml"),
    read_file=read_file,
    settings=("encoding",),
    extra="documents",
)


_PACKAGE = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CONTAINER = "META-INF/container.xml"
_SAID = {"title": "title", "creator": "author", "date": "date", "language": "language"}
#: Named entities, other than those that XML defines.
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,31});")


def _read_epub(file: BinaryIO, *, path: str) -> Iterator[Item]:
    from lxml import etree

    with opened_archive(file, path=path, what="epub") as archive:
        container = etree.fromstring(read_member(archive, _CONTAINER), xml_parser(None))
        roots = [element.get("full-path") for element in container.iter("{*}rootfile")]
        if not roots or not roots[0]:
            raise InputError(f"is no epub: {_CONTAINER} names no book", path=path)
        package = etree.fromstring(read_member(archive, roots[0]), xml_parser(None))
        metadata: dict[str, str] = {}
        for name, key in _SAID.items():
            for element in package.iter(f"{_DC}{name}"):
                metadata.setdefault(key, element.text or "")
        chapters = list(_epub_chapters(package, posixpath.dirname(roots[0])))
        yield from with_metadata(_epub_blocks(archive, chapters, path), metadata)


def _epub_chapters(package: etree._Element, folder: str) -> Iterator[str]:
    """Yield the paths of the members of the archive that the spine names, in its order."""
    items = {item.get("id"): item for item in package.iter(f"{_PACKAGE}item")}
    for reference in package.iter(f"{_PACKAGE}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or "nav" in (item.get("properties") or "").split():
            continue
        if "html" in (item.get("media-type") or ""):
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))


def _epub_blocks(archive: zipfile.ZipFile, chapters: list[str], path: str) -> Iterator[Item]:
    # One `Blocks` for the book: regions that end with a chapter end before the text of the next.
    blocks = Blocks(path)
    for name in chapters:
        data = read_member(archive, name)
        if b"<" not in data[:1000]:
            raise InputError(f"{name} is encrypted, or no page", path=path)
        target = _Page(blocks)
        parser = xml_parser(target, recover=True)
        # A chapter may use entities of HTML, which the XML parser does not know.
        parser.feed(_ENTITY.sub(_character, data))
        parser.close()
        target.close()
        yield from blocks.take()


def _character(entity: re.Match[bytes]) -> bytes:
    return html.unescape(entity[0].decode()).encode("ascii", "xmlcharrefreplace")


EPUB = Reader(
    "epub", "3", description="book in EPUB", extensions=(".epub",), read_file=_read_epub, extra="documents"
)
