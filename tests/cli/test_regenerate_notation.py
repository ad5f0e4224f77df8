"""How `sentgen regenerate` reads slashes and brackets: no word is lost, and what is read as a tag is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import PETS, Sentgen, Told, refused


@pytest.fixture
def regenerate(filled: Sentgen) -> Sentgen:
    """The command with the model of pets."""

    def run(*arguments: object, stdin: str = "") -> Told:
        return filled("regenerate", "-m", "pets", *arguments, stdin=stdin)

    return run


def rows(told: Told) -> list[dict[str, Any]]:
    """Return the rows of an output in JSON."""
    assert told.code == 0, told.err
    found: list[dict[str, Any]] = json.loads(told.out)
    return found


def test_half_tagged_bags_are_told(regenerate: Sentgen) -> None:
    """A slash is a slash unless every word has a tag: easy to miss, so said; no more once it is decided."""
    told = regenerate("the/DT dog", "-a", "beam")

    assert told.err == (
        "the/DT is one word, as not every word has a known tag; --tagged and --no-tagged say what is meant\n"
    )
    assert regenerate("the/DT dog", "--no-tagged", "-a", "beam").err == ""
    assert regenerate("and/or dog 1/2", "-a", "beam").err == ""
    refused(regenerate("the/DT dog", "--tagged"), "'dog' has no tag")


def test_what_is_read_as_a_tag_is_told(regenerate: Sentgen) -> None:
    """One line, with an example and the way back; tags of a treebank or of JSON were given as such."""
    told = regenerate("[the/DT dog/NN] ./.", "cat dog", "-a", "beam")

    assert told.err == "3 of 5 words were read as word/TAG, such as the/DT; --no-tagged keeps them whole\n"
    assert "2 of 2 words were read as word/TAG, such as and/or" in regenerate("--tagged", "and/or 1/2").err
    assert "word/TAG" not in regenerate("-i", "pets.conllu").err
    assert "word/TAG" not in regenerate("-", stdin='{"words": ["dog", "TCP/IP"], "tags": ["NN", "NN"]}').err


def test_tags_of_the_counts_are_known(regenerate: Sentgen, sentgen: Sentgen) -> None:
    """A tag that no standard has is one where the treebank has it, for algorithms with trees and without."""
    Path("own.conllu").write_text(PETS.replace("\tNN\t", "\tNomen\t"))
    sentgen("ingest", "own.conllu", "--corpus", "own")
    sentgen("models", "build", "own", "--corpus", "own", "--order", "2")

    for algorithm in ("beam", "cle"):
        (own,) = rows(sentgen("regenerate", "-m", "own", "-a", algorithm, "--json", "dog/Nomen"))
        (other,) = rows(regenerate("-a", algorithm, "--json", "dog/Nomen"))
        assert (own["sentence"], other["sentence"]) == ("dog", "dog/Nomen")


#: What could be taken for more, or less, than a word.
ODD = [
    "and/or",
    "1/2",
    "https://a.b/c",
    "TCP/IP",
    "/",
    "//",
    "a/",
    "/b",
    "[",
    "]",
    "[]",
    "the/DT",
    "x_y",
    "_",
]


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("algorithm", ["beam", "lmo", "ab"])
def test_no_word_is_lost(regenerate: Sentgen, algorithm: str) -> None:
    """The words that go in come out, however they are written, whatever they look like."""
    escaped = [word.replace("[", r"\[").replace("]", r"\]") for word in ODD]
    Path("bags.txt").write_text(" ".join(f"{word}/NN" for word in escaped) + "\n")
    Path("bags.json").write_text(json.dumps([{"words": ODD}, {"units": [ODD[:2], *ODD[2:]]}]))
    table = [f"{n}\t{word}\t_\tNOUN\tNN\t_\t{n - 1}\tdep\t_\t_\n" for n, word in enumerate(ODD, 1)]
    Path("bags.conllu").write_text("".join(table).replace("dep", "root", 1) + "\n")
    Path("bags.pos").write_text(" ".join(f"{word}/NN" for word in ODD if word not in ("[", "]")) + "\n")
    bag, phrase = " ".join(escaped), f"[{' '.join(escaped[:9])}] {' '.join(escaped[9:])}"
    slashes = bag.replace("/", r"\/")
    given: list[tuple[tuple[str, ...], dict[str, str]]] = [
        ((bag, phrase, slashes), {}),
        (("--np-joiner", "+", bag), {}),
        (("--no-tagged", bag), {}),
        (("-",), {"stdin": f"{bag}\n{phrase}\n"}),
        (("-i", "bags.txt"), {}),
        (("-i", "bags.json"), {}),
        (("-i", "bags.conllu"), {}),
        (("-i", "bags.pos"), {}),
    ]

    for arguments, streams in given:
        for row in rows(regenerate("-a", algorithm, "--json", *arguments, **streams)):
            brackets = {"[", "]"} if "bags.pos" in arguments else set()
            assert sorted(row["sentence"].split()) == sorted(set(ODD) - brackets), arguments
