"""A bar for work that takes a while, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def counted(things: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show how many of the things are done, and the time left; call what comes with done and total.

    Where standard error is no terminal there is nothing to call.
    """
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn(things), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
