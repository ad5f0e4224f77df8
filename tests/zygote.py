"""Fork commands from a process that has imported them already; run by `killing.Zygote`.

Reads one command line a line, as JSON, and answers with three lines: the process that runs it; after every commit
that it begins, ``commit``; and its exit status.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from importlib import import_module
from pathlib import Path

import alembic.command
import alembic.config  # noqa: F401
import next_revision
from sqlalchemy import Engine, event

import sentgen.cli
from sentgen.cli.commands import COMMANDS


def tell(word: object) -> None:
    os.write(1, f"{word}\n".encode())


def run(arguments: list[str]) -> None:
    """Be the command."""
    event.listen(Engine, "commit", lambda _: tell("commit"))
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        sys.argv = ["sentgen", *arguments]
        sentgen.cli.main()


def main() -> None:
    """Serve command lines until there are no more."""
    for listed in COMMANDS:
        import_module(f"sentgen.cli.{listed.module.partition(':')[0]}")
    if len(sys.argv) > 1:
        next_revision.know(Path(sys.argv[1]))
    tell("ready")
    for line in sys.stdin:
        child = os.fork()
        if not child:
            code = 1
            try:
                run(json.loads(line))
                code = 0
            except SystemExit as end:
                code = int(str(end.code or 0))
            finally:
                os._exit(code)
        tell(child)
        _, status = os.waitpid(child, 0)
        tell(f"exit {os.waitstatus_to_exitcode(status)}")


main()
