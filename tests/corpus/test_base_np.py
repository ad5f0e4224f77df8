"""Base noun phrases and function heads, on sentences analysed by hand and on random trees."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.base_np import function_heads, mark_base_nps
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.validation import check

RELATIONS = [
    "det",
    "amod",
    "compound",
    "nmod:poss",
    "flat",
    "case",
    "mark",
    "aux:pass",
    "cop",
    "obj",
    "nsubj",
]


@st.composite
def trees(draw: st.DrawFn, most: int = 9) -> tuple[list[int], list[str]]:
    """A random tree: each token of a random order hangs on one before it."""
    order = draw(st.permutations(range(1, draw(st.integers(1, most)) + 1)))
    heads = [0] * len(order)
    for place, token in enumerate(order[1:], 1):
        heads[token - 1] = order[draw(st.integers(0, place - 1))]
    relations = [draw(st.sampled_from(RELATIONS)) if head else "root" for head in heads]
    return heads, relations


def base_nps(upos: list[str], heads: list[int], deprels: list[str]) -> list[int]:
    sentence = Sentence(["w"] * len(upos), upos=upos, heads=heads, deprels=deprels)
    assert mark_base_nps(sentence)
    assert sentence.nps is not None
    return sentence.nps


def promoted_heads(heads: list[int], deprels: list[str]) -> list[int]:
    return function_heads(Sentence(["w"] * len(heads), heads=heads, deprels=deprels))


def is_projective(heads: list[int]) -> bool:
    arcs = [(min(t, h), max(t, h)) for t, h in enumerate(heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


class TestBaseNps:
    def test_closure_with_what_hangs_below(self) -> None:
        # the very big dog of John 's
        upos = ["DET", "ADV", "ADJ", "NOUN", "ADP", "PROPN", "PART"]
        heads = [4, 3, 4, 0, 6, 4, 6]
        deprels = ["det", "advmod", "amod", "root", "case", "nmod", "case"]

        assert base_nps(upos, heads, deprels) == [1, 1, 1, 1, 0, 2, 0]

    def test_possessor_is_part_of_the_outer_phrase(self) -> None:
        # the market 's drop
        assert (
            base_nps(["DET", "NOUN", "PART", "NOUN"], [2, 4, 2, 0], ["det", "nmod:poss", "case", "root"])
            == [1] * 4
        )

    def test_other_nmod_subtypes_are_outside(self) -> None:
        assert base_nps(["NOUN", "NOUN"], [0, 1], ["root", "nmod:tmod"]) == [1, 2]

    def test_subtypes_are_ignored(self) -> None:
        assert base_nps(["DET", "NOUN"], [2, 0], ["det:predet", "root"]) == [1, 1]

    def test_the_phrase_ends_at_a_gap(self) -> None:
        # all(det of 4) but(advmod of 3) saw dogs: "all" is not contiguous with its noun
        assert base_nps(["DET", "ADV", "VERB", "NOUN"], [4, 3, 0, 3], ["det", "advmod", "root", "obj"]) == [
            0,
            0,
            0,
            1,
        ]

    def test_verbs_have_none(self) -> None:
        assert base_nps(["ADV", "VERB"], [2, 0], ["advmod", "root"]) == [0, 0]

    def test_mark_sets_only_what_is_missing(self) -> None:
        sentence = Sentence(["dogs"], upos=["NOUN"], heads=[0], deprels=["root"])

        assert mark_base_nps(sentence)
        assert sentence.nps == [1]
        assert not mark_base_nps(sentence)
        assert not mark_base_nps(Sentence(["dogs"]))

    @given(trees(), st.data())
    def test_always_contiguous_and_every_nominal_inside_one(
        self, tree: tuple[list[int], list[str]], data: st.DataObject
    ) -> None:
        heads, deprels = tree
        upos = [data.draw(st.sampled_from(["NOUN", "NUM", "ADJ", "VERB"])) for _ in heads]
        nps = base_nps(upos, heads, deprels)

        assert check(Sentence(["w"] * len(heads), nps=nps)) is None
        assert all(number for number, tag in zip(nps, upos, strict=True) if tag in ("NOUN", "NUM"))


class TestFunctionHeads:
    @pytest.mark.parametrize(
        ("heads", "deprels", "expected"),
        [
            # in the house: in -> house -> the
            ([3, 3, 0], ["case", "det", "root"], [0, 3, 1]),
            # he will be happy: will -> be -> happy, he on will
            ([4, 4, 4, 0], ["nsubj", "aux", "cop", "root"], [2, 0, 2, 3]),
            # said that he is in Rome: said -> that -> is -> in -> Rome, he on is
            ([0, 6, 6, 6, 6, 1], ["root", "mark", "nsubj", "cop", "case", "ccomp"], [0, 1, 4, 2, 4, 5]),
            # happy, no function word
            ([2, 0], ["amod", "root"], [2, 0]),
            # John 's: the case marker after its word
            ([0, 1], ["root", "case"], [2, 0]),
            # a case marker of a case marker: 1 on 2, 2 on 3
            ([2, 3, 0], ["case", "case", "root"], [0, 1, 2]),
            # a function word that is the root stays
            ([0, 1], ["case", "obj"], [0, 1]),
        ],
    )
    def test_by_hand(self, heads: list[int], deprels: list[str], expected: list[int]) -> None:
        assert promoted_heads(heads, deprels) == expected

    @given(trees())
    def test_the_result_is_a_tree(self, tree: tuple[list[int], list[str]]) -> None:
        heads, deprels = tree
        sentence = Sentence(["w"] * len(heads), heads=heads, deprels=deprels)
        result = function_heads(sentence)

        assert check(Sentence(sentence.forms, heads=result)) is None

    @given(trees())
    def test_projective_trees_stay_projective(self, tree: tuple[list[int], list[str]]) -> None:
        heads, deprels = tree
        if is_projective(heads):
            assert is_projective(promoted_heads(heads, deprels))

    @pytest.mark.parametrize("relation", ["case", "compound"])
    @pytest.mark.parametrize("heads", [[*range(2, 5_001), 0], [5_000] * 4_999 + [0]])
    def test_5000_tokens(self, heads: list[int], relation: str) -> None:
        start = time.perf_counter()
        deprels = [relation] * 4_999 + ["root"]

        assert check(Sentence(["w"] * 5_000, heads=promoted_heads(heads, deprels))) is None
        assert len(base_nps(["NOUN"] * 5_000, heads, deprels)) == 5_000
        assert time.perf_counter() - start < 5

    def test_needs_heads(self) -> None:
        with pytest.raises(ValueError, match="needs heads"):
            function_heads(Sentence(["a"]))
