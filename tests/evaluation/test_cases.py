"""Test cases: units, and the trees over them, of sentences with and without punctuation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.regeneration.cases import Preparation
from sentgen.generation.regenerate import Gold


def sentence() -> Sentence:
    """Return "He , the big dog , will bark in Rome ." with the tree of Universal Dependencies."""
    rows = [
        ("He", "PRON", 8, "nsubj"),
        (",", "PUNCT", 5, "punct"),
        ("the", "DET", 5, "det"),
        ("big", "ADJ", 5, "amod"),
        ("dog", "NOUN", 1, "appos"),
        (",", "PUNCT", 5, "punct"),
        ("will", "AUX", 8, "aux"),
        ("bark", "VERB", 0, "root"),
        ("in", "ADP", 10, "case"),
        ("Rome", "PROPN", 8, "obl"),
        (".", "PUNCT", 8, "punct"),
    ]
    forms, upos, heads, deprels = map(list, zip(*rows, strict=True))
    return Sentence(forms, upos=upos, heads=heads, deprels=deprels)  # type: ignore[arg-type]


def tree(case: Gold) -> dict[str, str]:
    """Return unit and head of each unit, as words."""
    units = [" ".join(unit.words) for unit in case.units]
    assert case.heads is not None
    return {
        unit: units[head] if head >= 0 else "ROOT"
        for unit, head in zip(units, case.heads, strict=True)
        if unit != ","
    }


def test_tree_of_units() -> None:
    """Function words head their phrases: `will` the clause, `in` the place; the phrase stays whole."""
    case = Preparation().case(sentence())

    assert case.reference == "He , the big dog , will bark in Rome ."
    assert tree(case) == {
        "He": "will", "the big dog": "He", "will": "ROOT", "bark": "will", "in": "bark", "Rome": "in", ".": "bark",
    }  # fmt: skip


def test_tree_without_function_heads() -> None:
    """Without function heads, content words head their phrases."""
    case = Preparation(function_heads=False).case(sentence())

    assert tree(case)["will"] == "bark"
    assert tree(case)["in"] == "Rome"
    assert tree(case)["bark"] == "ROOT"


def test_tree_of_words_is_that_of_the_source() -> None:
    """Trees over words keep the heads of the source, without function heads."""
    case = Preparation(units="word").case(sentence())

    assert tree(case)["the"] == "dog"
    assert tree(case)["in"] == "Rome"


def test_without_punctuation() -> None:
    """Commas and full stops are removed, their modifiers hang on their heads; words can be lower-cased."""
    case = Preparation(punctuation=False, lowercase=True).case(sentence())

    assert case.reference == "he the big dog will bark in rome"
    assert tree(case)["the big dog"] == "he"


def test_modifiers_of_punctuation_move_up() -> None:
    """x hangs on a comma that hangs on y."""
    found = Sentence(["x", ",", "y"], upos=["X", "PUNCT", "X"], heads=[2, 3, 0], deprels=["dep"] * 3)

    assert tree(Preparation(punctuation=False).case(found)) == {"x": "y", "y": "ROOT"}


@pytest.mark.parametrize(
    ("heads", "nps"),
    [
        ([3, 1, 0], [1, 1, 0]),  # [x ,] -> y, fine without its comma, but:
        ([2, 0, 2], None),  # the root is punctuation: x and y both become roots
    ],
)
def test_units_that_are_no_tree_have_no_heads(heads: list[int], nps: list[int] | None) -> None:
    """A sentence whose units form no tree is still a case, without heads."""
    found = Sentence(["x", ",", "y"], upos=["X", "PUNCT", "X"], heads=heads, deprels=["dep"] * 3, nps=nps)
    case = Preparation(punctuation=False).case(found)

    assert case.reference == "x y"
    assert (case.heads is None) is (nps is None)


def test_phrase_that_is_no_subtree() -> None:
    """Heads of last words can form a cycle: [a b] under c by b, c under a."""
    found = Sentence(["a", "b", "c"], upos=["X"] * 3, heads=[0, 3, 1], deprels=["dep"] * 3, nps=[1, 1, 0])

    assert Preparation().case(found).heads is None


def test_without_tags_and_trees() -> None:
    """Words are the units, punctuation is what has no letter, and there is no tree."""
    case = Preparation(punctuation=False).case(Sentence(["a", "dog", "!?"]))

    assert case.words == ["a", "dog"]
    assert case.heads is None
    assert Preparation(punctuation=False).case(Sentence(["..."])).units == ()


def test_tags_are_those_that_were_counted() -> None:
    """Tags are of the counted kind, else of the other; a sentence without the counted kind has no tags."""
    found = Sentence(["a", "dog"], upos=["DET", "NOUN"], xpos=["DT", "_"])

    assert [unit.tags for unit in Preparation(tags="xpos").case(found).units] == [
        ("DT",),
        ("NOUN",),
    ]
    assert [unit.tags for unit in Preparation(tags="upos").case(found).units] == [
        ("DET",),
        ("NOUN",),
    ]
    untagged = replace(found, xpos=None)
    assert [unit.tags for unit in Preparation(tags="xpos").case(untagged).units] == [(), ()]


def test_preparation_changes_no_sentence_that_has_phrases() -> None:
    """Base noun phrases of the source are kept."""
    found = replace(sentence(), nps=[0] * 11)

    assert len(Preparation().case(found).units) == 11
