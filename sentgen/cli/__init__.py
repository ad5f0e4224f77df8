"""The command line: one Typer file per noun; commands parse, call one library function, and print.

Little is imported here, so that Ctrl-C is taken care of before anything that takes time.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

from sentgen import __version__, without_pandas
from sentgen.cli.console.interrupts import (
    EXIT_CODE,
    end_at_once,
    exit_now,
    interruptible,
    is_ending,
    is_full,
    say_full,
    say_interrupted,
    was_interrupted,
)

if TYPE_CHECKING:
    import typer


def build() -> typer.Typer:
    """Make the application."""
    from sentgen.cli import application

    return application.build()


def program() -> None:
    """Run sentgen as a program: when the command has ended, Ctrl-C comes too late.

    Nobody waits for the interpreter to tidy up, which takes 0.15 s of CPU time.
    """
    without_pandas.install()
    gc.disable()  # until all is imported, which is a tenth faster so; nothing of it becomes garbage
    code: object = None
    try:
        with interruptible(afterwards=signal.SIG_IGN):
            main()
    except SystemExit as end:
        if was_interrupted(end):
            exit_now(end.code)
        code = end.code
    except KeyboardInterrupt:
        exit_now(say_interrupted())
    end_at_once(code)


def main() -> None:
    """Run sentgen; what the user did wrong comes out as one line and exit code 1."""
    try:
        with interruptible():
            _run()
    except SystemExit as end:
        if end.code == EXIT_CODE:  # Typer turns Ctrl-C into this code without a word
            sys.exit(say_interrupted())
        raise
    except KeyboardInterrupt:  # while the command is imported; Typer takes over when it runs
        sys.exit(say_interrupted())
    except BrokenPipeError:
        # `head` has seen enough, which is no error. The interpreter flushes at its end: not into the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if not is_full(error):
            raise
        sys.exit(say_full(error))
    except Exception as error:
        # Whatever an interrupt was turned into on its way up.
        if was_interrupted(error) or is_ending():
            sys.exit(say_interrupted())
        if (line := _line(error)) is None:
            raise
        print(f"sentgen: {line}", file=sys.stderr)
        sys.exit(1)


def _run() -> None:
    # Without Typer, whose import takes longer than the answer.
    if sys.argv[1:] == ["--version"]:
        print(f"sentgen {__version__}")
        return
    import logging

    from sentgen.cli.console.waiting import told_of_compiling

    # On a full disk the rollback fails too; SQLAlchemy would log that with its traceback before our line.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    with told_of_compiling():
        build()()


def _line(error: Exception) -> str | None:
    """Return what is said of an error, nothing if it is one of the program."""
    from sentgen.errors import QueryError, SentgenError

    if garbled := _garbled(error):
        if os.path.lexists(garbled):
            return f"{garbled!a}: the name of this file is not UTF-8; rename it"
        return f"{garbled!a} is not valid UTF-8; write it again"
    if isinstance(error, QueryError) and error.picture:
        return f"{error}\n{error.picture}"
    return str(error) if isinstance(error, SentgenError) else None


def _garbled(error: Exception) -> str | None:
    """Return the argument that is behind an error because it is not UTF-8, a RuntimeError in DuckDB."""
    if not isinstance(error, RuntimeError | UnicodeEncodeError):
        return None
    # Bytes that are no UTF-8 come as these halves of surrogate pairs.
    return next((word for word in sys.argv[1:] if any("\udc80" <= c <= "\udcff" for c in word)), None)
