"""What sentgen makes up for in DuckDB 2, why, and until when."""

from __future__ import annotations

from pathlib import Path

import duckdb

_VERSION = tuple(map(int, duckdb.__version__.split(".")[:2]))

#: A commit writes the new state beside the old one and switches to it by one write to the header of a file.
#: A log would be another thing to lose: the disk may write its pages in any order, and after a power cut no
#: version opens a store whose log has a hole in a transaction that did not end (seen in 2.0.0 and 2.0.1).
#: From 2.0.1 on, 97 bytes of log say that a checkpoint begins, and nothing of the transaction: lost or torn,
#: they change nothing. Where they cannot be written, as where a folder has the name, the database fails.
WITHOUT_LOG = {"checkpoint_threshold": "0B", "auto_checkpoint_skip_wal_threshold": "0"}

#: A new file of 2.0.0 and 2.0.1 has 999 for its version, which is that of no release: whether a later one
#: opens it, nobody says. So it is of one that has a number: that of 1.4, with which all was measured. A file
#: that is there keeps its version.
STORAGE_VERSION = {"storage_compatibility_version": "v1.4.0"}

#: A checkpoint writes over blocks of the catalog that the state before needs, so that a kill within leaves a
#: file that does not open: 2.0.0 and 2.0.1 do, and nobody has reported it. `block_journal` keeps such blocks;
#: `block_restore` reads and writes the file for that, whose layout is known of these versions. Waits for a
#: version with which `tests/schema/test_block_journal.py` finds no file that it cannot open.
LAYOUT_IS_KNOWN = _VERSION < (2, 1)


#: What DuckDB appends to the name of a store for its log, and for those of an interrupted checkpoint.
_ENDINGS = (".wal", ".wal.checkpoint", ".wal.recovery")


def log_of(path: Path) -> Path:
    """Return where DuckDB keeps the log of a store."""
    return path.with_name(f"{path.name}.wal")


def logs_of(path: Path) -> list[Path]:
    """Return where DuckDB keeps the log of a store, and those of an interrupted checkpoint."""
    return [path.with_name(path.name + ending) for ending in _ENDINGS]
