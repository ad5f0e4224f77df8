"""A small treebank on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from all_counts import CONLLU
from stored import empty

from sentgen.schema import Store


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """A treebank file with two sentences in two documents."""
    path = tmp_path / "two.conllu"
    path.write_text(CONLLU)
    return path


@pytest.fixture
def emptied_store(shared_store: Store) -> Store:
    """The store that the tests of a file share, emptied of the corpora of tests before."""
    empty(shared_store)
    return shared_store
