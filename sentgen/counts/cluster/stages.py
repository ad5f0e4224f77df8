"""Stages of a job, whose tasks are done once even if processes die: each has a folder with receipts.

Tasks run in this process, or on a cluster (`machines`). Files for the next stage are written under a
temporary name and renamed, so that no file is ever seen half written.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from sentgen.errors import Spelling, current_spelling, spelling
from sentgen.schema.engine import translated_errors
from sentgen.temporary import aside

#: Batches are compressed, as they cross the network: sorted rows shrink to a third.
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
#: Bytes of memory of an idle worker: Python, numba, Arrow and DuckDB.
PROGRAM = 350 << 20
#: Called with the stage, the number of tasks that are done, of all its tasks, and of tokens in those done.
Progress = Callable[[str, int, int, int], None]


@dataclass(frozen=True, slots=True)
class ClusterTask:
    """A function with its arguments, and the receipt: the file that has its result once it is done."""

    receipt: Path
    function: Callable[..., Mapping[str, Any]]
    arguments: Sequence[object]
    named: Mapping[str, object]
    #: How messages spell options, so that workers spell them as this process does.
    spelling: Spelling = field(default_factory=current_spelling)

    def __call__(self) -> Mapping[str, Any]:
        """Do the task, unless there is a receipt; return its result.

        Raises:
            SentgenError: the task cannot be done; the message is one line.
        """
        done: Mapping[str, Any] | None = read_json(self.receipt)
        if done is None:
            with spelling(self.spelling), translated_errors(self.receipt.parent):
                done = self.function(*self.arguments, **self.named)
                write_json(self.receipt, done)
        return done


class Engine(Protocol):
    """Runs tasks."""

    @property
    def workers(self) -> int:
        """The number of tasks that run at once."""

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the number and the result of each task, as they end."""


class Inline:
    """Runs tasks in this process, one after the other."""

    workers = 1

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the number and the result of each task."""
        for number, task in enumerate(tasks):
            yield number, task()


@dataclass(slots=True)
class Stages:
    """Runs the stages of one job.

    Args:
        work: folder of intermediate files, which all workers see.
    """

    work: Path
    engine: Engine
    report: Progress
    #: Seconds of each stage that had tasks to do.
    seconds: dict[str, float] = field(default_factory=dict)

    def run(
        self,
        stage: str,
        function: Callable[..., Mapping[str, Any]],
        calls: Sequence[tuple[object, ...]],
        *,
        names: Sequence[str] = (),
        tokens: Sequence[int] = (),
        **named: object,
    ) -> list[dict[str, Any]]:
        """Run the tasks of a stage that are not done; return the results of all.

        Args:
            function: the function that the tasks call.
            calls: positional arguments of each task.
            names: names of the tasks; by default their numbers.
            tokens: tokens of each task, if they are known before.
            named: keyword arguments of all tasks.
        """
        began = time.monotonic()
        folder = self.work / stage
        folder.mkdir(exist_ok=True)
        names = names or [f"{number:06d}" for number in range(len(calls))]
        tokens = tokens or [0] * len(calls)
        tasks = [
            ClusterTask(folder / f"{name}.json", function, call, named)
            for name, call in zip(names, calls, strict=True)
        ]
        results = [read_json(task.receipt) for task in tasks]
        left = [number for number, result in enumerate(results) if result is None]
        total = 0
        self.report(stage, len(tasks) - len(left), len(tasks), total)
        for ended, (number, result) in enumerate(self.engine.run([tasks[number] for number in left]), 1):
            results[left[number]] = result
            total += tokens[left[number]] + sum(tally["tokens"] for tally in result.get("tallies", ()))
            self.report(stage, len(tasks) - len(left) + ended, len(tasks), total)
        if left:
            self.seconds[stage] = time.monotonic() - began
        return results

    def file(self, stage: str, name: int | str, kind: str = "arrow") -> Path:
        """Return the path of the file of a task; numbers become names of six digits."""
        (self.work / stage).mkdir(exist_ok=True)
        return self.work / stage / f"{name if isinstance(name, str) else f'{name:06d}'}.{kind}"


def write_json(path: Path, value: object) -> None:
    """Write a value as JSON."""
    with aside(path) as draft:
        draft.write_text(json.dumps(value, sort_keys=True), "utf-8")


def read_json(path: Path) -> Any:
    """Return the value of a JSON file, or ``None`` if there is no such file."""
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None


def write_batches(
    path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, compressed: bool = True
) -> None:
    """Write a file of batches, which are read by their index."""
    with (
        aside(path) as draft,
        pa.OSFile(str(draft), "wb") as file,
        pa.ipc.new_file(file, schema, options=_OPTIONS if compressed else None) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


@contextmanager
def opened(path: Path | str) -> Iterator[pa.RecordBatchFileReader]:
    """Open a file of batches, which are loaded one by one as they are read."""
    # Not memory-mapped: its pages would count as memory of this process.
    with pa.OSFile(os.fspath(path), "rb") as file:
        yield pa.ipc.open_file(file)


def read_batch(path: Path | str, number: int) -> pa.RecordBatch:
    """Return the batch of an index."""
    with opened(path) as reader:
        return reader.get_batch(number)


def disk_note(work: Path, what: str, between: int, lasting: int) -> str:
    """Return a note on the disk space that is needed, and that is free.

    Args:
        what: what is made, such as ``counts``.
        between: bytes that intermediate files need.
        lasting: bytes that are added to the lake.
    """
    free = shutil.disk_usage(work).free
    return (
        f"disk: about {_size(between)} in {work} while it {what}, {_size(lasting)} in the lake for good; "
        f"{_size(free)} free" + (", which may not do" if free < between + lasting else "")
    )


def _size(number: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:,.3g} TB"
