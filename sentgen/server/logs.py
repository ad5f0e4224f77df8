"""Logs as JSON lines on standard error: one object an event."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

#: One line per SQL query: who asked what, and what came of it.
audit = logging.getLogger("sentgen.audit")
#: One line per request.
access = logging.getLogger("sentgen.access")

# The last three are set by formatters, or by later versions of Python.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """Write a record with whatever was given as ``extra``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        event = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "log": record.name,
            "event": record.getMessage(),
            **{key: value for key, value in vars(record).items() if key not in _OWN},
        }
        if record.exc_info:
            event["traceback"] = self.formatException(record.exc_info)
        return json.dumps(event, default=str)  # ASCII: nothing in a query can forge or break a line


def to_standard_error() -> None:
    """Send all logs of this process there."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # It has two lines for each request, and so have we.
    logging.getLogger("mcp").setLevel(logging.WARNING)
