"""Pseudo-documents: every link stays between the same words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.alignment import Pair
from sentgen.errors import InputError
from sentgen.evaluation.alignment.gold import GoldLinks, GoldPair, GoldStandard


def gold_of(count: int) -> GoldStandard:
    """Return pairs such as `d3.0 d3.1` and `a3.0 a3.1 a3.2`, linked 0-0 and possibly 1-2."""
    pairs = []
    for n in range(count):
        pair = Pair(str(n), tuple(f"d{n}.{k}" for k in range(2)), tuple(f"a{n}.{k}" for k in range(3)))
        pairs.append(GoldPair(pair, (GoldLinks.of({(0, 0)}, {(1, 2)}), GoldLinks.of({(1, 1)}))))
    return GoldStandard(("A", "B"), tuple(pairs))


@given(st.integers(1, 5), st.integers(0, 4), st.integers(0, 20), st.integers(0, 99))
def test_links_are_carried_over(documents: int, more: int, count: int, seed: int) -> None:
    """Each abstract that is kept has its links, to its own document; each text begins a sentence."""
    abstracts = max(1, documents - more)
    gold = gold_of(documents + count).pseudo_documents(documents=documents, abstracts=abstracts, seed=seed)

    assert len(gold.pairs) == (documents + count) // documents
    for one in gold.pairs:
        pair = one.pair
        named = [
            {(pair.document[i], pair.abstract[j]) for i, j in links.possible} for links in one.annotations
        ]
        kept = [word[1:].split(".")[0] for word in pair.abstract[::3]]
        assert len(kept) == abstracts
        assert named[0] == {(f"d{n}.0", f"a{n}.0") for n in kept} | {(f"d{n}.1", f"a{n}.2") for n in kept}
        assert named[1] == {(f"d{n}.1", f"a{n}.1") for n in kept}
        assert one.annotations[0].sure < one.annotations[0].possible
        assert pair.document_starts == tuple(range(0, 2 * documents, 2))
        assert pair.abstract_starts == tuple(range(0, 3 * abstracts, 3))


def test_drawn_by_the_seed() -> None:
    """The same seed gives the same documents, another seed others; abstracts are shuffled."""
    first = gold_of(50).pseudo_documents(documents=25, abstracts=10, seed=1)

    assert first == gold_of(50).pseudo_documents(documents=25, abstracts=10, seed=1)
    assert first != gold_of(50).pseudo_documents(documents=25, abstracts=10, seed=2)
    words = [pair.pair.document[::2] for pair in first.pairs]
    order = [words[0].index(word.replace("a", "d")) for word in first.pairs[0].pair.abstract[::3]]
    assert order != sorted(order)


@pytest.mark.parametrize(
    ("documents", "abstracts", "message"),
    [(3, 4, "4 of 3 abstracts"), (3, 0, "0 of 3"), (6, 1, "5 pairs are too few for a pseudo-document of 6")],
)
def test_refusals(documents: int, abstracts: int, message: str) -> None:
    """Sizes that make no document are refused."""
    with pytest.raises(InputError, match=message):
        gold_of(5).pseudo_documents(documents=documents, abstracts=abstracts)
