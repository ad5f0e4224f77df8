"""Ctrl-C in a terminal, at random moments: exit code 130, one line, at once, and nothing is left or broken.

`benchmarks/interrupts.py` does the same to every command and every algorithm, fifty times each.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PETS, ROOT, Sentgen

ENDLESS = "select count(*) from range(100000000) a, range(1000) b where a.range * b.range % 7 = 3"
ROWS = "select a.range from range(3000000000) a where a.range % 3 = 1"
#: DuckDB cannot interrupt one call of a function.
DEAF = "select max(levenshtein(repeat('ab', 30000), repeat('ba', 30000))) from range(10)"


@pytest.mark.nightly
@pytest.mark.slow
def test_random_moments(filled: Sentgen, store: Path, tmp_path: Path) -> None:
    """Statements of DuckDB that it interrupts and that it does not, kernels, rows, and transactions."""
    chance = random.Random(12)
    (tmp_path / "many.conllu").write_text("".join(PETS.replace("dog", f"dog{i}") for i in range(3000)))
    (tmp_path / "more.conllu").write_text("".join(PETS.replace("cat", f"cat{i}") for i in range(3000)))
    assert filled("ingest", "many.conllu", "--corpus", "many").code == 0
    regenerate = ["regenerate", "--model", "pets", "--input", "many.conllu", "--algorithm"]
    commands = [
        ["sql", ENDLESS],
        ["sql", ROWS],
        ["sql", DEAF],
        [*regenerate, "viterbi"],
        [*regenerate, "beam"],
        ["ingest", "more.conllu", "--corpus", "more"],
        ["models", "build", "new", "--corpus", "many"],
        ["kwic", "the", "--limit", "0"],
    ]
    rounds = [[words, chance.uniform(0, 0.6)] for words in [*commands, *commands[:6] * 3]]
    first = [[*regenerate[:4], "pets.conllu"], ["ingest", "pets.conllu", "--corpus", "a"], ["freq"]]
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "terminal.py")],
        input=json.dumps({"first": first, "rounds": rounds}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "SENTGEN_DB": str(store), "PYTHONPATH": str(ROOT)},
    )

    for (words, moment), found in zip(rounds, json.loads(done.stdout), strict=True):
        assert not found["fault"], (words, moment, found)
        assert found["delay"] < 10, (words, moment, found)
        assert found["code"] == 130 or words[0] in ("kwic", "ingest", "models"), (words, moment, found)
    assert filled("db", "check").code == 0
    assert not Path(f"{store}.runs").exists()
