"""The state of each word of an abstract: what became of it, judged by what it is linked with, and where.

A link says where a word comes from, not that it says the same: in *hired 21 engineers*, 21 is linked with the
12 of the document, as it stands in its place. States tell such words apart, whatever the aligner.

Links are looked at first, word by word (``relations``). Then each sentence of the abstract is laid beside the
sentences of the document that it has most from (``slots``): where both differ between words that are the
same, what stands there is compared (``judging``), and what one of both denies (``polarity``). Numbers, dates
and names are compared as such (``values``), and words that no link reaches are looked for (``found``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from sentgen.alignment.alignment import Alignment, Span, linked_words
from sentgen.alignment.pair import Pair
from sentgen.alignment.states.found import WordOccurrences
from sentgen.alignment.states.judging import Judging
from sentgen.alignment.states.kinds import TextKinds, both_texts
from sentgen.alignment.states.polarity import judge_polarity
from sentgen.alignment.states.relations import RELATIONS, other_form, relation
from sentgen.alignment.states.slots import matched, worth
from sentgen.alignment.states.state import STATES, State, WordState
from sentgen.alignment.states.values import judge_names, judge_quantities
from sentgen.alignment.words.function_words import is_function_word
from sentgen.alignment.words.wordnet import find_wordnet

__all__ = ["STATES", "State", "WordState", "word_states"]

#: Sentences of the document that one of the abstract is laid beside, and what they have of it at least.
_SENTENCES, _LEAST = 2, 1.0
#: Posterior from which on two content words are related that nothing known joins.
_LIKELY = 0.5
#: Why a word is related to another that nothing known joins.
_IN_PLACE = "in its place"


def word_states(pair: Pair, alignment: Alignment) -> tuple[WordState, ...]:
    """Return the state of each word of the abstract, in its order."""
    if not pair.abstract or not pair.document:
        return tuple(WordState(word, "new") for word in pair.abstract)
    wordnet = _wordnet()
    abstract, document = both_texts(pair)
    states = [
        _linked(pair, alignment, word, links, wordnet) for word, links in enumerate(_links(pair, alignment))
    ]
    for sentence in abstract.sentences:
        sources = _sources(states[slice(*sentence)], document)
        for source in sources[:_SENTENCES]:
            places = matched(
                *(text.words[slice(*span)] for text, span in ((abstract, sentence), (document, source)))
            )
            Judging(states, (abstract, sentence), (document, source), wordnet).judge(places)
            judge_polarity(states, (pair.abstract, sentence), (pair.document, source), places)
        judge_quantities(states, abstract, sentence, document, sources)
    judge_names(states, pair.abstract, pair.document)
    _look_up(states, abstract, document)
    return tuple(states)


@cache
def _wordnet() -> Path | None:
    """Return the folder of WordNet, looked for once in a process, as that takes as long as a short pair."""
    return find_wordnet()


def _links(pair: Pair, alignment: Alignment) -> list[list[tuple[float | None, int]]]:
    """Return posterior and document word of the links of each abstract word."""
    links = [list[tuple[float | None, int]]() for _ in pair.abstract]
    for phrase in alignment.phrases:
        for word, place in linked_words(phrase.abstract, phrase.document):
            links[word].append((phrase.posterior, place))
    return links


def _linked(
    pair: Pair,
    alignment: Alignment,
    word: int,
    links: Sequence[tuple[float | None, int]],
    wordnet: Path | None,
) -> WordState:
    """Return the state of a word as its links have it."""
    form = pair.abstract[word]
    null = None if alignment.null is None else alignment.null[word]
    related = [
        (*relation(form, pair.document[place], wordnet), posterior, place) for posterior, place in links
    ]
    if not related:
        return WordState(form, "new", null=null)
    closest = min((one[0] for one in related), key=RELATIONS.index)
    chosen = [one for one in related if one[0] == closest]
    posterior = max((one[2] for one in chosen if one[2] is not None), default=None)
    source = tuple(sorted(one[3] for one in chosen))
    if closest != "other":
        return WordState(form, closest, source, posterior, null, chosen[0][1])
    # A function word may stand for any other one; of the others, only a likely link joins two strangers.
    if is_function_word(form) or (_is_plain(form) and (posterior is None or posterior >= _LIKELY)):
        return WordState(form, "related", source, posterior, null, _IN_PLACE)
    return WordState(form, "new", null=null)


def _is_plain(word: str) -> bool:
    """Say whether a word is neither a number nor a name."""
    return word.islower()


def _sources(states: Sequence[WordState], document: TextKinds) -> list[Span]:
    """Return the sentences of the document from which these words come, most first."""
    counts = defaultdict[int, float](float)
    for one in states:
        for place in one.source:
            counts[document.number(place)] += worth(one.word) / len(one.source)
    most = sorted(counts, key=lambda number: (-counts[number], number))
    return [document.sentences[number] for number in most if counts[number] >= _LEAST]


def _look_up(states: list[WordState], abstract: TextKinds, document: TextKinds) -> None:
    """Look for words that no known link reaches in the whole document, in place."""
    lone = [
        at
        for at, one in enumerate(states)
        if (one.state == "new" or one.why == _IN_PLACE) and not is_function_word(one.word)
    ]
    places = WordOccurrences([states[at].word for at in lone], document)
    for start, end in abstract.sentences:
        here = [at for at in lone if start <= at < end]
        if not here:
            continue
        content = (one for one in states[start:end] if not is_function_word(one.word))
        sources = {document.number(place) for one in content for place in one.source}
        for at in here:
            found = places.best(abstract.words[start:end], at - start, sources)
            one = states[at]
            if found is not None:
                state, why = other_form(one.word, document.words[found])
                states[at] = one.judged(state, (found,), why)
            elif one.state == "new":
                states[at] = replace(one, elsewhere=places.sentences(one.word))
