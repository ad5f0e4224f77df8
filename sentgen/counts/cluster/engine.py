"""What runs tasks: in this process, or on a cluster (`dask_engine`). A task that is done leaves a receipt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sentgen.counts.cluster.files import read_json, write_json
from sentgen.errors import Spelling, current_spelling, spelling
from sentgen.schema.engine import translated_errors


@dataclass(frozen=True, slots=True)
class ClusterTask:
    """A function of a module with what it gets, and the file that holds what it returned once it is done."""

    receipt: Path
    function: Callable[..., Mapping[str, Any]]
    arguments: Sequence[object]
    named: Mapping[str, object]
    #: A process of a cluster names options as this one does.
    spelling: Spelling = field(default_factory=current_spelling)

    def __call__(self) -> Mapping[str, Any]:
        """Do it, unless it is done; return what it returned, then or now.

        Raises:
            SentgenError: it cannot be done; said in one line.
        """
        done: Mapping[str, Any] | None = read_json(self.receipt)
        if done is None:
            with spelling(self.spelling), translated_errors(self.receipt.parent):
                done = self.function(*self.arguments, **self.named)
                write_json(self.receipt, done)
        return done


class Engine(Protocol):
    """What runs tasks."""

    @property
    def workers(self) -> int:
        """How many tasks run at once."""

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the number of each task and what it returned, as they end."""


class Inline:
    """Runs tasks in this process, one after the other."""

    workers = 1

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the number of each task and what it returned."""
        for number, task in enumerate(tasks):
            yield number, task()
