"""`sentgen fuse` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Sentgen, refused

from sentgen.demo import TREEBANK

#: The first cluster of the demo is about floods; one phrase fits its first sentence.
PHRASE = "which followed three days of heavy rain"


def test_without_a_model(sentgen: Sentgen) -> None:
    """The sentence on standard output, what was added on standard error; by number and by name alike."""
    told = sentgen("fuse", "1", "--with", TREEBANK)

    assert told.code == 0
    assert told.out.startswith("Heavy rains ")
    assert told.out.endswith(" .\n")
    assert sorted(PHRASE.split()) == sorted(set(PHRASE.split()) & set(told.out.split()))
    assert f"added: {PHRASE}" in told.err
    assert sentgen("fuse", "relief-001-1", "--with", TREEBANK).out == told.out


@pytest.mark.parametrize("algorithm", ["beam", "cle"])
def test_with_a_model(filled: Sentgen, pets: Path, algorithm: str) -> None:
    """Any algorithm of regenerate; JSON tells what was added and how. `The` is lower-cased in the middle."""
    told = filled(
        "fuse", "p1", "--with", pets, "--model", "pets", "--algorithm", algorithm, "--nbest", "2", "--json"
    )
    found = json.loads(told.out)

    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    assert found
    for row in found:
        assert sorted(row["sentence"].lower().split()) == [".", "a", "cat", "chased", "dog", "the"]
        assert row["sentence"].lower() != "the dog chased a cat ."
        assert (row["algorithm"], row["added"]) == (algorithm, "")


def test_a_key_from_a_file(sentgen: Sentgen, tmp_path: Path) -> None:
    """A file of its own with one sentence."""
    blocks = TREEBANK.read_text().split("\n\n")
    key, rest = tmp_path / "key.conllu", tmp_path / "rest.conllu"
    key.write_text(blocks[0] + "\n\n")
    rest.write_text("\n\n".join(blocks[1:5]) + "\n\n")

    assert f"added: {PHRASE}" in sentgen("fuse", key, "--with", rest).err
    refused(sentgen("fuse", rest, "--with", key), "rest.conllu", "a key is one")


def test_what_cannot_be_is_refused(sentgen: Sentgen) -> None:
    """Numbers beyond the end, a text without a parser, an algorithm without its model, and the reverse."""
    refused(sentgen("fuse", "999", "--with", TREEBANK), "there are 149")
    refused(sentgen("fuse", "Rains fell.", "--with", TREEBANK), "--parser")
    refused(sentgen("fuse", "1", "--with", TREEBANK, "--algorithm", "beam"), "--model")
    refused(sentgen("fuse", "1", "--with", TREEBANK, "--model", "m", "--algorithm", "depviterbi"), "--model")


def test_nothing_new_is_an_answer(sentgen: Sentgen, tmp_path: Path) -> None:
    """A key of one word has one order only: exit code 1, and a word on what to do."""
    path = tmp_path / "one.conllu"
    path.write_text("1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n")
    told = sentgen("fuse", "1", "--with", path)

    assert (told.code, told.out) == (1, "")
    assert "--words" in told.err
