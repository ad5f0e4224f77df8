"""Sentences of a pair: full stops follow their sentence, and sentences may come from anywhere."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.decode import LinkChoice
from sentgen.alignment.phrase_hmm.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.words.word_classes import breaks
from sentgen.errors import InputError

DOCUMENT = "cats chase mice . it rained all day in the north . dogs bark at night . it is cold ."


def aligned(abstract: str, document: str, settings: PbhmmSettings) -> dict[tuple[int, int], float]:
    """Return the posteriors of links, (place in document, place in abstract), that reach the threshold."""
    aligner = PhraseHmm("x", settings, RewriteParameters.prior(settings), Lexicon())
    answer = next(aligner.align([Pair("1", tuple(document.split()), tuple(abstract.split()))]))
    return {(one.document[0], one.abstract[0]): one.posterior or 0.0 for one in answer.phrases}


def sentence_numbers(stops: list[bool]) -> list[int]:
    return [sum(stops[:place]) for place in range(len(stops))]


@pytest.mark.parametrize("seed", range(20))
def test_full_stops_have_the_shares_of_their_sentences(seed: int) -> None:
    """Shares equal a sum link by link, for any number of columns at a time; all other links stay."""
    rng = np.random.default_rng(seed)
    links = rng.random((int(rng.integers(1, 9)), int(rng.integers(1, 12)))) * (rng.random() > 0.1)
    abstract, document = (rng.random(size) < 0.3 for size in links.shape)
    rows, columns = sentence_numbers(abstract.tolist()), sentence_numbers(document.tolist())
    wanted = links.copy()
    for t, i in np.argwhere(abstract[:, None] & document[None, :]).tolist():
        both = from_abstract = from_document = 0.0
        for s, d in np.argwhere(~abstract[:, None] & ~document[None, :]).tolist():
            both += links[s, d] * (rows[s] == rows[t]) * (columns[d] == columns[i])
            from_abstract += links[s, d] * (rows[s] == rows[t])
            from_document += links[s, d] * (columns[d] == columns[i])
        wanted[t, i] = both / from_abstract * both / from_document if both else 0.0

    for width in (1, 2, 5, 12):
        choice, found = LinkChoice(0.0, (abstract, document)), np.full(links.shape, -1.0)
        for begin in reversed(range(0, links.shape[1], width)):
            choice.take(begin, links[:, begin : begin + width].copy())
        *places, posteriors = choice.chosen()
        found[*places] = posteriors
        assert found == pytest.approx(wanted)


def test_breaks_are_after_full_stops() -> None:
    """There is no break before the first word or after the last one."""
    assert breaks(np.array([True, False, True, True])).tolist() == [False, True, False, True]
    assert breaks(np.empty(0, np.bool_)).tolist() == []


def test_a_full_stop_is_that_of_its_sentence() -> None:
    """A full stop goes with the words of its sentence, however far, not with the nearest full stop."""
    best = replace(PbhmmSettings.preset("best"), whole_sentences=None)
    links = aligned("it rained . dogs bark .", DOCUMENT, best)
    plain = aligned("it rained . dogs bark .", DOCUMENT, replace(best, stops=False, forget=0.0))

    assert {i: j for i, j in links if j in (2, 5)} == {11: 2, 16: 5}
    assert links[11, 2] == pytest.approx(1.0, abs=0.05)
    assert (11, 2) not in plain or (16, 5) not in plain


def test_the_next_sentence_may_come_from_anywhere() -> None:
    """With ``forget`` a jump back over the document costs no more than another; without, a near copy wins."""
    document = "the old mill burned . " + "a b c d e f g h . " * 6 + "the old town slept . fish swim ."
    settings = replace(PbhmmSettings.preset("best"), whole_sentences=None, stops=False, threshold=0.01)
    near, free = (
        aligned("fish swim . the old mill burned .", document, replace(settings, forget=forget))
        for forget in (0.0, 0.9)
    )

    assert near[1, 4] < free[1, 4]
    assert free[1, 4] > 0.9


def test_what_is_no_probability_is_refused() -> None:
    """The message names the setting."""
    with pytest.raises(InputError, match=r"forget is 1\.5"):
        PbhmmSettings(forget=1.5)


def test_models_from_before_load_as_they_were() -> None:
    """Settings of older models, which lack new ones, have these switched off."""
    known = json.loads(PbhmmSettings.preset("best").as_json())
    before = PbhmmSettings.from_json(
        json.dumps({k: v for k, v in known.items() if k not in ("grouped", "forget", "stops")})
    )

    assert before == replace(PbhmmSettings.preset("best"), grouped=0.0, forget=0.0, stops=False)
