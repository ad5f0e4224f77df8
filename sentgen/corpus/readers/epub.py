"""EPUB: the chapters of a book in their order, each read as a web page is, without the table of contents."""

from __future__ import annotations

import html
import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._blocks import opened_archive, whole, with_metadata, xml_parser
from sentgen.corpus.readers.html import HtmlTarget
from sentgen.corpus.sentence import RawText
from sentgen.errors import InputError

if TYPE_CHECKING:
    from lxml import etree

_PACKAGE = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CONTAINER = "META-INF/container.xml"
_SAID = {"title": "title", "creator": "author", "date": "date", "language": "language"}
#: Entities that HTML has and XML has not.
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,31});")


def read_file(file: BinaryIO, *, path: str) -> Iterator[RawText]:
    """Yield the blocks of a book."""
    from lxml import etree

    with opened_archive(file, path=path, what="epub") as archive:
        container = etree.fromstring(whole(archive, _CONTAINER), xml_parser(None))
        roots = [one.get("full-path") for one in container.iter("{*}rootfile")]
        if not roots or not roots[0]:
            raise InputError(f"is no epub: {_CONTAINER} names no book", path=path)
        package = etree.fromstring(whole(archive, roots[0]), xml_parser(None))
        said: dict[str, str] = {}
        for name, key in _SAID.items():
            for one in package.iter(f"{_DC}{name}"):
                said.setdefault(key, one.text or "")
        chapters = list(_chapters(package, posixpath.dirname(roots[0])))
        yield from with_metadata(_blocks(archive, chapters, path), said)


def _chapters(package: etree._Element, folder: str) -> Iterator[str]:
    """Yield the members that the spine names."""
    items = {one.get("id"): one for one in package.iter(f"{_PACKAGE}item")}
    for reference in package.iter(f"{_PACKAGE}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or "nav" in (item.get("properties") or "").split():
            continue
        if "html" in (item.get("media-type") or ""):
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))


def _blocks(archive: zipfile.ZipFile, chapters: list[str], path: str) -> Iterator[RawText]:
    for name in chapters:
        data = whole(archive, name)
        if b"<" not in data[:1000]:
            raise InputError(f"{name} is encrypted, or no page", path=path)
        target = HtmlTarget()
        parser = xml_parser(target, recover=True)
        # A chapter may name what HTML has entities for, and defines none.
        parser.feed(_ENTITY.sub(lambda found: _character(found[0]), data))
        parser.close()
        target.close()
        yield from target.blocks.take()


def _character(entity: bytes) -> bytes:
    return html.unescape(entity.decode()).encode("ascii", "xmlcharrefreplace")


READER = Reader(
    "epub", "2", description="book in EPUB", extensions=(".epub",), read_file=read_file, extra="documents"
)
