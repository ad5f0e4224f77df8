"""Where DuckDB keeps the log of a store; our commits write none (`duckdb_faults`), but others may."""

from __future__ import annotations

from pathlib import Path

#: What DuckDB appends to the name of a store for its log, and for those of an interrupted checkpoint.
_ENDINGS = (".wal", ".wal.checkpoint", ".wal.recovery")


def log_of(path: Path) -> Path:
    """Return where DuckDB keeps the log of a store."""
    return path.with_name(f"{path.name}.wal")


def has_log(path: Path) -> bool:
    """Say whether a process has ended in the middle of writing the store, or is writing now."""
    return any(path.with_name(path.name + ending).exists() for ending in _ENDINGS)
