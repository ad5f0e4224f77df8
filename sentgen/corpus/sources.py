"""Files and members of archives as bounded streams of checked lines.

Members of archives are streamed and never extracted; with every compression, no more than a block and one
line are in memory.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import logging
import lzma
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NoReturn, Protocol, cast

from sentgen.corpus.encodings import UTF_8, UTF_16_MARKS, decoder_of, readings
from sentgen.corpus.validation import LIMITS
from sentgen.errors import InputError, spell

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_BYTES = 1 << 20
# Files of xz level -9 need 65 MB to decompress; only hostile files need much more.
_XZ_MEMORY = 256 * 2**20
#: Exceptions when a file is read that is damaged, or not of the format that its first bytes suggest.
BROKEN = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    RuntimeError,
    NotImplementedError,
)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Counter(io.RawIOBase):
    """A raw file that counts the bytes that were read from disk."""

    def __init__(self, raw: io.RawIOBase) -> None:
        super().__init__()
        self.raw = raw
        self.count = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        return self.raw.tell()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = self.raw.readinto(buffer) or 0
        self.count += count
        return count


class _XzStream:
    """Reads an .xz file with bounded memory; `lzma.LZMAFile` has no limit for the dictionary."""

    def __init__(self, raw: _Readable) -> None:
        self.raw = raw
        self.pending = b""
        self.decoder = self._decoder()

    @staticmethod
    def _decoder() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def read(self, size: int, /) -> bytes:
        while True:
            if self.decoder.eof:
                # An .xz file may consist of several streams, with zero bytes between them.
                self.pending = (self.decoder.unused_data or self.raw.read(BLOCK_BYTES)).lstrip(b"\0")
                if not self.pending:
                    return b""
                self.decoder = self._decoder()
            elif self.decoder.needs_input and not self.pending:
                self.pending = self.raw.read(1 << 16)
                if not self.pending:
                    raise EOFError("the compressed stream ends too early")
            block = self.decoder.decompress(self.pending, size)
            self.pending = b""
            if block:
                return block


def _open_stream(path: str, compression: str, member: str, stack: ExitStack) -> tuple[_Readable, _Counter]:
    """Open a file or a member of an archive; return the decompressed stream and the counter of bytes read."""
    # Unbuffered, so that the counter sees each read of the disk; a buffer is put on top of it.
    raw = stack.enter_context(open(path, "rb", buffering=0))  # noqa: SIM115
    counter = _Counter(raw)
    buffered = stack.enter_context(io.BufferedReader(counter, 1 << 16))
    match compression:
        case "gzip":
            return stack.enter_context(gzip.GzipFile(fileobj=buffered)), counter
        case "bz2":
            return stack.enter_context(bz2.BZ2File(buffered)), counter
        case "xz":
            return _XzStream(buffered), counter
        case "zip":
            archive = stack.enter_context(zipfile.ZipFile(buffered))
            return stack.enter_context(archive.open(member)), counter
    return buffered, counter


logger = logging.getLogger(__name__)

#: Suffixes of compression; `formats.detect` looks at the suffix before them.
COMPRESSED = (".gz", ".xz", ".bz2")
#: Most bytes of a decompressed file that are held in memory; a larger one is held on disk.
_IN_MEMORY = 32 << 20
#: All control characters but tab, line feed and carriage return.
_CONTROL = bytes(code for code in (*range(32), 127) if code not in b"\t\n\r")
#: Vertical tab, form feed and the separators of ASCII, which are blanks in plain text.
_BLANK = b"\x0b\x0c\x1c\x1d\x1e\x1f"
_BLANKS = bytes.maketrans(_BLANK, b" " * len(_BLANK))


#: Prefix of the name of a source that is a table in memory.
TABLE = "table:"


def base_name(path: str) -> str:
    """Return the name of a file without folders and archive, or of a table without its prefix."""
    return re.split(r"[/\\!]", path.removeprefix(TABLE))[-1]


def uncompressed_name(name: str) -> str:
    """Return the name of a file without the extension of its compression.

    >>> uncompressed_name("a.xml.gz")
    'a.xml'
    """
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return name


@dataclass(frozen=True, slots=True)
class Source:
    """One file or archive member that can be hashed and read as lines, any number of times.

    ``name`` is what users see (`archive.zip!member` for a member of an archive), ``path`` the file on disk,
    ``size`` the bytes that it takes there (compressed, for a member), ``compression`` one of `""`, `gzip`,
    `bz2`, `xz`, `zip`. ``explicit`` is false for files that were found in a folder or an archive rather than
    named by the user: unlike a named one, a found file of no known format may be skipped.
    ``encoding`` is that of its text. ``folder`` is the folder that the user named, in which it was found.
    ``digest`` is the hash of a table in memory, by its values instead of its bytes.
    """

    name: str
    path: str
    size: int
    compression: str = ""
    member: str = ""
    explicit: bool = True
    encoding: str = UTF_8
    folder: str = ""
    digest: str = ""
    # Held only so that the temporary file lives as long as its source.
    _spool: object = field(default=None, repr=False, compare=False)

    @property
    def is_stream(self) -> bool:
        """Whether the source is no file of the user's, but a table in memory or a stream such as a pipe."""
        return self._spool is not None

    @property
    def is_table(self) -> bool:
        """Whether the source is a table in memory, which was written as Parquet."""
        return bool(self.digest)

    @property
    def is_named(self) -> bool:
        """Whether new content under its name replaces the old; the name of a pipe identifies nothing."""
        return self.is_table or not self.is_stream

    @property
    def base_name(self) -> str:
        """The name without folders and archive."""
        return base_name(self.name)

    @property
    def short_name(self) -> str:
        """The name below the folder or the archive that the user named, with slashes."""
        if self.member:
            return self.member
        below = os.path.relpath(self.name, self.folder) if self.folder else self.base_name
        return below.replace(os.sep, "/")

    def sha256(self) -> str:
        """Return the hash of the content after decompression: `x.txt` and `x.txt.gz` are the same content."""
        if self.digest:
            return self.digest
        digest = hashlib.sha256()
        for block in self.open().blocks():
            digest.update(block)
        return digest.hexdigest()

    def open(self) -> LineReader:
        """Return a reader of its lines that also reports progress."""
        return LineReader(self)

    def lines(self) -> Iterator[str]:
        """Yield the decoded lines without their ends (see `LineReader`)."""
        return iter(self.open())

    def head(self, *, lone_returns: bool = False) -> list[str]:
        """Return the lines of the first bytes, by which the format is detected."""
        reader = self.open()
        reader.lone_returns = lone_returns
        reader.controls_are_blanks = True
        for block in reader.text_blocks(1 << 16):
            block = reader.without_bom(block)
            # The last line may be incomplete; it is dropped only if there are many others.
            cut = block.rfind(b"\n") + 1 if block.count(b"\n") > 20 else len(block)
            return reader.clean(block[:cut]).decode("utf-8", "replace").removesuffix("\n").split("\n")
        return []

    @property
    def extension(self) -> str:
        """Return the extension of a file before that of its compression, in lower case."""
        if self.is_table:
            return ""
        base = uncompressed_name((self.member or self.name).replace("\\", "/").rsplit("/", 1)[-1].lower())
        return "." + base.rsplit(".", 1)[1] if "." in base.lstrip(".") else ""


@dataclass(frozen=True, slots=True)
class TextLayout:
    """Byte order mark and line ends of a text; ``line_feeds``: their number after its last line with text."""

    byte_order_mark: bool = False
    carriage_returns: bool = False
    line_feeds: int = 2


class LineReader:
    """An iterable over the lines of a source, UTF-8 decoded, without `\\n` or `\\r\\n`.

    A byte order mark is stripped and logged. Raises `InputError` with file and line for another encoding
    (naming the likely right one), control characters, lines over the limit, and archives that are broken or
    expand beyond the limits. ``bytes_read`` is the number of bytes read from disk, of ``source.size``.
    ``notes`` are remarks of the reader of its format on the whole source, a line each. With
    ``lone_returns``, a carriage return alone ends a line, too. With ``controls_are_blanks``, form feeds and
    the like are blanks, as in plain text.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.bytes_read = 0
        self.lines_read = 0
        self.notes: list[str] = []
        self.lone_returns = False
        self.controls_are_blanks = False
        self._digest: hashlib._Hash | None = None
        self._byte_order_mark = False
        self._carriage_returns = self._line_feeds = 0

    @property
    def layout(self) -> TextLayout:
        """The layout of the text, after its lines were read; mixed line ends count as line feeds."""
        ended = self.lines_read - (not self._line_feeds)
        windows = 0 < ended == self._carriage_returns
        return TextLayout(self._byte_order_mark, windows, self._line_feeds)

    @property
    def progress(self) -> float:
        """The fraction of the bytes on disk that was read, between 0 and 1."""
        return min(1.0, self.bytes_read / self.source.size) if self.source.size else 1.0

    def __iter__(self) -> Iterator[str]:
        for text in self.texts():
            yield from text.split("\n")

    def checked_sha256(self) -> str:
        """Return the hash of the content, and check all lines, so that no error comes late in the reading."""
        self._digest = hashlib.sha256()
        for _ in self.whole_lines():
            pass
        return self._digest.hexdigest()

    def texts(self) -> Iterator[str]:
        """Yield texts of many whole lines, without the last line feed."""
        for _, block in self.whole_lines():
            yield block.decode()

    def whole_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole checked lines, without the last line feed, and the number of the first."""
        first, carry = True, b""
        for block in self.text_blocks():
            if first:
                block, first = self.without_bom(block), False
            cut = block.rfind(b"\n") + 1
            if not cut:
                carry += block
                # In bytes, as the carry is not decoded yet; a character takes four at most.
                if len(carry) > 4 * LIMITS.line_length:
                    self._fail(f"a line is longer than {LIMITS.line_length} characters", 1)
                continue
            text = self._check_lines(carry + block[:cut])
            self._count_line_feeds(text)
            lines = text[:-1]
            carry = block[cut:]
            yield self.lines_read + 1, lines
            self.lines_read += lines.count(b"\n") + 1
        if carry:
            self._line_feeds = 0
            yield self.lines_read + 1, self._check_lines(carry)
            self.lines_read += 1

    def _count_line_feeds(self, text: bytes) -> None:
        """Update the number of line feeds at the end of the text that was read so far."""
        size = len(text)
        while size and text[size - 1] == 10:
            size -= 1
        self._line_feeds = len(text) - size + (self._line_feeds if not size else 0)

    def text_blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the decompressed text in UTF-8, whatever the encoding of the source."""
        blocks = self._recode(size)
        return _with_line_feeds(blocks) if self.lone_returns else blocks

    def _recode(self, size: int) -> Iterator[bytes]:
        blocks, encoding = self.blocks(size), self.source.encoding
        first = next(blocks, b"")
        if encoding == UTF_8 and not first.startswith(UTF_16_MARKS):
            yield from filter(None, chain([first], blocks))
            return
        if encoding == UTF_8:
            encoding = "utf-16"
        decoder = decoder_of(encoding)
        try:
            for block in chain([first], blocks):
                yield decoder.decode(block).encode()
            yield decoder.decode(b"", final=True).encode()
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            message = f"byte 0x{byte:02x} is not {encoding}; give another {spell('encoding')}"
            raise InputError(message, path=self.source.name) from error

    @contextmanager
    def file(self) -> Iterator[BinaryIO]:
        """Open the content, decompressed within the limits, as a seekable file."""
        source = self.source
        if not source.compression:
            with open(source.path, "rb", buffering=0) as raw, io.BufferedReader(_Counter(raw)) as file:
                yield cast(BinaryIO, file)
                self.bytes_read = source.size
            return
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            for block in self.blocks():
                spool.write(block)
            spool.seek(0)
            yield cast(BinaryIO, spool)

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the decompressed bytes, never more than ``size`` at once."""
        source, expanded = self.source, 0
        with ExitStack() as stack:
            try:
                stream, counter = _open_stream(source.path, source.compression, source.member, stack)
                # The directory at the end of a zip has been read already, which is no progress.
                start = counter.count
                while block := stream.read(size):
                    expanded += len(block)
                    self.bytes_read = counter.count - start
                    if source.compression:
                        cures = "; split the file", "; unpack it yourself"
                        check_expansion(expanded, self.bytes_read, path=source.name, cures=cures)
                    if self._digest is not None:
                        self._digest.update(block)
                    yield block
            except BROKEN as error:
                reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
                message = f"cannot read this {source.compression or 'file'}: {reason}"
                raise InputError(message, path=source.name) from error
        self.bytes_read = source.size

    def without_bom(self, block: bytes) -> bytes:
        """Return the first block without its byte order mark."""
        if block.startswith(b"\xef\xbb\xbf"):
            if self._digest is None:  # else the source is read once more, and the mark logged then
                logger.info("%s: byte order mark stripped", self.source.name)
            self._byte_order_mark = True
            return block[3:]
        return block

    def _check_lines(self, block: bytes) -> bytes:
        """Return complete lines with plain ends, after checks: valid UTF-8, no controls, no line too long."""
        text = self.clean(block)
        try:
            decoded = text.decode("utf-8")
        except UnicodeDecodeError as error:
            self._fail(_encoding_message(text, error), text.count(b"\n", 0, error.start) + 1)
        if len(decoded) > LIMITS.line_length:
            for number, line in enumerate(decoded.split("\n"), 1):
                if len(line) > LIMITS.line_length:
                    self._fail(f"the line is longer than {LIMITS.line_length} characters", number)
        return text

    def clean(self, block: bytes) -> bytes:
        """Return complete lines with line feeds as ends, or raise an error for control characters."""
        if b"\r" in block:
            # Blocks end at line feeds, so that none separates a carriage return from its line feed.
            self._carriage_returns += block.count(b"\r\n")
            block = block.replace(b"\r\n", b"\n")
            # With a NUL byte, the message below says that the file is binary.
            if b"\r" in block and b"\0" not in block:
                number = block.count(b"\n", 0, block.index(b"\r")) + 1
                self._fail("a carriage return inside the line; convert the line ends to \\n", number)
        if self.controls_are_blanks:
            block = block.translate(_BLANKS)
        # One pass in C if the text is clean; only for the message, the character is searched for.
        if len(block.translate(None, _CONTROL)) != len(block):
            at = block.find(b"\0")
            message = "NUL in the text; is it a binary file or UTF-16?"
            if at < 0:
                at = next(i for i, code in enumerate(block) if code in _CONTROL)
                message = f"control character U+{block[at]:04X} in the text; remove it"
            self._fail(message, block.count(b"\n", 0, at) + 1)
        return block

    def _fail(self, message: str, line: int) -> NoReturn:
        raise InputError(message, path=self.source.name, line=self.lines_read + line)


def check_expansion(expanded: int, packed: int, *, path: str, cures: tuple[str, str] = ("", "")) -> None:
    """Raise `InputError` for a file that expands too much; sizes are in bytes.

    ``cures`` end the messages on a file that is too large, and on one that expands as a bomb does.
    """
    if expanded > LIMITS.expanded_bytes:
        message = f"expands to more than {LIMITS.expanded_bytes} bytes, the limit{cures[0]}"
        raise InputError(message, path=path)
    if expanded > LIMITS.ratio_from and expanded > LIMITS.ratio * max(packed, 1):
        message = f"expands more than {LIMITS.ratio:g} times, as a decompression bomb does{cures[1]}"
        raise InputError(message, path=path)


def _with_line_feeds(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a text with line feeds in place of carriage returns at the ends of lines."""
    held = b""
    for block in blocks:
        block = held + block
        # The line feed after a carriage return at the end may be in the next block.
        held = b"\r" if block.endswith(b"\r") else b""
        yield block.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if held:
        yield b"\n"


def _encoding_message(block: bytes, error: UnicodeDecodeError) -> str:
    """Return a message with readings of the word that is not UTF-8 in other encodings."""
    begin = block.rfind(b"\n", 0, error.start) + 1
    read = readings(block[begin:].split(b"\n", 1)[0], error.start - begin)
    message = f"byte 0x{block[error.start]:02x} is not UTF-8; "
    message += f"its word would be {read}: " if read else ""
    return f"{message}convert with `iconv -f ENCODING -t UTF-8`, or ingest with {spell('encoding')} ENCODING"
