"""The command line: one Typer file per noun; commands parse, call one library function, and print.

Little is imported here, so that Ctrl-C is handled before anything slow begins.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

from sentgen import __version__, never_loaded, unfit
from sentgen.cli.console.interrupts import EXIT_CODE, INTERRUPTED, end_on_interrupt

if TYPE_CHECKING:
    import typer


#: Names of the standard streams that were closed when the process began.
_closed: list[str] = []


def build() -> typer.Typer:
    """Make the application."""
    from sentgen.cli import application

    return application.build()


def program() -> None:
    """Run sentgen as a program: Ctrl-C ends it, and when the command has ended, comes too late."""
    _stand_in_for_closed()
    end_on_interrupt()
    never_loaded.refuse_pandas()
    _read_and_write_all_characters()
    gc.disable()  # until the imports are done, which is a tenth faster, as they leave no garbage
    code: object = None
    try:
        main()
    except SystemExit as end:
        code = end.code
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_at_once(code)


def _stand_in_for_closed() -> None:
    """Open the null device in place of closed standard streams, whose numbers the next file would get.

    Reading from them or printing to them is an error then; messages are lost.
    """
    streams = {
        "stdin": ("r", os.O_WRONLY, "standard input"),
        "stdout": ("w", os.O_RDONLY, "standard output"),
        "stderr": ("w", os.O_WRONLY, ""),
    }
    for name, (mode, how, label) in streams.items():
        if getattr(sys, name) is None:
            # Stays open until the process ends.
            setattr(sys, name, open(os.open(os.devnull, how), mode, encoding="utf-8"))  # noqa: SIM115
            _closed.extend([label] if label else [])


def _read_and_write_all_characters() -> None:
    """Use UTF-8 in files and pipes; terminals, and users with PYTHONIOENCODING, get escapes where needed.

    Lines end with line feeds in files and pipes, on Windows, too.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        terminal, written = stream.isatty(), stream is not sys.stdin
        if written and not terminal:
            stream.reconfigure(newline="\n")
        if stream.encoding.lower().startswith("utf"):
            continue
        if written and (terminal or "PYTHONIOENCODING" in os.environ):
            stream.reconfigure(errors="backslashreplace")
        elif not terminal:
            stream.reconfigure(encoding="utf-8", errors=stream.errors)


def main() -> None:
    """Run sentgen; what the user did wrong comes out as one line and exit code 1."""
    if unfit:
        sys.exit(f"sentgen: {unfit}")
    try:
        _run()
    except SystemExit as end:
        if end.code == EXIT_CODE:  # Typer turns Ctrl-C into this code without a word
            print(INTERRUPTED, file=sys.stderr)
        raise
    except BrokenPipeError:
        # A reader such as `head` has ended, which is no error. The interpreter must not flush into the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if not _is_lost(error):
            raise
        sys.exit(_say_lost(error))
    except Exception as error:
        if (line := _line(error)) is None:
            raise
        print(f"sentgen: {line}", file=sys.stderr)
        sys.exit(1)


def _is_lost(error: OSError) -> bool:
    """Return whether the disk of the output was full, or a standard stream was closed.

    Errors about other files have the name of the file.
    """
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return error.filename is None and (full or (error.errno == errno.EBADF and bool(_closed)))


def _say_lost(error: OSError) -> int:
    """Print that the output is incomplete, and drop the rest; return the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EBADF:
        message = f"{' and '.join(_closed)}: closed; open it, and run it again"
    else:
        reason = (error.strerror or "no room").lower()
        message = f"standard output: {reason}; output is incomplete: free some space, and run it again"
    print(f"sentgen: {message}", file=sys.stderr)
    return 1


def _end_at_once(code: object) -> NoReturn:
    """End the process after its output is written, without the interpreter's clean-up, which takes 0.15 s.

    Functions registered by `atexit` are run. If a thread is running or output cannot be written, the process
    ends in the usual way.
    """
    others = [
        thread
        for thread in threading.enumerate()
        if thread is not threading.main_thread() and not thread.daemon
    ]
    if others or not (code is None or isinstance(code, int)):
        raise SystemExit(code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # as in `main`, for output that was not written yet
        pass
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and _is_lost(error):
            code = _say_lost(error)
        else:  # the interpreter tries again, and prints the error
            raise SystemExit(code) from None
    os._exit(code or 0)


def _run() -> None:
    # Without Typer, whose import takes longer than the answer.
    if sys.argv[1:] == ["--version"]:
        print(f"sentgen {__version__}")
        return
    import logging

    from sentgen.cli.console.waiting import say_when_compiling

    # On a full disk, the rollback fails, too; SQLAlchemy would log its traceback before our line.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    with say_when_compiling():
        build()()


def _line(error: Exception) -> str | None:
    """Return the line for an error of the user, ``None`` for one of the program."""
    from sentgen.errors import QueryError, SentgenError

    if garbled := _garbled_argument(error):
        if os.path.lexists(garbled):
            return f"{garbled!a}: the name of this file is not UTF-8; rename it"
        return f"{garbled!a} is not valid UTF-8; write it again"
    if isinstance(error, QueryError) and error.picture:
        return f"{error}\n{error.picture}"
    return str(error) if isinstance(error, SentgenError) else None


def _garbled_argument(error: Exception) -> str | None:
    """Return the argument that caused an error as it is not UTF-8, which is a RuntimeError in DuckDB."""
    # For a parameter, the message of DuckDB names a surrogate.
    if not isinstance(error, RuntimeError | UnicodeEncodeError) and "surrogate '" not in str(error):
        return None
    # Python decodes bytes that are no UTF-8 as these surrogates.
    return next((word for word in sys.argv[1:] if any("\udc80" <= c <= "\udcff" for c in word)), None)
