"""Figures of alignments, by hand; properties; kappa against another formula."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.alignment import Alignment, Link, Pair, PhraseLink
from sentgen.errors import InputError
from sentgen.evaluation.alignment.gold import GoldLinks, GoldPair, GoldStandard
from sentgen.evaluation.alignment.measures import (
    agreements,
    ignored_words,
    kappa,
    measure,
    read_ignored,
    soft_links,
)

PAIR = Pair("1", ("The", "big", "dogs", "barked", "."), ("The", "dog", "barks", "."))
SURE = frozenset({(0, 0), (2, 1), (3, 2)})
GOLD = GoldLinks.of(SURE, {(1, 1), (4, 3)})


def values(*answers: Alignment, gold: GoldLinks = GOLD) -> dict[str, float]:
    """Return the figures of answers to the pair."""
    found = measure([PAIR] * len(answers), answers, [gold] * len(answers), ignored={"the", "."})
    return {name: measurement.value for name, measurement in found.items()}


def test_precision_recall_and_error_rate() -> None:
    """Recall is of sure links, precision counts possible ones as right (Och and Ney 2003)."""
    # Drawn: The-The sure, big-dog possible, barked-dog wrong, .-. possible: A = 4, A and P = 3, A and S = 1.
    found = values(Alignment.of_links({(0, 0), (1, 1), (3, 1), (4, 3)}))

    assert found["precision"] == 3 / 4
    assert found["recall"] == pytest.approx(1 / 3)
    assert found["f1"] == pytest.approx(2 * (3 / 4) * (1 / 3) / (3 / 4 + 1 / 3))
    assert found["aer"] == pytest.approx(1 - (1 + 3) / (4 + 3))
    assert found["exact"] == 0


def test_new_words() -> None:
    """A word with possible links only may be aligned or left unaligned without error."""
    # By hand: `.` has a possible link, dog and barks and The sure ones; of the texts below `soon` has none.
    pair = Pair("2", ("The", "dogs", "bark", "."), ("Soon", "the", "dog", "barks", "."))
    gold = GoldLinks.of({(0, 1), (1, 2), (2, 3)}, {(3, 4)})
    answers = [
        Alignment.of_links({(0, 1), (1, 2)}),
        Alignment.of_links({(1, 0), (0, 1), (1, 2), (2, 3), (3, 4)}),
    ]
    found = measure([pair, pair], answers, [gold, gold], ignored={"the", "."})

    # New to the first system: soon, barks and `.`, of which barks has a sure link; to the second one: nothing.
    assert found["new-precision"].value == pytest.approx(2 / 3)
    assert found["new-recall"].value == 1 / 2
    assert found["new-f1"].value == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert found["new-precision:content"].value == 1 / 2
    assert "new-precision:oracle" not in found


def test_sources_of_sentences() -> None:
    """The source of a sentence is the text with most links, the first at a tie; any gold source is right."""
    pair = Pair("3", tuple("ab.cd.ef."), tuple("abce.d.x."), (0, 3, 6), (0, 5, 7))
    # Sentence 1 is of text 1 (two links, one each of the others), 2 of text 2 or 3, 3 of none.
    gold = GoldLinks.of({(0, 0), (1, 1), (3, 2), (6, 3), (4, 5), (8, 6)}, {(2, 8)})

    def accuracy(*links: Link) -> dict[str, float]:
        found = measure([pair], [Alignment.of_links(set(links))], [gold], ignored={"."})
        return {name: found[name].value for name in found if name.startswith("source-accuracy")}

    # Without full stops, sentence 2 is of text 2 alone; the system has it in text 3.
    assert list(accuracy((6, 0), (0, 0), (7, 5), (7, 7)).values()) == [1, 1 / 2]
    assert list(accuracy((6, 0), (6, 1), (0, 0), (4, 5), (8, 6)).values()) == [1 / 2, 1 / 2]
    assert list(accuracy().values()) == [0, 0]
    assert "source-accuracy" not in values(Alignment.of_links(SURE))  # a document of one sentence


def test_scopes() -> None:
    """Ignored words are left out on both sides; the oracle removes links of words without gold links."""
    links = {(0, 0), (1, 1), (3, 1), (4, 2), (3, 3)}
    gold = GoldLinks.of(SURE)  # the full stop of the abstract is aligned to nothing
    found = values(Alignment.of_links(links), gold=gold)

    # Without "the" and ".": big-dog and barked-dog of A, neither possible; dogs-dog and barked-barks of S.
    assert found["precision:content"] == 0
    # All links but barked-. : the-the is right among four.
    assert found["precision:oracle"] == 1 / 4
    assert found["recall:oracle"] == found["recall"] == pytest.approx(1 / 3)


def test_soft_precision_forgives_copied_phrases() -> None:
    """For precision, phrases with equal stems count as linked one to one; recall keeps all links."""
    # "dogs barked" to "dog barks" are 4 links, of which the diagonal, 2, are sure.
    phrase = Alignment((PhraseLink((1, 3), (2, 4)),))
    found = values(phrase)

    assert found["precision"] == 2 / 4
    assert found["soft-precision"] == 1
    assert found["recall"] == pytest.approx(2 / 3)
    assert found["soft-f1"] == pytest.approx(2 * (2 / 3) / (1 + 2 / 3))


def test_soft_precision_forgives_nothing_else() -> None:
    """ "a" from "a b" beside "b" from "b" costs precision (spec 5, ambiguity 9)."""
    pair = Pair("1", ("a", "b"), ("a", "b"))
    phrases = (PhraseLink((0, 1), (0, 2)), PhraseLink((1, 2), (1, 2)))

    assert soft_links(phrases, pair) == {(0, 0), (1, 0), (1, 1)}
    assert soft_links((PhraseLink((0, 2), (0, 2)),), pair) == {(0, 0), (1, 1)}
    # The same words in another order are another phrase.
    assert len(soft_links((PhraseLink((0, 2), (0, 2)),), Pair("1", ("a", "b"), ("b", "a")))) == 4


def test_macro_figures() -> None:
    """Means over the pairs; a pair without links has no precision, and the F is that of the means."""
    right, half, none = Alignment.of_links(SURE), Alignment.of_links({(0, 0), (0, 3)}), Alignment(())
    found = values(right, half, none)

    precision, recall = (1 + 1 / 2) / 2, (1 + 1 / 3 + 0) / 3
    assert found["macro-precision"] == precision
    assert found["macro-recall"] == pytest.approx(recall)
    assert found["macro-f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    # All links together: 3 and 1 of 3 and 2 are right, 3 and 1 of three times 3 are found.
    assert found["precision"] == 4 / 5
    assert found["recall"] == pytest.approx(4 / 9)
    assert found["exact"] == pytest.approx(1 / 3)


def test_nothing_drawn_and_nothing_to_find() -> None:
    """A system without links has F 0; if the gold standard has none either, there is no figure."""
    nothing = Alignment(())

    assert values(nothing)["f1"] == 0
    assert math.isnan(values(nothing)["precision"])
    assert math.isnan(values(nothing, gold=GoldLinks.of(()))["f1"])


links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1)


@given(links, links, links)
def test_figures_are_consistent(
    answer: frozenset[Link], sure: frozenset[Link], more: frozenset[Link]
) -> None:
    """Soft figures of single words equal the strict ones, gold links have 1, all are between 0 and 1."""
    gold = GoldLinks.of(sure, more)
    found = values(Alignment.of_links(answer), gold=gold)
    perfect = values(Alignment.of_links(sure), gold=gold)

    assert found["soft-precision"] == found["precision"]
    assert found["soft-f1"] == found["f1"]
    assert all(-1e-12 <= value <= 1 + 1e-12 for value in found.values() if value == value)
    assert (perfect["f1"], perfect["aer"], perfect["exact"]) == (1, 0, 1)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_kappa(items: list[tuple[bool, bool]]) -> None:
    """Kappa is (observed - expected agreement) / (1 - expected), from the table of both answers."""
    table = np.zeros((2, 2))
    for one, other in items:
        table[int(one), int(other)] += 1
    table /= len(items)
    observed, expected = table.trace(), table.sum(axis=1) @ table.sum(axis=0)
    found = kappa(len(items), *(sum(map(yes, items)) for yes in (lambda i: i[0], lambda i: i[1], all)))

    if len({one for one, _ in items}) == 1 or len({other for _, other in items}) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx((observed - expected) / (1 - expected), abs=1e-9)


def test_agreements() -> None:
    """Agreement is over all pairs of words, or over the pairs without ignored words."""
    one, other = GoldLinks.of({(0, 0), (2, 1)}), GoldLinks.of({(2, 1)}, {(0, 0)})
    gold = GoldStandard(("A", "B"), (GoldPair(PAIR, (one, other)),))
    found = {(a.kind, a.scope): a for a in agreements(gold, ignored={"the", "."})}

    assert found["sure", "all"].items == 5 * 4
    assert found["sure", "content"].items == 3 * 2
    # 19 of 20 items agree; by chance (2 * 1 + 18 * 19) / 400 = 0.86.
    assert found["sure", "all"].kappa == pytest.approx((0.95 - 0.86) / 0.14)
    assert found["possible", "all"].kappa == found["sure", "content"].kappa == 1


def test_our_list_of_ignored_words(tmp_path: Path) -> None:
    """58 function words and punctuation marks, as many as the paper has; another list can be read."""
    path = tmp_path / "words"
    path.write_text("# a comment\nThe\n\n#\n")

    assert len(ignored_words()) == 58
    assert {"the", "of", ",", "."} <= ignored_words()
    assert read_ignored(path) == {"the", "#"}
    with pytest.raises(InputError, match="cannot be read as a list of words"):
        read_ignored(tmp_path)
