"""One database for all tests that only ask: the demo treebank with a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sentgen
from sentgen.demo import TREEBANK


@pytest.fixture(scope="session")
def relief(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the demo treebank and a model of it; tests copy it before they change it."""
    path = tmp_path_factory.mktemp("api") / "relief.duckdb"
    with sentgen.open(path, create=True, memory_limit="1GB") as made:
        made.ingest(TREEBANK, "relief", licence="Apache-2.0")
        made.build_model("relief", "relief", order=3)
    return path


@pytest.fixture(scope="module")
def db(relief: Path) -> Iterator[sentgen.Database]:
    """The same, open."""
    with sentgen.open(relief, read_only=True) as found:
        yield found
