"""`sentgen fuse` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Sentgen, refused

from sentgen.demo import TREEBANK

#: The second cluster of the demo is about a convoy; phrases of others fit its third sentence.
ASKED = ("fuse", "relief-002-3", "--with", TREEBANK)
KEY = "Thirty trucks brought tents , blankets and clean water to survivors of the earthquake in Sarkesh"


def test_without_a_model(sentgen: Sentgen) -> None:
    """The sentence on standard output, what was added on standard error; by number and by name alike."""
    told = sentgen(*ASKED)

    assert (told.code, told.out) == (0, f"{KEY} on Tuesday .\n")
    assert told.err == "added: on Tuesday\n"
    assert sentgen("fuse", "8", "--with", TREEBANK).out == told.out


def test_what_was_conjoined_is_said_with_its_marker(sentgen: Sentgen) -> None:
    """The tenth sentence gets a clause; the rows say what was done, and so does the line below."""
    told = sentgen("fuse", "10", "--with", TREEBANK)
    clause = "while soldiers cleared rocks from the road so that the convoy could reach survivors of the earthquake"
    (row,) = json.loads(sentgen("fuse", "10", "--with", TREEBANK, "--json").out)

    assert f"conjoined: {clause}\n" in told.err
    assert (row["conjoined"], row["replaced"]) == (clause, "")
    assert row["added"] == "in Sarkesh; of 30 trucks"


@pytest.mark.parametrize("algorithm", ["revise", "beam", "cle"])
def test_with_a_model(filled: Sentgen, algorithm: str) -> None:
    """Any algorithm of regenerate orders the same words; JSON tells what was added and how."""
    found = json.loads(
        filled(*ASKED, "--model", "pets", "--algorithm", algorithm, "--nbest", "2", "--json").out
    )
    words = f"{KEY} on Tuesday .".lower().split()

    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    assert found
    for row in found:
        assert sorted(row["sentence"].lower().split()) == sorted(words)
        assert (row["algorithm"], row["added"]) == (algorithm, "on Tuesday")


@pytest.mark.parametrize("options", [(), ("--model", "pets")])
def test_nothing_to_add(filled: Sentgen, pets: Path, options: tuple[str, ...]) -> None:
    """No modifier in the related sentence: no sentence, a line that says so, and exit code 1."""
    told = filled("fuse", "p1", "--with", pets, *options)

    assert (told.code, told.out) == (1, "")
    assert told.err == (
        "nothing to add: no phrase of the related sentences fits; try more --words, or other sentences\n"
    )
    assert filled("fuse", "p1", "--with", pets, *options, "--json").out == "[]\n"
    assert filled("fuse", "p1", "--with", pets, "--words", "0").code == 2


def test_a_key_from_a_file(sentgen: Sentgen, tmp_path: Path) -> None:
    """A file of its own with one sentence."""
    blocks = TREEBANK.read_text().split("\n\n")
    key, rest = tmp_path / "key.conllu", tmp_path / "rest.conllu"
    key.write_text(blocks[7] + "\n\n")
    rest.write_text("\n\n".join([*blocks[5:7], *blocks[8:10]]) + "\n\n")

    assert sentgen("fuse", key, "--with", rest).out == sentgen(*ASKED).out
    refused(sentgen("fuse", rest, "--with", key), "rest.conllu", "a key is one")


def test_the_search_of_2005(sentgen: Sentgen) -> None:
    """It uses the same words in another order: the key keeps its own only with revision."""
    revised, searched = (
        sentgen(*ASKED, *options).out.lower().split() for options in ((), ("--algorithm", "depviterbi"))
    )

    assert sorted(revised) == sorted(searched)


def test_what_cannot_be_is_refused(sentgen: Sentgen) -> None:
    """Numbers beyond the end, a text without a parser, an algorithm without its model, and the reverse."""
    refused(sentgen("fuse", "999", "--with", TREEBANK), "there are 149")
    refused(sentgen("fuse", "Rains fell.", "--with", TREEBANK), "--parser")
    refused(sentgen("fuse", "1", "--with", TREEBANK, "--algorithm", "beam"), "--model")
    refused(sentgen("fuse", "1", "--with", TREEBANK, "--model", "m", "--algorithm", "depviterbi"), "no model")


def test_nothing_new_is_an_answer(sentgen: Sentgen, tmp_path: Path) -> None:
    """With its phrase the key is the related sentence: exit code 1, and a word on what to do."""
    path = tmp_path / "two.conllu"
    key = "1\tRains\train\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tfell\tfall\tVERB\tVBD\t_\t0\troot\t_\t_\n"
    path.write_text(f"{key}\n{key}3\tnow\tnow\tADV\tRB\t_\t2\tadvmod\t_\t_\n\n")
    told = sentgen("fuse", "1", "--with", path)

    assert (told.code, told.out) == (1, "")
    assert "no new sentence was found; add more words with --words" in told.err
