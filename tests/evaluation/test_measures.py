"""All figures of a system, from answers that are written out here."""

from __future__ import annotations

import pytest

from sentgen.evaluation.figures.measurement import Measurement
from sentgen.evaluation.regeneration.measures import measurements, statistics
from sentgen.generation import RegeneratedSentence, Unit
from sentgen.generation.bags.problem import Tree
from sentgen.generation.regenerate import Gold

DOG, BARKS, NOW = Unit(("a", "dog"), ("DT", "NN")), Unit(("barks",), ("VBZ",)), Unit(("now",), ("RB",))
GOLD = Gold((DOG, BARKS, NOW), (1, -1, 1))


def answer(
    *units: Unit, heads: tuple[int, ...] | None = None, gold_score: float | None = None
) -> RegeneratedSentence:
    """Return an answer of score -5."""
    nothing = (0,) * len(units)
    return RegeneratedSentence(
        item=1,
        rank=1,
        units=units,
        tree=Tree(heads, nothing, nothing, (0.0,) * len(units)) if heads else None,
        given=units,
        score=-5.0,
        gold_score=gold_score,
        logp=0.0,
        unknown=0,
        guessed=0,
        lookup=0.0,
        search=0.0,
    )


def measure(answers: list[RegeneratedSentence], cases: list[Gold]) -> dict[str, Measurement]:
    """Return the figures of a test set."""
    return measurements(statistics(answers, cases))


def test_figures_by_hand() -> None:
    """ "now barks a dog" for "a dog barks now"."""
    found = measure([answer(NOW, BARKS, DOG, heads=(2, -1, 1), gold_score=-4)], [GOLD])

    # of ^now, now barks, barks a, a dog, dog$ only "a dog" is right
    assert found["adjacency"].value == pytest.approx(1 / 5)
    # now 3, barks 2, a 0, dog 1: five of six pairs in the wrong order
    assert found["kendall-tau"].value == pytest.approx(1 - 2 * 5 / 6)
    # barks on the root and the dog on it; now on the dog
    assert found["attachment"].value == pytest.approx(2 / 3)
    assert found["search-error"].value == 1
    assert found["exact-match"].value == 0


def test_what_cannot_be_told_is_left_out() -> None:
    """Figures of trees and search errors are over the answers that have these; without any, they are left out."""
    plain, full = answer(DOG, BARKS, NOW), answer(DOG, BARKS, NOW, heads=(1, -1, 1), gold_score=-5.0)

    assert {"attachment", "search-error"}.isdisjoint(measure([plain], [GOLD]))
    found = measure([plain, full], [GOLD, GOLD])
    assert found["attachment"].value == 1
    assert found["attachment"].signature.endswith("sentences:1/2")
    assert found["search-error"].value == 0


def test_sentences_without_a_gold_tree_are_not_about_attachment() -> None:
    """Sentences without a gold tree count for the order only."""
    found = measure([answer(DOG, BARKS, heads=(1, -1))], [Gold((DOG, BARKS))])

    assert "attachment" not in found
    assert found["exact-match"].value == 1


def test_guessed_tags_are_no_difference() -> None:
    """Heads in a test set without tags are compared by words, so that guessed tags do not matter."""
    gold = Gold((Unit(("dog",)), Unit(("barks",))), (1, -1))
    found = measure([answer(Unit(("dog",), ("NN",)), BARKS, heads=(1, -1))], [gold])

    assert found["attachment"].value == 1
