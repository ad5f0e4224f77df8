"""Models of models in Python: lists of names, weights and counts, and tables of comparisons."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sentgen
from sentgen.demo import TREEBANK
from sentgen.errors import InputError


def test_models_are_mixed_pruned_and_compared(relief: Path, tmp_path: Path) -> None:
    shutil.copy(relief, tmp_path / "s.duckdb")
    with sentgen.open(tmp_path / "s.duckdb") as db:
        db.build_model("short", "relief", order=2)

        both = db.mix_models("both", ["relief", "short"], weights=[0.25, 0.75], dynamic=True)
        small = db.prune_model("small", "relief", min_count=[1, 2])
        table = db.compare_models(["relief", "both", "small"], test=str(TREEBANK))

        assert both.info.parts == (("relief@1", 0.25), ("short@1", 0.75))
        assert small.info.min_count == (1, 2, 2)
        assert [row[0] for row in table] == ["relief@1", "both@1", "small@1"]
        assert both.score("the people arrived .").perplexity > 0
        with pytest.raises(InputError, match="2 numbers for 3 models"):
            db.mix_models("more", "relief,short,small", weights=".5,.5")


def test_caches_say_what_they_did(relief: Path) -> None:
    """Caches report hits, misses, entries, bytes and limit: a second bag finds the rows of the first."""
    with sentgen.open(relief, read_only=True) as db:
        for _ in range(2):
            db.model("relief").regenerate("camp/NN arrived/VBD", algorithm="cle")
        ngrams, trees = db.cache_info()

    assert (ngrams[0], trees[0]) == ("n-grams", "trees")
    for _, hits, misses, entries, size, limit in (ngrams, trees):
        assert hits == misses == entries > 0
        assert 0 < size < limit
