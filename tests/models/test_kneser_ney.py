"""Kneser-Ney: discounts and a model by hand, sums to one, and equality with KenLM's lmplz."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_corpus import add_corpus, assert_sums_to_one, ngrams, probabilities, read_arpa

from sentgen.models import build
from sentgen.models.building.kneser_ney import estimate_discounts
from sentgen.schema import Store

TOY = ["a b a", "a c", "b a", "a b a"]
TEXT = [
    "the cat saw the dog",
    "the dog saw a cat",
    "a cat sat on the mat",
    "the dog sat on a mat",
    "on the mat the cat saw a dog",
    "a bird saw the cat",
    "the bird sat",
    "dogs bark",
] * 2 + ["the old dog bit a man", "birds sing", "a man saw the old bird on the mat"]

sentences = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=7), min_size=1, max_size=8)
thresholds = st.lists(st.integers(1, 3), min_size=1, max_size=5).map(sorted)


def test_discounts_follow_chen_and_goodman() -> None:
    """y = n1 / (n1 + 2 n2); D1 = 1 - 2 y n2/n1, D2 = 2 - 3 y n3/n2, D3+ = 3 - 4 y n4/n3."""
    # n = 10, 5, 4, 2: y = 10 / 20 = 1/2
    # D1 = 1 - 2 * 1/2 * 5/10 = 0.5, D2 = 2 - 3 * 1/2 * 4/5 = 0.8, D3+ = 3 - 4 * 1/2 * 2/4 = 2
    assert estimate_discounts(10, 5, 4, 2) == pytest.approx((0.5, 0.8, 2.0))


@pytest.mark.parametrize("counts", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 9, 1), (1, 1, 1, 99)])
def test_thin_counts_of_counts_give_no_discounts(counts: tuple[int, int, int, int]) -> None:
    assert estimate_discounts(*counts) is None


def test_bigrams_by_hand(store: Store) -> None:
    """All discounts are the fallback 0.5, 1, 1.5: too few n-grams for an estimate."""
    add_corpus(store, "toy", TOY)

    model = build(store, "toy", ["toy"], order=2)

    found = probabilities(store, model)
    # Different words before: a after <s>, b: 2; b after <s>, a: 2; c after a: 1; </s> after a, c: 2. Sum 7.
    # gamma() = (3 * D2 + D1) / 7 = 3.5 / 7 = 0.5; V = a, b, c, </s>, <unk> = 5; uniform share 0.5 / 5 = 0.1.
    assert found["<unk>",] == pytest.approx(0.1)
    assert found["a",] == pytest.approx((2 - 1) / 7 + 0.1)
    assert found["c",] == pytest.approx((1 - 0.5) / 7 + 0.1)
    assert found["<s>",] == 1.0
    # After <s>: a 3, b 1. gamma(<s>) = (D3 + D1) / 4 = (1.5 + 0.5) / 4 = 0.5.
    assert found["<s>", "a"] == pytest.approx((3 - 1.5) / 4 + 0.5 * (1 / 7 + 0.1))
    assert found["<s>", "b"] == pytest.approx((1 - 0.5) / 4 + 0.5 * (1 / 7 + 0.1))
    assert 10 ** ngrams(store, model)["<s>",][1] == pytest.approx(0.5)
    assert [value for n, name, value in model.parameters(store) if name == "fallback"] == [1.0, 1.0]
    assert (model.vocabulary, model.sentences, model.tokens) == (5, 4, 10)


def test_pruned_mass_goes_to_the_back_off(store: Store) -> None:
    add_corpus(store, "toy", TOY)

    model = build(store, "toy", ["toy"], order=2, min_count=[1, 2])

    # After a: b 2, c 1 (pruned), </s> 3. gamma(a) = (D2 + D3 + 1) / 6 = (1 + 1.5 + 1) / 6.
    found = ngrams(store, model)
    assert ("a", "c") not in found
    assert 10 ** found["a",][1] == pytest.approx(3.5 / 6)


def test_unknown_none_shares_among_known_words(store: Store) -> None:
    add_corpus(store, "toy", TOY)

    model = build(store, "toy", ["toy"], order=2, unknown="none")

    found = probabilities(store, model)
    assert ("<unk>",) not in found
    assert found["a",] == pytest.approx(1 / 7 + 0.5 / 4)  # V = 4 without <unk>
    assert_sums_to_one(ngrams(store, model), 2)


def test_segments_and_corpora_are_summed(store: Store) -> None:
    add_corpus(store, "all", TEXT)
    add_corpus(store, "first", TEXT[:5])
    add_corpus(store, "first", TEXT[5:9])
    add_corpus(store, "second", TEXT[9:])

    whole = build(store, "whole", ["all"], order=3)
    parts = build(store, "parts", ["first", "second"], order=3)

    expected = ngrams(store, whole)
    found = ngrams(store, parts)
    assert found.keys() == expected.keys()
    assert all(found[gram] == pytest.approx(expected[gram]) for gram in expected)


@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
@settings(
    max_examples=settings.default.max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=sentences,
    order=st.integers(1, 5),
    min_count=thresholds,
    unknown=st.sampled_from(["word", "none"]),
)
def test_probabilities_sum_to_one(
    smoothing: str,
    text: list[list[str]],
    order: int,
    min_count: list[int],
    unknown: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Probabilities sum to 1 after every context, seen or not, with any pruning."""
    with Store(tmp_path_factory.mktemp("sum") / "s.duckdb", create=True, threads=1) as store:
        add_corpus(store, "toy", text)
        settings = {"order": order, "min_count": min_count[:order], "unknown": unknown}
        model = build(store, "toy", ["toy"], smoothing=smoothing, **settings)  # type: ignore[arg-type]

        assert_sums_to_one(ngrams(store, model), order)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("min_count", [[1], [1, 1, 2], [2]])
def test_equals_lmplz(store: Store, lmplz: str, order: int, min_count: list[int]) -> None:
    """Same n-grams; probabilities and back-off weights within 1e-4 in log10."""
    prune = [str(count - 1) for count in (min_count + min_count[-1:] * order)[:order]]
    command = [lmplz, "-o", str(order), "-S", "100M", "--discount_fallback", "--prune", *prune]
    text = "".join(f"{line}\n" for line in TEXT).encode()
    printed = subprocess.run(command, input=text, capture_output=True, check=True).stdout.decode()
    add_corpus(store, "text", TEXT)

    found = ngrams(store, build(store, "m", ["text"], order=order, min_count=min_count[:order]))

    expected = read_arpa(printed.splitlines())
    assert found.keys() == expected.keys()
    assert all(found[gram] == pytest.approx(expected[gram], abs=1e-4) for gram in expected)


@pytest.mark.data
@pytest.mark.slow
def test_equals_lmplz_on_newspaper_text(store: Store, lmplz: str, tmp_path: Path) -> None:
    path = Path(__file__).parents[3] / "shared/data/text/ptb-lm-valid.txt"
    if not path.exists():
        pytest.skip("needs ptb-lm-valid.txt")
    lines = [line.replace("<unk>", "UNKNOWN").split() for line in path.read_text("utf-8").splitlines()]
    text = "".join(f"{' '.join(line)}\n" for line in lines).encode()
    command = [lmplz, "-o", "5", "-S", "300M", "-T", str(tmp_path)]
    printed = subprocess.run(command, input=text, capture_output=True, check=True).stdout.decode()
    add_corpus(store, "ptb", lines)

    found = ngrams(store, build(store, "m", ["ptb"], order=5))

    expected = read_arpa(printed.splitlines())
    assert found.keys() == expected.keys()
    assert max(abs(found[g][0] - expected[g][0]) for g in expected) < 1e-4
    assert max(abs(found[g][1] - expected[g][1]) for g in expected) < 1e-4
