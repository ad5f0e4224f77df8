"""`sentgen evaluate generation` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest import PETS, Sentgen, refused

from sentgen.cli import evaluate_generation
from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.figures import report as reports

PARSER = ("--parser", "toy")


class ToyParser:
    """A parser for tests: every word hangs on `chased` or `saw`, or on the first word."""

    name, version = "toy", "1"

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Split at blanks."""
        return ([next(self.parse_tokenized([text.split()]))] for text in texts)

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Keep the tokens."""
        for forms in sentences:
            verbs = [form in ("chased", "saw") for form in forms]
            root = verbs.index(True) + 1 if any(verbs) else 1
            yield Sentence(
                list(forms),
                upos=["VERB" if verb else "NOUN" for verb in verbs],
                heads=[0 if i == root else root for i in range(1, len(forms) + 1)],
                deprels=["root" if i == root else "dep" for i in range(1, len(forms) + 1)],
            )


@pytest.fixture(autouse=True)
def parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever parser is asked for, it is the toy."""
    monkeypatch.setattr(evaluate_generation, "open_parser", lambda specification: ToyParser())


def test_for_reading_and_as_json(sentgen: Sentgen, pets: Path) -> None:
    """A line a curve, or a row a figure and length; the run is in the store, its parses are kept."""
    arguments = ("evaluate", "generation", "--clusters", pets, *PARSER, "--lengths", "3-5")
    told = sentgen(*arguments)
    rows = json.loads(sentgen(*arguments, "--json").out)

    assert told.code == 0
    assert [line.split("  ")[0] for line in told.out.splitlines()][:3] == [
        "figure",
        "precision",
        "adjacent precision",
    ]
    assert "run 1" in told.err
    assert {row["length"] for row in rows} == {3, 4, 5, None}
    assert {"depviterbi", "bigram", "p", "p Holm"} <= set(rows[0])

    query = "select count(*) as n from run"

    assert json.loads(sentgen("sql", query, "--json").out) == [{"n": 2}]


def test_a_report(sentgen: Sentgen, pets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is made; its page is named."""
    # What it draws, tests/evaluation/test_generation.py looks at.
    monkeypatch.setattr(reports, "picture", lambda figure, form: f"{form} of {figure}".encode())
    told = sentgen(
        "evaluate", "generation", "--clusters", pets, *PARSER, "--lengths", "4", "--report", tmp_path / "new"
    )

    assert "index.html" in told.err
    assert (tmp_path / "new" / "all-precision.png").read_text().startswith("png of Figure")


def test_the_trees_of_the_sources(sentgen: Sentgen, tmp_path: Path) -> None:
    """Gold ones must be there; otherwise the parser makes them, or makes all of them anew."""
    (tmp_path / "flat.jsonl").write_text('{"sentences": [["dogs", "chased", "cats"], ["we", "saw", "it"]]}\n')
    arguments = ("evaluate", "generation", "--clusters", tmp_path / "flat.jsonl", *PARSER, "--lengths", "3")

    assert sentgen(*arguments).code == 0
    assert sentgen(*arguments, "--source-trees", "parser").code == 0
    refused(sentgen(*arguments, "--source-trees", "gold"), "flat.jsonl", "no tree")


def test_clusters_from_a_treebank(sentgen: Sentgen, tmp_path: Path) -> None:
    """--derive finds them; where nothing is similar it says so."""
    blocks = PETS.replace("The\tthe", "Old\told").replace("DET\tDT\t_\t2\tdet", "ADJ\tJJ\t_\t2\tamod")
    long = blocks.replace(
        "6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_",
        "\n".join(f"{i}\tof\tof\tADP\tIN\t_\t3\tcase\t_\t_" for i in range(6, 9)),
    )
    (tmp_path / "long.conllu").write_text(long)
    told = sentgen(
        "evaluate",
        "generation",
        "--clusters",
        tmp_path / "long.conllu",
        *PARSER,
        "--lengths",
        "3",
        "--derive",
        "1",
    )

    refused(told, "similar")  # there are two sentences, and a cluster has four


def test_what_cannot_be_is_refused(sentgen: Sentgen, pets: Path) -> None:
    """Options without a meaning are a matter of usage."""
    arguments = ("evaluate", "generation", "--clusters", pets, *PARSER)

    assert sentgen(*arguments, "--lengths", "0-3").code == 2
    assert sentgen(*arguments, "--source-trees", "silver").code == 2
    assert sentgen(*arguments, "--undefined", "one").code == 2
    refused(sentgen(*arguments, "--reuse", "never"), "never")
    refused(sentgen(*arguments, "--salience", "nix.txt"), "neither a file with weights nor one of: uniform")


def test_weights_of_words_from_a_file(sentgen: Sentgen, pets: Path, tmp_path: Path) -> None:
    """As `generate` takes them; a word with 0 is in no string, and the run says which weights it had."""
    (tmp_path / "weights.txt").write_text("chased 0\n")
    arguments = ("evaluate", "generation", "--clusters", pets, *PARSER, "--lengths", "4", "--jsonl")
    strings = "select count(*) filter (contains(output, 'chased')) as n from output where run_id = "

    sentgen(*arguments)
    sentgen(*arguments, "--salience", tmp_path / "weights.txt")

    assert [json.loads(sentgen("sql", f"{strings}{run}", "--json").out)[0]["n"] > 0 for run in (1, 2)] == [
        True,
        False,
    ]
    (run,) = json.loads(sentgen("sql", "select parameters from run where id = 2", "--json").out)
    assert json.loads(run["parameters"])["salience"] == {"chased": 0}
