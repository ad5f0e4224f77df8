"""Faults of DuckDB 2 that sentgen works around, why, and until when."""

from __future__ import annotations

from pathlib import Path

import duckdb

_VERSION = tuple(map(int, duckdb.__version__.split(".")[:2]))

#: A commit writes the new state to free blocks and switches to it by one write to the header of the file. A
#: log would be a further risk: the disk may write its pages in any order, and after a power cut no version
#: opens a store whose log has a hole in an incomplete transaction (seen in 2.0.0 and 2.0.1). From 2.0.1 on,
#: DuckDB still writes 97 bytes of log that announce a checkpoint and have no data: it does no harm if they
#: are lost or torn. If they cannot be written, as when a folder has that name, the database fails.
WITHOUT_LOG = {"checkpoint_threshold": "0B", "auto_checkpoint_skip_wal_threshold": "0"}

#: By default, 2.0.0 and 2.0.1 make files of version 999, which belongs to no release, and later releases may
#: refuse them. So new files have the version of 1.4, with which all was measured; existing files keep theirs.
STORAGE_VERSION = {"storage_compatibility_version": "v1.4.0"}

#: In 2.0.0 and 2.0.1, a checkpoint overwrites blocks of the catalog that the previous state needs; a kill
#: leaves a file that does not open. Nobody has reported it yet. `block_journal` backs up such blocks, and
#: `block_restore` reads and writes the file, whose layout is known for these versions. Needed until a version
#: with which `tests/schema/test_block_journal.py` finds no file that does not open.
LAYOUT_IS_KNOWN = _VERSION < (2, 1)


#: Endings of the names of logs, which DuckDB adds to that of the store; two are of interrupted checkpoints.
_ENDINGS = (".wal", ".wal.checkpoint", ".wal.recovery")


def log_of(path: Path) -> Path:
    """Return the path of DuckDB's log for a store."""
    return path.with_name(f"{path.name}.wal")


def logs_of(path: Path) -> list[Path]:
    """Return the paths of DuckDB's log for a store, and of the logs of an interrupted checkpoint."""
    return [path.with_name(path.name + ending) for ending in _ENDINGS]
