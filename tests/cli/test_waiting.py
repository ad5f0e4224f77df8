"""Who waits in front of a terminal is told what for; others are not."""

from __future__ import annotations

import sys
import threading

import pytest

from sentgen.cli.console import waiting
from sentgen.cli.console.waiting import told_when_slow


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set as soon as something is said."""
    event = threading.Event()
    monkeypatch.setattr(waiting.typer, "echo", lambda text, err: event.set())
    return event


def test_slow_work_on_a_terminal(said: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work goes on until the words have come."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with told_when_slow("wait", seconds=0):
        assert said.wait(60)


def test_quick_work_and_pipes(said: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said when the work ends first, or to a pipe."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with told_when_slow("wait", seconds=3600):
        pass
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with told_when_slow("wait", seconds=0):
        pass

    assert not said.is_set()
