"""Long documents: each abstract sentence is aligned with the sentences that it may come from, and no others.

What is added to a document, copies of it or texts about something else, changes no link to the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.alignment import Alignment, Pair, PhraseLink
from sentgen.alignment.phrase_hmm.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.pbhmm import (
    FUNCTION,
    NEIGHBORS,
    SHARE,
    Passage,
    PhraseHmm,
    joined,
    passages,
)
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.words.word_classes import LONGEST, sentence_starts

BEST = PbhmmSettings.preset("best")
WORDS = ["the", "of", "cats", "dogs", "chase", "mice", "old", "mill", "burned", "town", "river"]
#: 40 sentences without a word of those, or one that is akin to one.
OTHERS = tuple(f"x{first}{second} y{second} z{first}".split() for first in "abcde" for second in "abcdefgh")

sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(lambda words: [*words, "."])
texts = st.lists(sentences, min_size=1, max_size=7)


def words_of(text: Sequence[list[str]]) -> tuple[str, ...]:
    return tuple(word for sentence in text for word in sentence)


def aligned(document: tuple[str, ...], abstract: tuple[str, ...]) -> Alignment:
    return next(PhraseHmm.untrained("best").align([Pair("1", document, abstract)]))


def chosen(document: str, abstract: str, settings: PbhmmSettings = BEST) -> list[str]:
    """Return the document words of each passage."""
    pair = Pair("1", tuple(document.split()), tuple(abstract.split()))
    found = passages(pair, Lexicon().encode(pair), settings)
    return [" ".join(pair.document[place] for place in one.document) for one in found]


@given(texts, texts, st.integers(2, 9))
def test_copies_change_nothing(document: list[list[str]], abstract: list[list[str]], copies: int) -> None:
    """Links, posteriors and P(null) are those of the document alone, to the last bit."""
    once, again = words_of(document), words_of(abstract)

    assert aligned(once * copies, again) == aligned(once, again)


@given(texts.filter(lambda text: len({*map(tuple, text)}) > 3), sentences, st.integers(0, len(OTHERS)))
def test_other_texts_change_nothing(document: list[list[str]], abstract: list[str], before: int) -> None:
    """Other texts before or after a long document change no link, and have none."""
    padded = [*OTHERS[:before], *document, *OTHERS[before:]]
    starts = np.append(0, np.cumsum([len(sentence) for sentence in padded])[:-1])
    first = int(starts[before])
    alone = aligned(words_of(document), tuple(abstract))
    answer = next(
        PhraseHmm.untrained("best").align(
            [Pair("1", words_of(padded), tuple(abstract), tuple(starts.tolist()))]
        )
    )

    assert answer.links == {(i + first, j) for i, j in alone.links}
    assert answer.null == alone.null


def test_a_short_document_is_whole() -> None:
    """Up to three sentences, or as many as the abstract has, in which all words of the document may be used."""
    short = "cats chase mice . dogs bark . it rained ."

    assert chosen(short, "cats bark .") == [short]
    assert chosen(short + " it is cold .", "cats bark .") == ["cats chase mice . dogs bark ."]
    assert len(chosen(short + " it is cold .", "cats . dogs . it . cold .")) == 1
    assert chosen(short + " it is cold .", "cats .", replace(BEST, whole_sentences=None)) != [
        "cats chase mice ."
    ]
    assert PbhmmSettings.preset("paper").whole_sentences is None


def test_an_abstract_sentence_without_a_source_is_new() -> None:
    """It has no passage, and all of its words come from null."""
    document = "cats chase mice . dogs bark . it rained . it is cold ."
    answer = aligned(tuple(document.split()), ("kings", "abdicate"))

    assert chosen(document, "kings abdicate") == [""]
    assert answer.links == set()
    assert answer.null == (1.0, 1.0)
    assert answer.logp is not None


@given(texts, sentences, st.sampled_from([0.0, 0.1, 0.3]))
def test_passages_add_most(document: list[list[str]], abstract: list[str], gain: float) -> None:
    """A plain greedy choice gives the same passages: the sentence that adds most, while it adds enough."""
    distinct = [list(one) for one in dict.fromkeys(map(tuple, document))]
    weights = [FUNCTION if word in ("the", "of", ".") else 1.0 for word in abstract]
    parts = [((word,), weight) for word, weight in zip(abstract, weights, strict=True)]
    for place in range(1, len(abstract)):
        weight = NEIGHBORS * (weights[place - 1] + weights[place]) / 2
        parts.append(((abstract[place - 1], abstract[place]), weight))
    left, wanted = parts, list[int]()
    enough, had = SHARE * sum(weight for _, weight in parts), 0.0

    def grams(sentence: list[str]) -> set[tuple[str, ...]]:
        return {(word,) for word in sentence} | {*pairwise(sentence)}

    def adds(sentence: list[str]) -> float:
        return sum(weight for gram, weight in left if gram in grams(sentence))

    while distinct:
        gains = [adds(sentence) for sentence in distinct]
        best = max(range(len(distinct)), key=lambda n: (round(gains[n], 9), -n))
        if gains[best] < max(enough - 1e-9, 1e-9):
            break
        wanted.append(best)
        had += gains[best]
        enough = gain * had
        left = [(gram, weight) for gram, weight in left if gram not in grams(distinct[best])]

    settings = replace(BEST, whole_sentences=1, passage_gain=gain)
    found = chosen(" ".join(words_of(document)), " ".join(abstract), settings)
    if len(distinct) > 1:
        assert found == [" ".join(words_of([distinct[n] for n in sorted(wanted)]))]


def test_sentences_begin_where_it_is_said() -> None:
    """Sentences begin at given offsets, after full stops, and every hundred words, never with marks only."""
    assert sentence_starts(("a", ".", ")", "b", "c"), (0, 4)).tolist() == [0, 2, 4]
    assert sentence_starts(("a", ".", ")", "b", "c"), (0, 3)).tolist() == [0, 3]
    assert sentence_starts((".", "b"), (0,)).tolist() == [0, 1]
    assert sentence_starts(("a",) * (2 * LONGEST + 1), (0,)).tolist() == [0, LONGEST, 2 * LONGEST]


def test_links_lead_to_the_whole_document() -> None:
    """A copied run over left-out sentences is two runs; other phrases are linked to both parts of the source."""
    part = Passage(slice(10, 13), np.array([2, 3, 7]))
    copy, other = PhraseLink((0, 3), (0, 3), 0.5), PhraseLink((1, 2), (0, 3), 0.5)

    assert list(part.in_texts(copy)) == [PhraseLink((10, 12), (2, 4), 0.5), PhraseLink((12, 13), (7, 8), 0.5)]
    assert list(part.in_texts(other)) == [
        PhraseLink((11, 12), (2, 4), 0.5),
        PhraseLink((11, 12), (7, 8), 0.5),
    ]
    whole = joined([part, part], [Alignment((copy,), (0.1,), -1.0), Alignment((), (0.2,), -2.0)])
    assert (len(whole.phrases), whole.null, whole.logp) == (2, (0.1, 0.2), -3.0)


@pytest.mark.parametrize("decode", ["viterbi", "posterior"])
def test_both_ways_of_decoding_take_passages(decode: str) -> None:
    """Two summary sentences with sources far apart have passages of their own."""
    settings = replace(BEST, decode=decode)
    filler = " . ".join(" ".join(sentence) for sentence in OTHERS)
    document = f"{filler} . the old mill burned . {filler} . cats chase mice ."
    abstract = "cats chase mice . the mill burned ."
    pair = Pair("1", tuple(document.split()), tuple(abstract.split()))
    answer = next(PhraseHmm("x", settings, RewriteParameters.prior(settings), Lexicon()).align([pair]))

    copies = {j for i, j in answer.links if pair.document[i] == pair.abstract[j]}
    assert copies == set(range(8))
