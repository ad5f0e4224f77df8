"""What Windows refuses to do with files, played in Linux.

Nothing is replaced, renamed or removed that this process has open or mapped, or that is read-only, and only
what can be written is synced. What other processes have open is not looked at, and neither the names of files
nor the console are those of Windows.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import pytest

from sentgen.schema import maintenance
from sentgen.system import files

_replace, _rename, _unlink, _fsync = os.replace, os.rename, os.unlink, os.fsync


def play(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse what Windows refuses, until the test ends."""

    def replacing(source: Any, target: Any, **folders: Any) -> None:
        _refuse_open(source)
        _refuse_open(target)
        _refuse_read_only(target)
        _replace(source, target, **folders)

    def renaming(source: Any, target: Any, **folders: Any) -> None:
        _refuse_open(source)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "[WinError 183] the file already exists", str(target))
        _rename(source, target, **folders)

    def removing(path: Any, *, dir_fd: int | None = None) -> None:
        whole = path if dir_fd is None else os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), path)
        _refuse_open(whole)
        _refuse_read_only(whole)
        _unlink(path, dir_fd=dir_fd)

    def syncing(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)  # only Linux syncs them: `files.sync_folder`
        if not (is_folder or _is_writable(descriptor)):
            raise OSError(errno.EBADF, "Bad file descriptor")
        _fsync(descriptor)

    for name, rule in (
        ("replace", replacing),
        ("rename", renaming),
        ("unlink", removing),
        ("remove", removing),
    ):
        monkeypatch.setattr(os, name, rule)
    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(files, "READ_WHILE_WRITTEN", False)
    monkeypatch.setattr(maintenance, "READ_WHILE_WRITTEN", False)
    # These alone: locks need what Linux has not, and `tests/system` has a stand-in for them.
    windows = {**vars(files), "sys": SimpleNamespace(platform="win32"), "_PATIENCE": 0.2}
    for function in (files._patiently, files.remove_locked):
        monkeypatch.setattr(files, function.__name__, FunctionType(function.__code__, windows))


def _refuse_open(path: Any) -> None:
    if os.path.lexists(path) and _is_open(Path(path).stat(follow_symlinks=False)):
        raise PermissionError(
            errno.EACCES, "[WinError 32] the file is used by another process", os.fspath(path)
        )


def _is_open(file: os.stat_result) -> bool:
    """Say whether this process has a file open, or mapped."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        try:
            if os.path.samestat(os.fstat(descriptor), file):
                return True
        except OSError:  # it was that of the list
            continue
    mapped = Path("/proc/self/maps").read_text("utf-8").splitlines()
    device = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}"
    return any(line.split()[3:5] == [device, str(file.st_ino)] for line in mapped)


def _refuse_read_only(path: Any) -> None:
    if os.path.lexists(path) and not os.lstat(path).st_mode & 0o200:
        raise PermissionError(errno.EACCES, "[WinError 5] access is denied", os.fspath(path))


def _is_writable(descriptor: int) -> bool:
    flags = Path(f"/proc/self/fdinfo/{descriptor}").read_text("utf-8").split("flags:")[1].split()[0]
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
