"""`sentgen vectors` as it is typed: what it prints, where, and what it refuses."""

from __future__ import annotations

import json

import pytest
from conftest import Sentgen, Told


@pytest.fixture
def company(filled: Sentgen) -> Sentgen:
    """A store with the vectors ``company``."""
    built = filled("vectors", "build", "company", "--corpus", "pets", "--dimensions", "2", "--min-count", "1")
    assert built.code == 0, built.err
    assert built.out == ""
    assert built.err.splitlines()[-1].startswith("company: 7 words from 12 tokens, 2 dimensions")
    return filled


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
