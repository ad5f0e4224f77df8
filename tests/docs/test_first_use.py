"""The first commands of a new user find machine code, since `sentgen.first_use` has called its functions."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import doc_pages
import pytest

from sentgen.demo import TREEBANK

ROOT = Path(__file__).resolve().parents[2]
#: Runs command lines, and prints each function that is looked for with its types, once.
_RECORD = """\
import contextlib, json, os, shlex, sys
from sentgen import first_use, machine_code
from sentgen.cli import main

looked_for, look = {}, machine_code.MachineCode._load_overload

def noted(self, sig, context):
    looked_for[f"{self._py_func.__module__}.{self._py_func.__qualname__}{sig}"] = None
    return look(self, sig, context)

machine_code.MachineCode._load_overload = noted
failed = []
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    for line in json.load(sys.stdin) or [""]:
        if not line:
            failed += first_use.run(*first_use.SHIPPED)
            continue
        sys.argv = shlex.split(line)
        try:
            main()
        except SystemExit as end:
            failed += [line] if end.code else []
print(json.dumps([list(looked_for), failed]))
"""
CONLLX = "1\tThe\tthe\tDT\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNN\tNN\t_\t0\troot\t_\t_\n\n"
#: A file of each format, by its name.
FILES = {
    "a.conllu": TREEBANK.read_text("utf-8"),
    "relief.conllu": TREEBANK.read_text("utf-8"),
    "a.conllx": CONLLX,
    "a.jsonl": '{"text": "It is so. It was."}\n{"tokens": ["Yes", "."], "nps": [0, 0]}\n',
    "a.mrg": "( (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)) )\n",
    "a.dp": "The\tDT\t2\ndog\tNN\t0\n\n",
    "a.pos": "[ The/DT dog/NN ]\nbarks/VBZ\n./.\n",
    "b.dp": "The\tDT\t2\ndog\tNN\t3\nbarks\tVBZ\t0\n.\t.\t3\n\n",
    "b.pos": "[ The/DT dog/NN ]\nbarks/VBZ\n./.\n",
    "a.chunks": "The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n. . O\n\n",
    "a.lines": "The dog barks .\nIt is so .\n",
    "a.txt": "The dog barks. It is so.\n",
    "article.txt": "The dog barks. It is so.\n",
    "summary.txt": "The dog barks.\n",
}
LINES = (
    *(f"sentgen ingest {name} --corpus {name}" for name in FILES),
    "sentgen ingest a.conllu --corpus lower --lowercase --no-function-heads",
    "sentgen ingest a.txt --corpus a.txt --language fr --replace",
    "sentgen models build best --corpus a.conllu --order 5 --unknown tag --brackets --companions",
    "sentgen models build counts --corpus a.conllu --smoothing stupid-backoff",
    "sentgen score --model counts 'the camp'",
    "sentgen score --model best --tokenize 'The camp.'",
    "sentgen regenerate --model best --nbest 3 --explain 'the/DT camp/NN arrived/VBD ./.'",
    "sentgen tune a.conllu --model best --rounds 1",
    "sentgen vectors build all --corpus a.conllu --corpus a.txt --min-count 2 --dimensions 5",
    "sentgen publish --to snapshots",
)


def looked_for(lines: list[str], folder: Path) -> tuple[set[str], list[str]]:
    """Return the functions that some command lines, or `sentgen.first_use`, need, and the lines that failed."""
    store = {"SENTGEN_DB": str(folder / "store.duckdb"), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _RECORD],
        cwd=folder,
        env=os.environ | store,
        input=json.dumps(lines),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    functions, failed = json.loads(done.stdout)
    return set(functions), failed


@pytest.mark.nightly
def test_first_commands_find_their_machine_code(tmp_path: Path) -> None:
    """Commands of the tutorial, and ingestion of every format, compile nothing if a wheel is installed."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, "utf-8")
    page = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    tutorial = [one.line for one in doc_pages.commands(page) if shlex.split(one.line)[0] == "sentgen"]
    there, failed = looked_for([], tmp_path)
    needed, missed = looked_for([*LINES, *tutorial], tmp_path)

    assert failed == []
    assert not [line for line in missed if line in LINES]
    assert len(missed) < len(tutorial) / 2
    assert sorted(needed - there) == []
