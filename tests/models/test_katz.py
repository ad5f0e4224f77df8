"""Katz: discounts and models by hand."""

from __future__ import annotations

import pytest
from toy_corpus import add_corpus, assert_sums_to_one, ngrams, probabilities

from sentgen.models import build
from sentgen.models.building.katz import good_turing
from sentgen.schema import Store


def test_good_turing_by_hand() -> None:
    """d_r = (r*/r - q) / (1 - q) with q = 6 n6 / n1."""
    # n = 120, 40, 20, 12, 8, 5: q = 30/120 = 1/4
    # d1 = (2 * 40/120 - 1/4) / (3/4) = (2/3 - 1/4) * 4/3 = 5/9
    # d2 = (3 * 20/40 / 2 - 1/4) * 4/3 = 2/3; d3 = (4 * 12/20 / 3 - 1/4) * 4/3 = 11/15
    # d4 = (5 * 8/12 / 4 - 1/4) * 4/3 = 7/9; d5 = (6 * 5/8 / 5 - 1/4) * 4/3 = 2/3
    assert good_turing([120, 40, 20, 12, 8, 5]) == pytest.approx([5 / 9, 2 / 3, 11 / 15, 7 / 9, 2 / 3])


@pytest.mark.parametrize(
    "counts", [[0, 1, 1, 1, 1, 1], [9, 0, 1, 1, 1, 1], [6, 5, 4, 3, 2, 1], [9, 9, 9, 9, 9, 1]]
)
def test_thin_counts_of_counts_give_no_discounts(counts: list[int]) -> None:
    assert good_turing(counts) is None


def test_absolute_discounting_by_hand(store: Store) -> None:
    """Five sentences are too few for Good-Turing: 1/2 is taken from every count."""
    add_corpus(store, "toy", ["a b", "a b", "a c", "b", "c"])

    model = build(store, "toy", ["toy"], order=2, smoothing="katz")

    found = probabilities(store, model)
    # Unigrams: a 3, b 3, c 2, </s> 5 of 13; 4 * 1/2 are left for <unk>.
    assert found["a",] == pytest.approx(2.5 / 13)
    assert found["</s>",] == pytest.approx(4.5 / 13)
    assert found["<unk>",] == pytest.approx(2 / 13)
    # After a: b 2, c 1 of 3. alpha(a) = (1/3) / (1 - p(b) - p(c)) = (1/3) / (1 - 2.5/13 - 1.5/13) = 13/27.
    assert found["a", "b"] == pytest.approx(1.5 / 3)
    assert found["a", "c"] == pytest.approx(0.5 / 3)
    assert 10 ** ngrams(store, model)["a",][1] == pytest.approx(13 / 27)
    assert (1, "absolute", 0.5) in model.parameters(store)


def test_dropped_counts_go_to_the_back_off(store: Store) -> None:
    add_corpus(store, "toy", ["a b", "a b", "a c", "b", "c"])

    model = build(store, "toy", ["toy"], order=2, smoothing="katz", min_count=[1, 2])

    found = ngrams(store, model)
    # After a only b is kept, 1.5 / 3; alpha(a) = (1/2) / (1 - 2.5/13) = 13/21.
    assert ("a", "c") not in found
    assert 10 ** found["a",][1] == pytest.approx(13 / 21)


def test_good_turing_in_a_store(store: Store) -> None:
    """Twelve words once, four twice, two three times, then one each of 4, 5 and 6 times."""
    repeats = {1: 120, 2: 40, 3: 20, 4: 12, 5: 8, 6: 5}
    words = [f"w{r}_{i}" for r, types in repeats.items() for i in range(types) for _ in range(r)]
    add_corpus(store, "toy", [words])

    model = build(store, "toy", ["toy"], order=1, smoothing="katz")

    found = probabilities(store, model)
    # </s> occurs once too: n1 = 121, q = 30/121, d1 = (80/121 - 30/121) / (91/121) = 50/91
    # Tokens: 120 + 80 + 60 + 48 + 40 + 30 + </s> = 379; count 6 is not discounted.
    assert found["w1_0",] == pytest.approx(50 / 91 / 379)
    assert found["w6_0",] == pytest.approx(6 / 379)
    # Good-Turing leaves n1 / N for unseen words.
    assert found["<unk>",] == pytest.approx(121 / 379)


def test_no_mass_left_adds_one_to_the_sum(store: Store) -> None:
    """Only counts above 5 after a context: SRILM's remedy keeps unseen words possible."""
    repeats = {1: 120, 2: 40, 3: 20, 4: 12, 5: 8, 6: 5}
    lines = [[f"w{r}_{i}"] for r, types in repeats.items() for i in range(types) for _ in range(r)]
    add_corpus(store, "toy", lines)

    model = build(store, "toy", ["toy"], order=2, smoothing="katz")

    # "<s> w" and "w </s>" have the counts of w: n = 240, 80, 40, 24, 16, 10. After w6_0: </s> 6 of 6.
    assert probabilities(store, model)["w6_0", "</s>"] == pytest.approx(6 / 7)
    assert_sums_to_one(ngrams(store, model), 2)
