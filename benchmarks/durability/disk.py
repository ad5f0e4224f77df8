"""What a disk may hold after a power cut: the writes of a process, lost, reordered and torn.

A trace of strace gives every write, sync and change of a name. What was synced is on the disk; of what was not,
anything may be: any of the writes, in pages, and any of the names. No file system does worse.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

#: How strace is called, before the command.
TRACED = (
    "strace", "--follow-forks", "--seccomp-bpf", "-qq", "-xx", "-y", "-s", "100000000", "-e", "signal=none", "-e",
    "trace=openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,unlinkat,rename,link,linkat,mkdir,rmdir",
)  # fmt: skip
#: Bytes of a page, the least that a disk writes as a whole; a header of DuckDB fits into one.
PAGE = 4096
#: So many pending writes or names are tried in all subsets, more of them in those that say most.
_FEW, _DRAWN = 4, 6

_CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += \d+", re.DOTALL)
_BYTES = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_OF_FILE = re.compile(r"\d+<((?:\\x[0-9a-f]{2})*)>")
#: A name, and the folder in which it is one, where that was opened.
_NAMED = re.compile(r'(?:(?:\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)>, )?"((?:\\x[0-9a-f]{2})*)"')

#: Place and bytes of a write; no bytes: the file is cut off there.
Write = tuple[int, bytes | None]
#: Files by their paths below the folder; that of a folder without any ends with a slash.
Files = dict[str, bytes]


@dataclass(slots=True)
class File:
    """A file as it was synced last, and what was written since."""

    synced: bytes = b""
    pending: list[Write] = field(default_factory=list)

    def now(self) -> bytes:
        """Return it as the process sees it."""
        return written(self.synced, self.pending)

    def sync(self) -> None:
        """Have the disk keep it."""
        self.synced, self.pending = self.now(), []


def written(content: bytes, writes: list[Write]) -> bytes:
    """Return a file after some writes."""
    if not writes:
        return content
    held = bytearray(content)
    for at, data in writes:
        end = at if data is None else at + len(data)
        held.extend(bytes(max(0, end - len(held))))
        if data is None:
            del held[at:]
        else:
            held[at:end] = data
    return bytes(held)


class Folder:
    """A folder: the names in it as they were synced last, and as they are."""

    def __init__(self) -> None:
        self.synced: dict[str, Node] = {}
        self.now: dict[str, Node] = {}


#: What has a name.
Node = File | Folder


class Disk:
    """A folder on a disk that the calls of a process are played to, with the folders in it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random = folder, random.Random(seed)
        self._root = _read(folder)
        #: What was changed in which folder since that was synced: a name, and what has it then.
        self._renamed: list[tuple[Folder, str, Node | None]] = []

    def now(self) -> Files:
        """Return the files as the process sees them."""
        found: Files = {}
        _collect(found, "", self._root, lambda folder: folder.now, lambda file: file.now())
        return found

    def play(self, line: str) -> None:
        """Play a line of the trace."""
        if (found := _CALL.match(line)) is None:  # it failed, or is no call
            return
        call, words = found.groups()
        if call in ("fsync", "fdatasync"):
            self._sync(words)
        elif call in ("write", "pwrite64", "ftruncate"):
            self._write(call, words)
        else:
            self._rename(call, words)

    def _find(self, path: Path) -> Node | None:
        """Return what has a path; nothing if it lies elsewhere, or has no name any more."""
        if not path.is_relative_to(self.folder):
            return None
        node: Node | None = self._root
        for name in path.relative_to(self.folder).parts:
            node = node.now.get(name) if isinstance(node, Folder) else None
        return node

    def _sync(self, words: str) -> None:
        node = self._find(_path(_OF_FILE.match(words)[1]))  # type: ignore[index]
        if isinstance(node, File):
            node.sync()
        elif node:
            node.synced = dict(node.now)
            self._renamed = [change for change in self._renamed if change[0] is not node]

    def _write(self, call: str, words: str) -> None:
        found = _OF_FILE.match(words)
        if found is None or not isinstance(file := self._find(_path(found[1])), File):
            return
        if call == "ftruncate":
            file.pending.append((int(words.rpartition(",")[2]), None))
            return
        data = bytes.fromhex(_BYTES.search(words)[1].replace("\\x", ""))  # type: ignore[index]
        # What is written without a place is appended: journals and logs are.
        at = int(words.rpartition(",")[2]) if call == "pwrite64" else len(file.now())
        file.pending.append((at, data))

    def _rename(self, call: str, words: str) -> None:
        paths = [_path(folder or "") / _path(name) for folder, name in _NAMED.findall(words)]
        first, last = paths[0], paths[-1]
        node = self._find(first)
        if call == "openat":
            if node is None and "O_CREAT" in words and "O_TMPFILE" not in words:
                self._change(first, File())
            elif isinstance(node, File) and "O_TRUNC" in words:
                node.pending.append((0, None))
        elif call == "mkdir":
            self._change(first, Folder())
        elif call in ("unlink", "unlinkat", "rmdir"):
            self._change(first, None)
        elif call in ("link", "linkat"):
            # A file without a name is made so: what is in it is that of a lock.
            self._change(last, node or File())
        elif call == "rename":
            self._change(last, node)
            self._change(first, None)

    def _change(self, path: Path, node: Node | None) -> None:
        if isinstance(folder := self._find(path.parent), Folder):
            self._renamed.append((folder, path.name, node))
            _set(folder.now, path.name, node)

    def states(self) -> Iterator[Files]:
        """Return what the disk may hold if the power is cut now; some may be equal."""
        pending = [(file, write) for file in self._files() for write in file.pending]
        everything = [True] * len(pending)
        names = list(self._subsets(len(self._renamed)))
        for kept in self._subsets(len(pending)):
            # All names are tried with all writes and with none; else as they were, and as they should be.
            few = names if all(kept) or not any(kept) else [names[0], names[-1]]
            for renamed in few:
                yield self._state(pending, kept, renamed)
        for place, (_, (_, data)) in enumerate(pending):
            for pages in self._torn(len(data or b"")):
                before = [other < place for other in range(len(pending))]
                for kept in (before, everything):
                    yield self._state(pending, kept, names[-1], (place, pages))

    def _files(self) -> list[File]:
        """Return all files that may have a name on the disk."""
        found: dict[int, Node] = {}
        waiting: list[Node] = [self._root, *(node for _, _, node in self._renamed if node is not None)]
        while waiting:
            if id(node := waiting.pop(0)) not in found:
                found[id(node)] = node
                waiting += [*node.synced.values(), *node.now.values()] if isinstance(node, Folder) else ()
        return [node for node in found.values() if isinstance(node, File)]

    def _subsets(self, count: int) -> Iterator[list[bool]]:
        """Return which of some things are kept: first none, last all."""
        if count <= _FEW:
            yield from (list(kept) for kept in product((False, True), repeat=count))
            return
        for end in range(count):
            yield [place < end for place in range(count)]
        for one in range(count):
            yield [place == one for place in range(count)]
            yield [place != one for place in range(count)]
        for _ in range(_DRAWN):
            yield [self.random.random() < 0.5 for _ in range(count)]
        yield [True] * count

    def _torn(self, size: int) -> Iterator[set[int]]:
        """Return which pages of a write are kept."""
        pages = -(-size // PAGE)
        if pages > 1:
            yield from ({*range(end)} for end in sorted({1, pages // 2, pages - 1}))
            yield {*range(1, pages)}
            yield {page for page in range(pages) if self.random.random() < 0.5}

    def _state(
        self,
        pending: list[tuple[File, Write]],
        kept: list[bool],
        renamed: list[bool],
        torn: tuple[int, set[int]] | None = None,
    ) -> Files:
        writes: dict[int, list[Write]] = {}
        for place, (file, (at, data)) in enumerate(pending):
            done = writes.setdefault(id(file), [])
            if torn and torn[0] == place and data is not None:
                done.extend(
                    (at + page * PAGE, data[page * PAGE : (page + 1) * PAGE]) for page in sorted(torn[1])
                )
            elif kept[place]:
                done.append((at, data))
        names: dict[int, dict[str, Node]] = {}
        for (folder, name, changed), is_kept in zip(self._renamed, renamed, strict=True):
            held = names.setdefault(id(folder), dict(folder.synced))
            if is_kept:
                _set(held, name, changed)
        state: Files = {}
        _collect(
            state,
            "",
            self._root,
            lambda folder: names.get(id(folder), folder.synced),
            lambda file: written(file.synced, writes.get(id(file), [])),
        )
        return state


def _read(path: Path) -> Folder:
    """Return a folder as it is, all of it on the disk."""
    folder = Folder()
    folder.now = {
        each.name: _read(each) if each.is_dir() else File(each.read_bytes()) for each in path.iterdir()
    }
    folder.synced = dict(folder.now)
    return folder


def _collect(
    found: Files,
    place: str,
    folder: Folder,
    names: Callable[[Folder], dict[str, Node]],
    content: Callable[[File], bytes],
) -> None:
    """Put all files of a folder where they are found by their paths."""
    if place and not names(folder):
        found[place] = b""
    for name, node in names(folder).items():
        if isinstance(node, Folder):
            _collect(found, f"{place}{name}/", node, names, content)
        else:
            found[f"{place}{name}"] = content(node)


def _path(text: str) -> Path:
    return Path(bytes.fromhex(text.replace("\\x", "")).decode())


def _set(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node
