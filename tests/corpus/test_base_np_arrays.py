"""The compiled functions for base noun phrases and function heads agree with the reference."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from base_np_reference import base_nps, promoted
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.base_np import (
    FUNCTION_RELATION,
    INSIDE_RELATION,
    NO_HEAD,
    NOMINAL_TAG,
    OTHER,
    base_np_numbers,
    function_head_positions,
    relation_codes,
    upos_codes,
)
from sentgen.corpus.readers import conllu
from sentgen.corpus.sentence import Sentence

TAGS = ["NOUN", "PROPN", "PRON", "NUM", "ADJ", "VERB", "DET", "_"]
RELATIONS = [
    "det:predet",
    "amod",
    "compound",
    "nummod",
    "nmod",
    "nmod:poss",
    "nmod:poss:x",
    "flat",
    "case",
    "mark",
    "aux:pass",
    "cop",
    "obj",
    "_",
]

Tree = tuple[list[str], list[int], list[str]]


@st.composite
def trees(draw: st.DrawFn, most: int = 12) -> Tree:
    """Tags, heads and relations; each token of a random order hangs on one before it."""
    order = draw(st.permutations(range(1, draw(st.integers(1, most)) + 1)))
    heads = [0] * len(order)
    for place, token in enumerate(order[1:], 1):
        heads[token - 1] = order[draw(st.integers(0, place - 1))]
    size = {"min_size": len(heads), "max_size": len(heads)}
    functions = st.sampled_from(["case", "aux", "obj", "det"])
    relations = st.one_of(st.sampled_from(RELATIONS), functions)
    return draw(st.lists(st.sampled_from(TAGS), **size)), heads, draw(st.lists(relations, **size))


def agree(block: list[Tree]) -> None:
    """Compare the kernels on all sentences at once with the reference on each."""
    upos = upos_codes(list(chain.from_iterable(tags for tags, _, _ in block)))
    relations = relation_codes(list(chain.from_iterable(deprels for _, _, deprels in block)))
    heads = np.array(list(chain.from_iterable(heads for _, heads, _ in block)), np.int32)
    lengths = np.array([len(heads) for _, heads, _ in block], np.int32)
    nps = base_np_numbers(upos, relations, heads, lengths).tolist()
    positions = function_head_positions(relations, heads, lengths).tolist()

    for tags, own, deprels in block:
        if own and own[0] == NO_HEAD:
            assert nps[: len(own)] == [0] * len(own)
            assert positions[: len(own)] == own
        else:
            assert nps[: len(own)] == base_nps(tags, own, deprels)
            assert positions[: len(own)] == promoted(own, deprels)
        del nps[: len(own)], positions[: len(own)]
    assert nps == positions == []


def test_codes() -> None:
    """Subtypes count as their relation, except that of nmod only poss is inside."""
    expected = [INSIDE_RELATION] * 2 + [OTHER] + [FUNCTION_RELATION] * 2
    assert relation_codes(["det:predet", "nmod:poss", "nmod", "case", "aux:pass"]).tolist() == expected
    assert upos_codes(["PROPN", "VERB", "_"]).tolist() == [NOMINAL_TAG, OTHER, OTHER]


@given(st.lists(trees(), max_size=4), st.data())
def test_equal_to_the_reference(block: list[Tree], data: st.DataObject) -> None:
    """Any trees, one after the other, with sentences without heads and without tokens between them."""
    for _ in range(data.draw(st.integers(0, 2))):
        size = data.draw(st.integers(0, 3))
        place = data.draw(st.integers(0, len(block)))
        block.insert(place, (["NOUN"] * size, [NO_HEAD] * size, ["case"] * size))
    agree(block)


@given(st.lists(st.sampled_from(["case", "obj"]), min_size=1, max_size=30), st.data())
def test_many_function_words_of_one_head(relations: list[str], data: st.DataObject) -> None:
    """Long chains, on both sides of a head that is anywhere."""
    top = data.draw(st.integers(1, len(relations)))
    heads = [0 if i == top else top for i in range(1, len(relations) + 1)]
    agree([(["NOUN"] * len(heads), heads, relations)])


@pytest.mark.parametrize("relation", ["case", "compound", "obj"])
@pytest.mark.parametrize("heads", [[*range(2, 5_001), 0], [5_000] * 4_999 + [0], [2_500] * 2_499 + [0]])
def test_5000_tokens(heads: list[int], relation: str) -> None:
    """Deep and flat trees."""
    agree([(["NOUN"] * len(heads), heads, [relation] * len(heads))] * 2)


@pytest.mark.data
def test_ud(data_dir: Path) -> None:
    """All development sets in one block."""
    block = []
    for path in sorted((data_dir / "ud").glob("*-dev.conllu")):
        for sentence in conllu.read(path.read_text(encoding="utf-8").split("\n"), path=path.name):
            assert isinstance(sentence, Sentence)
            assert sentence.upos
            assert sentence.heads
            assert sentence.deprels
            block.append((sentence.upos, sentence.heads, sentence.deprels))
    agree(block)
