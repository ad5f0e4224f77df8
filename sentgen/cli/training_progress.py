"""The bar of training: which iteration, how many pairs, and the time left for all of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


@contextmanager
def trained(
    iterations: int, directions: Sequence[str]
) -> Iterator[Callable[[str, int, int, int], None] | None]:
    """Show how far EM is; call what comes with direction, iteration, pairs done and pairs in all.

    Where standard error is no terminal there is nothing to call.
    """
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading the pairs", total=None)

        def show(direction: str, iteration: int, done: int, total: int) -> None:
            before = directions.index(direction) * iterations + max(iteration - 1, 0)
            what = f"{direction} {iteration} of {iterations}" if iteration else f"{direction}: tables"
            bar.update(
                task,
                description=what,
                completed=before * total + done,
                total=iterations * len(directions) * total,
            )

        yield show
