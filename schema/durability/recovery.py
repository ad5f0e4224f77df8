"""After a crash: know half of a transaction, and say so before anything is built on it.

DuckDB before 2.0 takes a part of a transaction for whole when the log ends early: what a large one had
written in advance stays, the rest is gone. Sentgen leaves no log of a large transaction (see `open_engine`),
but stores were written before it saw to that.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine

from sentgen.errors import StoreError
from sentgen.schema.engine import one_row, raw
from sentgen.schema.integrity.checks import torn_checks


def examine(engine: Engine, path: Path) -> None:
    """Look for half of a transaction; a second for a store of ten million tokens.

    Raises:
        StoreError: there is one.
    """
    with engine.connect() as connection:
        duck = raw(connection)
        for check in torn_checks():
            if one_row(duck, f"from ({check.query}) limit 1"):
                raise StoreError(
                    f"{path}: a killed process has left half of a transaction in it ({check.name}); "
                    f"run: sentgen db repair --db {path}"
                )
