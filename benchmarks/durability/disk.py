"""What a disk may hold after a power cut: the writes of a process, lost, reordered and torn.

A trace of strace gives every write, sync and change of a name. What was synced is on the disk; of what was not,
anything may be: any of the writes, in pages, and any of the names. No file system does worse.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

#: How strace is called, before the command.
TRACED = (
    "strace", "--follow-forks", "--seccomp-bpf", "-qq", "-xx", "-y", "-s", "100000000", "-e", "signal=none", "-e",
    "trace=openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,unlinkat,rename",
)  # fmt: skip
#: Bytes of a page, the least that a disk writes as a whole; a header of DuckDB fits into one.
PAGE = 4096
#: So many pending writes or names are tried in all subsets, more of them in those that say most.
_FEW, _DRAWN = 4, 6

_CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += \d+", re.DOTALL)
_BYTES = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_OF_FILE = re.compile(r"\d+<((?:\\x[0-9a-f]{2})*)>")

#: Place and bytes of a write; no bytes: the file is cut off there.
Write = tuple[int, bytes | None]
#: Files by their names.
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
    held = bytearray(content)
    for at, data in writes:
        end = at if data is None else at + len(data)
        held.extend(bytes(max(0, end - len(held))))
        if data is None:
            del held[at:]
        else:
            held[at:end] = data
    return bytes(held)


class Disk:
    """A folder on a disk that the calls of a process are played to."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random = folder, random.Random(seed)
        self._names = {path.name: File(path.read_bytes()) for path in folder.iterdir() if path.is_file()}
        self._kept = dict(self._names)
        self._renamed: list[tuple[str, File | None]] = []

    def now(self) -> Files:
        """Return the files as the process sees them."""
        return {name: file.now() for name, file in self._names.items()}

    def play(self, line: str) -> None:
        """Play a line of the trace."""
        if (found := _CALL.match(line)) is None:  # it failed, or is no call
            return
        call, words = found.groups()
        if call in ("fsync", "fdatasync"):
            self._sync(words)
        elif call in ("write", "pwrite64", "ftruncate"):
            self._write(call, words)
        elif paths := [name for text in _BYTES.findall(words) if (name := self._name(text))]:
            self._rename(call, paths, words)

    def _name(self, text: str) -> str:
        path = _path(text)
        return path.name if path.parent == self.folder else ""

    def _sync(self, words: str) -> None:
        text = _OF_FILE.match(words)[1]  # type: ignore[index]
        if _path(text) == self.folder:
            self._kept, self._renamed = dict(self._names), []
        elif (file := self._names.get(self._name(text))) is not None:
            file.sync()

    def _write(self, call: str, words: str) -> None:
        found = _OF_FILE.match(words)
        if found is None or (file := self._names.get(self._name(found[1]))) is None:
            return
        if call == "ftruncate":
            file.pending.append((int(words.rpartition(",")[2]), None))
            return
        data = bytes.fromhex(_BYTES.search(words)[1].replace("\\x", ""))  # type: ignore[index]
        # What is written without a place is appended: journals and logs are.
        at = int(words.rpartition(",")[2]) if call == "pwrite64" else len(file.now())
        file.pending.append((at, data))

    def _rename(self, call: str, paths: list[str], words: str) -> None:
        first, last = paths[0], paths[-1]
        if call == "openat":
            if first not in self._names and "O_CREAT" in words and "O_TMPFILE" not in words:
                self._change(first, File())
            elif "O_TRUNC" in words:
                self._names[first].pending.append((0, None))
        elif call.startswith("unlink"):
            self._change(first, None)
        elif call == "rename":
            self._change(last, self._names[first])
            self._change(first, None)

    def _change(self, name: str, file: File | None) -> None:
        self._renamed.append((name, file))
        _set(self._names, name, file)

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
        files = [*self._kept.values(), *(file for _, file in self._renamed if file is not None)]
        return list({id(file): file for file in files}.values())

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
        names = dict(self._kept)
        for (name, changed), is_kept in zip(self._renamed, renamed, strict=True):
            if is_kept:
                _set(names, name, changed)
        return {name: written(file.synced, writes.get(id(file), [])) for name, file in names.items()}


def _path(text: str) -> Path:
    return Path(bytes.fromhex(text.replace("\\x", "")).decode())


def _set(names: dict[str, File], name: str, file: File | None) -> None:
    if file is None:
        names.pop(name, None)
    else:
        names[name] = file
