"""Reasons of links: shares and posteriors against all segmentations, in passages, and of tuned models."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from pbhmm_examples import Oracle, random_pairs, random_parameters

from sentgen.alignment import Alignment, Pair, PhraseLink
from sentgen.alignment.pairs.alignment import Weighed, WeighedLink
from sentgen.alignment.phrase_hmm.inference import Emission
from sentgen.alignment.phrase_hmm.kernels import EventOrder
from sentgen.alignment.phrase_hmm.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm, align
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weights import SIZE, LinkCounts, Tuning, find_clues, weighted
from sentgen.alignment.view.html import fragment
from sentgen.alignment.view.view import PairView

#: Names of the components of the rewriting of a word, and of several words.
NAMES = {
    "table": (
        ("rewrite table", "stem table", "same stem"),
        ("phrase table", "phrase stem table", "run of same stems"),
    ),
    "equal": (
        ("rewrite table", "same stem", "same word"),
        ("phrase table", "run of same stems", "copied run"),
    ),
}


def enumerated(oracle: Oracle, *, exchanged: bool) -> dict[tuple[int, int], Counter[str]]:
    """Return the posterior of each link by component, (abstract, document), over all segmentations."""
    found: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for prob, path in oracle.paths:
        for one in path[:-1]:
            if not one.width:
                continue
            s, d = one.start, one.position - 1
            stems = (
                oracle.pair.abstract_stems[s : s + one.length],
                oracle.pair.document_stems[d : d + one.width],
            )
            copied = np.array_equal(*stems)
            parts = oracle.parameters.weights * np.array(one.parts)
            names = NAMES[oracle.settings.stems][max(one.width, one.length) > 1]
            for i in range(one.length):
                for j in (i,) if copied else range(one.width):
                    cell = (d + j, s + i) if exchanged else (s + i, d + j)
                    for name, part in zip(names, parts / parts.sum(), strict=True):
                        found[cell][name] += prob / oracle.likelihood * part
    return found


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("stems", ["table", "equal"])
@pytest.mark.parametrize("decode", ["posterior", "viterbi"])
def test_shares_are_those_of_enumeration(decode: str, stems: str, both: bool) -> None:
    """Posteriors and shares of all links agree with all segmentations; of both directions each has half."""
    settings = replace(PbhmmSettings(), decode=decode, stems=stems, both=both, threshold=0.01)  # type: ignore[arg-type]
    rng, lexicon = np.random.default_rng(7), Lexicon()
    pairs = [lexicon.encode(pair) for pair in random_pairs(rng, 3)]
    turned = [pair.swap_texts() for pair in pairs]
    parameters, reverse = (random_parameters(rng, of, lexicon, settings) for of in (pairs, turned))
    for pair in pairs:
        answer = align(pair, parameters, settings, reverse=reverse, explain=True)
        made = [enumerated(Oracle(pair, parameters, settings), exchanged=False)]
        if both and decode == "posterior":
            made.append(enumerated(Oracle(pair.swap_texts(), reverse, settings), exchanged=True))
        posteriors = {
            cell: np.prod([of[cell].total() for of in made]) ** (1 / len(made)) for cell in list(made[0])
        }

        assert answer.weighed is not None
        found = {(one.abstract, one.document): one for one in answer.weighed.links}
        assert {cell for cell, posterior in posteriors.items() if posterior >= 0.01} <= found.keys()
        for cell, link in found.items():
            assert link.posterior == pytest.approx(posteriors[cell], abs=1e-9)
            assert link.directions == pytest.approx([of[cell].total() for of in made], abs=1e-9)
            expected: Counter[str] = Counter()
            for of in made:
                for name, mass in of[cell].items():
                    expected[name] += mass / of[cell].total() / len(made)
            assert dict(link.shares) == pytest.approx(
                {k: v for k, v in expected.items() if v > 1e-9}, abs=1e-8
            )
            assert sum(share for _, share in link.shares) == pytest.approx(1, abs=1e-8)


DOCUMENT = (
    "The rain fell . Dogs barked at the gate . A truck brought water to the camp . It was cold . He left ."
)
SUMMARY = "The truck takes water to camps . Dogs barked loudly ."
LONG = Pair(
    "long",
    tuple(DOCUMENT.split()),
    tuple(SUMMARY.split()),
    (0, 4, 10, 18, 22),
    (0, 7),
)


@pytest.mark.parametrize("name", ["best", "paper"])
def test_nothing_else_changes(name: str) -> None:
    """Reasons change no links, P(null) or log-probability; each link has its own, in passages, too."""
    aligner = PhraseHmm.untrained(name)
    (plain,), (answer,) = aligner.align([LONG]), replace(aligner, explain=True).align([LONG])

    assert replace(answer, weighed=None) == plain
    assert answer.weighed is not None
    found = {(one.document, one.abstract): one for one in answer.weighed.links}
    for phrase in plain.phrases:
        if phrase.abstract[1] - phrase.abstract[0] == 1:
            link = found[phrase.document[0], phrase.abstract[0]]
            # That of a phrase of the best path is of this phrase alone; a link has it from others, too.
            assert phrase.posterior is not None
            assert link.posterior >= phrase.posterior - 1e-9
            assert name == "paper" or link.posterior == phrase.posterior
    dogs = dict(found[4, 7].shares)
    assert (LONG.document[4], LONG.abstract[7]) == ("Dogs", "Dogs")
    assert (
        sum(dogs.get(one, 0) for one in ("same word", "copied run", "same stem", "run of same stems")) > 0.99
    )


def test_kinds_of_kinship_are_named() -> None:
    """Function words of a group, another spelling, a full stop whose sentence is linked, and a stem."""
    pair = Pair("kin", ("the", "colour", "walks", "."), ("a", "color", "walked", "."))
    (answer,) = replace(PhraseHmm.untrained(), explain=True).align([pair])

    assert answer.weighed is not None
    first = {one.abstract: one.shares[0][0] for one in answer.weighed.links if one.abstract == one.document}
    assert first[0] == "same group of function words"
    assert first[1] == "similar spelling"
    assert first[2] == "same stem"
    assert first[3] == "linked sentences"


def test_weights_of_a_tuned_model_are_its_score() -> None:
    """The weights of a link sum to the mean of its scores in both directions."""
    rng = np.random.default_rng(1)
    plain = RewriteParameters.prior(PbhmmSettings.preset("best"))
    weights = [rng.normal(0, 0.3, SIZE) for _ in range(2)]
    forward, reverse = (replace(plain, tuning=Tuning(of, LinkCounts.none())) for of in weights)
    pair = Pair("t", ("Dogs", "bark", "."), ("Dogs", "barked", "."))
    aligner = PhraseHmm("t", PbhmmSettings.preset("best"), forward, Lexicon(), reverse, explain=True)
    (answer,) = aligner.align([pair])
    lexicon = Lexicon()
    ids = lexicon.with_kinship(lexicon.encode(pair), wordnet=None)
    clues = find_clues(pair, ids, LinkCounts.none(), None)

    assert answer.weighed is not None
    assert answer.weighed.links
    none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
    events = EventOrder(none, none, none, none, none, none, no, no)
    words = np.ones(clues.links.shape[1:])
    plain_links = Emission(
        words, none, none, np.ones(len(words)), np.zeros(len(words)), events, np.empty(0), none
    )
    of_links = np.mean([np.log(weighted(plain_links, clues, of).words) for of in weights], axis=0)
    for link in answer.weighed.links:
        total = sum(weight for _, _, weight in link.weights)
        assert total == pytest.approx(of_links[link.abstract, link.document], abs=1e-9)


def candidate(s: int, d: int, posterior: float) -> WeighedLink:
    return WeighedLink(s, d, posterior, (posterior,), (("same word", 1.0),))


def test_runners_up_and_new_words() -> None:
    """The runner-up is the best other word; a new word has the one that comes nearest, or none at all."""
    pair = Pair("1", ("a", "b", "c"), ("a", "x", "y"))
    links = (candidate(0, 0, 0.7), candidate(0, 2, 0.2), candidate(1, 1, 0.1))
    answer = Alignment((PhraseLink((0, 1), (0, 1), 0.7),), (0.1, 0.6, 0.97), None, Weighed(0.05, 0.3, links))
    shown = PairView.make(pair, answer)
    all_rows = [(one.abstract, one.link, one.rival, one.chosen) for one in shown.reasons()]

    assert all_rows == [
        (0, links[0], links[1], True),
        (0, links[1], links[0], False),
        (1, links[2], None, False),
        (2, None, None, False),
    ]
    assert [(one.abstract, one.number) for one in shown.main_reasons()] == [(0, 1), (1, None), (2, None)]
    page = fragment(shown)
    assert 'class="new u3"' in page  # P(null) 0.6 is in the fourth of five shades
    assert 'class="new u4"' in page
    assert page.count('<tr data-s="0" data-d="2" data-p="0.2" hidden>') == 1
    assert "1 link, from the threshold 0.30 on; 0 of 3 words changed, 2 new" in page
    assert "nothing in the document has 0.05" in page


def test_a_word_that_was_looked_up_comes_from_its_place() -> None:
    """The row has the word of the document, no link, and as runner-up what the aligner would have linked."""
    pair = Pair("1", ("Tents", "and", "camp", "burned"), ("Tents", "camp", "stood"))
    likely = WeighedLink(1, 3, 0.2)
    links = (WeighedLink(0, 0, 0.9), likely)
    null, weighed = (0.1, 0.4, 0.9), Weighed(0.05, 0.3, links)
    shown = PairView.make(pair, Alignment((PhraseLink((0, 1), (0, 1), 0.9),), null, weighed=weighed))
    camp = next(one for one in shown.main_reasons() if one.abstract == 1)

    assert shown.states[1].source == (2,)
    assert (camp.link, camp.rival) == (None, likely)
    assert "no link of the aligner" in fragment(shown, explain=True)


@pytest.mark.parametrize("name", ["best", "paper"])
@pytest.mark.parametrize("texts", [((), ("a",)), (("a",), ()), ((), ())])
def test_texts_without_words_have_no_links(name: str, texts: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    """Texts without words have no reasons, and cause no error."""
    (answer,) = replace(PhraseHmm.untrained(name), explain=True).align([Pair("1", *texts)])

    assert answer.weighed is not None
    assert answer.weighed.links == ()
