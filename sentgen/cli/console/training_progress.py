"""The bar of training: which iteration, how many pairs, and the time left for all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from rich.progress import Progress, TaskProgressColumn, TimeRemainingColumn

from sentgen.cli.console.progress import bars


def trained(
    iterations: int, directions: Sequence[str]
) -> AbstractContextManager[Callable[[str, int, int, int], None] | None]:
    """Show how far EM is; call what comes with direction, iteration, pairs done and pairs in all."""

    def start(progress: Progress) -> Callable[[str, int, int, int], None]:
        task = progress.add_task("reading the pairs", total=None)

        def show(direction: str, iteration: int, done: int, total: int) -> None:
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
