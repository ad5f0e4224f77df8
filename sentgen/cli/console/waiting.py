"""Messages for users who wait while functions are compiled, on a terminal or in a log."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Message about compilation, which takes tens of seconds at the first run only.
COMPILING = "still working; the first run of an algorithm compiles it, which takes up to a minute ..."
#: Seconds of compilation without a message.
SECONDS = 3.0


@contextmanager
def say_when_compiling() -> Iterator[None]:
    """Print a line on standard error if the work inside compiles functions for longer than `SECONDS`."""
    logger, handler = logging.getLogger("sentgen.machine_code"), _Telling()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
        handler.close()


class _Telling(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._timer: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Say a warning at once, and anything else, once, if nothing ends before patience does."""
        if record.levelno >= logging.WARNING:
            _say(record.getMessage())
        elif self._timer is None:
            self._timer = threading.Timer(SECONDS, _say, [COMPILING])
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """Say nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        super().close()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
