"""Where the store is if nobody names one."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path


def default_path() -> Path:
    """Return where the store lives by default: in $SENTGEN_DB, else in the user's data folder."""
    chosen = os.environ.get("SENTGEN_DB")
    return Path(chosen) if chosen else unnamed_path()


def unnamed_path() -> Path:
    """Return where the store lives if nobody has named another place."""
    return user_data_path("sentgen") / "sentgen.duckdb"
