"""Fixtures that several rooms share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_store

from sentgen.schema import Store


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[tuple[Store, toy_store.ToyModel]]:
    """A store that holds a 4-gram model of five sentences."""
    with Store(tmp_path / "toy.duckdb", create=True) as store:
        yield store, toy_store.fill(store, toy_store.backoff_model(toy_store.SENTENCES, 4))
