"""What the readers of documents share: blocks of text with their regions, and XML that is fed to them."""

from __future__ import annotations

import re
import sys
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, BinaryIO

from sentgen.corpus.comments import document_comment, one_line
from sentgen.corpus.encodings import UTF_8, without_c1, xml_in_utf_8
from sentgen.corpus.reader import Item
from sentgen.corpus.readers._flow import Flow
from sentgen.corpus.sources import BLOCK_BYTES, BROKEN
from sentgen.corpus.tables import check_archive
from sentgen.errors import InputError, Rejection
from sentgen.extras import needs

if TYPE_CHECKING:
    from lxml import etree

#: Kinds of regions beside paragraphs: headings with their `level`, items of lists, quotations.
HEAD, ITEM, QUOTE = "head", "item", "quote"
#: Bytes of XML that the parser gets at once.
_PIECE = 1 << 16
#: Bytes of a part of an archive that is read whole, such as a chapter of an EPUB.
_MOST_WHOLE = 64 << 20
_WHITE = re.compile(r"\s+")
#: Controls and lone surrogates, which white space stands for.
_NO_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u00ad]")

_ENTITY = b"<!ENTITY"
#: Letters that are joined for their looks, as in *eﬃcient*: typesetting, and no spelling.
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}


class Blocks(Flow):
    """A flow of blocks of text, which end where a region begins or ends.

    A block has the line of its first text, and is cut nowhere else; white space is a blank, whatever there is
    of it.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, [])
        self.most = sys.maxsize

    def add(self, text: str, line: int) -> None:
        """Take text on a line."""
        self.write(_WHITE.sub(" ", clean_text(text)), self.line or line)

    def begin(self, kind: str, **attributes: str) -> None:
        """Begin a region."""
        self.cut()
        self.open_region(kind, attributes)

    def end(self) -> None:
        """End the region that was begun last."""
        self.cut()
        # Without a text it is none, and yet counts among those of the next sentence.
        self.begin_regions(0)
        self.close()

    def take(self) -> list[Item]:
        """Return the blocks since the last call."""
        self.release()
        ready, self.results = self.results, []
        return ready


def clean_text(text: str) -> str:
    """Return text with blanks for controls, but for those that mean something, and with letters apart."""
    decoded = without_c1(text).translate(_LIGATURES)
    # A soft hyphen says where a line may break, and is no part of the word.
    return _NO_TEXT.sub(lambda match: "" if match[0] == "\u00ad" else " ", decoded)


def with_metadata(items: Iterable[Item], metadata: Mapping[str, str]) -> Iterator[Item]:
    """Yield the blocks of a document, the first with its metadata, which may be known by then only."""
    first = True
    for item in items:
        if first and not isinstance(item, Rejection):
            pairs = [(key, one_line(without_c1(metadata[key]))) for key in metadata]
            item = replace(item, metadata=[document_comment(key, value) for key, value in pairs if value])
        yield item
        first = False


@lru_cache(maxsize=4096)
def local(name: str) -> str:
    """Return the name of an element or attribute without its namespace.

    >>> local("{http://www.w3.org/XML/1998/namespace}id")
    'id'
    """
    return name.rpartition("}")[2]


class Elements:
    """Takes what lxml finds, elements and text in their order; formats say what it means.

    Attributes:
        line: where it stands: a line, or a paragraph.
    """

    def __init__(self) -> None:
        self.line = 1
        #: Elements that are passed over, from the outermost one.
        self._passed = 0

    @property
    def is_passing(self) -> bool:
        """Whether what comes is passed over."""
        return self._passed > 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element."""
        if self._passed:
            self._passed += 1
        else:
            self.begin(local(tag), attributes)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if self._passed:
            self._passed -= 1
        else:
            self.finish(local(tag))

    def data(self, text: str) -> None:
        """Take text."""
        if not self._passed:
            self.write(text, self.line)

    def close(self) -> None:
        """End, as lxml asks."""

    def pass_over(self) -> None:
        """Pass over the element that begins."""
        self._passed = 1

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element that is not passed over."""
        raise NotImplementedError

    def finish(self, name: str) -> None:
        """Take its end."""
        raise NotImplementedError

    def write(self, text: str, line: int) -> None:
        """Take text that begins on a line."""
        raise NotImplementedError


def xml_parser(target: Elements | None, *, recover: bool = False) -> etree.XMLParser:
    """Return a parser of XML in UTF-8 that expands no entities and asks for nothing elsewhere."""
    with needs("documents", "lxml"):
        from lxml import etree

    return etree.XMLParser(
        target=target,
        encoding=UTF_8,
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        recover=recover,
    )


@contextmanager
def opened_archive(file: BinaryIO, *, path: str, what: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive that is a document.

    Raises:
        InputError: it is none, or what is in it is broken or expands too much.
    """
    check_archive(file, path=path)
    with document_errors(path, what), zipfile.ZipFile(file) as archive:
        archive.filename = path
        yield archive


@contextmanager
def document_errors(path: str, what: str) -> Iterator[None]:
    """Say in one line what is broken in a document."""
    with needs("documents", "lxml"):
        from lxml import etree

    try:
        yield
    except InputError:
        raise
    except zipfile.BadZipFile as error:
        raise InputError(f"is no {what}: {error}", path=path) from error
    except KeyError as error:
        raise InputError(f"is no {what}: {str(error.args[0])[:200]}", path=path) from error
    except etree.LxmlError as error:
        raise InputError(f"cannot read this {what}: {str(error)[:200]}", path=path) from error
    except (*BROKEN, ValueError, RecursionError) as error:
        raise InputError(f"cannot read this {what}: {error or type(error).__name__}", path=path) from error


def feed_member(archive: zipfile.ZipFile, name: str, target: Elements) -> Iterator[None]:
    """Tell a target of the XML in a member of an archive, piece by piece.

    Raises:
        InputError: the XML defines entities.
    """
    parser = xml_parser(target)
    with archive.open(name) as member:
        before = b""
        pieces = iter(lambda: member.read(_PIECE), b"")
        for piece in xml_in_utf_8(pieces, path=f"{archive.filename}!{name}"):
            _check_entities(before + piece, archive, name)
            before = piece[-16:]
            parser.feed(piece)
            yield
    parser.close()
    yield


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member of an archive, XML, in UTF-8.

    Raises:
        InputError: it is large, or defines entities.
    """
    with archive.open(name) as member:
        data = b"".join(iter(lambda: member.read(BLOCK_BYTES), b"")) if _is_small(archive, name) else None
    if data is None:
        raise InputError(f"{name} is larger than {_MOST_WHOLE} bytes", path=archive.filename)
    path = f"{archive.filename}!{name}"
    data = b"".join(xml_in_utf_8([data], path=path))
    try:
        data.decode()
    except UnicodeDecodeError as error:
        # A parser that recovers would leave it out.
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; convert it"
        raise InputError(message, path=path, line=data.count(b"\n", 0, error.start) + 1) from error
    _check_entities(data, archive, name)
    return data


def _is_small(archive: zipfile.ZipFile, name: str) -> bool:
    # What a zip says of its sizes has been read and found to be so.
    return archive.getinfo(name).file_size <= _MOST_WHOLE


def _check_entities(data: bytes, archive: zipfile.ZipFile, name: str) -> None:
    """Refuse XML that defines entities, as a bomb of them does.

    Raises:
        InputError: it does.
    """
    if _ENTITY in data:
        message = f"{name} defines entities, which no document needs; remove them"
        raise InputError(message, path=archive.filename)
