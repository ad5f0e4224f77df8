"""Fixtures of the corpus tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real corpora: SENTGEN_DATA, else ../shared/data beside the repository."""
    default = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("SENTGEN_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no corpora in {folder}; set SENTGEN_DATA")
    return folder
