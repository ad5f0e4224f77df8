"""Bars for work that takes a while, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

Report = TypeVar("Report", bound=Callable[..., None])


@contextmanager
def bars(start: Callable[[Progress], Report], *columns: ProgressColumn) -> Iterator[Report | None]:
    """Show bars on standard error while the work inside goes on.

    Where standard error is no terminal there is nothing to call, so that work reports nothing.

    Args:
        start: adds the first bars, and returns what the work calls to tell how far it is.
        columns: what stands to the right of the name of a bar and the bar itself.
    """
    # A log would be filled with frames.
    if not sys.stderr.isatty():
        yield None
        return
    shown = (TextColumn("{task.description}"), BarColumn(), *columns)
    # Transient: what stays in the terminal is the answer.
    with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
        yield start(progress)


def counted(things: str) -> AbstractContextManager[Callable[[int, int], None] | None]:
    """Show how many of the things are done, and the time left; call what comes with done and total."""

    def start(progress: Progress) -> Callable[[int, int], None]:
        task = progress.add_task(things, total=None)
        return lambda done, total: progress.update(task, completed=done, total=total)

    return bars(start, MofNCompleteColumn(), TimeRemainingColumn())


def counted_each(*names: str) -> AbstractContextManager[Callable[[str, int, int], None] | None]:
    """Show a bar like that of `counted` for each name: these at once, others when they are first reported."""

    def start(progress: Progress) -> Callable[[str, int, int], None]:
        tasks = {name: progress.add_task(name, total=None) for name in names}

        def report(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=None)
            progress.update(tasks[name], completed=done, total=total)

        return report

    return bars(start, MofNCompleteColumn(), TimeRemainingColumn())


def trained(
    iterations: int, directions: Sequence[str]
) -> AbstractContextManager[Callable[[str, int, int, int], None] | None]:
    """Show how far EM is; call what comes with direction, iteration, pairs done and pairs in all."""

    def start(progress: Progress) -> Callable[[str, int, int, int], None]:
        task = progress.add_task("reading the pairs", total=None)

        def show(direction: str, iteration: int, done: int, total: int) -> None:
            # All directions are one bar, so that its time left is that of the whole.
            before = directions.index(direction) * iterations + max(iteration - 1, 0)
            what = f"{direction} {iteration} of {iterations}" if iteration else f"{direction}: tables"
            progress.update(
                task,
                description=what,
                completed=before * total + done,
                total=iterations * len(directions) * total,
            )

        return show

    return bars(start, TaskProgressColumn(), TimeRemainingColumn())
