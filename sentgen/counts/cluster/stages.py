"""Stages of work whose tasks are done once, whatever dies: each has a folder with receipts."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sentgen.counts.cluster.engine import ClusterTask, Engine
from sentgen.counts.cluster.files import read_json

#: Bytes that a worker takes before it does anything: Python, numba, Arrow and DuckDB.
PROGRAM = 350 << 20
#: Called with the stage, the tasks that are done, all of its tasks, and the tokens of those done.
Progress = Callable[[str, int, int, int], None]


def disk_note(work: Path, what: str, between: int, lasting: int) -> str:
    """Say how much disk is needed, and how much there is.

    Args:
        work: folder of the files between.
        what: what is done there, such as ``counts``.
        between: bytes that are needed there meanwhile.
        lasting: bytes that the lake gets.
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


@dataclass(slots=True)
class Stages:
    """Runs the stages of one job.

    Args:
        work: folder of the files between, which all workers see.
        engine: runs the tasks.
        report: is told how far the work is.
    """

    work: Path
    engine: Engine
    report: Progress
    #: Seconds of each stage that had something to do.
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
        """Run the tasks of a stage that are not done; return what all of them returned.

        Args:
            stage: its name.
            function: what a task does.
            calls: what each of them gets.
            names: of the tasks, if not their numbers.
            tokens: of each task, if that is known before.
            named: what all of them get.
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
        """Return where a task of a stage writes; numbers are names of six digits."""
        (self.work / stage).mkdir(exist_ok=True)
        return self.work / stage / f"{name if isinstance(name, str) else f'{name:06d}'}.{kind}"
