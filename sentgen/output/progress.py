"""Progress bars for long work, on a terminal or in a notebook only."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeVar
from uuid import uuid4

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress_bar import ProgressBar

Report = TypeVar("Report", bound=Callable[..., None])

#: In a notebook: seconds before bars appear, so that short work shows none, and between two updates; columns
#: of a cell.
_PATIENCE, _EVERY, _COLUMNS = 0.5, 0.3, 90


class _NamedSource(Protocol):
    """A source with a name, such as `sentgen.corpus.sources.Source`."""

    @property
    def name(self) -> str: ...


@contextmanager
def bars(start: Callable[[Progress], Report], *columns: ProgressColumn) -> Iterator[Report | None]:
    """Show bars on standard error, or in the cell of a notebook, during the work inside.

    Yields the function that reports progress, or ``None`` without a terminal and notebook.

    Args:
        start: function that adds the first bars, and returns the function that reports progress.
        columns: columns to the right of the name of a bar and the bar itself.
    """
    if _in_notebook():
        as_text = (TextColumn("{task.description}"), _TextBar(), *columns)
        bars_of_cell = Progress(*as_text, console=Console(file=io.StringIO()), auto_refresh=False)
        report = start(bars_of_cell)
        with _in_cell(bars_of_cell):
            yield report
    elif sys.stderr.isatty():
        shown = (TextColumn("{task.description}"), BarColumn(), *columns)
        # Transient, so that only the answer stays in the terminal.
        with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
            yield start(progress)
    else:  # a log would be full of bars
        yield None


class _TextBar(BarColumn):
    """A bar; empty if the total is unknown, as rich's moving bar looks full without colors."""

    def render(self, task: Task) -> ProgressBar:
        return super().render(task) if task.total is not None else ProgressBar(width=0)


def _in_notebook() -> bool:
    """Return whether this runs in the kernel of a notebook, which IPython in a terminal does not have."""
    python = sys.modules.get("IPython")
    return python is not None and hasattr(python.get_ipython(), "kernel")


@contextmanager
def _in_cell(progress: Progress) -> Iterator[None]:
    """Show bars as text in the output of a cell, with updates, and remove them at the end.

    rich would draw them with ipywidgets, which many notebooks do not have.
    """
    ended, shown = threading.Event(), threading.Event()
    name = uuid4().hex

    def show(text: str) -> None:
        display = import_module("IPython.display").display
        display({"text/plain": text}, raw=True, display_id=name, update=shown.is_set())
        shown.set()

    def keep_showing() -> None:
        wait = _PATIENCE
        while not ended.wait(wait):
            show(_as_text(progress))
            wait = _EVERY

    thread = threading.Thread(target=keep_showing, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if shown.is_set():
            show("")


def _as_text(progress: Progress) -> str:
    console = Console(file=io.StringIO(), width=_COLUMNS, force_jupyter=False, color_system=None)
    with console.capture() as captured:
        console.print(progress.get_renderable())
    return captured.get().rstrip()


def counting_bar(things: str) -> AbstractContextManager[Callable[[int, int], None] | None]:
    """Show a count of things and the time left; the function that it yields takes done and total."""

    def start(progress: Progress) -> Callable[[int, int], None]:
        task = progress.add_task(things, total=None)
        return lambda done, total: progress.update(task, completed=done, total=total)

    return bars(start, MofNCompleteColumn(), TimeRemainingColumn())


def counting_bars(*names: str) -> AbstractContextManager[Callable[[str, int, int], None] | None]:
    """Show a bar as `counting_bar` does for each name, and for other names once they are reported."""

    def start(progress: Progress) -> Callable[[str, int, int], None]:
        tasks = {name: progress.add_task(name, total=None) for name in names}

        def report(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=None)
            progress.update(tasks[name], completed=done, total=total)

        return report

    return bars(start, MofNCompleteColumn(), TimeRemainingColumn())


def training_bar(
    iterations: int, directions: Sequence[str]
) -> AbstractContextManager[Callable[[str, int, int, int], None] | None]:
    """Show the progress of EM; the function takes direction, iteration, pairs done and pairs in all."""

    def start(progress: Progress) -> Callable[[str, int, int, int], None]:
        task = progress.add_task("reading the pairs", total=None)

        def show(direction: str, iteration: int, done: int, total: int) -> None:
            # One bar for all directions, so that it shows the time left for all.
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


def steps(what: str) -> AbstractContextManager[Callable[[str], None] | None]:
    """Show the current step of some work, without a bar; the function takes the name of the step."""

    def start(progress: Progress) -> Callable[[str], None]:
        task = progress.add_task(what, total=None)
        return lambda step: progress.update(task, description=f"{what}: {step}")

    return bars(start, TimeElapsedColumn())


def ingestion_bar(corpus: str) -> AbstractContextManager[Callable[[_NamedSource, float, int], None] | None]:
    """Show the share of the sources that is read, tokens per second and the time left.

    The function takes the source, the share of it that is read, and the number of tokens so far.
    """

    def start(progress: Progress) -> Callable[[_NamedSource, float, int], None]:
        task = progress.add_task(corpus, total=1.0, rate="")

        def show(source: _NamedSource, fraction: float, tokens: int) -> None:
            elapsed = progress.tasks[task].elapsed or 0.0
            rate = f"{tokens / elapsed:,.0f} tokens/s" if elapsed else ""
            progress.update(task, description=Path(source.name).name, completed=fraction, rate=rate)

        return show

    return bars(start, TaskProgressColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
