"""Ctrl-C ends a command even where a library swallows the KeyboardInterrupt, and cleaning up is left in peace."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from sentgen.cli.interrupts import interruptible, was_interrupted


def press() -> None:
    """Press Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def work() -> None:
    """Go on for long."""
    time.sleep(30)


def lose_in_callback() -> None:
    """Lose the exception as llvmlite does."""
    ctypes.CFUNCTYPE(None)(press)()


def lose_in_except() -> None:
    """Lose the exception as DuckDB does."""
    try:
        press()
    except BaseException:
        return


def lose_in_finaliser() -> None:
    """Lose the exception as the garbage collector does."""

    class Finalised:
        def __del__(self) -> None:
            press()

    Finalised()


def lose_twice() -> None:
    """Lose the exception, and lose it again."""
    lose_in_except()
    with contextlib.suppress(KeyboardInterrupt):
        work()


def run(*steps: Callable[[], None]) -> None:
    """Run steps as commands are run."""
    with interruptible():
        for step in steps:
            step()


@pytest.mark.parametrize("lose", [lose_in_callback, lose_in_except, lose_in_finaliser, lose_twice])
def test_swallowed(lose: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> None:
    """It is raised until it gets through, soon, and the interpreter says nothing of the lost ones."""
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(lose, work)

    assert time.monotonic() - began < 15
    assert capsys.readouterr().err == ""


def test_cleaning_up() -> None:
    """What is done on its way out, errors of its own included, is not interrupted again."""
    done = []

    def step() -> None:
        try:
            press()
        finally:
            time.sleep(0.3)
            done.append("first")
            try:
                raise ValueError("in between")
            except ValueError:
                time.sleep(0.3)
                done.append("second")
            raise RuntimeError("made of it")

    with pytest.raises(RuntimeError) as told:
        run(step)

    assert done == ["first", "second"]
    assert was_interrupted(told.value)


def test_handlers_come_back() -> None:
    """Nothing is left of it afterwards, and no alarm rings."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM), sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        run(press)

    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM), sys.unraisablehook) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_other_errors_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else is lost is told as ever."""
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_value))

    def fail() -> None:
        raise ValueError("lost")

    run(ctypes.CFUNCTYPE(None)(fail))

    assert [str(error) for error in told] == ["lost"]


def test_other_threads() -> None:
    """Only the main thread gets signals; elsewhere nothing is changed."""
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    thread = threading.Thread(target=run, args=[lambda: seen.append(signal.getsignal(signal.SIGINT))])
    thread.start()
    thread.join()

    assert seen == [before]
