"""Put the blocks of a store back that a killed commit has half rewritten; see `block_journal`.

A process that closes a file gives up all its locks on it, those of DuckDB too: where the store is open in
this process already, this is run as a program of its own, with the store and its journal.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from contextlib import suppress
from dataclasses import dataclass

from sentgen.system.files import open_alone, read_at, write_at

#: Checksum, iteration, block of the catalog, block of the free list, blocks, bytes of a block.
_HEADER = struct.Struct("<6Q")
#: Where the two headers are, of which the one with the higher iteration holds; and the first block.
_HEADERS, _BLOCKS = (4096, 8192), 12288
_USUAL_SIZE = 1 << 18
#: Parts of a shared block, behind its checksum.
PARTS, _CHECKSUM = 64, 8
#: Mark, CRC of the rest, iteration, bytes of a block, number of blocks; then their numbers, what of them is
#: in use, and the blocks.
_JOURNAL = struct.Struct("<8sQQQQ")
_MARK = b"sentgen1"


@dataclass(frozen=True, slots=True)
class SavedBlock:
    """A block as it was; bit i of ``used`` says whether the header needs part i."""

    number: int
    used: int
    data: bytes

    def parts(self, data: bytes) -> list[bytes]:
        """Return the parts in use of this block in other data."""
        # As DuckDB cuts a block: equal parts, rounded down to 8 bytes.
        size = (len(data) - _CHECKSUM) // PARTS // 8 * 8
        starts = (_CHECKSUM + part * size for part in range(PARTS) if self.used >> part & 1)
        return [data[at : at + size] for at in starts]


@dataclass(frozen=True, slots=True)
class Journal:
    """Blocks as they were in one iteration of a file."""

    iteration: int
    size: int
    blocks: tuple[SavedBlock, ...]

    def packed(self) -> bytes:
        """Return the journal as it is kept."""
        table = [number for block in self.blocks for number in (block.number, block.used)]
        body = struct.pack(f"<{len(table)}Q", *table) + b"".join(block.data for block in self.blocks)
        head = (self.iteration, self.size, len(self.blocks))
        return _JOURNAL.pack(_MARK, _crc(head, body), *head) + body

    @classmethod
    def unpack(cls, data: bytes) -> Journal | None:
        """Return what `Journal.packed` has made; nothing if it is not whole: then no commit had begun."""
        if len(data) < _JOURNAL.size or not data.startswith(_MARK):
            return None
        _, crc, iteration, size, count = _JOURNAL.unpack_from(data)
        body = data[_JOURNAL.size :]
        if len(body) != count * (16 + size) or _crc((iteration, size, count), body) != crc:
            return None
        table, start = struct.unpack_from(f"<{2 * count}Q", body), 16 * count
        blocks = (
            SavedBlock(table[2 * n], table[2 * n + 1], body[start + n * size : start + (n + 1) * size])
            for n in range(count)
        )
        return cls(iteration, size, tuple(blocks))

    @classmethod
    def read(cls, store: int, wanted: list[tuple[int, int]]) -> Journal:
        """Return blocks of an open file as on the disk; they are named by number and what is in use."""
        iteration, size = _newest(store)
        blocks = (SavedBlock(number, used, _read(store, number, size)) for number, used in wanted)
        return cls(iteration, size, tuple(block for block in blocks if len(block.data) == size))


def _crc(head: tuple[int, int, int], body: bytes) -> int:
    # The iteration is covered too: a wrong one would put old blocks under a commit that came to its end.
    return zlib.crc32(body, zlib.crc32(struct.pack("<3Q", *head)))


def _newest(store: int) -> tuple[int, int]:
    """Return the iteration of the header that holds, and the bytes of a block, of an open file."""
    read = [read_at(store, _HEADER.size, at) for at in _HEADERS]
    headers = [_HEADER.unpack(header) for header in read if len(header) == _HEADER.size]
    _, iteration, *_, size = max(headers, key=lambda header: header[1], default=(0, 0, 0))
    return iteration, size or _USUAL_SIZE


def _read(store: int, number: int, size: int) -> bytes:
    return read_at(store, size, _BLOCKS + number * size)


def _is_needed(store: int, journal: Journal) -> bool:
    """Say whether the commit that a journal was made for has changed blocks of it and not come to its end.

    A commit rewrites the parts that were free. If others differ, somebody has put another file in this place.
    """
    # The header has moved: the commit came to its end, and needs the blocks as they are now.
    if _newest(store) != (journal.iteration, journal.size):
        return False
    now = [_read(store, block.number, journal.size) for block in journal.blocks]
    pairs = list(zip(journal.blocks, now, strict=True))
    return any(block.data != data for block, data in pairs) and all(
        block.parts(block.data) == block.parts(data) for block, data in pairs
    )


def _restore(store: int, journal: Journal) -> None:
    """Write the blocks where they were."""
    for block in journal.blocks:
        write_at(store, block.data, _BLOCKS + block.number * journal.size)
    # Before the journal goes: until then it is the only whole copy.
    os.fsync(store)


def is_ours(journal_path: str) -> bool:
    """Return whether a file is a journal, or the beginning of one, and not a file of another program."""
    try:
        with open(journal_path, "rb") as file:
            return _MARK.startswith(file.read(len(_MARK)).rstrip(b"\0"))  # a power cut leaves zeros
    except PermissionError:  # of a writer who shows it to nobody, and has the store, too
        return True
    except IsADirectoryError:
        return False


def put_back(path: str, journal_path: str) -> None:
    """Restore what there is to restore, and remove the journal, unless the store is in use.

    Raises:
        OSError: the store has to be restored, and cannot be written.
    """
    writable = os.access(path, os.W_OK)
    # Whoever else has it may be within a commit, and the journal is theirs.
    if (store := open_alone(path, writable=writable)) is None:
        return
    try:
        with open(journal_path, "rb") as file:
            journal = Journal.unpack(file.read())
        if journal is not None and _is_needed(store, journal):
            _restore(store, journal)
        # Who may not write the store has no say over its journal, which does no harm where it stays.
        if writable:
            with suppress(OSError):
                os.unlink(journal_path)
    except FileNotFoundError:  # another process has done it
        pass
    finally:
        os.close(store)


if __name__ == "__main__":
    try:
        put_back(*sys.argv[1:])
    except OSError as error:
        sys.exit(str(error))
