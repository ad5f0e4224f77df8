"""The logs that a killed writer leaves beside a store, and the mark that outlives them.

The logs are gone once a writer has opened the store; the mark stands for them until it was found whole.
"""

from __future__ import annotations

from pathlib import Path

from sentgen.schema import folders
from sentgen.schema.durability.duckdb_faults import TORN_LOGS_COME_BACK
from sentgen.system import files

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
    return _is_marked(path) or (TORN_LOGS_COME_BACK and has_log(path))


def leave(path: Path) -> None:
    """Leave the mark if there is a log.

    Raises:
        StoreError: there is another file of its name.
    """
    if not is_suspect(path) or _is_marked(path):
        return
    if _mark(path).exists():
        raise folders.in_the_way(_mark(path))
    # Before DuckDB opens the store: it replays the log and removes it, and with it the evidence.
    _mark(path).touch()
    files.sync_folder(path.parent)


def clear(path: Path) -> None:
    """Take the mark away: the store is whole, or the user knows what is not."""
    if _is_marked(path):
        _mark(path).unlink(missing_ok=True)


def _is_marked(path: Path) -> bool:
    mark = _mark(path)
    return mark.is_file() and not mark.stat().st_size  # one with something in it is another's


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.suspect")
