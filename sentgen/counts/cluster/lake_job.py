"""A job that adds to a lake, alone, stage by stage: what is done stays done, whatever dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sentgen.counts.cluster.catalogue import (
    JOB,
    Catalogue,
    Unfinished,
    in_the_way,
    locked,
    planned,
)
from sentgen.counts.cluster.stages import PROGRAM, Engine, Progress, Stages, read_json
from sentgen.schema import folders
from sentgen.schema.lakes.places import Place


@dataclass(slots=True)
class LakeJob:
    """One run of a job.

    Args:
        lake: what it adds to.
        work: folder of the files between, which all workers see.
        engine: runs the tasks.
        memory: bytes that a worker may take.
        report: is told how far the work is.
        say: is told what may interest a person, such as the disk that is needed.
    """

    lake: Place
    work: Path
    engine: Engine
    memory: int
    report: Progress = field(default=lambda *_: None, kw_only=True)
    say: Callable[[str], None] = field(default=lambda _: None, kw_only=True)
    catalogue: Catalogue = field(init=False)
    stages: Stages = field(init=False)

    @contextmanager
    def begun(self, what: str) -> Iterator[Any]:
        """Write the lake alone, in a folder of our own; what was planned and is in the lake is given, if any.

        Raises:
            InUseError: another process writes the lake.
            StoreError: something is unfinished, and no ``what`` (``count`` or ``model``), which goes on.
        """
        with locked(self.lake, self.work), _left_if_used(self.work):
            self.stages = Stages(self.work, self.engine, self.report)
            self.catalogue = Catalogue.read(self.lake)
            unfinished = self.catalogue.unfinished(self.work)
            if unfinished and unfinished.what != what:
                raise in_the_way(self.lake, self.work, unfinished)
            # Killed between the manifest and the end: nothing is unfinished, and the plan is there.
            done = None if unfinished else planned(self.work)
            if done is not None:
                self.clear()
            folders.make(self.work, lasting=True)
            yield done

    def plan(self, what: Mapping[str, object]) -> Any:
        """Return what was planned before, if something was.

        Raises:
            StoreError: it was something else.
        """
        kept = read_json(self.work / JOB)
        if kept is not None and {name: kept.get(name) for name in what} != what:
            raise in_the_way(self.lake, self.work, Unfinished.from_json(kept))
        return kept

    def task_memory(self, least: int) -> int:
        """Return the bytes that a task may take of what a worker may, so many at least."""
        return max(self.memory - PROGRAM, least)

    def clear(self) -> None:
        """Remove the files between, and those that the manifest does not name."""
        self.catalogue.clear(self.work)


@contextmanager
def _left_if_used(work: Path) -> Iterator[None]:
    """Remove a work folder of ours in which nothing was left: an empty one says nothing."""
    try:
        yield
    finally:
        if folders.is_ours(work) and folders.is_empty(work):
            folders.remove(work)
