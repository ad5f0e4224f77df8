"""A small treebank on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from all_counts import CONLLU


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """Two sentences in two documents."""
    path = tmp_path / "two.conllu"
    path.write_text(CONLLU)
    return path
