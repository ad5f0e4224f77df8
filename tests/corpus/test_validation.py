"""Every named check refuses what it names and nothing else."""

from __future__ import annotations

import time
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.sentence import Sentence
from sentgen.corpus.validation import CHECKS, LIMITS, check, check_heads


def tree(*heads: int) -> Sentence:
    return Sentence(["w"] * len(heads), heads=list(heads))


@pytest.mark.parametrize(
    ("sentence", "check_id"),
    [
        (Sentence([]), "empty-sentence"),
        (Sentence(["w"] * 11), "sentence-length"),
        (Sentence(["a", ""]), "empty-form"),
        (Sentence(["a", "\u00a0"]), "empty-form"),
        (Sentence(["a", "<s>"]), "reserved-symbol"),
        (Sentence(["</s>"]), "reserved-symbol"),
        (Sentence(["<root>"]), "reserved-symbol"),
        (Sentence(["a" * 21]), "field-length"),
        (Sentence(["a"], lemmas=["a" * 21]), "field-length"),
        (Sentence(["a"], lemmas=["a", "b"]), "column-length"),
        (Sentence(["a"], heads=[]), "column-length"),
        (tree(2, 3, 5, 0), "head-range"),
        (tree(-1, 0), "head-range"),
        (tree(0, 2), "head-self"),
        (tree(0, 0), "root-count"),
        (tree(2, 1), "root-count"),
        (tree(0, 3, 2), "head-cycle"),
        (Sentence(["a"] * 3, nps=[1, 0, 1]), "np-order"),
        (Sentence(["a"] * 3, nps=[2, 1, 0]), "np-order"),
    ],
)
def test_refused(sentence: Sentence, check_id: str) -> None:
    with patch.multiple(LIMITS, sentence_tokens=10, field_length=20):
        failed = check(sentence)

    assert failed is not None
    assert failed[0] == check_id
    assert check_id in CHECKS


@pytest.mark.parametrize(
    "sentence",
    [
        Sentence(["a", "<unk>", "<S>"]),
        tree(0),
        tree(2, 0, 2),
        Sentence(["a"] * 4, nps=[1, 2, 2, 0]),
        Sentence(["a"] * 2, nps=[0, 0]),
    ],
)
def test_accepted(sentence: Sentence) -> None:
    assert check(sentence) is None


@pytest.mark.parametrize("heads", [range(5_000), [*range(2, 5_001), 0]])
def test_chain_of_5000_tokens(heads: range | list[int]) -> None:
    """Linear and without recursion, in either direction."""
    start = time.perf_counter()

    assert check(tree(*heads)) is None
    assert time.perf_counter() - start < 1


def test_cycle_of_5000_tokens() -> None:
    failed = check(tree(0, 5_000, *range(2, 5_000)))

    assert failed is not None
    assert failed[0] == "head-cycle"


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=6).map(
        lambda heads: [h % (len(heads) + 1) for h in heads]
    )
)
def test_cycles_against_walking_up_from_every_token(heads: list[int]) -> None:
    """Oracle: from a token that is not on or above a cycle, n steps up reach the root."""

    def reaches_root(node: int) -> bool:
        for _ in heads:
            node = heads[node - 1] if node else 0
        return node == 0

    is_tree = heads.count(0) == 1 and all(map(reaches_root, range(1, len(heads) + 1)))
    assert (check_heads(heads) is None) == is_tree


def test_checks_are_sorted_and_described() -> None:
    assert list(CHECKS) == sorted(CHECKS)
    assert all(text.endswith(".") for text in CHECKS.values())
