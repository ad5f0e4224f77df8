"""Ctrl-C ends a command even where a library swallows the KeyboardInterrupt, and cleaning up is left in peace."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pytest
from numba import njit

from sentgen.cli.console import interrupts
from sentgen.cli.console.interrupts import deadline, interruptible, was_interrupted
from sentgen.schema import connections
from sentgen.schema.engine import translated_errors


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


class Pair(NamedTuple):
    """What a kernel returns that makes numba call Python: for the type of the arrays, and for its own."""

    first: np.ndarray
    second: np.ndarray


@njit(nogil=True)
def kernel(steps: int) -> Pair:
    """Take some time without the GIL, and return arrays."""
    made = np.zeros(4)
    for step in range(steps):
        made[step & 3] += np.sin(made[(step + 1) & 3] + step)
    return Pair(made, made)


def test_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that comes while a kernel runs is raised when it has returned, not in what it needs to return."""
    monkeypatch.setattr(interrupts, "_GRACE", 60)  # on a busy machine, nothing but the raising counts
    kernel(1)
    tracing = sys.gettrace()
    running = threading.Event()

    def press_soon() -> None:
        running.wait()
        time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=press_soon).start()

    def step() -> None:
        running.set()
        while True:
            kernel(2_000_000)

    with pytest.raises(KeyboardInterrupt) as told:
        run(step)

    raised = [frame.name for frame in told.traceback if frame.path != Path(interrupts.__file__)]
    assert raised[-1] == "step"
    assert sys.gettrace() is tracing


class Slow:
    """A DuckDB connection that works on a query for as long as it is let."""

    QUERY = "select count(*) from range(100000000) a, range(1000) b where a.range * b.range % 7 = 3"

    def __init__(self, query: str = QUERY) -> None:
        self.query = query

    def __call__(self) -> None:
        with duckdb.connect() as duck, connections.cursor(duck) as second:
            second.execute("set threads = 1")
            second.execute(self.query).fetchall()


def test_statement() -> None:
    """DuckDB is interrupted, and its error is known for what it is."""
    began = time.monotonic()
    pressed = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])

    with pytest.raises((KeyboardInterrupt, duckdb.InterruptException, RuntimeError)) as told:
        run(pressed.start, Slow())

    assert was_interrupted(told.value)
    assert time.monotonic() - began < 10


def test_interrupted_statement_is_no_error_of_the_store(tmp_path: Path) -> None:
    """Who catches what is wrong with a store does not catch Ctrl-C."""
    with pytest.raises(KeyboardInterrupt), translated_errors(tmp_path):
        raise duckdb.InterruptException("Interrupted!")


def test_deadline() -> None:
    """When the time is up, it is as if Ctrl-C had been pressed, with words and a code of its own."""
    began = time.monotonic()

    def step() -> None:
        with deadline(0.2, "too slow"):
            Slow()()

    with pytest.raises((KeyboardInterrupt, duckdb.InterruptException, RuntimeError)) as told:
        run(step)

    assert was_interrupted(told.value)
    assert time.monotonic() - began < 10


def test_deadline_kept() -> None:
    """What ends in time is let go, and so is what comes later."""

    def step() -> None:
        with deadline(0.1, "too slow"):
            pass
        time.sleep(0.3)

    run(step)


@pytest.mark.parametrize(
    "first", ["atexit.register(print, 'done')", "threading.Timer(0.2, print, ['done']).start()"]
)
def test_program_ends_when_all_is_done(first: str) -> None:
    """It does without the interpreter's tidying up, not without what is registered or still runs."""
    code = (
        f"import atexit, sys, threading; sys.argv = ['sentgen', '--version']; {first};"
        " from sentgen.cli import program; program()"
    )

    buffered = os.environ | {"PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=buffered)

    assert done.stdout.split("\n")[1:] == ["done", ""]
