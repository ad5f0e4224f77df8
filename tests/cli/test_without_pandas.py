"""DuckDB gets no pandas in a command; whoever else asks for it does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ten_sentences import fill

_RUN = """
import sys
from sentgen import never_loaded
never_loaded.refuse_pandas()
never_loaded.refuse_pandas()
from sentgen.schema import Store
from sentgen.lookups.ngram_search import Ngrams
with Store(sys.argv[1], read_only=True) as store, store.connect() as connection:
    found = Ngrams(pattern="the *").ask(connection).table.num_rows
print(found > 0, "pandas" in sys.modules)
import pandas
print(pandas.DataFrame({"x": [1, 2]}).x.sum(), str(sys.meta_path).count("WithoutPandas"))
"""


def test_a_look_up_does_without(tmp_path: Path) -> None:
    """It finds what there is, and a plug-in that is loaded afterwards still has pandas."""
    pytest.importorskip("pandas")
    store = fill(tmp_path / "toy.duckdb")

    told = subprocess.run(
        [sys.executable, "-c", _RUN, str(store)], capture_output=True, text=True, check=True, timeout=60
    )

    assert told.stdout.split() == ["True", "False", "3", "1"]
