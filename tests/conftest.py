"""Fixtures that several rooms share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_store
from hypothesis import settings

from sentgen.schema import Store

# The first example of a compiled function pays for its compilation; CI tries the same examples every time.
settings.register_profile("sentgen", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("sentgen")


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[tuple[Store, toy_store.ToyModel]]:
    """A store that holds a 4-gram model of five sentences."""
    with Store(tmp_path / "toy.duckdb", create=True) as store:
        yield store, toy_store.fill(store, toy_store.backoff_model(toy_store.SENTENCES, 4))
