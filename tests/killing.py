"""Kill commands with SIGKILL at chosen moments."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue


@dataclass(frozen=True)
class Course:
    """How a command went: seconds until each of its commits began and until it ended, and its exit code."""

    commits: tuple[float, ...]
    seconds: float
    code: int


class Zygote:
    """A process that forks commands; a context manager.

    With a folder of `next_revision.write`, its commands know that revision.
    """

    def __init__(self, migrations: Path | None = None) -> None:
        self._migrations = [str(migrations)] if migrations else []

    def __enter__(self) -> Zygote:
        command = [sys.executable, str(Path(__file__).with_name("zygote.py")), *self._migrations]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lines: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._lines.get(timeout=120) == "ready"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.decode().strip())
        self._process.stdout.close()

    def run(
        self, arguments: Sequence[object], *, commit: int | None = None, after: float | None = None
    ) -> Course:
        """Run a command, and kill it some seconds after its start, or after it began a commit."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([str(word) for word in arguments]).encode() + b"\n")
        self._process.stdin.flush()
        pid = int(self._lines.get(timeout=60))
        began = time.monotonic()
        commits: list[float] = []
        deadline = began + after if commit is None and after is not None else None
        while True:
            try:
                line = self._lines.get(
                    timeout=120 if deadline is None else max(deadline - time.monotonic(), 0)
                )
            except Empty:
                assert deadline is not None, "the command hangs"
                with suppress(ProcessLookupError):  # its parent has waited for it, and is about to say so
                    os.kill(pid, signal.SIGKILL)
                deadline = None
                continue
            now = time.monotonic() - began
            if line.startswith("exit"):
                return Course(tuple(commits), now, int(line.split()[1]))
            commits.append(now)
            if commit == len(commits) - 1 and after is not None:
                deadline = time.monotonic() + after


def moments(course: Course, number: int, rng: random.Random) -> Iterator[tuple[int | None, float]]:
    """Choose when to kill: a third anywhere in the course of a command, the others while it commits.

    Yields the commit, or ``None`` for the start, and the seconds after it.
    """
    for turn in range(number):
        if turn % 3 == 2 or not course.commits:
            yield None, rng.uniform(0, course.seconds)
            continue
        commit = rng.randrange(len(course.commits))
        end = [*course.commits, course.seconds][commit + 1]
        yield commit, rng.uniform(0, end - course.commits[commit])
