"""A store small enough to count by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection
from ten_sentences import fill

from sentgen.cli.console.options import StoreOptions


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the store."""
    return fill(tmp_path_factory.mktemp("lookups") / "toy.duckdb")


@pytest.fixture(scope="session")
def connection(path: Path) -> Iterator[Connection]:
    """The store, opened for reading with the settings of commands, as tests also run these on it."""
    with StoreOptions(db=path).store(read_only=True) as store, store.connect() as opened:
        yield opened
