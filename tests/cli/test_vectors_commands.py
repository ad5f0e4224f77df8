"""`sentgen vectors` as it is typed: what it prints, where, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import Sentgen, Told
from typer.testing import CliRunner

from sentgen.cli import build


@pytest.fixture(scope="module")
def with_vectors(pets_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of pets with the vectors ``company``; no test changes it."""
    store = Path(shutil.copy(pets_store, tmp_path_factory.mktemp("vectors")))
    words = ("vectors", "build", "company", "--corpus", "pets", "--dimensions", "2", "--min-count", "1")
    built = CliRunner().invoke(build(), [*words, "--db", str(store)])
    assert built.exit_code == 0, built.stderr
    assert built.stdout == ""
    assert built.stderr.splitlines()[-1].startswith("company: 7 words from 12 tokens, 2 dimensions")
    return store


@pytest.fixture
def company(sentgen: Sentgen, with_vectors: Path, store: Path, pets: Path) -> Sentgen:
    """The command line over a copy of it, beside the treebank that it was made of."""
    shutil.copyfile(with_vectors, store)
    return sentgen


def rows(told: Told) -> list[dict[str, object]]:
    assert told.code == 0, told.err
    return json.loads(told.out)


def test_list_near_and_remove(company: Sentgen) -> None:
    """Vectors are listed with what they were built by, asked for a word, and removed."""
    (listed,) = rows(company("vectors", "list", "--json"))
    near = rows(company("vectors", "near", "Dog", "--json", "-n", "2"))
    removed = company("vectors", "remove", "company")

    assert (listed["name"], listed["corpora"], listed["window"], listed["words"]) == ("company", "pets", 2, 7)
    assert [list(row) for row in near] == [["word", "count", "cosine"]] * 2
    assert "dog" not in {row["word"] for row in near}
    assert removed.err == "removed company\n"
    assert rows(company("vectors", "list", "--json")) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("near xyzzy", "no vector of 'xyzzy' in 'company', whose words occur 1 time or more"),
        ("near dog --vectors other", "no vectors 'other'; there are: company"),
        ("remove other", "no vectors 'other'; there are: company"),
        (
            "build company --corpus pets",
            "there are vectors 'company'; take another name, or: sentgen vectors",
        ),
        (
            "build more --corpus pets",
            "no words that occur 10 times or more in these corpora; ingest more, or lower",
        ),
    ],
)
def test_refusals(company: Sentgen, words: str, said: str) -> None:
    """One line, and exit code 1."""
    told = company("vectors", *words.split())

    assert (told.code, told.out) == (1, "")
    assert said in told.err.splitlines()[-1]


def test_without_vectors(filled: Sentgen) -> None:
    """It says how to build some."""
    told = filled("vectors", "near", "dog")

    assert told.code == 1
    assert told.err == "sentgen: no vectors; build some with: sentgen vectors build NAME --corpus CORPUS\n"


def test_alignment_with_vectors(company: Sentgen) -> None:
    """The answer says by which vectors it was made."""
    told = company(
        "align",
        "text",
        "--document",
        "pets.conllu",
        "--abstract",
        "pets.conllu",
        "--vectors",
        "company",
        "--json",
    )

    assert told.code == 0, told.err
    assert json.loads(told.out)["model"].endswith("with the vectors company")


@pytest.fixture
def paired(company: Sentgen) -> Sentgen:
    """The same, with pairs whose other words are near."""
    lines = [{"id": one, "document": "the dog chased", "abstract": "a cat chased"} for one in "12"]
    Path("pairs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert company("pairs", "ingest", "pairs.jsonl", "--corpus", "toy").code == 0
    return company


def test_application_with_vectors(paired: Sentgen) -> None:
    """Other vectors are another way of aligning, and the same ones are the same way."""
    apply = ("align", "apply", "--pairs", "toy", "--model", "plain")
    assert paired("align", "train", "--pairs", "toy", "--model", "plain", "--iterations", "1").code == 0
    decoded = "select distinct decode, logp from v_alignments"
    (without,) = [paired(*apply), rows(paired("sql", decoded, "--json"))][1]

    told = paired(*apply, "--vectors", "company")
    (found,) = rows(paired("sql", decoded, "--json"))

    assert "unchanged" not in told.out
    assert (without["decode"], found["decode"]) == ("posterior", "posterior:vectors=company")
    assert found["logp"] > without["logp"]
    assert "(2 unchanged)" in paired(*apply, "--vectors", "company").out
    assert "unchanged" not in paired(*apply).out


TRAIN = ("align", "train", "--pairs", "toy", "--iterations", "1", "--model")


def test_training_with_vectors(paired: Sentgen) -> None:
    """A model keeps to the vectors that it was trained with, and says when they are gone."""
    plain, akin = (paired(*TRAIN, *more).out for more in (("plain",), ("akin", "--vectors", "company")))

    assert plain.splitlines()[1].split()[:2] == akin.splitlines()[1].split()[:2] == ["forward", "1"]
    assert plain != akin
    assert "company" in paired("align", "model", "akin").out


def test_application_with_the_vectors_of_training(paired: Sentgen) -> None:
    """A model is applied with its own vectors, and refused without them."""
    paired(*TRAIN, "akin", "--vectors", "company")
    paired("align", "apply", "--pairs", "toy", "--model", "akin")
    (found,) = rows(paired("sql", "select distinct decode from v_alignments", "--json"))

    assert found["decode"] == "posterior:vectors=company"
    paired("vectors", "remove", "company")
    assert "no vectors" in paired("align", "apply", "--pairs", "toy", "--model", "akin").err


def test_vectors_that_training_refuses(paired: Sentgen) -> None:
    """Those that are not there, and any where they would change nothing; no model is left behind."""
    assert "no vectors 'x'" in paired(*TRAIN, "more", "--vectors", "x").err
    refused = paired(*TRAIN, "more", "--preset", "paper", "--vectors", "company")
    assert "the model more gives near words nothing, so that vectors change nothing" in refused.err
    assert "more" not in paired("align", "models").out
