"""Keep the blocks that a commit may rewrite where they lie, until it is done.

DuckDB writes the new state of a file beside the old one and then switches to it by its header, with one
exception: the catalog and the lists of row groups share blocks of 256 KiB with those of the state before, and
such a block is written over as a whole. A kill (or a power cut) may end that write in the middle: the header
still wants the block, its checksum is wrong, and the store does not open at all. This was seen once in 1,000
kills, and has nothing to do with the log; all versions write so (`duckdb_faults`).

So the shared blocks are copied into a journal beside the store before each commit. The next process that
opens the store puts them back, if the header has not moved since: nothing else that it refers to has changed.
This is the rollback journal of SQLite, for few blocks.
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

# A block without free parts has no room for the next state, and is not rewritten where it lies.
_SHARED = "select block_id, free_list from pragma_metadata_info() where free_blocks > 0"
#: Puts blocks back in a process of its own.
RESTORE = f"import runpy; runpy.run_path({block_restore.__file__!r}, run_name='__main__')"
# DuckDB names the parts that are free; the journal, those in use.
_ALL = (1 << block_restore.PARTS) - 1


def journal_of(path: Path) -> Path:
    """Return where the journal of a store is."""
    return path.with_name(f"{path.name}.journal")


@contextmanager
def keep_blocks(duck: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    """Keep the blocks that a commit or a checkpoint inside may rewrite; if it fails, they stay."""
    keep(duck, path)
    yield
    # In no `finally`: where a commit raised, only the header tells how far it came, at the next opening.
    journal_of(path).unlink(missing_ok=True)


def keep(duck: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the journal, if there are blocks to be kept."""
    rows = duck.execute(_SHARED).fetchall() if LAYOUT_IS_KNOWN and files.READ_WHILE_WRITTEN else ()
    shared = [(number, _ALL - sum(1 << part for part in free)) for number, free in rows]
    if not shared:
        return
    # From the file: the buffers of DuckDB may hold the next state, and the header refers to the last one.
    blocks = block_restore.Journal.read(_descriptor(path), shared)
    with journal_of(path).open("wb") as file:
        file.write(blocks.packed())
        file.flush()
        # On the disk before the first block is rewritten: after a power cut, one of the two must be whole.
        os.fsync(file.fileno())
    # Its name, too: a journal that no folder has is none.
    files.sync_folder(path.parent)


def _descriptor(path: Path) -> int:
    """Return the descriptor that DuckDB has of the file: to open it and close it would give up its lock."""
    if descriptors := files.descriptors_of(path):
        return descriptors[0]
    file = path.stat()
    # By device and inode: a compaction puts another file under the same name.
    return _open_for_good(os.path.realpath(path), file.st_dev, file.st_ino)


def _is_closed_here(path: Path) -> bool:
    """Say whether it is sure that this process has the file not open, so that closing it gives up no lock."""
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
            block_restore.put_back(str(path), str(journal))  # if it is in use, DuckDB will say so
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
    """Put back what an interrupted commit has half rewritten; where that fails, the next opening does it."""
    with suppress(OSError):
        journal = journal_of(path)
        if journal.exists() and _is_closed_here(path):
            block_restore.put_back(str(path), str(journal))


def alone(program: str, *words: str) -> str:
    """Run a program of Python in a process of its own, and return why it failed.

    A process that closes a file gives up its locks on it, and those of DuckDB are taken with the file.
    """
    # -I and -S: of packages it has this one alone, and nothing from the current folder should run.
    path = f"import sys; sys.path.append({os.path.dirname(sentgen.__path__[0])!r})"
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", f"{path}\n{program}", *words]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    last_line = done.stderr.strip().rpartition("\n")[2]
    return (last_line or f"it ended with {done.returncode}") if done.returncode else ""
