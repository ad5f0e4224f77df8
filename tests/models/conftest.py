"""Fixtures for models; the corpora that they are built from are made in `toy_corpus`."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture
def lmplz() -> str:
    """KenLM's estimator; tests that need it are skipped where it is not installed."""
    found = os.environ.get("SENTGEN_LMPLZ") or shutil.which("lmplz")
    if not found:
        pytest.skip("needs lmplz on PATH or in SENTGEN_LMPLZ")
    return found
