"""MAP-EM of the phrase-based HMM: counts against enumeration, and what must never happen."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import product
from operator import add

import numpy as np
import pytest
from pbhmm_examples import Oracle, random_pairs, random_parameters
from scipy.special import xlogy
from whole_pairs import infer

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.decode import viterbi
from sentgen.alignment.phrase_hmm.em import ExpectedCounts, expected_counts, rejected_jumps, train
from sentgen.alignment.phrase_hmm.emission import rewriting
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings, Prior

SMALL = PbhmmSettings(reach=8, max_document_phrase=3, max_abstract_phrase=3, min_documents=1)
OPTIONS = list(
    product(("stay", "table3"), ("deficient", "position"), ("table", "equal"), ("normalized", "one"))
)


def words_of(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CORPUS = [
    Pair("1", words_of("the cat runs to the old house"), words_of("the cats run home")),
    Pair("2", words_of("a dog runs after the old cat"), words_of("old cat chased by dog")),
    Pair(
        "3",
        words_of("the dog sleeps in the old house now"),
        words_of("the dog is in the old house"),
    ),
]


def options(null: str, normalization: str, stems: str, constants: str) -> PbhmmSettings:
    changes = {"null": null, "normalization": normalization, "stems": stems, "constants": constants}
    return replace(SMALL, **changes)  # type: ignore[arg-type]


def encoded(pairs: list[Pair]) -> tuple[list[PairIds], Lexicon]:
    lexicon = Lexicon()
    return [lexicon.encode(pair) for pair in pairs], lexicon


@pytest.mark.parametrize("choice", OPTIONS)
def test_expected_counts_are_those_of_enumeration(choice: tuple[str, str, str, str]) -> None:
    """Counts of cells, components, null words, jumps and kinds agree with all segmentations of two pairs."""
    settings = replace(options(*choice), window=2)
    rng = np.random.default_rng(len("".join(choice)))
    pairs, lexicon = encoded(random_pairs(rng, 2, longest=3))
    parameters = random_parameters(rng, pairs, lexicon, settings)
    oracles = [Oracle(pair, parameters, settings) for pair in pairs]
    expected = expected_counts(pairs, parameters, settings)
    counted = [oracle.expected() for oracle in oracles]
    counts = {name: reduce(add, (one[name] for one in counted)) for name in counted[0]}
    if settings.normalization == "position":
        counts["jumps"] = reduce(add, (oracle.rejected() for oracle in oracles), counts["jumps"])

    assert expected.logp == pytest.approx(sum(np.log(oracle.likelihood) for oracle in oracles), abs=1e-9)
    for name in ("table", "stems", "unigram", "weights", "jumps"):
        array = getattr(expected, name)
        wanted = np.array([counts[name][cell] for cell in range(len(array))])
        assert array == pytest.approx(wanted, abs=1e-9), name
    assert expected.nulls == pytest.approx(counts["kinds"]["null"], abs=1e-9)
    assert expected.moves == pytest.approx(counts["kinds"]["move"], abs=1e-9)


@pytest.mark.nightly(by_day=8)
@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("choice", OPTIONS)
def test_log_posterior_never_falls(choice: tuple[str, str, str, str], window: int | None) -> None:
    """The MAP objective rises in each of eight iterations, for all options."""
    settings = replace(options(*choice), window=window)
    pairs, lexicon = encoded(CORPUS)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    posteriors = [one.log_posterior for one in train(pairs, start, settings, iterations=8)]

    assert np.all(np.diff(posteriors) > 0)


def test_log_posterior_never_falls_with_what_best_adds() -> None:
    """With kinship, and jumps that forget the position after full stops, EM still raises the posterior."""
    sentences = ["a dog barks .", "the cat runs ,", "dogs bark .", "it ran to a cat ."]
    rng = np.random.default_rng(11)
    texts = [tuple(" ".join(rng.choice(sentences, 3)).split()) for _ in range(12)]
    lexicon = Lexicon()
    plain = [lexicon.encode(Pair(str(k), texts[k], texts[k + 1])) for k in range(11)]
    pairs = [lexicon.with_kinship(pair, wordnet=None) for pair in plain]
    settings = replace(PbhmmSettings.preset("best"), max_document_phrase=2, max_abstract_phrase=2, trust=0.5)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    posteriors = [one.log_posterior for one in train(pairs, start, settings, iterations=8)]

    assert any(rewriting(pair, start, settings).emission.forget.any() for pair in pairs)
    assert np.all(np.diff(posteriors) > 0)


def test_order_of_pairs_and_batches_does_not_matter() -> None:
    """Counts that are added up by batches, in another order, are those of all pairs."""
    pairs, lexicon = encoded(random_pairs(np.random.default_rng(3), 12, longest=9))
    parameters = RewriteParameters.initial(pairs, lexicon.stem_of, SMALL)
    together = expected_counts(pairs, parameters, SMALL)
    parts = [expected_counts(pairs[k : k + 4], parameters, SMALL) for k in (8, 0, 4)]

    for name in ExpectedCounts.__dataclass_fields__:
        summed = sum(getattr(part, name) for part in parts)
        assert summed == pytest.approx(getattr(together, name), abs=1e-9)


def test_m_step_adds_fake_counts_by_kind() -> None:
    """Two word pairs of one document word: 2 fake counts if they differ, 3 if stems agree, 4 if identical."""
    pairs, lexicon = encoded([Pair("1", ("runs",), ("runs", "run", "cat"))])
    settings = replace(SMALL, max_abstract_phrase=1)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    # alpha = fake + 1: the prior means are 5, 4 and 3 of 12.
    assert start.table.prob == pytest.approx([5 / 12, 4 / 12, 3 / 12])

    expected = expected_counts(pairs, start, settings)
    counts = np.array([1.0, 0.5, 2.0])
    after = replace(expected, table=counts).maximize(start, settings)
    # (1 + 4, 0.5 + 3, 2 + 2) of 12.5
    assert after.table.prob == pytest.approx([5 / 12.5, 3.5 / 12.5, 4 / 12.5])


def test_each_component_sums_to_one() -> None:
    """With normalized constants, each component is a distribution over the abstract words of the corpus."""
    pairs, lexicon = encoded(CORPUS)
    abstract = np.unique(np.concatenate([pair.abstract for pair in pairs]))
    settings = replace(SMALL, max_abstract_phrase=1, max_document_phrase=1)
    parameters = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    known = np.intersect1d(pairs[0].document, abstract)
    joined = PairIds(known, abstract, lexicon.stem_of[known], lexicon.stem_of[abstract])
    kept = rewriting(joined, parameters, settings).all_parts
    assert kept is not None
    parts = kept.components.parts.reshape(3, len(abstract), len(known))

    # The words of pair 1 that occur in abstracts; identity and stems spread over all forms of their stem.
    assert parts[2].sum(axis=0) == pytest.approx(np.ones(len(known)))
    table = parameters.table
    assert np.add.reduceat(table.prob, table.starts[:-1]) == pytest.approx(np.ones(len(table.rows)))


NO_PRIOR = Prior(word=0, stem=0, identity=0, phrase=0, jump=0, unigram=0, weight=0, null=0)
#: Five pairs that have no word in common: a phrase of a whole abstract is as frequent as each of its words.
STRANGERS = [Pair(str(k), (f"a{k}", f"b{k}", f"c{k}"), (f"x{k}", f"y{k}", f"z{k}")) for k in range(5)]


def mean_length(settings: PbhmmSettings) -> float:
    """Return the mean length of the abstract phrases of the best paths after EM."""
    pairs, lexicon = encoded(STRANGERS)
    parameters = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    for one in train(pairs, parameters, settings, iterations=30):
        parameters = one.parameters
    lengths: list[int] = []
    for pair in pairs:
        emission = rewriting(pair, parameters, settings).emission
        lengths += viterbi(emission, parameters.chain(settings, 3))[1][:, 1].tolist()
    return float(np.mean(lengths))


def test_prior_stops_ever_longer_phrases_from_winning() -> None:
    """Words that rewrite as phrases end with the longest phrases without a prior, and with words under it."""
    words = replace(SMALL, max_document_phrase=1)

    assert mean_length(replace(words, prior=NO_PRIOR)) == 3
    assert mean_length(replace(words, prior=replace(NO_PRIOR, word=2, stem=3, identity=4))) == 1


def test_support_stops_longer_phrases_where_the_prior_cannot() -> None:
    """Rows of document phrases have no word cells, hence no fake counts: there it is the support that stops."""
    assert mean_length(SMALL) == 3
    assert mean_length(replace(SMALL, min_documents=2)) == 1


def test_fixed_parts_stay() -> None:
    """EM leaves the parts that the settings fix, and the log-posterior still rises."""
    settings = replace(SMALL, fixed=frozenset({"null", "weights", "unigram", "jumps"}))
    pairs, lexicon = encoded(CORPUS)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    steps = list(train(pairs, start, settings, iterations=4))
    last = steps[-1].parameters

    assert last.p0 == start.p0
    for name in ("weights", "unigram", "jumps"):
        assert getattr(last, name) is getattr(start, name)
    assert np.all(np.diff([one.log_posterior for one in steps]) > 0)


def test_fixed_table_stays() -> None:
    """EM does not change a fixed table."""
    settings = replace(SMALL, fixed=frozenset({"table"}))
    pairs, lexicon = encoded(CORPUS)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    last = list(train(pairs, start, settings, iterations=2))[-1].parameters

    assert last.table is start.table
    assert last.stems is start.stems


def test_log_prior_is_the_sum_of_fake_counts_times_logs() -> None:
    """Fixed parts are left out; every other part has its fake counts."""
    pairs, lexicon = encoded(CORPUS)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, SMALL)
    only = replace(SMALL, fixed=frozenset({"weights", "unigram", "jumps", "table"}))

    # Beta with 1 * 0.2 null segments and 1 * 0.8 others, at P(null) = 0.2.
    assert start.log_prior(only) == pytest.approx(0.2 * np.log(0.2) + 0.8 * np.log(0.8))
    only = replace(SMALL, fixed=frozenset({"null", "weights", "unigram", "jumps"}))
    wanted = sum(xlogy(table.fake, table.prob).sum() for table in (start.table, start.stems))
    assert start.log_prior(only) == pytest.approx(wanted)


def test_log_prior_where_there_is_nothing() -> None:
    """0 log 0 is 0: a cell without a fake count and without probability adds nothing; with one, all is lost."""
    pairs, lexicon = encoded(CORPUS)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, SMALL)
    only = replace(SMALL, fixed=frozenset({"null", "weights", "unigram", "jumps"}))
    prob, fake = start.table.prob.copy(), start.table.fake.copy()
    cell = int(np.flatnonzero(fake)[0])
    prob[cell] = 0
    lost = replace(start, table=replace(start.table, prob=prob))
    fake[cell] = 0
    kept = replace(start, table=replace(start.table, prob=prob, fake=fake))

    assert lost.log_prior(only) == -np.inf
    assert kept.log_prior(only) == pytest.approx(
        xlogy(fake, prob).sum() + xlogy(start.stems.fake, start.stems.prob).sum()
    )


def test_rejected_jumps_by_hand() -> None:
    """One word, all jumps from position 0 of weight 1/4: targets 1 and 2, two distances are drawn in vain."""
    settings = PbhmmSettings(normalization="position", window=None, reach=2)
    jumps = np.array([0.0, 0.25, 0.25, 0.25, 0.25])  # distances -2..2
    parameters = _with_jumps(jumps)
    # From 0 the distances 1 and 2 stay inside, so that the sum is 1/2, and a jump is drawn twice on average:
    # 1/2 time each of the distances -1 and 0 in vain.
    departures = np.array([1 / 0.5, 0.0])

    assert rejected_jumps(departures, parameters, settings) == pytest.approx([0, 0.5, 0.5, 0, 0])


def _with_jumps(jumps: np.ndarray) -> RewriteParameters:
    pairs, lexicon = encoded(CORPUS)
    settings = PbhmmSettings(window=None, reach=2)
    return replace(RewriteParameters.initial(pairs, lexicon.stem_of, settings), jumps=jumps)


def test_impossible_pairs_count_for_nothing() -> None:
    """A pair with probability 0 has -inf and adds no counts."""
    pairs, lexicon = encoded(CORPUS)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, SMALL)
    none = replace(start, weights=np.zeros(3), unigram=np.zeros(len(start.unigram)))
    expected = expected_counts(pairs[:1], none, SMALL)

    assert expected.logp == -np.inf
    assert expected.moves == expected.nulls == 0
    # Parameters without counts and fake counts keep their values.
    weights = expected.maximize(none, SMALL).weights
    assert weights is none.weights
    assert infer(rewriting(pairs[0], none, SMALL).emission, none.chain(SMALL, 7)).logp == -np.inf


def test_a_table_of_little_trust_still_rises() -> None:
    """With a share of the untrained table, the log-posterior rises, and counts are smaller."""
    settings = replace(SMALL, trust=0.01, stems="equal")
    pairs, lexicon = encoded(CORPUS)
    start = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    trusted = expected_counts(pairs, start, replace(settings, trust=1.0))
    expected = expected_counts(pairs, start, settings)
    posteriors = [one.log_posterior for one in train(pairs, start, settings, iterations=6)]

    assert expected.table.sum() < trusted.table.sum()
    assert expected.table.sum() < expected.weights[0]
    assert np.all(np.diff(posteriors) > 0)
