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
#: Offsets of the two headers, of which that with the higher iteration is valid, and of the first block.
_HEADERS, _BLOCKS = (4096, 8192), 12288
_USUAL_SIZE = 1 << 18
#: Number of parts of a shared block, which follow its checksum; and bytes of the checksum.
PARTS, _CHECKSUM = 64, 8
#: Mark, CRC of the rest, iteration, bytes of a block, number of blocks. Behind these are the number and the
#: used parts of each block, and then the blocks.
_JOURNAL = struct.Struct("<8sQQQQ")
_MARK = b"sentgen1"


@dataclass(frozen=True, slots=True)
class SavedBlock:
    """The content of a block before a commit; bit i of ``used`` is set if part i is in use."""

    number: int
    used: int
    data: bytes

    def parts(self, data: bytes) -> list[bytes]:
        """Return the parts of other data that are in use in this block."""
        # DuckDB cuts a block into equal parts, rounded down to 8 bytes.
        size = (len(data) - _CHECKSUM) // PARTS // 8 * 8
        starts = (_CHECKSUM + part * size for part in range(PARTS) if self.used >> part & 1)
        return [data[at : at + size] for at in starts]


@dataclass(frozen=True, slots=True)
class Journal:
    """The content of blocks in one iteration of a file."""

    iteration: int
    size: int
    blocks: tuple[SavedBlock, ...]

    def packed(self) -> bytes:
        """Return the journal as the bytes of its file."""
        table = [number for block in self.blocks for number in (block.number, block.used)]
        body = struct.pack(f"<{len(table)}Q", *table) + b"".join(block.data for block in self.blocks)
        head = (self.iteration, self.size, len(self.blocks))
        return _JOURNAL.pack(_MARK, _crc(head, body), *head) + body

    @classmethod
    def unpack(cls, data: bytes) -> Journal | None:
        """Read what `Journal.packed` returns; ``None`` if it is incomplete, as then no commit had begun."""
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
        """Read blocks of an open file from the disk, by their numbers and the parts in use."""
        iteration, size = _newest(store)
        blocks = (SavedBlock(number, used, _read(store, number, size)) for number, used in wanted)
        return cls(iteration, size, tuple(block for block in blocks if len(block.data) == size))


def _crc(head: tuple[int, int, int], body: bytes) -> int:
    # The iteration is included: with a wrong one, old blocks would be restored after a complete commit.
    return zlib.crc32(body, zlib.crc32(struct.pack("<3Q", *head)))


def _newest(store: int) -> tuple[int, int]:
    """Return the iteration of the valid header of an open file, and the bytes of a block."""
    read = [read_at(store, _HEADER.size, at) for at in _HEADERS]
    headers = [_HEADER.unpack(header) for header in read if len(header) == _HEADER.size]
    _, iteration, *_, size = max(headers, key=lambda header: header[1], default=(0, 0, 0))
    return iteration, size or _USUAL_SIZE


def _read(store: int, number: int, size: int) -> bytes:
    return read_at(store, size, _BLOCKS + number * size)


def _is_needed(store: int, journal: Journal) -> bool:
    """Return whether the commit of a journal has overwritten blocks of it and is incomplete.

    A commit changes only parts that were free. If others differ, the file is another one of the same name.
    """
    # The header has changed: the commit is complete, and refers to the blocks as they are now.
    if _newest(store) != (journal.iteration, journal.size):
        return False
    now = [_read(store, block.number, journal.size) for block in journal.blocks]
    pairs = list(zip(journal.blocks, now, strict=True))
    return any(block.data != data for block, data in pairs) and all(
        block.parts(block.data) == block.parts(data) for block, data in pairs
    )


def _restore(store: int, journal: Journal) -> None:
    for block in journal.blocks:
        write_at(store, block.data, _BLOCKS + block.number * journal.size)
    # Synced before the journal is removed, which until then is the only complete copy.
    os.fsync(store)


def is_ours(journal_path: str) -> bool:
    """Return whether a file is a journal, or the beginning of one, and not a file of another program."""
    try:
        with open(journal_path, "rb") as file:
            return _MARK.startswith(file.read(len(_MARK)).rstrip(b"\0"))  # a power cut leaves zeros
    except PermissionError:  # the journal of another user, who writes to the store
        return True
    except IsADirectoryError:
        return False


def put_back(path: str, journal_path: str) -> None:
    """Restore blocks where that is needed, and remove the journal, unless the store is in use.

    Raises:
        OSError: the store has to be restored, and cannot be written.
    """
    writable = os.access(path, os.W_OK)
    # Another process that has the store open may be within a commit, and still need its journal.
    if (store := open_alone(path, writable=writable)) is None:
        return
    try:
        with open(journal_path, "rb") as file:
            journal = Journal.unpack(file.read())
        if journal is not None and _is_needed(store, journal):
            _restore(store, journal)
        # A user who may only read the store leaves the journal, which does no harm.
        if writable:
            with suppress(OSError):
                os.unlink(journal_path)
    except FileNotFoundError:  # another process has restored the blocks and removed the journal
        pass
    finally:
        os.close(store)


if __name__ == "__main__":
    try:
        put_back(*sys.argv[1:])
    except OSError as error:
        sys.exit(str(error))
