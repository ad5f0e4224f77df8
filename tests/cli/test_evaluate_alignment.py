"""`sentgen evaluate alignment` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Sentgen, refused

GOLD = """\
The big dog sat on a red mat . ||| The dog sat on the mat . ||| 0-0 2-1 3-2 4-3 5p4 7-5 8-6 ||| 0-0 2-1 3-2 4-3 7-5
Prices rose sharply in May . ||| In May , prices went up . ||| 3-0 4-1 0-3 1-4 1-5 5-6 ||| 3-0 4-1 0-3 1p5 5-6
A man was seen . ||| Somebody saw a man . ||| 0-2 1-3 3-1 4-4 ||| 0-2 1-3 4-4
"""


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Three pairs by two annotators."""
    path = tmp_path / "gold.txt"
    path.write_text(GOLD)
    return path


def command(gold: Path, *more: object) -> tuple[object, ...]:
    return ("evaluate", "alignment", "--gold", gold, "--format", "pharaoh", *more)


def test_for_reading(sentgen: Sentgen, gold: Path) -> None:
    """Systems and people in one table, differences, agreement; nothing wider than a terminal."""
    told = sentgen(*command(gold, "--systems", "lcs,cut-and-paste,pbhmm"))

    assert told.code == 0
    assert {"lcs", "cut-and-paste", "pbhmm", "human 1", "human 2"} <= {
        line.split("  ")[0] for line in told.out.splitlines()
    }
    assert "SoftF" in told.out.splitlines()[0]
    assert "kappa" in told.out
    assert max(map(len, told.out.splitlines())) <= 100
    assert "3 pairs, all words. In percent" in told.err
    assert "run 1: " in told.err


def test_all_figures(sentgen: Sentgen, gold: Path) -> None:
    """As JSON every figure has its signature and its interval."""
    rows = json.loads(sentgen(*command(gold, "--systems", "lcs,cut-and-paste", "--json")).out)
    found = {(row["system"], row["metric"]): row for row in rows}

    # Of 6 + 6 + 4 sure links of the union, greedy runs of equal stems draw "dog sat on", "mat .", "the";
    # "in may", "prices", "."; "a man", ".": 6 + 4 + 3, and no others.
    assert found["lcs", "recall"]["value"] == 13 / 16
    assert found["lcs", "precision"]["value"] == 1
    assert "gold:half of 2" in found["lcs", "recall"]["signature"]
    assert {"recall:low", "recall:high", "soft-f1:content:oracle"} <= {metric for _, metric in found}
    assert ("1 vs 2", "kappa:sure:all") in found
    assert any(" vs " in system and metric == "soft-f1:randomization:p-holm" for system, metric in found)


def test_report(sentgen: Sentgen, gold: Path) -> None:
    """The report is written, and named."""
    told = sentgen(*command(gold, "--systems", "lcs", "--report", "report"))

    assert told.code == 0
    assert "report: report/index.html" in told.err
    assert Path("report/results.md").read_text().startswith("# Alignments, run 1\n")


def test_pseudo_documents(sentgen: Sentgen, gold: Path) -> None:
    """Pairs are put together before they are aligned, and the store says how."""
    told = sentgen(*command(gold, "--systems", "lcs", "--pseudo-documents", "2x1"))
    run = sentgen("sql", "select parameters from run", "--json")

    assert "1 pair, all words" in told.err
    parameters = json.loads(json.loads(run.out)[0]["parameters"])
    assert parameters["pseudo-documents"] == "2x1"
    assert "Sources of sentences." in told.err
    assert "Sources of sentences." not in sentgen(*command(gold, "--systems", "lcs")).err


def test_options(sentgen: Sentgen, gold: Path) -> None:
    """One annotator, sure links only, other words to ignore, fewer pairs, more to learn from."""
    Path("ignored").write_text("dog\n")
    Path("more.jsonl").write_text('{"document": "Prices went up .", "abstract": "Prices rose ."}\n')
    options = [
        "--combine",
        "2",
        "--possible",
        "drop",
        "--ignore",
        "ignored",
        "-n",
        "2",
        "--train",
        "more.jsonl",
    ]
    told = sentgen(*command(gold, "--systems", "model1", *options))
    parameters = json.loads(
        json.loads(sentgen("sql", "select parameters from run", "--json").out)[0]["parameters"]
    )

    assert told.code == 0
    assert {
        name: parameters[name]
        for name in ("combine", "possible", "ignored words", "limit", "pairs", "training pairs")
    } == {
        "combine": "2",
        "possible": "drop",
        "ignored words": 1,
        "limit": 2,
        "pairs": 2,
        "training pairs": 1,
    }


def test_what_is_not_installed(sentgen: Sentgen, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear line; the others run."""
    monkeypatch.setenv("PATH", "")
    told = sentgen(*command(gold, "--systems", "mgiza,lcs"))

    assert told.code == 0
    assert "lcs" in told.out
    assert len([line for line in told.err.splitlines() if line.startswith("mgiza was left out: ")]) == 1


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--systems", "magic"], ["no system 'magic'"]),
        (["--combine", "C"], ["no combination or annotator is called 'C'"]),
        (["--ignore", "."], ["cannot be read as a list of words"]),
        (["--pseudo-documents", "22x8"], ["3 pairs are too few"]),
        (["--systems", "pbhmm:news"], ["news"]),
    ],
)
def test_refusals(sentgen: Sentgen, gold: Path, options: list[str], parts: list[str]) -> None:
    """One line, before anything is recorded."""
    refused(sentgen(*command(gold, *options)), *parts)


@pytest.mark.parametrize("options", [["--possible", "maybe"], ["--pseudo-documents", "many"]])
def test_usage(sentgen: Sentgen, gold: Path, options: list[str]) -> None:
    """A wrong value of an option is an error of usage."""
    assert sentgen(*command(gold, *options)).code == 2


def test_a_broken_gold_standard(sentgen: Sentgen, gold: Path) -> None:
    """The message says where."""
    gold.write_text(GOLD.replace("8-6", "9-6"))

    refused(sentgen(*command(gold, "--systems", "lcs")), "gold.txt:1: the link 9-6 leads out")


@pytest.mark.data
def test_real_gold(sentgen: Sentgen, data_dir: Path) -> None:
    """The order of the paper's Table 5 holds on RTE-2: humans above PBHMM above Cut & Paste above word models."""
    told = sentgen(
        *("evaluate", "alignment", "--gold", data_dir / "alignment/rte2", "--format", "rte", "-n", 80),
        *("--systems", "pbhmm,cut-and-paste,hmm-flipped,hmm", "--json"),
    )
    found = {row["system"]: row["value"] for row in json.loads(told.out) if row["metric"] == "soft-f1"}

    assert found["human B"] > found["pbhmm"] > found["cut-and-paste"] > found["hmm-flipped"] > found["hmm"]
    assert found["pbhmm"] > 0.83


def test_models_and_pairs_of_the_store(sentgen: Sentgen, gold: Path) -> None:
    """A trained model is a system, and stored pairs teach the others."""
    Path("p.jsonl").write_text('{"document": "Prices rose sharply .", "abstract": "Prices went up ."}\n' * 2)
    assert sentgen("pairs", "ingest", "p.jsonl", "--corpus", "prices").code == 0
    assert sentgen("align", "train", "--pairs", "prices", "--model", "news", "--iterations", "1").code == 0
    told = sentgen(
        *command(gold, "--systems", "pbhmm:news,pbhmm:news:threshold=0.9,model1", "--train-pairs", "prices")
    )

    assert told.code == 0, told
    assert "pbhmm:news:threshold=0.9" in told.out
    refused(
        sentgen(*command(gold, "--systems", "pbhmm:news:p0=0.1")),
        "only decode, threshold and vectors can be set",
    )


def test_a_training_file_that_is_not_there(sentgen: Sentgen, gold: Path) -> None:
    """The error names the file."""
    refused(sentgen(*command(gold, "--systems", "lcs", "--train", "nowhere.jsonl")), "nowhere.jsonl")
