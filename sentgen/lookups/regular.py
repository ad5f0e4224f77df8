"""Regular expressions of queries: those of RE2, which DuckDB has, and what is wrong with one."""

from __future__ import annotations

import duckdb
from sqlalchemy import Connection

from sentgen.schema.engine import raw

#: What RE2 says, and what is meant.
_FAULTS = {
    "missing )": "missing )",
    "missing ]": "missing ]",
    "unexpected )": "unexpected )",
    "trailing \\": "a backslash at the end; write two for one",
    "invalid escape sequence": "no such escape; write two backslashes for one",
    "invalid character class": "no such class of characters",
    "invalid character class range": "no such range or class of characters",
    "no argument for repetition operator": "nothing stands before this to be repeated",
    "invalid repetition size": "this is repeated more than 1000 times",
    "bad repetition operator": "what is repeated cannot be repeated again; write parentheses",
    "invalid perl operator": "no such group; there are (...), (?:...) and (?i)",
    "invalid named capture group": "no such group; there are (...), (?:...) and (?i)",
}
_OTHER = "it cannot be read, or is too large; write it in another way"
_MATCHES = "select regexp_full_match('', $pattern)"


def fault(connection: Connection, text: str) -> str | None:
    """Return what is wrong with a regular expression; none if nothing is."""
    try:
        raw(connection).execute(_MATCHES, {"pattern": text}).fetchall()
    except duckdb.InvalidInputException as error:
        return told(error)[0]
    return None


def told(error: duckdb.InvalidInputException) -> tuple[str, str]:
    """Return what is wrong with a regular expression that DuckDB does not take, and the piece that is."""
    reason = str(error).split("\n")[0].split("Error: ", 1)[-1]
    name, _, piece = reason.partition(": ")
    if name not in _FAULTS:
        return _OTHER, ""
    return f"{_FAULTS[name]}: {piece}" if piece else _FAULTS[name], piece
