"""What the header of TEI says of its document: title, author, date, language, licence, and what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sentgen.corpus.comments import said_of_document
from sentgen.corpus.readers._xml import spaced
from sentgen.errors import InputError
from sentgen.extras import needs

if TYPE_CHECKING:
    from lxml.etree import _Element

#: Where each key is looked for, in this order.
_PATHS: Mapping[str, Sequence[str]] = {
    "title": (
        "fileDesc/titleStmt/title[@type='main' and not(@xml:lang != $language)]",
        "fileDesc/titleStmt/title[@type='main']",
        "fileDesc/titleStmt/title",
    ),
    "author": ("fileDesc/titleStmt/author",),
    "date": (
        "profileDesc/creation/date",
        "profileDesc/settingDesc//date",
        "fileDesc/sourceDesc//bibl[@type='firstEdition']/date",
        "fileDesc/sourceDesc//date",
        "fileDesc/publicationStmt//date",
    ),
    "licence": ("fileDesc/publicationStmt//licence", "fileDesc/publicationStmt/availability"),
}
_WHEN = ("when", "from", "notBefore", "to", "notAfter")
#: What an export has of metadata that have no place of their own.
OTHERS = "metadata"
#: Between several values of a key.
SEPARATOR = "; "
_LITERAL = re.compile(r"""("[^"]*"|'[^']*')""")
_NAME = re.compile(r"[^\s=|]+")
#: Characters of a header.
_LONGEST = 20_000_000


def check_paths(given: Iterable[str]) -> dict[str, Any]:
    """Return compiled XPath expressions by the names that they are given for, such as `date=//creation/date`.

    Elements are named without a prefix, or with `tei:`.

    Raises:
        InputError: one is no name and expression, or the expression is wrong.
    """
    with needs("documents", "lxml"):
        from lxml import etree

    paths = {}
    for one in given:
        name, equals, path = (part.strip() for part in one.partition("="))
        if not (equals and path and _NAME.fullmatch(name)):
            raise InputError(f"--meta {one!r} is not NAME=XPATH, such as date=//creation/date/@when")
        # Prefixes are no part of names here; a literal is left as it is.
        pieces = _LITERAL.split(path)
        pieces[::2] = [re.sub(r"\btei:", "", piece) for piece in pieces[::2]]
        try:
            paths[name] = etree.XPath("".join(pieces))
        except etree.XPathError as error:
            raise InputError(f"--meta {name}: no XPath: {path!r}: {error}") from error
    return paths


class Header:
    """Builds the header of a document, and says what it tells.

    Names of elements have no namespace in it.
    """

    def __init__(self) -> None:
        with needs("documents", "lxml"):
            from lxml import etree

        self._builder = etree.TreeBuilder()
        self._size = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element."""
        self._builder.start(name, dict(attributes))

    def end(self, name: str) -> None:
        """Take its end."""
        self._builder.end(name)

    def data(self, text: str) -> bool:
        """Take text; say whether the header is still of a size that headers have."""
        self._builder.data(text)
        self._size += len(text)
        return self._size <= _LONGEST

    def metadata(self, language: str, paths: Mapping[str, Any], path: str) -> list[str]:
        """Return what is said of the document, as comments of CoNLL-U.

        Args:
            language: that of the document, where its tag says it.
            paths: what else is asked, by key.
            path: name of the file.

        Raises:
            InputError: an expression cannot be evaluated.
        """
        header = self._builder.close()
        said = dict(_usual(header, language))
        for note in header.iterfind(f"fileDesc/notesStmt/note[@type='{OTHERS}']"):
            key = note.get("n")
            if key is not None:
                said[key] = _text(note)
        for key, expression in paths.items():
            try:
                said[key] = _value(expression(header))
            except Exception as error:  # what lxml raises depends on the expression
                raise InputError(f"--meta {key}: {error}", path=path) from error
        return [said_of_document(key, value) for key, value in said.items() if value]


def _usual(header: _Element, language: str) -> Iterator[tuple[str, str]]:
    for key, paths in _PATHS.items():
        for path in paths:
            found: Any = header.xpath(path, language=language)
            values = [_said(one, key) for one in found]
            values = list(dict.fromkeys(value for value in values if value))
            if values:
                yield key, SEPARATOR.join(values) if key == "author" else values[0]
                break
    if not language:
        named: Any = header.xpath("profileDesc/langUsage/language/@ident")
        language = str(named[0]) if named else ""
    yield "language", language


def _said(element: _Element, key: str) -> str:
    if key == "date":
        return next((value for name in _WHEN if (value := element.get(name))), "") or _text(element)
    if key == "licence":
        return element.get("target") or _text(element)
    return _text(element)


def _value(found: Any) -> str:
    """Return what an expression gave: nodes as their texts, numbers as they are written."""
    if isinstance(found, list):
        texts = [_text(one) if hasattr(one, "itertext") else spaced(str(one)) for one in found]
        return SEPARATOR.join(dict.fromkeys(text for text in texts if text))
    if isinstance(found, bool):
        return str(found).lower()
    return f"{found:g}" if isinstance(found, float) else spaced(str(found))


def _text(element: _Element) -> str:
    return spaced("".join(element.itertext()))
