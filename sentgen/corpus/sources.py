"""Files and members of archives as bounded streams of clean lines.

Archives are streamed by member and never extracted; whatever the compression, no more than a block and one
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
from sentgen.corpus.validation import LIMITS, InputLimits
from sentgen.errors import InputError, spell

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_BYTES = 1 << 20
# Level -9 of xz needs 65 MB to decompress; more is asked for by hostile files.
_XZ_MEMORY = 256 * 2**20
#: What reading a file raises that is damaged, or is not what it begins like.
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
    """A raw file that knows how many bytes of the disk were read through it."""

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
    """Bounded reads of an .xz file; `lzma.LZMAFile` has no limit on the memory of the dictionary."""

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
                # An .xz may hold several streams, with zero bytes between them.
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
    """Open a file, or a member of it, and return what to read and what counts the bytes of the disk."""
    # Unbuffered: the buffer stands above the counter, which sees each read of the disk.
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
#: Bytes of a decompressed file that memory may hold; a larger one waits on the disk.
_IN_MEMORY = 32 << 20
#: All control characters but tab, line feed and carriage return.
_CONTROL = bytes(code for code in (*range(32), 127) if code not in b"\t\n\r")
#: Vertical tab, form feed and the separators of files, groups, records and units are blanks of plain text.
_BLANK = b"\x0b\x0c\x1c\x1d\x1e\x1f"
_BLANKS = bytes.maketrans(_BLANK, b" " * len(_BLANK))


#: What the name of a source begins with that is a table in memory, and no file.
TABLE = "table:"


def base_name(path: str) -> str:
    """Return the name of a file without folders and archive, or that of a table."""
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
    named by the user: what is found and not recognised may be passed over, what is named may not.
    ``encoding`` is that of its text. ``folder`` is the folder that the user named, in which it was found.
    ``digest`` is the hash of a table in memory, which is not that of its bytes.
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
        """Whether there is no file of it: it was in memory, or could be read only once, as a pipe."""
        return self._spool is not None

    @property
    def is_table(self) -> bool:
        """Whether the source is a table in memory, which was written as Parquet."""
        return bool(self.digest)

    @property
    def is_named(self) -> bool:
        """Whether another content of its name may take its place; that of a pipe says nothing."""
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

    def sha256(self, limits: InputLimits = LIMITS) -> str:
        """Return the hash of the content after decompression: `x.txt` and `x.txt.gz` are the same content."""
        if self.digest:
            return self.digest
        digest = hashlib.sha256()
        for block in self.open(limits).blocks():
            digest.update(block)
        return digest.hexdigest()

    def open(self, limits: InputLimits = LIMITS) -> LineReader:
        """Return a reader of lines that also tells its progress."""
        return LineReader(self, limits)

    def lines(self, limits: InputLimits = LIMITS) -> Iterator[str]:
        """Yield the decoded lines without their ends (see `LineReader`)."""
        return iter(self.open(limits))

    def head(
        self, size: int = 1 << 16, limits: InputLimits = LIMITS, *, lone_returns: bool = False
    ) -> list[str]:
        """Return the lines of the first ``size`` bytes, for telling the format."""
        reader = self.open(limits)
        reader.lone_returns = lone_returns
        reader.controls_are_blanks = True
        for block in reader.text_blocks(size):
            block = reader.without_bom(block)
            # The last line may be cut off; with few lines it is worth more than it misleads.
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
    """How a text is written; ``line_feeds`` follow the last of its lines that is not blank."""

    byte_order_mark: bool = False
    carriage_returns: bool = False
    line_feeds: int = 2


class LineReader:
    """An iterable over the lines of a source, UTF-8 decoded, without `\\n` or `\\r\\n`.

    A byte order mark is stripped and logged. Raises `InputError` with file and line for another encoding
    (naming the likely right one), control characters, lines over the limit, and archives that are broken or
    expand beyond the limits. ``bytes_read`` of ``source.size`` says how much of the disk was consumed.
    ``notes`` are what the reader of its format has to say of it as a whole, a line each. With
    ``lone_returns``, a carriage return ends a line by itself, too. ``controls_are_blanks`` says that form
    feeds and the like are, as in plain text.
    """

    def __init__(self, source: Source, limits: InputLimits = LIMITS) -> None:
        self.source = source
        self.limits = limits
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
        """How the text is written, once its lines were read; line ends of both kinds count as line feeds."""
        ended = self.lines_read - (not self._line_feeds)
        windows = 0 < ended == self._carriage_returns
        return TextLayout(self._byte_order_mark, windows, self._line_feeds)

    @property
    def progress(self) -> float:
        """The consumed fraction of the bytes on disk, between 0 and 1."""
        return min(1.0, self.bytes_read / self.source.size) if self.source.size else 1.0

    def __iter__(self) -> Iterator[str]:
        for text in self.texts():
            yield from text.split("\n")

    def checked_sha256(self) -> str:
        """Return the hash of the content, and refuse now what no line may have, not after long reading."""
        self._digest = hashlib.sha256()
        for _ in self.whole_lines():
            pass
        return self._digest.hexdigest()

    def texts(self) -> Iterator[str]:
        """Yield many lines at once, without the last line feed."""
        for _, block in self.whole_lines():
            yield block.decode()

    def whole_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole clean lines, without the last line feed, with their first line number."""
        first, carry = True, b""
        for block in self.text_blocks():
            if first:
                block, first = self.without_bom(block), False
            cut = block.rfind(b"\n") + 1
            if not cut:
                carry += block
                # A character takes four bytes at most, and the carry is not decoded yet.
                if len(carry) > 4 * self.limits.line_length:
                    self._fail(f"a line is longer than {self.limits.line_length} characters", 1)
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
        """Count those that end the text so far."""
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
        """Open the content as a file that can be sought in, decompressed within the limits."""
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
                # A zip has been read at its end before: that is no progress.
                start = counter.count
                while block := stream.read(size):
                    expanded += len(block)
                    self.bytes_read = counter.count - start
                    if source.compression:
                        self._check_expansion(expanded)
                    if self._digest is not None:
                        self._digest.update(block)
                    yield block
            except BROKEN as error:
                reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
                message = f"cannot read this {source.compression or 'file'}: {reason}"
                raise InputError(message, path=source.name) from error
        self.bytes_read = source.size

    def _check_expansion(self, expanded: int) -> None:
        limits = self.limits
        if expanded > limits.expanded_bytes:
            message = f"expands to more than {limits.expanded_bytes} bytes, the limit; split the file"
            raise InputError(message, path=self.source.name)
        if expanded > limits.ratio_from and expanded > limits.ratio * max(self.bytes_read, 1):
            message = (
                f"expands more than {limits.ratio:g} times, as a decompression bomb does; unpack it yourself"
            )
            raise InputError(message, path=self.source.name)

    def without_bom(self, block: bytes) -> bytes:
        """Return the first block without its byte order mark."""
        if block.startswith(b"\xef\xbb\xbf"):
            if self._digest is None:  # else it is read once more, and told then
                logger.info("%s: byte order mark stripped", self.source.name)
            self._byte_order_mark = True
            return block[3:]
        return block

    def _check_lines(self, block: bytes) -> bytes:
        """Return complete lines that are clean, valid UTF-8, and none of them too long."""
        text = self.clean(block)
        try:
            decoded = text.decode("utf-8")
        except UnicodeDecodeError as error:
            self._fail(_encoding_message(text, error), text.count(b"\n", 0, error.start) + 1)
        if len(decoded) > self.limits.line_length:
            for number, line in enumerate(decoded.split("\n"), 1):
                if len(line) > self.limits.line_length:
                    self._fail(f"the line is longer than {self.limits.line_length} characters", number)
        return text

    def clean(self, block: bytes) -> bytes:
        """Return complete lines with plain ends, or refuse their control characters."""
        if b"\r" in block:
            # Blocks are cut at line feeds, so that no pair is torn apart.
            self._carriage_returns += block.count(b"\r\n")
            block = block.replace(b"\r\n", b"\n")
            # A binary file is called so.
            if b"\r" in block and b"\0" not in block:
                number = block.count(b"\n", 0, block.index(b"\r")) + 1
                self._fail("a carriage return inside the line; convert the line ends to \\n", number)
        if self.controls_are_blanks:
            block = block.translate(_BLANKS)
        # One pass in C over clean text; the slow search only for the message.
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


def _with_line_feeds(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a text whose lines end with line feeds, where a carriage return may have ended them."""
    held = b""
    for block in blocks:
        block = held + block
        # The line feed that belongs to the last one may come with the next block.
        held = b"\r" if block.endswith(b"\r") else b""
        yield block.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if held:
        yield b"\n"


def _encoding_message(block: bytes, error: UnicodeDecodeError) -> str:
    """Say how the word that is not UTF-8 reads in other encodings."""
    begin = block.rfind(b"\n", 0, error.start) + 1
    read = readings(block[begin:].split(b"\n", 1)[0], error.start - begin)
    message = f"byte 0x{block[error.start]:02x} is not UTF-8; "
    message += f"its word would be {read}: " if read else ""
    return f"{message}convert with `iconv -f ENCODING -t UTF-8`, or ingest with {spell('encoding')} ENCODING"
