"""What Windows refuses to do with files, played in Linux: in this process, or in all that a test starts.

Nothing is replaced, renamed or removed that is open or mapped, or that is read-only; folders are not opened;
what DuckDB writes nobody else opens, and what it reads nobody writes. Only what can be written is synced. Text
has lines that end in CR LF and is in cp1252, unless it is said otherwise. There is no `os.fork`, and what
depends on the system takes the branches for Windows. No file gets a name that Windows does not give, or that of
another but for its case. Paths are those of Linux.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import psutil

from sentgen.system import files, processes

if TYPE_CHECKING:
    import pytest

_replace, _rename, _unlink, _fsync, _open = os.replace, os.rename, os.unlink, os.fsync, os.open
_open_file, _set_wakeup_fd, _mkdir = io.open, signal.set_wakeup_fd, os.mkdir
#: Of devices, with whatever behind a point; with characters that mean something else; with an end that is lost.
_NO_NAME = re.compile(r'^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|[<>:"|?*\\\0-\x1f]|[. ]$', re.IGNORECASE)
_IN_USE = "[WinError 32] the file is used by another process"
#: All Python processes that have this folder on PYTHONPATH play by the rules, and know of each other's files.
_folder = ""


def play(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse what Windows refuses, until the test ends."""
    from sentgen.schema import maintenance

    for place, name, value in _rules():
        monkeypatch.setattr(place, name, value, raising=False)
    monkeypatch.setattr(maintenance, "READ_WHILE_WRITTEN", False)
    monkeypatch.setattr(files, "_PATIENCE", 0.2)
    monkeypatch.setitem(sys.modules, "msvcrt", _msvcrt())
    monkeypatch.delattr(os, "fork")


def environment(folder: Path) -> dict[str, str]:
    """Return the variables that have commands play by the rules, with all that they start."""
    folder.mkdir()
    lines = (
        "import sys",
        f"sys.path.append({str(Path(__file__).parent)!r})",
        "import windows_rules",
        f"windows_rules.play_for_good({str(folder)!r})",
    )
    (folder / "sitecustomize.py").write_text("\n".join(lines), "utf-8")
    root = Path(__file__).parents[1]
    return {"PYTHONPATH": f"{folder}:{root}", "PYTHONIOENCODING": "cp1252"}


def play_for_good(folder: str) -> None:
    """Play by the rules until this process ends."""
    global _folder
    _folder = folder
    for place, name, value in _rules():
        setattr(place, name, value)
    sys.modules["msvcrt"] = _msvcrt()
    sys.modules["uvloop"] = None  # type: ignore[assignment]  # there is none
    del os.fork
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(newline="\r\n")  # type: ignore[union-attr]


def _rules() -> Iterator[tuple[Any, str, object]]:
    yield from ((os, "replace", _replacing), (os, "rename", _renaming))
    yield from ((os, name, _removing) for name in ("unlink", "remove"))
    yield from ((os, "fsync", _syncing), (os, "open", _opening), (os, "mkdir", _making))
    yield from ((module, "open", _opening_file) for module in (builtins, io))
    yield shutil, "_use_fd_functions", False
    yield from ((module, "sys", SimpleNamespace(platform="win32")) for module in (files, processes))
    yield files, "READ_WHILE_WRITTEN", False
    # What stands for what only Windows has, and a pipe for signals that may block.
    yield signal, "set_wakeup_fd", _wakening
    yield signal, "SIGBREAK", signal.SIGTERM
    yield subprocess, "CREATE_NEW_PROCESS_GROUP", 0
    yield psutil, "BELOW_NORMAL_PRIORITY_CLASS", 5


def _replacing(source: Any, target: Any) -> None:
    _refuse_open(source)
    _refuse_open(target)
    _refuse_read_only(target)
    refuse_name(target)
    _replace(source, target)


def _making(path: Any, mode: int = 0o777) -> None:
    refuse_name(path)
    _mkdir(path, mode)


def _renaming(source: Any, target: Any) -> None:
    _refuse_open(source)
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "[WinError 183] the file already exists", os.fspath(target))
    refuse_name(target)
    _rename(source, target)


def _removing(path: Any) -> None:
    _refuse_open(path)
    _refuse_read_only(path)
    _unlink(path)


def _wakening(descriptor: int, **options: bool) -> int:
    if descriptor >= 0:
        os.set_blocking(descriptor, False)
    return _set_wakeup_fd(descriptor, **options)


def _syncing(descriptor: int) -> None:
    flags = Path(f"/proc/self/fdinfo/{descriptor}").read_text("utf-8").split("flags:")[1].split()[0]
    if int(flags, 8) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "Bad file descriptor")
    _fsync(descriptor)


def _opening(path: Any, flags: int, mode: int = 0o777, **folder: int) -> int:
    nameless = flags & os.O_TMPFILE == os.O_TMPFILE  # a temporary file of the standard library
    if not nameless:
        _refuse_to_open(path, writing=flags & os.O_ACCMODE != os.O_RDONLY)
    return _open(path, flags, mode, **folder)


def _opening_file(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Callable[[str, int], int] | None = None,
) -> Any:
    if "b" not in mode:
        encoding = "cp1252" if encoding in (None, "locale") else encoding
        newline = "\r\n" if newline is None and set(mode) & set("wax") else newline
    if not isinstance(file, int) and opener is None:
        _refuse_to_open(file, writing=bool(set(mode) & set("wax+")))
    return _open_file(file, mode, buffering, encoding, errors, newline, closefd, opener)


def _refuse_to_open(path: Any, *, writing: bool) -> None:
    """Refuse a folder, and what DuckDB has open: the only one to lock files in this way."""
    try:
        file = os.stat(path)
    except OSError:
        if writing:
            refuse_name(path)
        return
    if stat.S_ISDIR(file.st_mode):
        raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
    with _open_file("/proc/locks", encoding="utf-8") as locks:
        for _, kind, _, how, *_, held, _, _ in map(str.split, locks):
            if kind == "POSIX" and held == _inode(file) and (writing or how == "WRITE"):
                raise PermissionError(errno.EACCES, _IN_USE, os.fspath(path))


def refuse_name(path: Any) -> None:
    """Refuse a name that no new file can have."""
    folder, name = os.path.split(os.fsdecode(path))
    others = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    alike = [other for other in others if other != name and other.casefold() == name.casefold()]
    if alike or _NO_NAME.search(name):
        raise OSError(errno.EINVAL, "[WinError 123] the name of the file is wrong", os.fspath(path))


def _refuse_open(path: Any) -> None:
    """Refuse a file that is open, or a folder with one in it."""
    if not os.path.lexists(path):
        return
    below = [os.path.join(top, name) for top, _, names in os.walk(path) for name in names]
    looked_for = {(file.st_dev, file.st_ino): file for file in map(os.lstat, [path, *below])}
    mapped = {_inode(file) for file in looked_for.values()}
    for process in _processes():
        if _has_open(process, looked_for.keys(), mapped):
            raise PermissionError(errno.EACCES, _IN_USE, os.fspath(path))


def _processes() -> Iterator[str]:
    """Yield this process, and those that play by the same rules."""
    yield "self"
    for process in filter(str.isdigit, os.listdir("/proc") if _folder else ()):
        try:
            with _open_file(f"/proc/{process}/environ", "rb") as variables:
                if int(process) != os.getpid() and os.fsencode(_folder) in variables.read():
                    yield process
        except OSError:  # it has ended, or is another's
            continue


def _has_open(process: str, looked_for: Any, mapped: set[str]) -> bool:
    place = f"/proc/{process}"
    try:
        for descriptor in os.listdir(f"{place}/fd"):
            try:
                file = os.stat(f"{place}/fd/{descriptor}")
            except OSError:  # it was that of the list
                continue
            if (file.st_dev, file.st_ino) in looked_for:
                return True
        with _open_file(f"{place}/maps", encoding="utf-8") as maps:
            return any(":".join(line.split()[3:5]) in mapped for line in maps)
    except OSError:
        return False


def _inode(file: os.stat_result) -> str:
    """Return a file as /proc names it."""
    return f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"


def _refuse_read_only(path: Any) -> None:
    if os.path.lexists(path) and not os.lstat(path).st_mode & 0o200:
        raise PermissionError(errno.EACCES, "[WinError 5] access is denied", os.fspath(path))


def _msvcrt() -> ModuleType:
    """Return locks of descriptors, under the names that Windows has."""
    import fcntl

    def locking(descriptor: int, how: int, _: int) -> None:
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError as error:
            raise PermissionError(errno.EACCES, "Permission denied") from error

    made = ModuleType("msvcrt")
    vars(made).update(locking=locking, LK_NBLCK=fcntl.LOCK_EX | fcntl.LOCK_NB, LK_UNLCK=fcntl.LOCK_UN)
    return made
