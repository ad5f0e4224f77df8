"""Run what a new user runs first, so that its machine code is there: ``python -m sentgen.first_use [PART]``.

Numba compiles a function when it is called for the first time, and keeps the machine code beside its module.
A wheel is built with what this leaves (`build_backend.py`), so that nobody who installs it waits.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from sentgen.cli import main
from sentgen.demo import NEW_SENTENCES, TREEBANK
from sentgen.generation import ALGORITHMS

_DOCUMENT = "The first aid trucks arrived in Sarkesh on Tuesday . They brought tents to the camp ."
_ABSTRACT = "Aid trucks brought tents to Sarkesh ."
_DB = ("--db", "store.duckdb")


def _ordering() -> Iterator[tuple[str, ...]]:
    """Yield command lines over files of the folder: corpora, models, sentences from bags."""
    yield "demo", *_DB
    yield "ingest", "relief.txt", "--corpus", "text", *_DB
    # In another language it is another source, and takes the place of the first one.
    yield "ingest", "relief.txt", "--corpus", "text", "--language", "fr", "--replace", *_DB
    yield "ingest", "relief.lines", "--corpus", "lines", *_DB
    yield "models", "build", "katz", "--corpus", "text", "--smoothing", "katz", *_DB
    yield "models", "build", "five", "--corpus", "relief", "--order", "5", *_DB
    contexts = ("--contexts", "both", "--dimensions", "10", "--min-count", "2")
    yield "vectors", "build", "relief", "--corpus", "relief", *contexts, *_DB
    yield "vectors", "build", "window", "--corpus", "relief", *contexts[2:], *_DB
    yield "models", "export", "relief", "--arpa", "relief.arpa", *_DB
    yield "models", "import-arpa", "read", "relief.arpa", *_DB
    yield "score", "--model", "five", *NEW_SENTENCES, *_DB
    for algorithm in ALGORITHMS:
        yield "regenerate", "--model", "five", "-a", algorithm, "--explain", NEW_SENTENCES[0], *_DB
    compared = ("--test", "few.conllu", "-a", ",".join(ALGORITHMS))
    yield "evaluate", "regeneration", "--model", "five", *compared, *_DB
    yield "tune", "relief.conllu", "--model", "relief", "--rounds", "1", *_DB
    yield "db", "compact", *_DB
    yield "db", "check", *_DB
    yield "corpora", "remove", "text", *_DB


def _rewriting() -> Iterator[tuple[str, ...]]:
    """Yield command lines over files of the folder: sentences from others, and alignments."""
    yield "generate", "relief.conllu", "--cluster", "relief-002", "--lengths", "6-8", *_DB
    yield "generate", "relief.conllu", "--cluster", "relief-002", "--arguments", "supported", *_DB
    yield "fuse", "relief-002-1", "--with", "relief.conllu", *_DB
    yield "fuse", "relief-002-1", "--with", "relief.conllu", "--algorithm", "depviterbi", *_DB
    yield "check", "relief.conllu", "--against", "relief.conllu"
    align = ("align", "text", "--document", "document.txt", "--abstract", "abstract.txt", *_DB)
    yield *align, "--explain"
    for system in ("cut-and-paste", "hmm"):
        yield *align, "--system", system
    yield "pairs", "ingest", "document.txt", "abstract.txt", "--corpus", "pairs", *_DB
    for preset in ("best", "paper"):
        training = ("--pairs", "pairs", "--model", preset, "--preset", preset)
        yield "align", "train", *training, "--iterations", "1", *_DB
    yield "align", "apply", "--pairs", "pairs", "--model", "best", *_DB
    yield "align", "tune", "tuned", "--gold", "gold.txt", "--iterations", "1", *_DB
    yield *align, "--model", "tuned"


#: What is compiled for each has little in common: two processes may run them at once.
PARTS = {"ordering": _ordering, "rewriting": _rewriting}


def _write_texts() -> None:
    """Write the files that the commands read."""
    trees = TREEBANK.read_text("utf-8")
    Path("relief.conllu").write_text(trees, "utf-8")
    Path("few.conllu").write_text("\n\n".join(trees.split("\n\n")[:4]) + "\n\n", "utf-8")
    Path("relief.txt").write_text(
        "\n".join(line[9:] for line in trees.splitlines() if line.startswith("# text =")), "utf-8"
    )
    Path("relief.lines").write_text(f"{_DOCUMENT}\n", "utf-8")
    Path("document.txt").write_text(_DOCUMENT, "utf-8")
    Path("abstract.txt").write_text(_ABSTRACT, "utf-8")
    Path("gold.txt").write_text("a dog ||| the dog ||| 1-1\na cat ||| one cat ||| 0p0 1-1\n", "utf-8")


def run(*parts: str) -> list[str]:
    """Run some parts, or all, in a folder of their own; return the lines that failed, and what they said."""
    failed, before = [], sys.argv
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), open(os.devnull, "w") as nowhere:
        _write_texts()
        for words in chain.from_iterable(PARTS[part]() for part in parts or PARTS):
            sys.argv = ["sentgen", *words]
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(said):
                    main()
            except SystemExit as end:
                if end.code:
                    failed.append(f"{' '.join(words)}: {end.code}\n{said.getvalue()}")
    sys.argv = before
    return failed


if __name__ == "__main__":
    sys.exit("\n".join(run(*sys.argv[1:])) or None)
