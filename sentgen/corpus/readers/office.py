"""Word (.docx) and OpenDocument (.odt): paragraphs, headings and items of lists.

Headings are regions `head` with their `level` (that of a title is 0), paragraphs `p`, items of lists `item`,
quotations `quote`. Text deleted under change tracking, notes, comments, tables of contents, headers and
footers are left out. The line of a sentence is the number of its paragraph. Title, author, date and language
of the properties are metadata of the document.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, TypeVar

from sentgen.corpus.comments import PARAGRAPH
from sentgen.corpus.encodings import without_c1
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers._flow import HEAD, ITEM, QUOTE, Blocks, with_metadata
from sentgen.corpus.readers._xml import Elements, local, opened_archive, read_member, xml_parser
from sentgen.errors import InputError

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
#: The namespace of documents that were saved as "strict".
_STRICT = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_HEADING = re.compile(r"heading ([1-9])")
#: Values of a property that is switched off.
_OFF = ("0", "false", "off")
_T = TypeVar("_T")
#: Keys of metadata and the local names of their elements; of several for a key, the first that is present.
_PROPERTIES = {
    "title": "title",
    "initial-creator": "author",
    "creator": "author",
    "creation-date": "date",
    "created": "date",
    "date": "date",
    "language": "language",
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """Kind of region that a paragraph becomes, and level of a heading; without a kind, it is left out."""

    kind: str = PARAGRAPH
    level: str = ""

    def begin(self, blocks: Blocks) -> None:
        blocks.begin(self.kind, **({"level": self.level} if self.level else {}))


class _Properties(Elements):
    """Collects the properties of a document from their elements."""

    def __init__(self) -> None:
        super().__init__()
        self.metadata = dict[str, str]()
        self._key = ""

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        key = _PROPERTIES.get(name, "")
        self._key = "" if key in self.metadata else key

    def write(self, text: str, line: int) -> None:
        if self._key:
            self.metadata[self._key] = self.metadata.get(self._key, "") + text

    def finish(self, name: str) -> None:
        self._key = ""


def _properties(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    properties = _Properties()
    if name in archive.namelist():
        for _ in properties.feed_member(archive, name):
            pass
    return properties.metadata


@dataclass(slots=True)
class _Paragraph:
    """An open paragraph of Word: its style, and whether its region has begun, which begins with its text.

    ``hidden``: whether its style hides its text; ``runs``: for each of its open runs, whether it is hidden.
    """

    kind: _Kind = field(default_factory=_Kind)
    hidden: bool = False
    runs: list[bool] = field(default_factory=list)
    is_region: bool = False


class _Document(Elements):
    """Turns the elements of a document into blocks of text; its lines are its paragraphs."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.blocks = Blocks(path)
        self.line = 0

    def close(self) -> None:
        self.blocks.cut()


class _Word(_Document):
    """Reads the elements of a Word document."""

    #: Deleted text, the second copy of text boxes, properties before a tracked change, and readings beside
    #: characters.
    _SKIPPED = frozenset(("del", "moveFrom", "Fallback", "rPrChange", "pPrChange", "rt"))

    def __init__(self, path: str, styles: Mapping[str, _Kind], hidden: Mapping[str, bool]) -> None:
        super().__init__(path)
        self._styles, self._hidden = styles, hidden
        self._open: list[_Paragraph] = []
        self._text = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        super().start(_without_foreign(tag), attributes)

    def end(self, tag: str) -> None:
        super().end(_without_foreign(tag))

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in self._SKIPPED:
            self.pass_over()
        elif name == "p":
            self.blocks.cut()
            self.line += 1
            self._open.append(_Paragraph())
        elif not self._open:
            return
        elif name == "r":
            self._open[-1].runs.append(self._open[-1].hidden)
        elif name == "t":
            self._text = True
        elif name in ("tab", "br", "cr"):
            self.blocks.add(" ", self.line)
        elif name == "noBreakHyphen":
            self._add("-")
        else:
            self._style(name, _value(attributes))

    def _style(self, name: str, value: str) -> None:
        now = self._open[-1]
        if name == "pStyle":
            now.kind = self._styles.get(value, now.kind)
            now.hidden = self._hidden.get(value, False)
        elif name == "rStyle" and now.runs:
            now.runs[-1] = self._hidden.get(value, now.runs[-1])
        elif name == "vanish" and now.runs:
            now.runs[-1] = value not in _OFF
        elif name == "outlineLvl" and value.isdecimal() and int(value) < 9:
            now.kind = _Kind(HEAD, str(int(value) + 1))
        elif name == "numId" and now.kind == _Kind():
            now.kind = _Kind(ITEM) if value != "0" else now.kind

    def finish(self, name: str) -> None:
        if name == "t":
            self._text = False
        elif name == "r" and self._open and self._open[-1].runs:
            self._open[-1].runs.pop()
        elif name == "p" and self._open:
            self.blocks.cut()
            if self._open.pop().is_region:
                self.blocks.end()

    def write(self, text: str, line: int) -> None:
        if self._text:
            self._add(text)

    def _add(self, text: str) -> None:
        now = self._open[-1]
        if not now.kind.kind or (now.runs and now.runs[-1]):
            return
        if not now.is_region and without_c1(text).strip():
            now.kind.begin(self.blocks)
            now.is_region = True
        self.blocks.add(text, self.line)


def _without_foreign(tag: str) -> str:
    """Return a tag; empty for paragraphs of other namespaces than Word's, such as those of drawings."""
    return "" if local(tag) == "p" and not tag.startswith((_WORD, _STRICT)) else tag


def _value(attributes: Mapping[str, str]) -> str:
    return attributes.get(f"{_WORD}val") or attributes.get(f"{_STRICT}val") or ""


def _word_styles(archive: zipfile.ZipFile) -> tuple[dict[str, _Kind], dict[str, bool]]:
    """Return the kinds of paragraphs, and whether text is hidden, by the ids of styles.

    The names of built-in styles are English in documents of every language.
    """
    name = "word/styles.xml"
    if name not in archive.namelist():
        return {}, {}
    from lxml import etree

    root = etree.fromstring(read_member(archive, name), xml_parser(None))
    own: dict[str, _Kind] = {}
    based: dict[str, str] = {}
    hidden: dict[str, bool] = {}
    for style in root.iter(f"{_WORD}style", f"{_STRICT}style"):
        style_id, kind = style.get(f"{_WORD}styleId") or style.get(f"{_STRICT}styleId") or "", None
        for element in style.iter():
            value = _value(element.attrib)
            match local(element.tag):
                case "name":
                    kind = _kind_named(value.lower()) or kind
                case "basedOn":
                    based[style_id] = value
                case "outlineLvl" if value.isdecimal() and int(value) < 9 and kind is None:
                    kind = _Kind(HEAD, str(int(value) + 1))
                case "numId" if value != "0" and kind is None:
                    kind = _Kind(ITEM)
                case "vanish":
                    hidden[style_id] = value not in _OFF
        if kind is not None:
            own[style_id] = kind
    return _with_heirs(own, based), _with_heirs(hidden, based)


def _with_heirs(own: Mapping[str, _T], based: Mapping[str, str]) -> dict[str, _T]:
    """Return the values of styles, with those that styles inherit from the styles that they are based on."""
    numbers = {*own, *based}
    return {number: value for number in numbers if (value := _inherit(number, own, based)) is not None}


def _inherit(number: str, own: Mapping[str, _T], based: Mapping[str, str]) -> _T | None:
    seen = set[str]()
    while number not in own:
        if number in seen or number not in based:
            return None
        seen.add(number)
        number = based[number]
    return own[number]


def _kind_named(name: str) -> _Kind | None:
    if match := _HEADING.fullmatch(name):
        return _Kind(HEAD, match[1])
    if name.startswith("toc"):
        return _Kind("")
    if name.startswith("list"):
        return _Kind(ITEM)
    return {"title": _Kind(HEAD, "0"), "quote": _Kind(QUOTE), "intense quote": _Kind(QUOTE)}.get(name)


class _OpenDocument(_Document):
    """Reads the elements of an OpenDocument text."""

    _SKIPPED = frozenset(
        (
            *("note", "tracked-changes", "annotation", "table-of-content", "alphabetical-index"),
            *("illustration-index", "table-index", "object-index", "user-index", "bibliography"),
            *("forms", "sequence-decls", "variable-decls", "title", "desc", "scripts"),
            *("font-face-decls", "ruby-text"),
        )
    )

    def __init__(self, path: str) -> None:
        super().__init__(path)
        #: Number of open paragraphs, one within another.
        self._within = 0
        #: Name of the open style definition, and names of the styles that hide text.
        self._style, self._hidden = "", set[str]()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        # Paragraphs that are left out count, too.
        self.line += local(tag) in ("p", "h")
        super().start(tag, attributes)

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        values = {local(key): value for key, value in attributes.items()}
        if name in self._SKIPPED or self._hides(name, values):
            self.pass_over()
        elif name == "style":
            self._style = values.get("name", "")
        elif name == "text-properties" and values.get("display") == "none":
            self._hidden.add(self._style)
        elif name == "h":
            self.blocks.begin(HEAD, level=values.get("outline-level", "1"))
        elif name == "p":
            self.blocks.begin(QUOTE if values.get("style-name", "").startswith("Quot") else PARAGRAPH)
        elif name == "list-item":
            self.blocks.begin(ITEM)
        elif name in ("s", "tab", "line-break"):
            self.blocks.add(" ", self.line)
        self._within += name in ("p", "h") and not self.is_passing

    def _hides(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name in ("section", "hidden-text"):
            return attributes.get("display") == "none" or attributes.get("is-hidden") == "true"
        return name in ("p", "h", "span") and attributes.get("style-name", "") in self._hidden

    def finish(self, name: str) -> None:
        if name in ("p", "h", "list-item"):
            self._within -= name != "list-item"
            self.blocks.end()

    def write(self, text: str, line: int) -> None:
        if self._within:
            self.blocks.add(text, line)


def _blocks(archive: zipfile.ZipFile, name: str, document: _Document) -> Iterator[Item]:
    for _ in document.feed_member(archive, name):
        yield from document.blocks.take()


def _read_docx(file: BinaryIO, *, path: str) -> Iterator[Item]:
    with opened_archive(file, path=path, what="docx") as archive:
        document = _Word(path, *_word_styles(archive))
        metadata = _properties(archive, "docProps/core.xml")
        yield from with_metadata(_blocks(archive, "word/document.xml", document), metadata)


def _read_odt(file: BinaryIO, *, path: str) -> Iterator[Item]:
    with opened_archive(file, path=path, what="odt") as archive:
        if b"encryption-data" in read_member(archive, "META-INF/manifest.xml"):
            raise InputError("is encrypted; save it without a password", path=path)
        metadata = _properties(archive, "meta.xml")
        yield from with_metadata(_blocks(archive, "content.xml", _OpenDocument(path)), metadata)


DOCX = Reader(
    "docx",
    "2",
    description="document of Word",
    extensions=(".docx", ".docm"),
    read_file=_read_docx,
    extra="documents",
)
ODT = Reader(
    "odt",
    "2",
    description="document of OpenDocument",
    extensions=(".odt",),
    read_file=_read_odt,
    extra="documents",
)
