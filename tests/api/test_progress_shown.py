"""Bars: in a terminal and in a notebook, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import sentgen
from sentgen.output import progress


@pytest.mark.parametrize(("terminal", "kernel"), [(False, False), (True, False), (False, True), (True, True)])
def test_bars_are_for_people(monkeypatch: pytest.MonkeyPatch, terminal: bool, kernel: bool) -> None:
    """A script whose output goes to a file reports nothing; IPython in a terminal is a terminal."""
    shell = SimpleNamespace(kernel=None) if kernel else SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)

    with progress.counting_bar("things") as report:
        assert (report is not None) == (terminal or kernel)
        assert progress._in_notebook() == kernel


def test_steps_and_sources_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The steps of a build and the sources of an ingestion are shown."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    # One after the other: before 15, what rich puts in the place of standard error is no terminal.
    with progress.steps("relief") as step:
        assert step is not None
        step("writing the model")
    with progress.ingestion_bar("news") as read:
        assert read is not None
        read(SimpleNamespace(name="/data/news.txt"), 0.5, 1000)


def test_regenerate_tells_which_bag_it_has_ordered(
    db: sentgen.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`regenerate` shows the number of bags that it has ordered."""
    told = []

    @contextmanager
    def noted(things: str) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: told.append((things, done, total))

    monkeypatch.setattr("sentgen.api.language_models.counting_bar", noted)
    db.model("relief").regenerate(["camp the .", "water clean ."], nbest=1)

    assert told == [("bags", 1, 2), ("bags", 2, 2)]
