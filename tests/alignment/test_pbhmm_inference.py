"""Inference in the phrase-based HMM: against enumeration, and against sums over pairs of states."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from inference_reference import infer_plainly, jump_weight, transition
from pbhmm_examples import Oracle, random_chain, random_emission, random_pairs, random_parameters
from whole_pairs import infer, link_posteriors, log_likelihood

from sentgen.alignment.phrase_hmm.decode import viterbi
from sentgen.alignment.phrase_hmm.emission import rewriting
from sentgen.alignment.phrase_hmm.inference import Chain, Emission, add_jumps, count_jumps, jump_cells
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings

OPTIONS = list(
    product(
        ("stay", "table3"), ("deficient", "position"), ("table", "equal"), ("normalized", "one"), (None, 2)
    )
)


def options(null: str, normalization: str, stems: str, constants: str, window: int | None) -> PbhmmSettings:
    return PbhmmSettings(
        null=null,  # type: ignore[arg-type]
        normalization=normalization,  # type: ignore[arg-type]
        stems=stems,  # type: ignore[arg-type]
        constants=constants,  # type: ignore[arg-type]
        window=window,
        reach=8,
        max_document_phrase=3,
        max_abstract_phrase=2,
        min_documents=1,
    )


def toy(seed: int, settings: PbhmmSettings) -> tuple[list[PairIds], RewriteParameters]:
    """Return two pairs of at most 4 words each, and parameters over them."""
    rng = np.random.default_rng(seed)
    lexicon = Lexicon()
    pairs = [lexicon.encode(pair) for pair in random_pairs(rng, 2)]
    return pairs, random_parameters(rng, pairs, lexicon, settings)


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("choice", OPTIONS)
def test_likelihood_and_posteriors_are_those_of_enumeration(choice: tuple[str, str, str, str, int]) -> None:
    """Likelihood, P(null), posteriors of events and links agree with all segmentations, for all options."""
    settings = options(*choice)
    pairs, parameters = toy(sum(map(len, map(str, choice))), settings)
    pair = pairs[0]
    oracle = Oracle(pair, parameters, settings)
    found = rewriting(pair, parameters, settings)
    seen = infer(found.emission, parameters.chain(settings, len(pair.document)))

    assert seen.logp == pytest.approx(np.log(oracle.likelihood), abs=1e-9)
    null, words, events = np.zeros(oracle.m), np.zeros((oracle.m, oracle.n)), {}
    for prob, path in oracle.paths:
        share = prob / oracle.likelihood
        for one in path[:-1]:
            if one.width == 0:
                null[one.start] += share
            elif one.width == one.length == 1:
                words[one.start, one.position - 1] += share
            else:
                key = one.start, one.length, one.position, one.width
                events[key] = events.get(key, 0.0) + share
    assert seen.null == pytest.approx(null, abs=1e-9)
    assert seen.words == pytest.approx(words, abs=1e-9)
    fields = zip(*(field.tolist() for field in found.emission.events[:4]), strict=True)
    assert dict(zip(fields, seen.events.tolist(), strict=True)) == pytest.approx(events, abs=1e-9)


@pytest.mark.parametrize("choice", OPTIONS)
def test_best_path_is_that_of_enumeration(choice: tuple[str, str, str, str, int]) -> None:
    """The best path has the greatest probability, and that is the probability of its segments."""
    settings = options(*choice)
    pairs, parameters = toy(len(choice[2]) + 7, settings)
    pair = pairs[0]
    oracle = Oracle(pair, parameters, settings)
    logp, path = viterbi(
        rewriting(pair, parameters, settings).emission, parameters.chain(settings, len(pair.document))
    )

    assert logp == pytest.approx(np.log(max(prob for prob, _ in oracle.paths)), abs=1e-9)
    segments = [tuple(segment) for segment in path[:, :4].tolist()]
    same = [
        prob
        for prob, steps in oracle.paths
        if [(one.start, one.length, one.position, one.width) for one in steps[:-1]] == segments
    ]
    assert np.log(same) == pytest.approx([logp], abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_lattice_equals_sums_over_states(seed: int) -> None:
    """The factored passes give what the tables of the paper give over pairs of states."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 9)), int(rng.integers(1, 15))
    emission = random_emission(rng, m, n, forgetting=0.5)
    transitions = random_chain(rng, n, position=seed % 2 == 0, null_moves=seed % 4 < 2)
    seen, plain = infer(emission, transitions), infer_plainly(emission, transitions)

    assert seen.logp == pytest.approx(plain.logp, abs=1e-9)
    assert log_likelihood(emission, transitions) == seen.logp
    for name in ("words", "null", "events"):
        assert getattr(seen, name) == pytest.approx(getattr(plain, name), abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_best_path_equals_max_over_states(seed: int) -> None:
    """Viterbi with sliding windows finds what max-product over pairs of positions finds."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 9)), int(rng.integers(1, 25))
    emission = random_emission(rng, m, n)
    transitions = random_chain(rng, n, position=seed % 2 == 0, null_moves=seed % 4 < 2)

    assert viterbi(emission, transitions)[0] == pytest.approx(plain_best(emission, transitions), abs=1e-9)


def plain_best(emission: Emission, transitions: Chain) -> float:
    """Return the log-probability of the best path, by all ways from position to position."""
    m, n = emission.words.shape
    best = np.zeros((m + 1, n + 1))
    best[0, 0] = 1.0
    move = np.array([[transition(transitions, e, (i, 1)) for i in range(1, n + 2)] for e in range(n + 1)])
    p0 = transitions.p0
    for t in range(m):
        arrived = (best[t][:, None] * move).max(axis=0)
        best[t + 1, 1:] = np.maximum(best[t + 1, 1:], arrived[:n] * emission.words[t])
        null = best[t].copy()
        if transitions.null_moves:
            null[0], null[1:] = 0, arrived[:n] / (1 - p0)
        best[t + 1] = np.maximum(best[t + 1], null * p0 * emission.null[t])
        for k in np.flatnonzero(emission.events.start == t):
            row, end = (
                best[t + emission.events.length[k]],
                emission.events.position[k] + emission.events.width[k] - 1,
            )
            row[end] = max(row[end], arrived[emission.events.position[k] - 1] * emission.prob[k])
    return float(np.log((best[m] * move[:, n]).max()))


@pytest.mark.parametrize("seed", range(20))
def test_jump_sums_are_products_with_the_toeplitz_matrix(seed: int) -> None:
    """Forward, backward and counts equal those of the matrix, for documents shorter than the window, too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    cells = jump_cells(int(rng.integers(1, 20)), 32)
    jumps = cells.weights(rng.dirichlet(np.ones(len(cells.first))))
    matrix = np.array([[jump_weight(jumps, i - e) if i else 0 for i in range(n + 2)] for e in range(n + 1)])
    source, target, sums = rng.random(n + 1), np.append(0.0, rng.random(n + 1)), np.empty(n + 3)
    forward, backward = np.empty(n + 2), np.empty(n + 1)
    near, far = np.zeros(len(jumps.near)), np.zeros(len(jumps.far))
    add_jumps(jumps, source, sums, forward, False)
    add_jumps(jumps, target, sums, backward, True)
    count_jumps(jumps, source, target, sums, near, far)

    assert forward == pytest.approx(source @ matrix, abs=1e-12)
    assert backward == pytest.approx(matrix @ target, abs=1e-12)
    counts = source[:, None] * matrix * target
    distances = np.arange(n + 2)[None, :] - np.arange(n + 1)[:, None]
    window = len(near) // 2
    for d in range(-window, window + 1):
        assert near[d + window] == pytest.approx(counts[distances == d].sum(), abs=1e-12)
    for cell in range(len(far)):
        within = (jumps.first[cell] <= distances) & (distances <= jumps.last[cell])
        assert far[cell] == pytest.approx(counts[within].sum(), abs=1e-12)


def test_posteriors_of_a_word_sum_to_one() -> None:
    """Each abstract word comes from null, from a word, or is within one phrase event."""
    rng = np.random.default_rng(5)
    emission = random_emission(rng, 30, 50)
    seen = infer(emission, random_chain(rng, 50, position=True, null_moves=False))

    total = seen.null + seen.words.sum(axis=1)
    for k in range(len(emission.events.start)):
        total[emission.events.start[k] : emission.events.start[k] + emission.events.length[k]] += seen.events[
            k
        ]
    assert total == pytest.approx(np.ones(30), abs=1e-9)


def test_long_pairs_do_not_underflow() -> None:
    """500 words against 10,000 have a finite log-probability and posteriors that sum to one."""
    rng = np.random.default_rng(0)
    document = rng.integers(0, 3000, 10_000).astype(np.int32)
    abstract = rng.integers(0, 3000, 500).astype(np.int32)
    pair = PairIds(document, abstract, document, abstract)
    settings = PbhmmSettings(stems="equal")
    links, seen = link_posteriors(pair, RewriteParameters.prior(settings), settings)

    assert -6000 < seen.logp < -2000
    assert links.sum(axis=1) + seen.null == pytest.approx(np.ones(500), abs=1e-9)


def test_a_copy_is_aligned_one_to_one_at_any_length() -> None:
    """A passage of 300 words that is copied is one phrase of the best path, far longer than K and L."""
    words = np.arange(1000, dtype=np.int32)
    pair = PairIds(words, words[200:500], words, words[200:500])
    settings = PbhmmSettings()
    parameters = RewriteParameters.prior(settings)
    _, path = viterbi(
        rewriting(pair, parameters, settings).emission, parameters.chain(settings, len(pair.document))
    )

    assert path[:, :4].tolist() == [[0, 300, 201, 300]]


def test_texts_that_repeat_one_word_stay_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything equals everything, the longest copies are left out; all beginnings of a run remain."""
    words = np.zeros(8, np.int32)
    pair = PairIds(words, words[:5], words, words[:5])
    settings = PbhmmSettings()
    # Runs of 2 or more begin at 4 x 7 places, of 3 or more at 3 x 6, of 4 at 2 x 5, of 5 at 1 x 4.
    everything = rewriting(pair, RewriteParameters.prior(settings), settings).emission
    monkeypatch.setattr("sentgen.alignment.phrase_hmm.emission.MOST_COPIES", 28 + 18)
    fewer = rewriting(pair, RewriteParameters.prior(settings), settings).emission

    assert np.bincount(everything.events.length).tolist() == [0, 0, 28, 18, 10, 4]
    assert np.bincount(fewer.events.length).tolist() == [0, 0, 28, 18]


def test_empty_texts() -> None:
    """An abstract without words has the jump to the end; without a document every word comes from null."""
    settings = PbhmmSettings()
    parameters = RewriteParameters.prior(settings)
    nothing, words = np.empty(0, np.int32), np.arange(3, dtype=np.int32)
    no_abstract = PairIds(words, nothing, words, nothing)
    no_document = PairIds(nothing, words, nothing, words)
    jumps = parameters.chain(settings, 3).jumps
    seen = infer(rewriting(no_abstract, parameters, settings).emission, parameters.chain(settings, 3))

    assert seen.logp == pytest.approx(np.log(0.8 * jump_weight(jumps, 4)))
    for null in ("stay", "table3"):
        chosen = PbhmmSettings(null=null)  # type: ignore[arg-type]
        links, posterior = link_posteriors(no_document, parameters, chosen)
        assert links.shape == (3, 0)
        assert posterior.null == pytest.approx(np.ones(3))


def test_impossible_pairs_say_so() -> None:
    """A pair without any way has log-probability -inf, no path, and words from null only."""
    rng = np.random.default_rng(1)
    emission = random_emission(rng, 3, 4)._replace(words=np.zeros((3, 4)), null=np.zeros(3))
    emission = emission._replace(prob=np.zeros(len(emission.prob)))
    transitions = random_chain(rng, 4, position=False, null_moves=False)
    seen = infer(emission, transitions)

    assert seen.logp == -np.inf
    assert seen.null.tolist() == [1, 1, 1]
    assert viterbi(emission, transitions)[0] == -np.inf
