"""One database for all tests that only read: the demo treebank with a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sentgen


@pytest.fixture(scope="module")
def db(relief: Path) -> Iterator[sentgen.Database]:
    """That database, open."""
    with sentgen.open(relief, read_only=True) as found:
        yield found
