"""What is written to: the descriptors that paths name, and the mode and owner of a file that is replaced."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

#: Links that lead from one to the next, as Linux bounds them.
_MOST_LINKS = 40


def descriptor_named(path: Path) -> int | None:
    """Return the descriptor of this process that a path names, as ``/dev/stdout`` does; nothing if none.

    It has a place and a mode of writing, which opening the path again would lose.
    """
    if sys.platform == "win32":
        return None
    place = str(path)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(place)
        if name.isascii() and name.isdecimal() and _has_descriptors(os.path.realpath(folder)):
            return int(name)
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


def _has_descriptors(folder: str) -> bool:
    own = folder.startswith(f"/proc/{os.getpid()}/") and folder.endswith("/fd")
    return own or folder == "/dev/fd"


def may_be_written(path: Path, status: os.stat_result) -> bool:
    """Say whether a file may be written; one that nobody may write to is not to be, by root neither."""
    return bool(status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)) and os.access(path, os.W_OK)


def take_over(descriptor: int, status: os.stat_result) -> None:
    """Give a new file the mode of another, and its owner and group as far as this user may."""
    if sys.platform == "win32":
        return
    # The owner first: a file that changes hands loses parts of its mode.
    for owner in (status.st_uid, -1):
        with suppress(PermissionError):
            os.fchown(descriptor, owner, status.st_gid)
            break
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
