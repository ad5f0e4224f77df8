"""The states of the words of a summary, on cases that a reader can judge."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.alignment import Alignment, Pair, PhraseLink
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.systems import aligner_named
from sentgen.alignment.words.relations import relation
from sentgen.alignment.words.slots import _LONGER_GAP, _OPEN_GAP, _REPLACED, _RUN, matches
from sentgen.alignment.words.states import WordState
from sentgen.alignment.words.word_states import word_states

FLOOD = """The flood reached the village on Monday night . Three boats brought blankets and bread to the people
on Tuesday . The mayor said that the bridge would stay closed until Friday . No one was hurt ."""


def pair(document: str, abstract: str) -> Pair:
    return Pair("1", tuple(document.split()), tuple(abstract.split()))


def with_state(document: str, abstract: str, system: str = "") -> tuple[Pair, tuple[WordState, ...]]:
    texts = pair(document, abstract)
    (answer,) = (aligner_named(system) if system else PhraseHmm.untrained()).align([texts])
    return texts, word_states(texts, answer)


def told(document: str, abstract: str, *states: str) -> dict[str, tuple[str, ...]]:
    """Return words of some states with the words of the document that they come from."""
    texts, found = with_state(document, abstract)
    return {
        one.word: tuple(texts.document[place] for place in one.source)
        for one in found
        if one.state in (states or ("changed",))
    }


@pytest.mark.parametrize(
    ("document", "abstract", "changed"),
    [
        ("The firm hired 14 cooks in Rome .", "The firm hired 41 cooks in Oslo .", {"41": "14", "Oslo": "Rome"}),
        ("Prices fell 3 percent on Monday .", "Prices fell 30 percent on Sunday .", {"30": "3", "Sunday": "Monday"}),
        ("Prices fell after the old bank closed .", "Prices rose after the old bank closed .", {"rose": "fell"}),
        ("The dog chased the small cat .", "The cat chased the small dog .", {"cat": "dog", "dog": "cat"}),
        ("The club sold the old house in May 2019 .", "The club sold the old house in July 2019 .", {"July": "May"}),
        ("He left before the war began .", "He left after the war began .", {"after": "before"}),
        ("The council met in June and the mayor spoke .", "The council met in June and the clerk spoke .",
         {"clerk": "mayor"}),
    ],
)  # fmt: skip
def test_what_contradicts_a_word_in_its_place_is_told(
    document: str, abstract: str, changed: dict[str, str]
) -> None:
    assert told(document, abstract) == {word: (other,) for word, other in changed.items()}


@pytest.mark.parametrize(
    ("document", "abstract", "word"),
    [
        ("The road was closed on Friday .", "The road was not closed on Friday .", "not"),
        ("The road was not closed on Friday .", "The road was closed on Friday .", "closed"),
        ("They did n't pay the workers .", "They did pay the workers .", "pay"),
        ("The workers were never paid in full .", "The workers were paid in full .", "paid"),
        ("I am on the list , he is not .", "I am on the list , he is .", "is"),
    ],
)
def test_a_sense_turned_around_is_told(document: str, abstract: str, word: str) -> None:
    assert list(told(document, abstract)) == [word]


@pytest.mark.parametrize(
    ("document", "abstract"),
    [
        ("No one was hurt in the fire .", "Nobody was hurt in the fire ."),
        ("He did not go and did not call .", "He did not go or call ."),
        ("It was not only cold but wet .", "It was cold and wet ."),
        ("On Monday trucks brought water .", "Trucks brought water on Monday ."),
        ("The mayor said that the bridge would be closed .", "The mayor closed the bridge ."),
        ("The company said that it would close . Acme is a company .", "Acme said that it would close ."),
        ("She paid 12 dollars .", "She paid twelve dollars ."),
        ("She bought 12 eggs .", "She bought a dozen eggs ."),
        ("Sales rose 40 percent last year .", "Sales rose 40% last year ."),
        ("He ran 2,000 meters in May .", "He ran 2 kilometers in May ."),
        ("About 1,187 people came to see it .", "About 1,200 people came to see it ."),
    ],
)
def test_what_says_the_same_is_not_accused(document: str, abstract: str) -> None:
    assert told(document, abstract) == {}


def test_a_number_that_says_more_than_its_source_is_told() -> None:
    assert "1,975" in told("He wrote about 2,000 words of it .", "He wrote about 1,975 words of it .")


def test_a_name_in_another_form_is_a_variant() -> None:
    document = "International Paper Makers ( IPM ) hired a cook . She likes it ."
    _, found = with_state(document, "IPM hired a cook .")
    assert {one.state for one in found} <= {"same", "variant"}


def test_what_stands_in_the_document_is_not_new() -> None:
    _, found = with_state(FLOOD, "Boats brought bread to the village , and the mayor closed the bridge .")
    (village,) = (one for one in found if one.word == "village")
    assert (village.state, village.source) == ("same", (4,))


def test_a_word_of_another_place_is_new_and_says_where() -> None:
    document = ["Ships left the harbor at noon .", *["It rained all day long ."] * 6, "A violin was played ."]
    words = " ".join(document).split()
    starts = [0, *(place + 1 for place, word in enumerate(words[:-1]) if word == ".")]
    texts = Pair("1", tuple(words), ("Ships", "left", "violin"), tuple(starts))
    answer = Alignment(tuple(PhraseLink((at, at + 1), (at, at + 1)) for at in (0, 1)))
    violin = word_states(texts, answer)[2]
    assert (violin.state, violin.elsewhere) == ("new", (8,))


@pytest.mark.parametrize("system", ["", "lcs", "cut-and-paste", "model1"])
def test_states_are_those_of_any_aligner(system: str) -> None:
    _, found = with_state("The firm hired 14 cooks in Rome .", "The firm hired 41 cooks in Oslo .", system)
    assert [one.word for one in found if one.state in ("changed", "new")] == ["41", "Oslo"]


def test_texts_without_words_have_states_of_all_their_words() -> None:
    assert word_states(pair("", "a b"), Alignment(())) == (WordState("a", "new"), WordState("b", "new"))
    assert word_states(pair("a b", ""), Alignment(())) == ()


WORDS = st.sampled_from(("the", "of", "a", "not", "cat", "dog", "12", "forty", "Rome", ",", "n't", "sees"))


@given(st.lists(WORDS, min_size=1, max_size=30))
def test_no_word_of_a_copy_is_accused(words: list[str]) -> None:
    texts = Pair("1", tuple(words), tuple(words))
    answer = Alignment(tuple(PhraseLink((at, at + 1), (at, at + 1), 0.9) for at in range(len(words))))
    assert {one.state for one in word_states(texts, answer)} == {"same"}


@pytest.mark.parametrize(
    ("word", "other", "state"),
    [
        ("Cats", "cats", "same"), ("went", "went", "same"), ("houses", "house", "variant"),
        ("twelve", "12", "variant"), ("colour", "color", "variant"), ("economist", "economy", "variant"),
        ("organisation", "organize", "variant"), ("bought", "purchased", "other"), ("buy", "purchase", "variant"),
        ("the", "a", "related"), ("Ahmedinejad", "Ahmadinejad", "related"), ("based", "Rome-based", "related"),
        ("increase", "decrease", "other"), ("million", "billion", "other"), ("Austria", "Australia", "other"),
        ("12", "21", "other"), ("careful", "careless", "other"), ("mother", "father", "other"),
        ("before", "after", "other"), ("he", "she", "other"),
    ],
)  # fmt: skip
def test_relations(word: str, other: str, state: str) -> None:
    assert relation(word, other)[0] == relation(other, word)[0] == state


def best_score(abstract: list[int], document: list[int], only: set[tuple[int, int]] | None = None) -> float:
    """Return the best score of all alignments, or of those with certain matches, rule by rule."""

    @cache
    def of(i: int, j: int, last: str) -> float:
        if i == len(abstract) and j == len(document):
            return 0.0
        options = [-np.inf]
        if i < len(abstract) and j < len(document):
            if abstract[i] != document[j]:
                options.append(of(i + 1, j + 1, "other") - _REPLACED)
            elif only is None or (i, j) in only:
                options.append(of(i + 1, j + 1, "match") + 1 + _RUN * (last == "match"))
        if i < len(abstract) and (only is None or i not in {k for k, _ in only}):
            options.append(of(i + 1, j, "left") - (_LONGER_GAP if last == "left" else _OPEN_GAP))
        if j < len(document):
            cost = 0.0 if i in (0, len(abstract)) else _LONGER_GAP if last == "right" else _OPEN_GAP
            options.append(of(i, j + 1, "right") - cost)
        return max(options)

    return of(0, 0, "")


SENTENCES = st.lists(st.integers(0, 3), max_size=6)


@given(SENTENCES, SENTENCES)
def test_matches_are_those_of_a_best_alignment(abstract: list[int], document: list[int]) -> None:
    numbers = (np.array(words, np.int64) for words in (abstract, document))
    found = matches(*numbers, np.ones(len(abstract)))
    places = [(i, j) for i, j in enumerate(found.tolist()) if j >= 0]
    assert all(abstract[i] == document[j] for i, j in places)
    assert all(one[1] < other[1] for one, other in pairwise(places))
    assert best_score(abstract, document, set(places)) == pytest.approx(best_score(abstract, document))
