"""The logs that a killed writer leaves beside a store, and the mark that outlives them.

The logs are gone once a writer has opened the store; the mark stands for them until it was found whole.
"""

from __future__ import annotations

from pathlib import Path

#: What DuckDB appends to the name of a store for its log, and for those of an interrupted checkpoint.
_ENDINGS = (".wal", ".wal.checkpoint", ".wal.recovery")


def logs(path: Path) -> list[Path]:
    """Return where the logs of a store may be."""
    return [path.with_name(path.name + ending) for ending in _ENDINGS]


def has_log(path: Path) -> bool:
    """Say whether a process has ended in the middle of writing the store, or is writing now."""
    return any(log.exists() for log in logs(path))


def is_suspect(path: Path) -> bool:
    """Say whether a process has ended in the middle of writing, and the store was not found whole since."""
    return _mark(path).exists() or has_log(path)


def leave(path: Path) -> None:
    """Leave the mark if there is a log."""
    if has_log(path):
        # Before DuckDB opens the store: it replays the log and removes it, and with it the evidence.
        _mark(path).touch()


def clear(path: Path) -> None:
    """Take the mark away: the store is whole, or the user knows what is not."""
    _mark(path).unlink(missing_ok=True)


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.suspect")
