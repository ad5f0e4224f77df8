"""The head stack: the papers' figures step by step, and invariants of all stacks."""

from __future__ import annotations

import numpy as np
from cluster_examples import FOX, RELIEF, Parsed
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.clusters.depviterbi import Step, follow


def tables(sentences: list[Parsed]) -> tuple[list[str], list[list[float]], list[list[float]]]:
    """Count p(isHeadRight) and p(isHeadLeft) pair by pair."""
    words = sorted({form for sentence in sentences for form, _ in sentence})
    n = len(words)
    together, right, left = np.zeros((3, n, n))
    for sentence in sentences:
        for i, (a, head_of_a) in enumerate(sentence, 1):
            for j, (b, head_of_b) in enumerate(sentence[i:], i + 1):
                place = words.index(a), words.index(b)
                together[place] += 1
                right[place] += head_of_a == j
                left[place] += head_of_b == i
    divisor = np.maximum(together, 1)
    return words, (right / divisor).tolist(), (left / divisor).tolist()


def stacks(sentences: list[Parsed], text: str) -> list[str]:
    """Return the stacks along a text, as the papers show them."""
    words, right, left = tables(sentences)
    steps, _ = follow([words.index(form) for form in text.split()], right, left)
    return [" ".join(text.split()[place] for place in step.stack) for step in steps]


def test_the_fox_of_the_companion() -> None:
    """Figure 1: the modifiers of dog go before it is pushed, over is pushed on jumps, quick on the."""
    found = stacks(FOX, "the quick brown fox jumps over the lazy dog")

    assert found == [
        "the",
        "the quick",
        "the quick brown",
        "fox",
        "jumps",
        "jumps over",
        "jumps over the",
        "jumps over the lazy",
        "jumps over dog",
    ]


def test_the_relief_workers_of_the_paper() -> None:
    """Figure 4: workers pops three modifiers and is popped by distributed; to pops food, so nothing crosses."""
    found = stacks(RELIEF, "The UN relief workers distributed food to the hungry")

    assert found == [
        "The",
        "The UN",
        "The UN relief",
        "workers",
        "distributed",
        "distributed food",
        "distributed to",
        "distributed to the",
        "distributed to hungry",
    ]


def test_the_pops_make_the_tree() -> None:
    """The sentence of the paper's figure 4 has the edges of its two sources."""
    words, right, left = tables(RELIEF)
    text = ["The", "UN", "relief", "workers", "distributed", "food", "to", "the", "hungry"]
    _, heads = follow([words.index(form) for form in text], right, left)
    named = {text[place]: text[head] if head != ROOT else None for place, head in enumerate(heads)}

    assert named == {
        "The": "workers",
        "UN": "workers",
        "relief": "workers",
        "workers": "distributed",
        "distributed": None,
        "food": "distributed",
        "to": "distributed",
        "the": "hungry",
        "hungry": "to",
    }


def test_a_word_without_relations_is_pushed() -> None:
    """Rule 1: nothing relates to blankets here, and it stays a fragment."""
    words, right, left = tables(RELIEF)
    steps, heads = follow([words.index(form) for form in ("distributed", "blankets")], right, left)

    assert steps[1] == Step(1, "push", None, 0.0, (), (0, 1))
    assert heads == [ROOT, ROOT]


def test_the_oldest_of_equally_probable_items_is_taken() -> None:
    """Word 2 modifies both word 0 and word 1 for sure: it hangs on word 0, and word 1 is popped."""
    left = [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    right = [[0.0] * 3] * 3

    steps, heads = follow([0, 1, 2], right, left)

    assert steps[2] == Step(2, "modifies", 0, 1.0, (1,), (0, 2))
    assert heads == [ROOT, ROOT, 0]


def test_relations_fade_with_the_items_above() -> None:
    """Both modify 2 for sure, but 1 is above 0 and leaves half of its relation: 2 hangs on 1, nothing is popped."""
    left = [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    right = [[0.0] * 3] * 3

    steps, heads = follow([0, 1, 2], right, left, 0.5)

    assert steps[2] == Step(2, "modifies", 1, 1.0, (), (0, 1, 2))
    assert heads == [ROOT, ROOT, 1]
    # Where 1 has none, 0 keeps half of its own.
    assert follow([0, 1, 2], right, [left[0], left[2], left[2]], 0.5)[0][2].dep == 0.5


def test_the_most_probable_item_is_taken() -> None:
    """Word 2 governs word 1 with 0.6 and word 0 with 0.5: only word 1 is popped."""
    right = [[0.0, 0.0, 0.5], [0.0, 0.0, 0.6], [0.0, 0.0, 0.0]]
    left = [[0.0] * 3] * 3

    steps, heads = follow([0, 1, 2], right, left)

    assert steps[2] == Step(2, "governs", 1, 0.6, (1,), (0, 2))
    assert heads == [ROOT, 2, ROOT]


def test_both_directions_alike_make_a_modifier() -> None:
    """Rule 2a needs isHeadRight to be more probable than isHeadLeft."""
    right = left = [[0.0, 0.25], [0.0, 0.0]]

    steps, heads = follow([0, 1], right, left)

    assert (steps[1].rule, steps[1].dep) == ("modifies", 0.5)
    assert heads == [ROOT, 0]


def test_a_sentence_without_words_has_no_steps() -> None:
    """A sentence without words has no steps."""
    assert follow([], [], []) == ([], [])


_share = st.sampled_from([0.0, 0.0, 0.25, 0.5])
_matrices = arrays.arrays(np.float64, (2, 4, 4), elements=_share)


@given(_matrices, st.lists(st.integers(0, 3), max_size=12))
def test_heads_are_a_forest_and_stacks_follow_the_rules(matrices: np.ndarray, words: list[int]) -> None:
    """Every step ends with its word on top; heads have no cycle; what is popped never comes back."""
    right, left = matrices.tolist()
    steps, heads = follow(words, right, left)

    gone: set[int] = set()
    for place, step in enumerate(steps):
        assert step.stack[-1] == place
        assert list(step.stack) == sorted(set(step.stack))
        gone |= set(step.popped)
        assert not gone & set(step.stack)
        assert gone | set(step.stack) == set(range(place + 1))
    for place in range(len(words)):
        seen = set()
        while place != ROOT:
            assert place not in seen
            seen.add(place)
            place = heads[place]
