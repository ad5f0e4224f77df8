"""Back up the blocks that a commit may overwrite in place, until the commit is complete.

DuckDB writes the new state of a file to free blocks and then switches to it by its header, with one
exception: the catalog and the lists of row groups share blocks of 256 KiB with those of the previous state,
and such a block is overwritten as a whole. A kill (or a power cut) may interrupt that write: the header still
refers to the block, its checksum is wrong, and the store does not open at all. This was seen once in 1,000
kills, and has nothing to do with the log; all versions write so (`duckdb_faults`).

So the shared blocks are copied into a journal beside the store before each commit. The next process that
opens the store restores them, unless the header has changed since; nothing else that the header refers to has
been overwritten. This is the rollback journal of SQLite, for a few blocks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import duckdb

import sentgen
from sentgen.errors import StoreError
from sentgen.schema import folders
from sentgen.schema.durability import block_restore
from sentgen.schema.durability.duckdb_faults import LAYOUT_IS_KNOWN
from sentgen.system import files

# A block without free parts has no room for the next state, and is not overwritten.
_SHARED = "select block_id, free_list from pragma_metadata_info() where free_blocks > 0"
#: The program that restores blocks in a process of its own.
RESTORE = f"import runpy; runpy.run_path({block_restore.__file__!r}, run_name='__main__')"
# DuckDB names the parts that are free; the journal, those in use.
_ALL = (1 << block_restore.PARTS) - 1


def journal_of(path: Path) -> Path:
    """Return the path of the journal of a store."""
    return path.with_name(f"{path.name}.journal")


@contextmanager
def keep_blocks(duck: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    """Back up the blocks that a commit or a checkpoint within may overwrite; after an error, they stay."""
    keep(duck, path)
    yield
    # Not in a `finally`: after an error, the next opening finds by the header if the commit was complete.
    journal_of(path).unlink(missing_ok=True)


def keep(duck: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the journal, if there are blocks to back up."""
    rows = duck.execute(_SHARED).fetchall() if LAYOUT_IS_KNOWN and files.READ_WHILE_WRITTEN else ()
    shared = [(number, _ALL - sum(1 << part for part in free)) for number, free in rows]
    if not shared:
        return
    # From the file, as buffers of DuckDB may have the next state; the header refers to the previous one.
    blocks = block_restore.Journal.read(_descriptor(path), shared)
    with journal_of(path).open("wb") as file:
        file.write(blocks.packed())
        file.flush()
        # Synced before the first block is overwritten: after a power cut, journal or block must be complete.
        os.fsync(file.fileno())
    # The folder, too: without its name, the journal would be lost.
    files.sync_folder(path.parent)


def _descriptor(path: Path) -> int:
    """Return DuckDB's own descriptor of the file, as opening and closing another would give up its lock."""
    if descriptors := files.descriptors_of(path):
        return descriptors[0]
    file = path.stat()
    # By device and inode, as a compaction replaces the file of that name.
    return _open_for_good(os.path.realpath(path), file.st_dev, file.st_ino)


def _is_closed_here(path: Path) -> bool:
    """Return whether this process certainly does not have the file open, so that closing gives up no lock."""
    return files.descriptors_of(path) == []


@cache
def _open_for_good(path: str, _device: int, _inode: int) -> int:
    return os.open(path, os.O_RDONLY)


def put_back(path: Path) -> None:
    """Restore the blocks that a killed commit has half rewritten, unless a process is still writing.

    Raises:
        StoreError: blocks have to be restored, but the store cannot be written; or a file of another program
            has the name of the journal.
    """
    journal = journal_of(path)
    try:
        if not block_restore.is_ours(str(journal)):
            raise folders.in_the_way(journal)
    except FileNotFoundError:
        return
    # The store was removed, its journal was not; a new store of that name has nothing to do with it.
    if not path.exists():
        journal.unlink(missing_ok=True)
        return
    reason = ""
    try:
        if _is_closed_here(path):
            block_restore.put_back(str(path), str(journal))  # does nothing if the store is in use
        else:
            reason = alone(RESTORE, str(path), str(journal))
    except OSError as error:
        reason = str(error)
    if reason:
        raise StoreError(
            f"{path}: a crash left a commit half written, which cannot be taken back ({reason});"
            " open the store once where it can be written, with: sentgen db check"
        )


def put_back_closed(path: Path) -> None:
    """Restore the blocks of an interrupted commit; if that fails, the next opening restores them."""
    with suppress(OSError):
        journal = journal_of(path)
        if journal.exists() and _is_closed_here(path):
            block_restore.put_back(str(path), str(journal))


def alone(program: str, *words: str) -> str:
    """Run a program of Python in a process of its own, and return why it failed.

    A process that closes a file gives up its locks on it, and those of DuckDB are taken with the file.
    """
    # -I and -S: it needs no package but sentgen, and must run nothing from the current folder.
    path = f"import sys; sys.path.append({os.path.dirname(sentgen.__path__[0])!r})"
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", f"{path}\n{program}", *words]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    last_line = done.stderr.strip().rpartition("\n")[2]
    return (last_line or f"it ended with {done.returncode}") if done.returncode else ""
