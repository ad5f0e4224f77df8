"""Metrics of the server, as Prometheus reads them (text format 0.0.4), and its logs."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sentgen.server.cache import LruCache

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Upper bounds of the histogram of durations, in seconds.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Histogram:
    """A histogram of durations: numbers of durations up to each bound, their sum and number."""

    buckets: list[int] = field(default_factory=lambda: [0] * len(BOUNDS))
    total: float = 0.0
    count: int = 0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self.total += seconds
        self.count += 1
        for bucket, bound in enumerate(BOUNDS):
            # Buckets of Prometheus are cumulative.
            self.buckets[bucket] += seconds <= bound


@dataclass(slots=True)
class Metrics:
    """Numbers of requests by operation and status, their durations, look-ups, and killed workers."""

    _requests: defaultdict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))
    _durations: defaultdict[str, _Histogram] = field(default_factory=lambda: defaultdict(_Histogram))
    _killed: defaultdict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    _lookups: defaultdict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    def requested(self, operation: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests[operation, status] += 1
        self._durations[operation].add(seconds)

    def killed(self, kind: str, reason: str) -> None:
        """Count a worker that is replaced."""
        self._killed[kind, reason] += 1

    def looked_up(self, lookups: Mapping[str, tuple[int, int]]) -> None:
        """Add the look-ups of a worker; by kind, how many were found in its cache, and how many fetched."""
        for name, counts in lookups.items():
            for cached, count in zip(("yes", "no"), counts, strict=True):
                self._lookups[name, cached] += count

    def text(self, pools: Mapping[str, Mapping[str, int]], snapshot: str, cache: LruCache) -> str:
        """Return all metrics; ``pools`` are the states of the workers by kind."""
        return "".join(f"{line}\n" for line in self._lines(pools, snapshot, cache))

    def _lines(self, pools: Mapping[str, Mapping[str, int]], snapshot: str, cache: LruCache) -> Iterator[str]:
        yield from _head("sentgen_requests_total", "counter", "Requests answered.")
        for (operation, status), count in sorted(self._requests.items()):
            yield _line("sentgen_requests_total", (("operation", operation), ("status", str(status))), count)
        yield from _head("sentgen_request_seconds", "histogram", "Durations of requests, waiting included.")
        for operation, histogram in sorted(self._durations.items()):
            label = ("operation", operation)
            for bound, count in zip((*BOUNDS, "+Inf"), (*histogram.buckets, histogram.count), strict=True):
                yield _line("sentgen_request_seconds_bucket", (label, ("le", str(bound))), count)
            yield _line("sentgen_request_seconds_sum", (label,), histogram.total)
            yield _line("sentgen_request_seconds_count", (label,), histogram.count)
        yield from _head("sentgen_workers_replaced_total", "counter", "Workers that were replaced, and why.")
        for (kind, reason), count in sorted(self._killed.items()):
            yield _line("sentgen_workers_replaced_total", (("kind", kind), ("reason", reason)), count)
        yield from _head("sentgen_lookups_total", "counter", "Look-ups of models and trees, cached or not.")
        for (name, cached), count in sorted(self._lookups.items()):
            yield _line("sentgen_lookups_total", (("of", name), ("cached", cached)), count)
        yield from _head("sentgen_kept_answers_total", "counter", "Questions whose answer was kept, or not.")
        for answer, count in (("yes", cache.hits), ("no", cache.misses)):
            yield _line("sentgen_kept_answers_total", (("kept", answer),), count)
        yield from _head("sentgen_kept_bytes", "gauge", "Bytes of the answers that are kept.")
        yield f"sentgen_kept_bytes {cache.used}"
        for name in ("workers", "idle", "waiting"):
            yield from _head(f"sentgen_pool_{name}", "gauge", f"State of the pools: {name}.")
            for kind, state in sorted(pools.items()):
                yield _line(f"sentgen_pool_{name}", (("kind", kind),), state[name])
        yield from _head("sentgen_snapshot_info", "gauge", "The snapshot that is served.")
        yield _line("sentgen_snapshot_info", (("snapshot", snapshot),), 1)


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _line(name: str, labels: _Labels, value: float) -> str:
    inside = ",".join(f'{key}="{_escape(text)}"' for key, text in labels)
    return f"{name}{{{inside}}} {value}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


#: One line per SQL query: the asker, the query and its result.
audit = logging.getLogger("sentgen.audit")
#: One line per request.
access = logging.getLogger("sentgen.access")

# Attributes of records that are not ``extra``; the last three come from formatters or later Pythons.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """Formats a record as a line of JSON, with the fields of ``extra``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        event = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "log": record.name,
            "event": record.getMessage(),
            **{key: value for key, value in vars(record).items() if key not in _OWN},
        }
        if record.exc_info:
            event["traceback"] = self.formatException(record.exc_info)
        return json.dumps(event, default=str)  # ASCII, so that no query can forge or break a line


def to_standard_error() -> None:
    """Send all logs of this process to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # It logs two lines for each request, which this server logs already.
    logging.getLogger("mcp").setLevel(logging.WARNING)
