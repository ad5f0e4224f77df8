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


KEY = "Heavy rains flooded more than 40 villages in Lomani province on Monday , forcing thousands of families"


@pytest.mark.parametrize("algorithm", ["beam", "cle"])
def test_with_a_model(filled: Sentgen, algorithm: str) -> None:
    """Any algorithm of regenerate; JSON tells what was added and how. `Heavy` is lower-cased in the middle."""
    asked = ("fuse", "relief-001-1", "--with", TREEBANK, "--model", "pets", "--algorithm", algorithm)
    found = json.loads(filled(*asked, "--nbest", "2", "--json").out)
    words = f"{KEY} from their homes . {PHRASE}".lower().split()

    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    assert found
    for row in found:
        first, *others = row["sentence"].split()
        assert sorted([first.lower(), *(word.lower() for word in others)]) == sorted(words)
        assert first[:1] != first[:1].lower() or not first.isalpha()
        assert "Heavy" not in others
        assert (row["algorithm"], row["added"]) == (algorithm, PHRASE)


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
    key.write_text(blocks[0] + "\n\n")
    rest.write_text("\n\n".join(blocks[1:5]) + "\n\n")

    assert f"added: {PHRASE}" in sentgen("fuse", key, "--with", rest).err
    refused(sentgen("fuse", rest, "--with", key), "rest.conllu", "a key is one")


def test_the_search_of_2005(sentgen: Sentgen) -> None:
    """It uses the same words as the insertion, in another order: the key keeps its own only there."""
    inserted, searched = (
        sentgen("fuse", "1", "--with", TREEBANK, *options).out.lower().split()
        for options in ((), ("--algorithm", "depviterbi"))
    )

    assert sorted(inserted) == sorted(searched)
    assert " ".join(inserted).replace(f"{PHRASE} ", "") == " ".join(
        f"{KEY} from their homes .".lower().split()
    )


def test_what_cannot_be_is_refused(sentgen: Sentgen) -> None:
    """Numbers beyond the end, a text without a parser, an algorithm without its model, and the reverse."""
    refused(sentgen("fuse", "999", "--with", TREEBANK), "there are 149")
    refused(sentgen("fuse", "Rains fell.", "--with", TREEBANK), "--parser")
    refused(sentgen("fuse", "1", "--with", TREEBANK, "--algorithm", "beam"), "--model")
    refused(sentgen("fuse", "1", "--with", TREEBANK, "--model", "m", "--algorithm", "depviterbi"), "--model")


def test_nothing_new_is_an_answer(sentgen: Sentgen, tmp_path: Path) -> None:
    """Two words have two orders, which came in both: exit code 1, and a word on what to do."""
    path = tmp_path / "two.conllu"
    go, now, later = ("Go\tgo\tVERB\tVB", "now\tnow\tADV\tRB", "Now\tnow\tADV\tRB")
    rows = (
        f"1\t{go}\t_\t0\troot\t_\t_\n\n",
        f"1\t{go}\t_\t0\troot\t_\t_\n2\t{now}\t_\t1\tadvmod\t_\t_\n\n",
        f"1\t{later}\t_\t2\tadvmod\t_\t_\n2\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n",
    )
    path.write_text("".join(rows))
    told = sentgen("fuse", "1", "--with", path)

    assert (told.code, told.out) == (1, "")
    assert "no new sentence was found; add more words with --words" in told.err
