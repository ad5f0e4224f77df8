"""Tuning on gold links: against enumeration, finite differences, and the untuned model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from inference_reference import jump_weight

from sentgen.alignment import Pair
from sentgen.alignment.pairs.budget import Budget
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.tuning import Objective, TuningExample, TuningPlan, TuningTask, tune
from sentgen.alignment.phrase_hmm.weights import (
    JUMPS,
    LINK_TEMPLATES,
    NAMES,
    NULL_TEMPLATES,
    RUNS,
    SIZE,
    LinkCounts,
    Template,
    Tuning,
    find_clues,
)
from sentgen.arrays import Floats
from sentgen.errors import InputError, MemoryLimitError

BEST, PLAIN = PbhmmSettings.preset("best"), RewriteParameters.prior(PbhmmSettings.preset("best"))
#: Document, abstract, sure and possible links: a run, another run, a sentence that ends, an unlinked word.
TINY = (
    ("the old cat runs", "the cat ran", {(0, 0), (2, 1)}, {(3, 2)}),
    ("a dog barked", "a dog barked too", {(0, 0), (1, 1), (2, 2)}, set()),
    ("It rains . We", "We . it", {(3, 0)}, {(2, 1)}),
    ("of 4 towns", "of the", set(), {(0, 0)}),
)
PLACE = {name: place for place, name in enumerate(NAMES)}


def words_of(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def example(one: tuple[str, str, set[tuple[int, int]], set[tuple[int, int]]]) -> TuningExample:
    document, abstract, sure, possible = one
    pair = Pair(document, tuple(document.split()), tuple(abstract.split()))
    return TuningExample.of_links(pair, frozenset(sure), frozenset(possible))


def encoded(pair: Pair) -> PairIds:
    lexicon = Lexicon()
    ids = lexicon.with_kinship(lexicon.encode(pair), wordnet=None)
    return replace(ids, clues=find_clues(pair, ids, LinkCounts.none(), None))


def tasks(exchanged: bool) -> list[TuningTask]:
    found = []
    for one in map(example, TINY):
        ids = encoded(one.pair)
        if exchanged:
            found.append(TuningTask.of_pair(ids.swap_texts(), one.sure.T, one.possible.T, PLAIN, BEST))
        else:
            found.append(TuningTask.of_pair(ids, one.sure, one.possible, PLAIN, BEST))
    return found


def weight(weights: Floats, template: Template, value: int) -> float:
    return float(weights[PLACE[template.name, template.values[value]]])


def paths(task: TuningTask, weights: Floats) -> Iterator[tuple[float, bool]]:
    """Yield the score of each path, and whether it agrees with the gold links, from the formulas."""
    emission, clues = task.emission, task.clues
    m, n = len(emission.abstract), len(emission.document)
    # Without weights, which this applies by itself.
    over = PLAIN.chain(BEST, n, m)

    def link(t: int, i: int) -> float:
        return sum(
            weight(weights, of, value) for of, value in zip(LINK_TEMPLATES, clues.links[:, t, i], strict=True)
        )

    def jump(e: int, target: int) -> float:
        d = target - e
        (place,) = (k for k, name in enumerate(JUMPS.values) if name == str(d))
        score = (1 - over.p0) * jump_weight(over.jumps, d) / float(over.total[e])
        return score * exp(weight(weights, JUMPS, place))

    def onwards(t: int, e: int, score: float, agrees: bool) -> Iterator[tuple[float, bool]]:
        if t == m:
            yield score * jump(e, n + 1), agrees
            return
        forget = float(emission.forget[t])
        for start, share in [(e, 1 - forget), *((any_, forget / (n + 1)) for any_ in range(n + 1))]:
            if share:
                yield from segment(t, start, score * share, agrees)

    def segment(t: int, e: int, score: float, agrees: bool) -> Iterator[tuple[float, bool]]:
        null = sum(
            weight(weights, of, value) for of, value in zip(NULL_TEMPLATES, clues.abstract[:, t], strict=True)
        )
        null_score = score * over.p0 * float(emission.null[t]) * exp(null)
        yield from onwards(t + 1, e, null_score, agrees and bool(task.null[t]))
        for i in range(n):
            there = score * jump(e, i + 1) * float(emission.words[t, i]) * exp(link(t, i))
            yield from onwards(t + 1, i + 1, there, agrees and bool(task.links[t, i]))
        events = emission.events
        for k in np.flatnonzero(events.start == t).tolist():
            length, first = int(events.length[k]), int(events.position[k]) - 1
            links = [(t + step, first + step) for step in range(length)]
            run = weight(weights, RUNS, min(length, 6) - 2) + sum(link(*one) for one in links)
            there = score * jump(e, first + 1) * float(emission.prob[k]) * exp(run)
            right = all(task.links[one] for one in links)
            yield from onwards(t + length, first + length, there, agrees and right)

    yield from onwards(0, 0, 1.0, True)


@pytest.mark.parametrize("exchanged", [False, True])
def test_likelihood_of_gold_links_is_that_of_all_paths(exchanged: bool) -> None:
    """The likelihood is that of the agreeing paths over that of all paths, with random weights."""
    weights = np.random.default_rng(3).normal(size=SIZE)
    for task in tasks(exchanged):
        found = list(paths(task, weights))
        wanted = log(sum(score for score, agrees in found if agrees)) - log(sum(score for score, _ in found))

        assert Objective([task], PLAIN, BEST).value(weights) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("exchanged", [False, True])
def test_gradient_is_that_of_finite_differences(exchanged: bool) -> None:
    """The gradient by every weight, at random weights."""
    objective = Objective(tasks(exchanged), PLAIN, BEST)
    weights = np.random.default_rng(4).normal(size=SIZE)
    value, gradient = objective.gradient(weights)
    assert value == objective.value(weights)
    assert np.count_nonzero(gradient) > 80
    for place in np.flatnonzero(gradient).tolist():
        step = np.zeros(SIZE)
        step[place] = 1e-5
        difference = (objective.value(weights + step) - objective.value(weights - step)) / 2e-5
        assert gradient[place] == pytest.approx(difference, abs=1e-6), NAMES[place]


def with_weights(weights: Floats) -> PhraseHmm:
    parameters = replace(PLAIN, tuning=Tuning(weights, LinkCounts.none()))
    return replace(PhraseHmm.untrained(), parameters=parameters, reverse=parameters)


def settings_of(aligner: PhraseHmm, decode: str) -> PhraseHmm:
    return replace(aligner, settings=replace(aligner.settings, decode=decode))  # type: ignore[arg-type]


@pytest.mark.parametrize("decode", ["posterior", "viterbi"])
def test_without_weights_nothing_changes(decode: str) -> None:
    """Links, posteriors and P(null) are those of `best` to the last bit; with weights they are others."""
    pairs = [example(one).pair for one in TINY]
    best = list(settings_of(PhraseHmm.untrained(), decode).align(pairs))

    assert list(settings_of(with_weights(np.zeros(SIZE)), decode).align(pairs)) == best
    assert list(settings_of(with_weights(np.full(SIZE, 0.1)), decode).align(pairs)) != best


def test_every_value_has_a_name() -> None:
    """All values are within their templates, in both directions, and names are unique."""
    assert len(set(NAMES)) == SIZE
    for one in map(example, TINY):
        clues = encoded(one.pair).clues
        assert clues is not None
        for of in (clues, clues.swap_texts()):
            assert of.links.shape[1:] == (of.abstract.shape[1], of.document.shape[1])
            for templates, values in ((LINK_TEMPLATES, of.links), (NULL_TEMPLATES, of.abstract)):
                assert len(templates) == len(values)
                for template, value in zip(templates, values, strict=True):
                    assert value.max() < template.size, template.name


def test_clues_by_name() -> None:
    """The features of three links, by name."""
    pair = Pair("1", ("The", "two", "Cats", "slept"), ("2", "cats", "were", "Sleeping"))
    clues = encoded(pair).clues
    assert clues is not None

    def seen(t: int, i: int) -> dict[str, str]:
        values = zip(LINK_TEMPLATES, clues.links[:, t, i].tolist(), strict=True)  # type: ignore[union-attr]
        return {template.name: template.values[value] for template, value in values}

    cats = seen(1, 2)
    assert cats["words"] == "copied content word"
    assert cats["words to the left"] == "copied content word, match"  # 2 and two
    assert cats["next content words"] == "copied content word, different"  # Sleeping and slept
    assert cats["shape"] == "capital in document, same ending, akin or matching"
    assert seen(3, 3)["words to the right"] == "other content words, both texts end"
    assert cats["related in WordNet"] == "copied content word, not related"
    assert seen(2, 0)["other matches"] == "other words, neither matches another word"
    null = [
        template.values[value] for template, value in zip(NULL_TEMPLATES, clues.abstract[:, 2], strict=True)
    ]
    assert null[0] == "auxiliary, 0"
    assert null[2] == "function word, left matched, right without a match"


def test_stems_of_gold_links_are_counted() -> None:
    """Stems are counted in either order; the counts for a pair exclude its own links."""
    first = example(("the huge dog", "a big dog", {(1, 1), (2, 2)}, set()))
    second = example(("big dogs", "huge dog", {(0, 0)}, set()))
    counts = LinkCounts.of_pairs([first.pair, second.pair], [first.sure, second.sure])
    rows = {
        frozenset((counts.stems[a], counts.stems[b])): (linked, together)
        for a, b, linked, together in zip(
            counts.first, counts.second, counts.linked, counts.together, strict=True
        )
    }
    assert rows == {frozenset(("huge", "big")): (2, 2), frozenset(("dog",)): (1, 2)}

    template = LINK_TEMPLATES[-1]
    every = counts.values(first.pair)
    assert template.values[every[1, 1]] == "different, linked mostly, once or twice"
    assert template.values[every[2, 2]] == "same word, linked often, once or twice"
    alone = counts.values(first.pair, first.sure)
    assert template.values[alone[1, 1]] == "different, linked mostly, once or twice"  # of the second pair
    assert template.values[alone[2, 2]] == "same word, never linked, once or twice"


def determiners(count: int) -> list[TuningExample]:
    """Pairs in which people never linked `the`."""
    nouns = ["cat", "dog", "house", "tree", "river", "town"]
    one = [
        (f"the red {noun} fell", f"the big {noun} fell", {(1, 1), (2, 2), (3, 3)}, set()) for noun in nouns
    ]
    return [example(one[n % len(one)]) for n in range(count)]  # type: ignore[arg-type]


def test_what_people_do_is_learnt() -> None:
    """Links of `the` vanish, others stay, the same in each run to the last bit."""
    tuned = tune(determiners(60), TuningPlan(prior=1.0))
    pair = Pair("1", ("the", "red", "bridge", "fell"), ("the", "big", "bridge", "fell"))

    assert next(PhraseHmm.untrained().align([pair])).links == {(0, 0), (1, 1), (2, 2), (3, 3)}
    assert next(tuned.aligner("t").align([pair])).links == {(1, 1), (2, 2), (3, 3)}
    assert all(one.after > one.before for one in tuned.directions)
    assert tuned.f1[0] < 0.9 < tuned.f1[1] == 1.0
    assert tuned.settings.threshold == BEST.threshold  # of many that are as good
    again = tune(determiners(60), TuningPlan(prior=1.0))
    for one, other in zip(tuned.directions, again.directions, strict=True):
        assert (one.weights == other.weights).all()


def test_a_strong_prior_leaves_the_model_as_it_is() -> None:
    """Weights go to 0 as its strength grows."""
    weak, strong = (tune(determiners(12), TuningPlan(prior=prior)) for prior in (1.0, 1e9))

    assert np.abs(strong.directions[0].weights).max() < 1e-6 < np.abs(weak.directions[0].weights).max()


def test_features_that_are_left_out_weigh_nothing() -> None:
    """All their weights are 0, those of others are not."""
    tuned = tune(determiners(12), TuningPlan(prior=1.0, iterations=5), without={"words", "jump"})

    left_out = np.array([feature in ("words", "jump") for feature, _ in NAMES])
    for one in tuned.directions:
        assert not one.weights[left_out].any()
        assert one.weights[~left_out].any()


def test_tuning_ends_with_what_it_cannot_do() -> None:
    """Tuning refuses pairs without links, and too little memory."""
    with pytest.raises(InputError, match="no sure links to learn from"):
        tune([example(("a b", "a b", set(), set()))])
    with pytest.raises(MemoryLimitError, match="60 text pairs with 960 pairs of words take"):
        tune(determiners(60), budget=Budget(1000))


DOCUMENT = words_of("old cats chase mice . a dog barked . the mill burned . it rains . rivers rise .")
ABSTRACT = words_of("cats chased old mice . kings abdicate . the dog barks and it rains .")
#: Eight sentences of four words that are in neither text.
OTHERS = words_of(" ".join(f"x{n} y{n} z{n} ." for n in "abcdefgh"))


@pytest.fixture
def tuned() -> PhraseHmm:
    """A model with weights, all of which matter."""
    return with_weights(np.random.default_rng(5).normal(scale=0.3, size=SIZE))


@pytest.mark.parametrize(("before", "copies"), [(0, 5), (3, 1), (8, 2)])
def test_what_is_added_to_a_document_changes_nothing(tuned: PhraseHmm, before: int, copies: int) -> None:
    """Copies and other texts around it: links, posteriors and P(null) are those of the document alone."""
    left, right = OTHERS[: 4 * before], OTHERS[4 * before :] if before else ()
    around = left + DOCUMENT * copies + right
    alone, answer = tuned.align([Pair("1", DOCUMENT, ABSTRACT), Pair("2", around, ABSTRACT)])

    assert len(alone.links) > 5
    assert answer.links == {(i + len(left), j) for i, j in alone.links}
    assert answer.null == alone.null
    assert answer.null[5:8] == (1.0, 1.0, 1.0)  # kings abdicate: a sentence without a source


def test_a_large_text_is_aligned(tuned: PhraseHmm) -> None:
    """A large text is aligned by passages in little memory; as a whole it is refused."""
    sentences = [(*(f"w{one}x{n}" for n in range(9)), ".") for one in range(400)]
    abstract = tuple(word for one in range(0, 400, 20) for word in sentences[one])
    pair = Pair("1", tuple(word for sentence in sentences for word in sentence), abstract)
    aligner = replace(tuned, budget=Budget(130 << 20))
    whole = replace(aligner, settings=replace(BEST, whole_sentences=None))

    assert {i for i, _ in next(aligner.align([pair])).links} >= set(range(200, 209))
    with pytest.raises(MemoryLimitError, match="tuned, a document of 4,000 words and an abstract of 200"):
        list(whole.align([pair]))
