"""From the paths of a command line to bounded streams of clean lines.

Archives are streamed by member and never extracted; whatever the compression, no more than a block and one
line are in memory.
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import re
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NoReturn

from sentgen import temporary
from sentgen.corpus.streams import BLOCK_BYTES, BROKEN, compression_of, open_stream
from sentgen.corpus.validation import LIMITS, InputLimits
from sentgen.errors import InputError

logger = logging.getLogger(__name__)

#: Suffixes of compression; `formats.detect` looks at the suffix before them.
COMPRESSED = (".gz", ".xz", ".bz2")
#: All control characters but tab, line feed and carriage return.
_CONTROL = bytes(code for code in (*range(32), 127) if code not in b"\t\n\r")


@dataclass(frozen=True, slots=True)
class Source:
    """One file or archive member that can be hashed and read as lines, any number of times.

    ``name`` is what users see (`archive.zip!member` for a member of an archive), ``path`` the file on disk,
    ``size`` the bytes that it takes there (compressed, for a member), ``compression`` one of `""`, `gzip`,
    `bz2`, `xz`, `zip`. ``explicit`` is false for files that were found in a folder or an archive rather than
    named by the user: what is found and not recognised may be passed over, what is named may not.
    """

    name: str
    path: str
    size: int
    compression: str = ""
    member: str = ""
    explicit: bool = True
    # Held only so that the temporary file lives as long as its source.
    _spool: object = field(default=None, repr=False, compare=False)

    @property
    def is_stream(self) -> bool:
        """Whether it could be read only once, as a pipe: its name says nothing about its content."""
        return self._spool is not None

    @property
    def base_name(self) -> str:
        """The name without folders and archive."""
        return re.split(r"[/\\!]", self.name)[-1]

    def sha256(self, limits: InputLimits = LIMITS) -> str:
        """Return the hash of the content after decompression: `x.txt` and `x.txt.gz` are the same content."""
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

    def head(self, size: int = 1 << 16, limits: InputLimits = LIMITS) -> list[str]:
        """Return the lines of the first ``size`` bytes, for telling the format."""
        reader = self.open(limits)
        for block in reader.blocks(size):
            block = reader.without_bom(block)
            # The last line may be cut off; with few lines it is worth more than it misleads.
            cut = block.rfind(b"\n") + 1 if block.count(b"\n") > 20 else len(block)
            return reader.clean(block[:cut]).decode("utf-8", "replace").removesuffix("\n").split("\n")
        return []


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
    """

    def __init__(self, source: Source, limits: InputLimits = LIMITS) -> None:
        self.source = source
        self.limits = limits
        self.bytes_read = 0
        self.lines_read = 0
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
        for _, block in self.whole_lines():
            yield from block.decode().split("\n")

    def whole_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole clean lines, without the last line feed, with their first line number."""
        first, carry = True, b""
        for block in self.blocks():
            if first:
                block, first = self.without_bom(block), False
            cut = block.rfind(b"\n") + 1
            if not cut:
                carry += block
                # A character takes four bytes at most, and the carry is not decoded yet.
                if len(carry) > 4 * self.limits.line_length:
                    self._fail(f"a line is longer than {self.limits.line_length} characters", 1)
                continue
            text = self._checked(carry + block[:cut])
            self._count_line_feeds(text)
            lines = text[:-1]
            carry = block[cut:]
            yield self.lines_read + 1, lines
            self.lines_read += lines.count(b"\n") + 1
        if carry:
            self._line_feeds = 0
            yield self.lines_read + 1, self._checked(carry)
            self.lines_read += 1

    def _count_line_feeds(self, text: bytes) -> None:
        """Count those that end the text so far."""
        size = len(text)
        while size and text[size - 1] == 10:
            size -= 1
        self._line_feeds = len(text) - size + (self._line_feeds if not size else 0)

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the decompressed bytes, never more than ``size`` at once."""
        source, expanded = self.source, 0
        with ExitStack() as stack:
            try:
                stream, counter = open_stream(source.path, source.compression, source.member, stack)
                # A zip has been read at its end before: that is no progress.
                start = counter.count
                while block := stream.read(size):
                    expanded += len(block)
                    self.bytes_read = counter.count - start
                    if source.compression:
                        self._check_expansion(expanded)
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
        """Return the first block without its byte order mark; refuse that of UTF-16."""
        if block.startswith((b"\xff\xfe", b"\xfe\xff")):
            self._fail("this is UTF-16, not UTF-8; convert it with `iconv -f UTF-16 -t UTF-8`", 1)
        if block.startswith(b"\xef\xbb\xbf"):
            logger.info("%s: byte order mark stripped", self.source.name)
            self._byte_order_mark = True
            return block[3:]
        return block

    def _checked(self, block: bytes) -> bytes:
        """Return complete lines that are clean, valid UTF-8, and none of them too long."""
        text = self.clean(block)
        try:
            decoded = text.decode("utf-8")
        except UnicodeDecodeError as error:
            self._fail(_encoding_message(block, error), text.count(b"\n", 0, error.start) + 1)
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
        # One pass in C over clean text; the slow search only for the message.
        if len(block.translate(None, _CONTROL)) != len(block):
            at = block.find(b"\0")
            told = "NUL in the text; is it a binary file or UTF-16?"
            if at < 0:
                at = next(i for i, code in enumerate(block) if code in _CONTROL)
                told = f"control character U+{block[at]:04X} in the text; remove it"
            self._fail(told, block.count(b"\n", 0, at) + 1)
        return block

    def _fail(self, message: str, line: int) -> NoReturn:
        raise InputError(message, path=self.source.name, line=self.lines_read + line)


def _encoding_message(block: bytes, error: UnicodeDecodeError) -> str:
    """Name the likely encoding: bytes 80-9F are letters and quotes in Windows-1252, controls in Latin-1."""
    line = block[block.rfind(b"\n", 0, error.start) + 1 :].split(b"\n", 1)[0]
    likely = "latin-1"
    if any(0x80 <= code <= 0x9F for code in line):
        likely = "cp1252"
    byte = block[error.start]
    return (
        f"byte 0x{byte:02x} is not UTF-8; it looks like {likely}: convert with `iconv -f {likely} -t UTF-8`"
    )


def expand(paths: Sequence[str], limits: InputLimits = LIMITS) -> Iterator[Source]:
    """Yield the sources that the arguments name: files, folders, globs, `-` and archives.

    Folders are walked recursively in sorted order without hidden files and folders, and without what belongs
    to a store; a zip archive gives a source for each member. All arguments are looked up before the first
    source is yielded.

    Raises:
        InputError: An argument names nothing.
    """
    files = [found for path in paths for found in _find(path)]
    if not files:
        raise InputError("no input; name files, folders or `-`")
    return (source for path, explicit in files for source in _sources(path, explicit, limits))


def place_of(name: str) -> str:
    """Return the name of a source as it is found from any folder: with an absolute path, but for `-`.

    Raises:
        InputError: it is no text, so that it cannot be stored.
    """
    path, mark, member = name.partition("!")
    place = name if name == "-" else f"{os.path.abspath(path)}{mark}{member}"
    if not _is_text(place):
        part = "name" if not _is_text(name) else "folder"
        raise InputError(
            f"the {part} of this file is not UTF-8; rename it", path=name if part == "name" else place
        )
    return place


def _is_text(name: str) -> bool:
    # Bytes that are no UTF-8 come as halves of surrogate pairs.
    return not any("\ud800" <= character <= "\udfff" for character in name)


def source_at(name: str, limits: InputLimits = LIMITS) -> Source:
    """Return the one source with exactly this name (`archive.zip!member` included)."""
    path, mark, member = name.partition("!")
    if os.path.exists(name) or not mark:
        return next(_sources(name, True, limits))
    for source in _sources(path, True, limits):
        if source.member == member:
            return source
    raise InputError("no such file", path=name)


def _find(path: str) -> list[tuple[str, bool]]:
    if path == "-" or (os.path.exists(path) and not os.path.isdir(path)):
        return [(path, True)]
    if os.path.isdir(path):
        found = _walk(path)
        if not found:
            raise InputError("the folder has no files", path=path)
        return found
    if glob.has_magic(path):
        matches = sorted(match for match in glob.glob(path, recursive=True) if not os.path.isdir(match))
        if not matches:
            raise InputError("no file matches", path=path)
        return [(match, True) for match in matches]
    raise InputError("no such file or folder", path=path)


def _walk(folder: str) -> list[tuple[str, bool]]:
    found = []
    for parent, folders, names in os.walk(folder):
        files = set(names)
        folders[:] = sorted(name for name in folders if not _passed_over(parent, name, files))
        full = (os.path.join(parent, name) for name in names if not _passed_over(parent, name, files))
        found += [(path, False) for path in full if os.path.isfile(path)]
    return sorted(found)


def _passed_over(parent: str, name: str, files: Set[str]) -> bool:
    """Say whether a file or folder is hidden, or belongs to a store beside it, as STORE.lock does."""
    dots = (place for place, character in enumerate(name) if character == ".")
    return any(
        not dot or (name[:dot] in files and _is_duckdb(os.path.join(parent, name[:dot]))) for dot in dots
    )


def _is_duckdb(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def _sources(path: str, explicit: bool, limits: InputLimits) -> Iterator[Source]:
    if path == "-" or not os.path.isfile(path):
        yield _spooled(path, limits)
        return
    try:
        with open(path, "rb") as file:
            compression = compression_of(file.read(6))
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", path=path) from error
    if path.endswith((".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")):
        raise InputError("tar archives are not read; unpack it and name the folder", path=path)
    if compression == "zip":
        yield from _members(path, limits)
    else:
        yield Source(path, path, os.path.getsize(path), compression, explicit=explicit)


def _members(path: str, limits: InputLimits) -> Iterator[Source]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
    except BROKEN as error:
        raise InputError(f"cannot read this zip: {error}", path=path) from error
    if len(members) > limits.archive_members:
        raise InputError(f"more than {limits.archive_members} members; unpack it", path=path)
    shown = [info for info in members if not _hidden(info.filename)]
    if not shown:
        raise InputError("the archive has no files", path=path)
    # Sorted as a folder is: repacking an archive does not change the order of a corpus.
    for info in sorted(shown, key=lambda info: info.filename):
        member = info.filename
        name = f"{path}!{member}"
        if member.lower().endswith((*COMPRESSED, ".zip")):
            raise InputError("an archive inside an archive is not read; unpack it", path=name)
        yield Source(name, path, info.compress_size, "zip", member, explicit=False)


def _hidden(member: str) -> bool:
    return any(part.startswith(".") and part != ".." for part in member.split("/")) or "__MACOSX" in member


def _spooled(path: str, limits: InputLimits) -> Source:
    """Copy a stream that can be read only once to a temporary file that lives as long as its source."""
    # Written here, and opened again by its name.
    with ExitStack() as stack:
        spool = stack.enter_context(tempfile.NamedTemporaryFile(prefix="sentgen-", delete=False))
        temporary.hold(spool.name, os.unlink)
        weakref.finalize(spool, temporary.remove_held, os.path.abspath(spool.name))
        stream = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
        size = 0
        while block := stream.read(BLOCK_BYTES):
            size += spool.write(block)
            if size > limits.expanded_bytes:
                raise InputError(f"more than {limits.expanded_bytes} bytes, the limit", path=path)
        spool.seek(0)
        compression = compression_of(spool.read(6))
    if compression == "zip":
        raise InputError("a zip archive cannot come through a pipe; name the file", path=path)
    return Source(path, spool.name, size, compression, _spool=spool)
