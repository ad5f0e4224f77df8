"""Long documents under a memory limit, in processes of their own, whose peak memory is measured.

Without blocks each of these takes more than the limit: 16 bytes for each of 3.5 million word pairs forward and
backward, 8 for words that rewrite each other, 8 to 24 for posteriors of links, beside the 190 MB of Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sentgen.alignment import Pair
from sentgen.alignment.pairs.budget import BASE, Budget
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored.model_store import list_models
from sentgen.alignment.stored.training import TrainingPlan, train_model
from sentgen.alignment.systems import ensure_fits
from sentgen.alignment.texts import align_texts
from sentgen.corpus.pair_readers import PairSettings
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.errors import MemoryLimitError
from sentgen.schema import Store

LIMIT, APPLY = 400 << 20, 512 << 20
#: Words of the document and of the abstract.
WORDS = 5_000, 700
_MAIN = "import sys; from sentgen.cli import main; sys.argv[0] = 'sentgen'; main()"

#: A small process in between: the peak of a process counts that of the one that started it.
_LAUNCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""

#: Runs a command and returns its output, its errors, its exit code and its peak memory in bytes.
Run = Callable[..., tuple[str, str, int, int]]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A document of made-up words, a sentence a line, and an abstract of its sentences."""
    rng = np.random.default_rng(1)
    share = 1 / np.arange(1, 1_001)
    words = [f"w{''.join(chr(97 + int(digit)) for digit in str(number))}" for number in range(1_000)]
    lines = [
        " ".join(words[word] for word in rng.choice(1_000, 21, p=share / share.sum())) + " ."
        for _ in range(WORDS[0] // 22)
    ]
    chosen = rng.permutation(len(lines))[: WORDS[1] // 22 + 1]
    folder = tmp_path_factory.mktemp("long")
    document, abstract = folder / "document.txt", folder / "abstract.txt"
    document.write_text("\n".join(lines))
    abstract.write_text("\n".join(lines[line] for line in chosen))
    return document, abstract


@pytest.fixture(scope="module")
def pairs(texts: tuple[Path, Path]) -> Path:
    """The document and the abstract as a pair."""
    document, abstract = (path.read_text() for path in texts)
    path = texts[0].with_name("pairs.jsonl")
    path.write_text(json.dumps({"id": "long", "document": document, "abstract": abstract}) + "\n")
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a store."""
    return tmp_path_factory.mktemp("store") / "s.duckdb"


@pytest.fixture(scope="module")
def run(store: Path) -> Run:
    """Run commands on the store, under a limit."""

    def measured(*arguments: object, limit: int = LIMIT) -> tuple[str, str, int, int]:
        command = [sys.executable, "-c", _MAIN, *map(str, arguments), "--memory-limit", str(limit)]
        environment = {**os.environ, "SENTGEN_DB": str(store), "OPENBLAS_NUM_THREADS": "1"}
        launched = subprocess.run(
            [sys.executable, "-S", "-c", _LAUNCHER, *command], capture_output=True, text=True, env=environment
        )
        *told, peak = launched.stdout.splitlines(keepends=True)
        return "".join(told), launched.stderr, launched.returncode, int(peak) * 1024

    return measured


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["best", "paper"])
def test_text_keeps_to_the_limit(name: str, texts: tuple[Path, Path], run: Run) -> None:
    """The alignment is the same as with all the memory there is, of passages and of whole documents."""
    links, errors, code, peak = run(
        *("align", "text", "--document", texts[0], "--abstract", texts[1], "--pharaoh", "--preset", name)
    )

    assert (code, peak <= LIMIT) == (0, True), (errors, peak)
    whole = align_texts(*map(str, texts), PhraseHmm.untrained(name))
    assert links == whole.alignment.pharaoh() + "\n"


def test_what_does_not_fit_is_said_in_one_line(texts: tuple[Path, Path], run: Run, tmp_path: Path) -> None:
    """Fifty thousand different words need more than the limit even in blocks."""
    document = tmp_path / "long.txt"
    lines = (" ".join(f"w{number}x" for number in range(first, first + 20)) for first in range(0, 50_000, 20))
    document.write_text("\n".join(lines))
    _, errors, code, peak = run(
        *("align", "text", "--document", document, "--abstract", texts[1], "--preset", "paper")
    )

    assert code == 1
    assert errors.startswith("sentgen: a document of 50,000 words and an abstract of ")
    assert errors.count("\n") == 1
    assert "give --memory-limit" in errors
    assert peak <= LIMIT


@pytest.mark.parametrize("system", ["lcs:n=2", "cut-and-paste", "hmm", "fast-align"])
def test_other_systems_say_what_they_take(system: str) -> None:
    """Very frequent words have too many places, many sentences too many pairs: refused before the start."""
    words = ("the", "same", "words", ".") * 5_000
    pair = Pair("1", words, words, tuple(range(0, 20_000, 4)), tuple(range(0, 20_000, 4)))
    told = f"^with {system.split(':')[0]}, a document of 20,000 words and an abstract of 20,000 take"

    with pytest.raises(MemoryLimitError, match=told):
        ensure_fits(system, pair, Budget.of_limit(LIMIT))
    ensure_fits(system, Pair("2", words[:400], words[:400]), Budget.of_limit(LIMIT))
    ensure_fits("pbhmm", pair, Budget.of_limit(LIMIT))


@pytest.mark.nightly
def test_training_and_applying_keep_to_the_limit(
    pairs: Path, run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long pair is trained on, and aligned with the model; or it is refused before training."""
    with Store(store, create=True) as opened:
        ingest_pairs(opened, [str(pairs)], "long", settings=PairSettings(tokenized=True))
        with monkeypatch.context() as patched:
            patched.setattr("sentgen.alignment.pairs.budget._LEAST_BYTES", 0)
            training = train_model(
                opened, "long", "m", PbhmmSettings.preset("best"), TrainingPlan(1, memory=int(2.65 * BASE))
            )
            with pytest.raises(MemoryLimitError, match="words and an abstract"):
                list(training)
        assert not list_models(opened).num_rows
    told, errors, code, peak = run(
        *("align", "train", "--pairs", "long", "--model", "m", "--iterations", "1"), limit=1 << 30
    )
    assert (code, peak <= 1 << 30) == (0, True), (errors, peak)
    told, errors, code, peak = run("align", "apply", "--pairs", "long", "--model", "m", limit=APPLY)
    assert (code, peak <= APPLY) == (0, True), (errors, peak)
    assert "pairs           1\n" in told
