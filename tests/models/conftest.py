"""Fixtures for models; the corpora that they are built from are made in `toy_corpus`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentgen.schema import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.duckdb", create=True, threads=2) as opened:
        yield opened


@pytest.fixture
def lmplz() -> str:
    """KenLM's estimator; tests that need it are skipped where it is not installed."""
    found = os.environ.get("SENTGEN_LMPLZ") or shutil.which("lmplz")
    if not found:
        pytest.skip("needs lmplz on PATH or in SENTGEN_LMPLZ")
    return found
