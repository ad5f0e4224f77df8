"""One writer of a lake at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sentgen.schema import folders
from sentgen.schema.durability import write_lock
from sentgen.schema.lakes.places import Place


@contextmanager
def locked(lake: Place, work: Path) -> Iterator[None]:
    """Keep others from writing a lake; the lock is beside it, or beside the work folder of one in a bucket.

    Raises:
        InUseError: another process writes it.
    """
    place = Path(lake.root)
    if lake.files is not None:
        place = work
        work.parent.mkdir(parents=True, exist_ok=True)
    lock = write_lock.wait_for(place, lambda: write_lock.take(place))
    try:
        yield
    finally:
        lock.release()


@contextmanager
def left_if_used(work: Path) -> Iterator[None]:
    """Remove a work folder of ours in which nothing was left: an empty one says nothing."""
    try:
        yield
    finally:
        if folders.is_ours(work) and folders.is_empty(work):
            folders.remove(work)
