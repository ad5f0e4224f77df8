"""Words for those who wait while functions are compiled, on a terminal or where a log is read later."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Machine code is kept from run to run; making it takes tens of seconds.
COMPILING = "still working; the first run of an algorithm compiles it, which takes up to a minute ..."
#: Seconds of compiling about which nothing is said.
SECONDS = 3.0


@contextmanager
def say_when_compiling() -> Iterator[None]:
    """Say on standard error, in one line, when the work inside compiles something and goes on after that."""
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
