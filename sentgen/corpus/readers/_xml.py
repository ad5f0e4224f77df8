"""Streaming XML from files and archives: elements and text are passed to an object that builds sentences.

lxml parses in bounded memory, and loads no entities, no document types, nothing from the network, and no huge
texts.
"""

from __future__ import annotations

import codecs
import logging
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from sentgen.corpus.encodings import UTF_8, codec_of, declared_encoding, decoder_of
from sentgen.corpus.markup import name_written
from sentgen.corpus.reader import Item
from sentgen.corpus.sources import BROKEN, base_name, uncompressed_name
from sentgen.corpus.tables import check_archive
from sentgen.corpus.validation import LIMITS
from sentgen.errors import InputError
from sentgen.extras import needs

if TYPE_CHECKING:
    from lxml import etree

logger = logging.getLogger(__name__)

#: Bytes that are parsed at once, of a line or of a part of an archive.
_PIECE = 1 << 16
#: Bytes of a tag or comment.
_LONGEST = 1 << 23
#: Maximal depth of elements.
_DEPTH = 200
_INCLUDE = "{http://www.w3.org/2001/XInclude}include"
#: Names of included files that a warning lists at most.
_MOST_TOLD = 12
#: The prolog before the root: declarations, comments, a document type with its declarations.
_PROLOG = re.compile(
    r"(?:\s|\ufeff|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*<([^\s<>/!?]+)", re.DOTALL
)
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z_][\w.-]*);")
_CONTROL = re.compile("[\x7f-\x84\x86-\x9f]")
_WHITE = re.compile("[ \t\r\n]+")
#: Maximal bytes of a part of an archive that is read at once, such as a chapter of an EPUB.
_MOST_WHOLE = 64 << 20
_ENTITY = b"<!ENTITY"


@lru_cache(maxsize=4096)
def local(name: str) -> str:
    """Return the name of an element or attribute without its namespace.

    >>> local("{http://www.w3.org/XML/1998/namespace}id")
    'id'
    """
    return name.rpartition("}")[2]


class Elements:
    """Receives elements and text from lxml, in their order; subclasses interpret them.

    Attributes:
        line: number of the current line or paragraph.
    """

    def __init__(self) -> None:
        self.line = 1
        #: Depth within the element that is skipped.
        self._passed = 0

    @property
    def is_passing(self) -> bool:
        """Whether the parser is in an element that is skipped."""
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
        """End the document; lxml calls this."""

    def pass_over(self) -> None:
        """Skip the element that begins."""
        self._passed = 1

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element that is not passed over."""
        raise NotImplementedError

    def finish(self, name: str) -> None:
        """Take the end of an element that is not passed over."""
        raise NotImplementedError

    def write(self, text: str, line: int) -> None:
        """Take text that begins on a line."""
        raise NotImplementedError

    def feed_member(self, archive: zipfile.ZipFile, name: str) -> Iterator[None]:
        """Parse the XML in a member of an archive, piece by piece.

        Raises:
            InputError: the XML defines entities.
        """
        parser = xml_parser(self)
        with archive.open(name) as member:
            before = b""
            pieces = iter(lambda: member.read(_PIECE), b"")
            for piece in _xml_in_utf_8(pieces, path=f"{archive.filename}!{name}"):
                _check_entities(before + piece, archive, name)
                before = piece[-16:]
                parser.feed(piece)
                yield
        parser.close()
        yield


def xml_parser(target: Elements | None, *, recover: bool = False) -> etree.XMLParser:
    """Return a parser of XML in UTF-8 that expands no entities and loads no other files."""
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
        InputError: the file is no archive, or a member is broken or expands too much.
    """
    check_archive(file, path=path)
    with document_errors(path, what), zipfile.ZipFile(file) as archive:
        archive.filename = path
        yield archive


@contextmanager
def document_errors(path: str, what: str) -> Iterator[None]:
    """Convert errors of broken documents to one line."""
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


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member of an archive, XML, in UTF-8.

    Raises:
        InputError: the member is large, or defines entities.
    """
    # The sizes that the zip declares were checked when it was opened.
    if archive.getinfo(name).file_size > _MOST_WHOLE:
        raise InputError(f"{name} is larger than {_MOST_WHOLE} bytes", path=archive.filename)
    data = archive.read(name)
    path = f"{archive.filename}!{name}"
    data = b"".join(_xml_in_utf_8([data], path=path))
    try:
        data.decode()
    except UnicodeDecodeError as error:
        # A recovering parser would leave the entity out.
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; convert it"
        raise InputError(message, path=path, line=data.count(b"\n", 0, error.start) + 1) from error
    _check_entities(data, archive, name)
    return data


def _check_entities(data: bytes, archive: zipfile.ZipFile, name: str) -> None:
    """Refuse XML that defines entities, which could expand exponentially."""
    if _ENTITY in data:
        message = f"{name} defines entities, which no document needs; remove them"
        raise InputError(message, path=archive.filename)


def root_of(sample: list[str]) -> str:
    """Return the name of the root element without its prefix; empty if the lines are not XML.

    >>> root_of(['<?xml version="1.0"?>', '<!-- <p> -->', '<tei:TEI xmlns:tei="x">']), root_of(["a < b"])
    ('TEI', '')
    """
    match = _PROLOG.match("\n".join(sample))
    return match[1].rpartition(":")[2] if match else ""


def collapse_spaces(text: str) -> str:
    """Return text with one space for each run of white space, stripped."""
    return _WHITE.sub(" ", text).strip(" ")


def stem(path: str) -> str:
    """Return the name of a file without folders, compression and extension.

    >>> stem("a.zip!novels/Lyall.level2.xml.gz")
    'Lyall.level2'
    """
    name = uncompressed_name(base_name(path))
    return os.path.splitext(name)[0] or name


def local_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return attributes by their names without prefix; of equal names, the first attribute counts."""
    values: dict[str, str] = {}
    for name, value in attributes.items():
        values.setdefault(local(name), collapse_spaces(value))
    return values


class StrictElements(Elements):
    """Refuses invalid elements and characters; subclasses make items of the others.

    Args:
        path: name of the file.

    Attributes:
        results: items that are ready.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.results: list[Item] = []
        self.depth = 0
        #: Whether there is a document type, whose entities are not known.
        self.typed = False
        #: Whether the current piece of input has a tag, which ends the text before it.
        self.tagged = False
        #: Bytes since the last element or text.
        self.silent = 0
        #: Files that `xi:include` names.
        self.included: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element."""
        self.silent = 0
        self.depth += 1
        if self.depth > _DEPTH:
            self.fail(f"elements are nested more than {_DEPTH} deep")
        self._check("".join(attributes.values()))
        for name in (tag, *attributes):
            if ":" in local(name):
                self.fail(f"{local(name)[:40]} is no name with a namespace")
        if tag == _INCLUDE and not self.is_passing:
            self.included.append(attributes.get("href", ""))
            self.pass_over()
            return
        # Without replacement of entities, lxml leaves every ampersand of an attribute as a reference.
        super().start(tag, {name: value.replace("&#38;", "&") for name, value in attributes.items()})

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        self.silent = 0
        self.depth -= 1
        super().end(tag)

    def data(self, text: str) -> None:
        """Take text."""
        self.silent = 0
        if self.is_passing:
            return
        self._check(text)
        # Text is held back until the tag that ends it, except long text.
        line = self.line - text.count("\n") + (not self.tagged and text.endswith("\n"))
        self.write(text, max(line, 1))

    def doctype(self, *_: object) -> None:
        """Note that there is a document type."""
        self.typed = True

    def region_attributes(self, name: str, attributes: Mapping[str, str]) -> dict[str, str]:
        """Return the attributes of a region; values that are too long are refused."""
        values = {name_written(key): value for key, value in local_attributes(attributes).items()}
        for key, value in values.items():
            if len(value) > LIMITS.field_length:
                self.fail(f"{key} of {name} has {len(value)} characters; the limit is {LIMITS.field_length}")
        return values

    def _check(self, text: str) -> None:
        if match := _CONTROL.search(text):
            self.fail(f"the control character U+{ord(match[0]):04X}; remove it")

    def fail(self, message: str) -> None:
        """Raise an `InputError` at the current line."""
        raise InputError(message, path=self.path, line=self.line)

    def read(self, file: BinaryIO, encoding: str = UTF_8) -> Iterator[Item]:
        """Yield the items of an XML file in the given ``encoding``, else in the one that it declares.

        Raises:
            InputError: the XML is not well-formed, declares or names unknown entities, or is too deep.
        """
        with needs("documents", "lxml"):
            from lxml import etree

        parser = xml_parser(self)
        pieces = iter(lambda: file.readline(_PIECE), b"")
        given = encoding if encoding != UTF_8 else ""
        try:
            for piece in _xml_in_utf_8(pieces, path=self.path, given=given):
                if self.depth == 0 and _ENTITY in piece:
                    self.fail("declares entities, which are not read; write out what they stand for")
                if self.typed and (unknown := _REFERENCE.search(piece)):
                    name = unknown[1].decode("ascii", "replace")
                    self.fail(f"entity &{name}; is not declared here; write out what it stands for")
                # lxml buffers a tag until it ends, whatever its length.
                self.silent += len(piece)
                if self.silent > _LONGEST:
                    self.fail(f"a tag or comment of more than {_LONGEST:,} bytes")
                self.tagged = b"<" in piece
                parser.feed(piece)
                yield from self.results
                self.results.clear()
                self.line += piece.endswith(b"\n")
            parser.close()
        except etree.XMLSyntaxError as error:
            message = re.sub(r", line \d+, column \d+.*|\s*\(<string>.*", "", str(error.msg or error))
            line = error.lineno or self.line
            raise InputError(f"not well-formed XML: {message}", path=self.path, line=line) from error
        yield from self.results
        if names := list(dict.fromkeys(filter(None, self.included))):
            listed = ", ".join(names[:_MOST_TOLD]) + (", ..." if len(names) > _MOST_TOLD else "")
            logger.warning(
                "%s: xi:include is not followed; name what it includes, too: %s", self.path, listed
            )


def _xml_in_utf_8(pieces: Iterable[bytes], *, path: str, given: str = "") -> Iterator[bytes]:
    """Yield XML in UTF-8, converted from the given encoding, else from the declared one."""
    pieces = iter(pieces)
    first = next(pieces, b"")
    name = given or declared_encoding(first)
    try:
        decoder = decoder_of(name or UTF_8)
    except LookupError as error:
        raise InputError(
            f"names an encoding that is not known, {name!r}; convert it to UTF-8", path=path
        ) from error
    first = first.removeprefix(codecs.BOM_UTF8)
    if codec_of(name or UTF_8) == UTF_8:
        yield first
        yield from pieces
        return
    line = 1
    try:
        for piece in chain([first], pieces):
            text = decoder.decode(piece)
            line += text.count("\n")
            yield text.encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        message = f"byte 0x{error.object[error.start]:02x} is not {name}; convert it to UTF-8"
        raise InputError(message, path=path, line=line) from error
