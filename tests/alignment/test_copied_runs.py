"""Aligners without training: longest common runs, Cut & Paste, and the choice of document sentences."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.alignment import Pair
from sentgen.alignment.baselines.bitext import extract, sentence_pairs
from sentgen.alignment.baselines.cut_and_paste import best_path, common_runs, sentence_numbers
from sentgen.alignment.systems import aligner_named

LETTERS = st.text("abc", min_size=1, max_size=8)


def links(system: str, document: str, abstract: str, starts: tuple[int, ...] = (0,)) -> set[tuple[int, int]]:
    pair = Pair("1", tuple(document.split()), tuple(abstract.split()), starts)
    (alignment,) = aligner_named(system).align([pair])
    return set(alignment.links)


def test_longest_run_first() -> None:
    """The longest run is taken first, and of equally long ones the first of the abstract.

    In `abxbca`, `ab` and `bc` of `abc` have two words: `ab` comes first and leaves `c` of `bc`. In `abxbcda`,
    `bcd` of `abcd` has three, and leaves `a` of `ab`.
    """
    assert common_runs("abxbca", "abc") == [(0, 0, 2), (4, 2, 1)]
    assert common_runs("abxbcda", "abcd") == [(3, 1, 3), (0, 0, 1)]


def test_a_document_word_is_used_once() -> None:
    """The second `the` of the abstract is unaligned, unless document words may be reused."""
    assert links("lcs", "the dog", "the the") == {(0, 0)}
    assert links("lcs:reuse=true", "the dog", "the the") == {(0, 0), (0, 1)}


def test_stems_are_compared() -> None:
    """Inflected forms and capitals make no difference."""
    assert links("lcs", "It tripled sales", "Tripling sale") == {(1, 0), (2, 1)}


def test_short_runs_can_be_left_out() -> None:
    """With n=2 a lonely word is not aligned."""
    assert links("lcs:n=2", "a b x c", "a b c") == {(0, 0), (1, 1)}


@given(LETTERS, LETTERS, st.booleans())
def test_runs_are_the_greedy_ones(document: str, abstract: str, reuse: bool) -> None:
    """Repeated search for the longest free run gives the same runs."""
    free_d, free_s = [True] * len(document), [True] * len(abstract)
    expected = []
    while True:
        found = [
            (-length, s, d)
            for s, d in product(range(len(abstract)), range(len(document)))
            for length in range(1, min(len(abstract) - s, len(document) - d) + 1)
            if document[d : d + length] == abstract[s : s + length]
            and all(free_s[s : s + length])
            and (reuse or all(free_d[d : d + length]))
        ]
        if not found:
            break
        length, s, d = min(found)
        expected.append((d, s, -length))
        for k in range(-length):
            free_s[s + k] = free_d[d + k] = False

    assert common_runs(document, abstract, reuse=reuse) == expected


def logp(path: tuple[int, ...], sentences: list[int], near: int) -> float:
    """Return a log-probability by a second implementation of the table of Jing 2002."""
    total = 0.0
    for w1, w2 in pairwise(path):
        s1, s2 = sentences[w1], sentences[w2]
        if s1 == s2:
            total += math.log(1.0 if w2 == w1 + 1 else 0.9 if w2 > w1 else 0.8)
        elif abs(s2 - s1) >= near:
            total += math.log(0.5)
        else:
            total += math.log(0.7 if s2 > s1 else 0.6)
    return total


@given(LETTERS, LETTERS, st.sets(st.integers(1, 7), max_size=5), st.integers(1, 3))
def test_path_is_the_best_of_all(document: str, abstract: str, cuts: set[int], near: int) -> None:
    """No choice of places has a higher probability than the path that Viterbi finds."""
    starts = (0, *sorted(cut for cut in cuts if cut < len(document)))
    sentences = sentence_numbers(starts, len(document))
    path = best_path(document, abstract, sentences, near=near)
    known = [s for s, word in enumerate(abstract) if word in document]
    places = [[d for d, word in enumerate(document) if word == abstract[s]] for s in known]
    best = max(logp(one, sentences.tolist(), near) for one in product(*places))

    assert [s for _, s in path] == known
    assert all(document[d] == abstract[s] for d, s in path)
    assert logp(tuple(d for d, _ in path), sentences.tolist(), near) == pytest.approx(best)


def test_cut_and_paste_finds_the_block() -> None:
    """`arthur b sackler` is found where its words stand side by side (Jing 2002, after her example)."""
    document = "b said that arthur b sackler vice president of law left"
    assert links("cut-and-paste", document, "arthur b sackler of law spoke") == {
        *((3, 0), (4, 1), (5, 2)),
        *((8, 3), (9, 4)),
    }


def test_cut_and_paste_leaves_short_blocks_out() -> None:
    """With n=2 `dog` alone is not aligned, with n=1 it is."""
    assert links("cut-and-paste", "the big dog", "a dog") == set()
    assert links("cut-and-paste:n=1", "the big dog", "a dog") == {(2, 1)}


def test_cut_and_paste_blocks_end_with_the_sentence() -> None:
    """Words side by side in two document sentences are no block."""
    assert links("cut-and-paste", "rain fell dogs bark", "fell dogs") == {(1, 0), (2, 1)}
    assert links("cut-and-paste", "rain fell dogs bark", "fell dogs", (0, 2)) == set()


def test_sentences_with_the_words_are_chosen() -> None:
    """Each wanted text gets the two texts that share words with it."""
    texts = [text.split() for text in ("the rain fell", "the dogs bark", "the cats sleep", "the birds sing")]

    assert extract(texts, [["dogs", "sing", "the"], ["sleep", "rain"]], 2) == [[1, 3], [0, 2]]


def test_ties_keep_the_first_sentences() -> None:
    """Among sentences without shared words, the last ones are left out."""
    assert extract([["a"], ["b"], ["c"], ["d"], ["e"]], [["x"]], 3) == [[0, 1, 2]]


@given(
    st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=4), min_size=3, max_size=6),
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=4),
)
def test_extract_is_the_greedy_one(texts: list[list[str]], wanted: list[str]) -> None:
    """Recomputing the cosine for each text that could be left out gives the same extract."""
    vocabulary = sorted({word for text in texts for word in text})
    weight = [math.log(len(texts) / sum(word in text for text in texts)) for word in vocabulary]

    def vector(words: list[str]) -> np.ndarray:
        return np.array([words.count(word) * w for word, w in zip(vocabulary, weight, strict=True)])

    left = list(range(len(texts)))
    while len(left) > 2:
        cosines = {}
        for out in left:
            rest = vector([word for i in left if i != out for word in texts[i]])
            # As in the module, a rest without weight is as good as one of weight 1e-6.
            cosines[out] = float(rest @ vector(wanted)) / max(float(np.linalg.norm(rest)), 1e-6)
        best = max(cosines.values())
        left.remove(max(i for i in left if cosines[i] >= best - 1e-9))

    assert extract(texts, [wanted], 2) == [left]


def test_short_documents_go_whole() -> None:
    """A document of three sentences is paired with each sentence of the abstract."""
    pair = Pair("1", ("a", "b", "c"), ("x", "y"), (0, 1, 2), (0, 1))
    assert list(sentence_pairs(pair)) == [((0, 1, 2), (0,)), ((0, 1, 2), (1,))]


def test_whole_texts_on_request() -> None:
    """With size 0 the texts are one pair."""
    pair = Pair("1", ("a", "b"), ("x", "y"), (0, 1), (0, 1))

    assert list(sentence_pairs(pair, size=0)) == [((0, 1), (0, 1))]


def test_no_words_no_sentence_pairs() -> None:
    """Empty texts and empty sentences give no sentence pairs."""
    assert list(sentence_pairs(Pair("1", (), ("a",)))) == []
    assert list(sentence_pairs(Pair("1", ("a",), ("b",), (0,), (0, 0)))) == [((0,), (0,))]
