"""Bounded reads of files, whatever their compression."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_BYTES = 1 << 20
# Level -9 of xz needs 65 MB to decompress; more is asked for by hostile files.
XZ_MEMORY = 256 * 2**20
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


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Counter(io.RawIOBase):
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


class XzStream:
    """Bounded reads of an .xz file; `lzma.LZMAFile` has no limit on the memory of the dictionary."""

    def __init__(self, raw: Readable) -> None:
        self.raw = raw
        self.pending = b""
        self.decoder = self._decoder()

    @staticmethod
    def _decoder() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

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


def compression_of(magic: bytes) -> str:
    """Return the compression that the first bytes of a file tell: `""`, `gzip`, `bz2`, `xz` or `zip`."""
    known = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"PK\3\4": "zip", b"PK\5\6": "zip"}
    return next((name for start, name in known.items() if magic.startswith(start)), "")


def open_stream(path: str, compression: str, member: str, stack: ExitStack) -> tuple[Readable, Counter]:
    """Open a file, or a member of it, and return what to read and what counts the bytes of the disk."""
    # Unbuffered: the buffer stands above the counter, which sees each read of the disk.
    raw = stack.enter_context(open(path, "rb", buffering=0))  # noqa: SIM115
    counter = Counter(raw)
    buffered = stack.enter_context(io.BufferedReader(counter, 1 << 16))
    match compression:
        case "gzip":
            return stack.enter_context(gzip.GzipFile(fileobj=buffered)), counter
        case "bz2":
            return stack.enter_context(bz2.BZ2File(buffered)), counter
        case "xz":
            return XzStream(buffered), counter
        case "zip":
            archive = stack.enter_context(zipfile.ZipFile(buffered))
            return stack.enter_context(archive.open(member)), counter
    return buffered, counter
