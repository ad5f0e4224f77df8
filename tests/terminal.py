"""Press Ctrl-C in a pseudo-terminal, and judge how the command in it ended."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

CTRL_C = b"\x03"
LINE = "sentgen: interrupted; what was finished is kept"
#: What must not be read after Ctrl-C.
_WRONG = re.compile(r"Traceback|Error|Exception|Aborted|Fatal|fault|dumped|INTERRUPT")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\^C|\r")
_PATIENCE = 60.0
#: Seconds that a command may go on if it still gets to its end.
_PROMPT = 5.0


@dataclass(frozen=True)
class Round:
    """How one command ended: exit code, seconds since Ctrl-C, what it printed, and processes left over."""

    code: int
    delay: float
    output: str
    left: int

    @property
    def fault(self) -> str:
        """What is wrong with it, nothing if all is well."""
        if self.code not in (0, 130):
            return f"exit code {self.code}"
        if self.code == 0 and self.delay > _PROMPT:
            return "not heard"
        if self.code == 130 and self.output.count(LINE) != 1:
            return "no line" if LINE not in self.output else "the line twice"
        if found := _WRONG.search(self.output):
            return f"{found[0]} in the output"
        return "processes left" if self.left else ""


def press(run: Callable[[], object], moment: float) -> Round:
    """Run something in a child with a terminal of its own, and press Ctrl-C after some seconds.

    Args:
        run: the program, entered as a fresh process enters it.
        moment: seconds from when the child has its handlers; before, while Python starts, it has none.
    """
    child, terminal = pty.fork()
    if child == 0:
        _become(run)
    clock, pressed, written = None, None, bytearray()
    while True:
        now = time.monotonic()
        if clock is None and _handles_interrupts(child):
            clock = now
        if clock is not None and pressed is None and now >= clock + moment:
            os.write(terminal, CTRL_C)
            pressed = now
        if pressed is not None and now > pressed + _PATIENCE:
            os.kill(child, signal.SIGKILL)
        if select.select([terminal], [], [], 0.002)[0] and not _read(terminal, written):
            break
    _, status = os.waitpid(child, 0)
    ended = time.monotonic()
    os.close(terminal)
    text = _ESCAPES.sub("", written.decode(errors="replace"))
    left = _left_over(child)
    return Round(os.waitstatus_to_exitcode(status), ended - (pressed or ended), text, left)


def _handles_interrupts(process: int) -> bool:
    """Say whether a process that starts has the thread that ends it, which is its second one."""
    try:
        return len(os.listdir(f"/proc/{process}/task")) > 1
    except OSError:
        return True


def _become(run: Callable[[], object]) -> None:
    """Run the program and end as it ends, whatever the process that it was forked from would do."""
    code: object = 0
    sys.stdout = os.fdopen(1, "w", closefd=False)  # it was a file, perhaps, and is a terminal by now
    sys.stderr = os.fdopen(2, "w", closefd=False)
    try:
        run()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)


def _read(terminal: int, written: bytearray) -> bool:
    try:
        some = os.read(terminal, 2**16)
    except OSError:  # closed at the other end, as Linux says it
        return False
    written += some
    return bool(some)


def _left_over(leader: int) -> int:
    """Count the processes of a session that outlive it; a child may take a moment to notice."""
    for _ in range(20):
        if not (left := sum(_session(path) == leader for path in Path("/proc").glob("[0-9]*/stat"))):
            break
        time.sleep(0.1)
    return left


def _session(stat: Path) -> int:
    """Return the session of a process, 0 if it has ended."""
    try:
        state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
    except (OSError, ValueError):
        return 0
    return 0 if state == "Z" else int(session)


def main() -> None:
    """Run rounds for a test: read warm-ups and [words, moment] as JSON, and print how each round ended.

    This is a process of its own, because one that runs tests has threads, which a fork does not survive.
    """
    from sentgen.cli import main as command
    from sentgen.cli import program

    asked = json.load(sys.stdin)
    for words in asked["first"]:
        sys.argv = ["sentgen", *words]
        with redirect_stdout(sys.stderr), suppress(SystemExit):
            command()
    rounds = []
    for words, moment in asked["rounds"]:
        sys.argv = ["sentgen", *words]
        found = press(program, moment)
        rounds.append({**asdict(found), "fault": found.fault})
    print(json.dumps(rounds))


if __name__ == "__main__":
    main()
