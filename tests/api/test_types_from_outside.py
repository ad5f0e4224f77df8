"""`py.typed` holds: a type checker sees of the installed package what a user writes about."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What a user writes; after `#!` stands what is wrong with a line.
USE = """\
from pathlib import Path

import sentgen
from sentgen import Database, Table
from sentgen.errors import InputError


def first(db: Database) -> str:
    found: Table = db.ngrams("in the *", min_count=2, corpus="ewt", limit=3)
    db.kwic('[lemma="go"]', sort="left", corpus=["a", "b"])
    reveal_type(db.match("pattern { V [] }").by("V.lemma"))  #! "sentgen.api.hits.Hits"
    db.ngrams("in the *", limt=3)  #! Unexpected keyword argument "limt"
    db.kwic("camp", sort="up")  #! incompatible type "Literal['up']"
    db.ngrams(3)  #! incompatible type "int"; expected "str"
    for row in found:
        return str(row.w3)
    raise InputError("nothing")


with sentgen.open(Path("ewt.duckdb"), create=True, memory_limit="2GB") as db:
    print(db.ingest([Path("a.conllu")], corpus="ewt").sentences + 1)
    lm = db.build_model("ewt", corpora=["ewt"], order=4)
    made = lm.regenerate("[the dog] chased [the black cat] .", algorithm="ab")
    reveal_type(made.tree.heads)  #! "list[int]"
    reveal_type(lm.score("a b").perplexity)  #! "float"
    reveal_type(db.align("a", "b").links[0].document)  #! "int"
    db.generate(Path("cluster.conllu"), lengths=(5, 20), algorithm="bigram")
    db.check("a", "b", lemmas="yes")  #! incompatible type "str"; expected "bool"
    print(first(db), db.sql("select 1", [1]).sql.upper())
"""


@pytest.mark.slow
def test_mypy_checks_the_program_of_a_user(tmp_path: Path) -> None:
    """With --strict and nothing ignored: names, types and results, and nothing else is complained of."""
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "sentgen", site / "sentgen", ignore=ignored)
    for name in ("schema", "migrations"):
        shutil.copytree(ROOT / name, site / "sentgen" / name, ignore=ignored)
    (tmp_path / "use.py").write_text(USE, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "use.py"]
    environment = {**os.environ, "PYTHONPATH": str(site)}

    found = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )

    lines = re.findall(r"^use\.py:(\d+): (.*)", found.stdout, re.M)
    said = {int(line): text for line, text in reversed(lines)}  # the first of each; notes come after
    wanted = {
        number: line.split("#! ")[1] for number, line in enumerate(USE.splitlines(), 1) if "#! " in line
    }
    assert said.keys() == wanted.keys(), found.stdout
    assert all(wanted[number] in text for number, text in said.items()), found.stdout
    assert not [line for line in found.stdout.splitlines() if line.startswith("site/")]
