"""`sentgen demo`, the first command of a new user."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.corpus.reading import read_trees
from sentgen.demo import NEW_SENTENCES, TREEBANK

ORIGINALS = [re.sub(r"[\[\]]", "", sentence) for sentence in NEW_SENTENCES]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output of the demo; a second run uses the store of the first, and builds no second version."""
    store = tmp_path_factory.mktemp("demo") / "demo.duckdb"
    first, again = (CliRunner().invoke(build(), ["demo", "--db", str(store)]) for _ in range(2))

    assert first.exit_code == again.exit_code == 0
    assert models(first.stdout) == models(again.stdout)
    return first.stdout


def models(printed: str) -> list[str]:
    """Return the names of the models."""
    return re.findall(r"^(\S+@\d+):", printed, re.MULTILINE)


def test_the_default_comes_first_and_does_well(told: str) -> None:
    """Most of what is shown comes out as it was written, and the figures are those of all sentences."""
    lines = [line.split(maxsplit=1) for line in told.splitlines()]
    shown = [line[1] for line in lines if line[:1] == ["joint"] and line[1].endswith(" .")]
    right = {
        line[0]: int(line[1].split()[-1])
        for line in lines
        if len(line) > 1 and line[1][-1].isdigit() and line[0] in ("joint", "beam", "ab", "lmo")
    }

    assert len(shown) == 5
    assert sum(text == original for text, original in zip(shown, ORIGINALS, strict=False)) >= 4
    assert list(right) == ["joint", "beam", "ab", "lmo"]
    assert right["beam"] > len(ORIGINALS) / 2
    assert right["joint"] > right["beam"] > max(right["ab"], right["lmo"])


def test_joint_has_all_it_asks_and_shows_its_tree(told: str) -> None:
    """The companions are built, and the tree is over the units of the last sentence shown."""
    last = told.split("The tree that joint built for: ")[1].split("\nTry next")[0]

    assert models(told) == ["relief@1", "relief-tags@1", "relief-classes@1", "relief-items@1"]
    assert {"The bridge  NN", "was  VBD", "destroyed  VBN", "by  IN"} <= {
        line.strip("╭╮╰├─╶│┤ ") for line in last.splitlines()
    }


def test_what_went_wrong_is_shown(told: str) -> None:
    """An answer that differs from the original is shown with the original."""
    wrong = told.count("\noriginal  ")
    pairs = re.findall(r"\njoint +(.*)\noriginal +(.*)", told)

    assert wrong == len(pairs)
    assert all(found != original and original in ORIGINALS for found, original in pairs)


def test_its_sentences_are_new() -> None:
    """None is a sentence of the treebank, or twice there, and all words are known."""
    sentences = list(read_trees(str(TREEBANK)))
    words = {form for sentence in sentences for form in sentence.forms}

    assert not {" ".join(sentence.forms).lower() for sentence in sentences} & set(map(str.lower, ORIGINALS))
    assert len(set(ORIGINALS)) == len(ORIGINALS)
    assert {word for text in ORIGINALS for word in text.split()} <= words
