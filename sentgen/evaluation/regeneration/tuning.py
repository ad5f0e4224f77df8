"""Learn the weights of models and tree factors of joint decoding, from sentences that the model has not seen.

In each round the bag of every sentence is ordered, and its best candidates join those of earlier rounds; the
weights with the highest expected BLEU over all candidates are the weights of the next round. Every fourth
sentence is held out: the weights of the round that is best on these are kept, or the initial weights.

A candidate c of a bag has a vector v(c) of its values by each model and factor, and under weights w the
probability p(c) = exp(w · v(c)) / sum over the candidates of that bag. The expected number of matching
n-grams is differentiable in w, and so is BLEU of the expected numbers, as all candidates of a bag have the
same length (minimum risk: Smith and Eisner 2006; of corpus BLEU: Rosti et al. 2010, "expected BLEU"):

    maximize  1/4 * sum over n of log(sum over bags of E[matches of order n]) - penalty * |w - w0|^2
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from sentgen.arrays import Floats, Longs
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.figures.results import FigureRow, Recorder, RunResult
from sentgen.evaluation.regeneration.bleu import bleu, ngram_statistics
from sentgen.evaluation.regeneration.experiment import cases_of, set_record
from sentgen.generation import PreparedBag, Search, SearchPlan, prepare
from sentgen.generation.bags.problem import SearchSettings, Weights
from sentgen.generation.ngrams.features import FeatureSettings
from sentgen.generation.plan import Rerankers, scores_of
from sentgen.generation.regenerate import Gold
from sentgen.generation.trees.factors import FACTORS, FactorSettings
from sentgen.generation.trees.joint import candidates
from sentgen.models.base.registry import ModelInfo
from sentgen.models.companions import LearntWeights
from sentgen.models.request import ModelOption
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema import Store

logger = logging.getLogger(__name__)

COMMAND = "tune"
_ALGORITHM = "joint"
#: One of so many sentences is held out.
_HELD_OUT = 4
_ORDER = 4
#: Penalty on the squared distance of the weights from the initial ones.
_PENALTY = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningSettings:
    """How weights are learnt."""

    model: ModelOption
    sentences: Annotated[
        int, Option("Sentences to learn from, at most, drawn by the seed.", least=8, metavar="N")
    ] = 500
    rounds: Annotated[int, Option("Times that all sentences are put in order.", least=1, most=50)] = 4
    candidates: Annotated[int, Option("Orders of each sentence a round.", least=2, most=1000)] = 100
    features: Annotated[
        str,
        Option(
            "Models to ask beside that of the words, with the weights to start from.",
            metavar="NAME[=WEIGHT],...",
        ),
    ] = "auto"
    seed: Annotated[int, Option("Random seed.", least=0)] = 1


@dataclass(frozen=True, slots=True)
class _TuningRound:
    """The weights of a round, and BLEU (lower-cased, tokenize none) of learning and held-out sentences."""

    weights: LearntWeights
    learnt_from: float
    held_out: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningResult(RunResult):
    """The rounds, the first with the initial weights, and the number of the best one.

    ``version`` is that of the stored weights, 0 if no round was better than the initial weights.
    """

    rounds: Sequence[_TuningRound]
    best: int
    version: int = 0


#: Called with the number of sentences ordered so far and the number to order, both over all rounds.
Progress = Callable[[int, int], None]


def tune(
    store: Store,
    model: ModelInfo,
    sentences: Iterable[Sentence],
    request: TuningSettings,
    *,
    source: str = "",
    progress: Progress | None = None,
) -> TuningResult:
    """Learn weights, and store them as the next version of the model's if they beat the initial ones.

    Args:
        store: the store with the model, not read-only.
        model: the language model of words.
        sentences: sentences from which the model was not built.
        request: sentences, rounds, candidates, features and seed.
        source: origin of the sentences, for the record.
        progress: called after every sentence.

    Raises:
        InputError: there are too few sentences.
        ModelError: the corpora of the model have no trees.
    """
    recorder = Recorder(store, COMMAND)
    store.downgrade_to_read()
    search = Search(algorithm=_ALGORITHM, seed=request.seed, changes={"features": request.features})
    # The cases are lower-cased already if the corpora are.
    plan = replace(search, lowercase=False).plan(store, model)
    for hint in plan.hints:
        logger.warning("%s", hint)
    cases = _drawn(cases_of(store, model, sentences, search, plan), request)
    plan.check_bags([case.units for case in cases])
    prepared = [bag for batch in prepare(store, plan, [case.units for case in cases]) for bag in batch]
    rounds = _rounds(plan, prepared, cases, request, progress)
    best = max(range(len(rounds)), key=lambda k: (rounds[k].held_out, -k))
    settings = {name: getattr(request, name) for name in ("rounds", "candidates", "features", "seed")}
    label = model.label
    parameters = {"model": label, **set_record(source, [case.reference for case in cases]), **settings}
    result = recorder.record(
        TuningResult(
            rounds=rounds,
            best=best,
            parameters=parameters,
            seed=request.seed,
            scores=_scores(rounds, best),
        )
    )
    if best == 0:
        return result
    version = rounds[best].weights.add(store, model.id, _ALGORITHM, result.run_id)
    return replace(result, version=version)


def _drawn(cases: Sequence[Gold], settings: TuningSettings) -> list[Gold]:
    """Return a random sample of the cases; those of one or two units teach next to nothing."""
    long = [case for case in cases if len(case.units) > 2]
    drawn = random.Random(settings.seed).sample(long, min(settings.sentences, len(long)))
    if len(drawn) < 2 * _HELD_OUT:
        raise InputError(
            f"{quantity(len(drawn), 'sentence')} of three units and more to learn from; give {2 * _HELD_OUT}"
            " or more, better hundreds"
        )
    return drawn


def _rounds(
    plan: SearchPlan,
    prepared: Sequence[PreparedBag],
    cases: Sequence[Gold],
    request: TuningSettings,
    progress: Progress | None,
) -> list[_TuningRound]:
    """Return the weights of each round, the initial ones first, with their BLEU."""
    # Names with versions, since the weights would be wrong for a later version of a model.
    models = [f"{feature.model.name}@{feature.model.version}" for feature in plan.features]
    names = [*models, *(scorer.name for scorer, _ in plan.rerankers)]
    features = [weight for _, weight in plan.settings.of(FeatureSettings).features.named]
    scorers = [weight for _, weight in plan.rerankers]
    factors = plan.settings.of(FactorSettings).weights
    weights = np.array([1.0, *features, *scorers, *(factors.get(name, 0.0) for name in FACTORS)])
    pools = [_Pool(bag, case, plan.rerankers) for bag, case in zip(prepared, cases, strict=True)]
    rounds = []
    total = (request.rounds + 1) * len(pools)
    for number in range(request.rounds + 1):
        named = _named(names, weights)
        settings = plan.settings.having(
            FeatureSettings(Weights.rounded((name, named.features[name]) for name in models)),
            FactorSettings(Weights.rounded(named.factors.items())),
        )
        matches = []
        for k, pool in enumerate(pools, 1):
            matches.append(pool.grow(settings, request.candidates, weights))
            if progress is not None:
                progress(number * len(pools) + k, total)
        rounds.append(
            _TuningRound(
                named,
                _bleu([row for k, row in enumerate(matches) if k % _HELD_OUT]),
                _bleu(matches[::_HELD_OUT]),
            )
        )
        if number < request.rounds:
            lists = together([pool.arrays() for k, pool in enumerate(pools) if k % _HELD_OUT])
            weights = lists.learn(weights)
            # `_named` divides by the weight of the words.
            weights[0] = max(weights[0], 1e-3)
    return rounds


class _Pool:
    """The candidates of a sentence, with values by models, scorers and factors, and with n-gram counts."""

    def __init__(self, prepared: PreparedBag, case: Gold, rerankers: Rerankers) -> None:
        self._prepared, self._gold = prepared, [word.lower() for word in case.words]
        self._rerankers = rerankers
        self._found: dict[tuple[str, ...], tuple[Floats, Floats]] = {}

    def grow(self, settings: SearchSettings, count: int, weights: Floats) -> Floats:
        """Add the best candidates of a search; return the n-gram counts of the best one under the weights."""
        made = candidates(self._prepared.under(settings), count)
        bag = self._prepared.bag
        sentences = [[word for unit in order for word in bag[unit].words] for order in made.orders.tolist()]
        texts = [tuple(word.lower() for word in sentence) for sentence in sentences]
        new = [text for text in texts if text not in self._found]
        overlap = dict(zip(new, ngram_statistics(new, [self._gold] * len(new), _ORDER), strict=True))
        every = self._with_scores(made.values, sentences, texts)
        for text, values in zip(texts, every, strict=True):
            # Replaces values of earlier rounds: factors score the tree that the present weights choose.
            statistics = overlap[text] if text in overlap else self._found[text][1]
            self._found[text] = values, statistics
        # Without rerankers the first candidate of the search is the best one.
        best = int(np.argmax(every @ weights)) if self._rerankers else 0
        return self._found[texts[best]][1]

    def _with_scores(
        self, values: Floats, sentences: Sequence[Sequence[str]], texts: Sequence[tuple[str, ...]]
    ) -> Floats:
        """Return (candidates, features) values of models, scorers and factors; a text is scored only once.

        ``values`` are those of models and factors.
        """
        models = values.shape[1] - len(FACTORS)
        columns = slice(models, models + len(self._rerankers))
        new = [sentence for sentence, text in zip(sentences, texts, strict=True) if text not in self._found]
        request = iter(scores_of(self._rerankers, new))
        scores = [self._found[text][0][columns] if text in self._found else next(request) for text in texts]
        between = np.array(scores).reshape(len(texts), len(self._rerankers))
        return np.hstack([values[:, :models], between, values[:, models:]])

    def arrays(self) -> tuple[Floats, Floats]:
        """Return (candidates, features) values, and (candidates, 4) numbers of matching n-grams."""
        values, statistics = zip(*self._found.values(), strict=True)
        return np.array(values), np.array(statistics)[:, 2::3]


def _named(features: Sequence[str], weights: Floats) -> LearntWeights:
    """Return weights by name, scaled so that the weight of the words is 1."""
    shares = (weights[1:] / weights[0]).tolist()
    return LearntWeights(
        dict(zip(features, shares[: len(features)], strict=True)),
        dict(zip(FACTORS, shares[len(features) :], strict=True)),
    )


def _bleu(statistics: Sequence[Floats]) -> float:
    return float(bleu(np.sum(statistics, axis=0)))


def _scores(rounds: Sequence[_TuningRound], best: int) -> list[FigureRow]:
    """Return the figures of the record: BLEU before and after, and the weights."""
    signature = "lc|tok:none, every fourth sentence held out"
    rows = []
    for system, figures_of in (("before", rounds[0]), ("after", rounds[best])):
        figures = {"bleu-learnt-from": figures_of.learnt_from, "bleu-held-out": figures_of.held_out}
        rows += [FigureRow(system, name, value, signature) for name, value in figures.items()]
        for name, weight in {**figures_of.weights.features, **figures_of.weights.factors}.items():
            rows.append(FigureRow(system, f"weight {name}", weight, "the words have 1"))
    return rows


@dataclass(frozen=True, slots=True)
class Lists:
    """The candidates of all bags, one bag after the other."""

    values: Floats  # (C, F)
    matches: Floats  # (C, 4) n-grams of order 1 to 4 that match
    starts: Longs  # (B,) first candidate of each bag

    def learn(self, start: Floats, *, penalty: float = _PENALTY) -> Floats:
        """Return (F,) weights, none below 0, that minimize `loss`, from the weights to start with."""
        from scipy.optimize import minimize

        solution = minimize(
            lambda weights: self.loss(weights, start, penalty),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(start),
            options={"maxiter": 200},
        )
        return np.asarray(solution.x, float)

    def loss(self, weights: Floats, start: Floats, penalty: float) -> tuple[float, Floats]:
        """Return the loss that `learn` minimizes, and its gradient."""
        sizes = np.diff(np.append(self.starts, len(self.values)))
        scores = self.values @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, self.starts), sizes)
        share = np.exp(scores)
        share /= np.repeat(np.add.reduceat(share, self.starts), sizes)
        expected = share @ self.matches
        # Derivative of the mean log expected number by the probability of each candidate.
        gain = (self.matches / np.maximum(expected, 1e-9)).sum(axis=1) / self.matches.shape[1]
        mean = np.repeat(np.add.reduceat(share * gain, self.starts), sizes)
        gradient = (share * (gain - mean)) @ self.values
        value = float(np.log(np.maximum(expected, 1e-9)).mean())
        off = weights - start
        return penalty * float(off @ off) - value, 2 * penalty * off - gradient


def together(parts: Sequence[tuple[Floats, Floats]]) -> Lists:
    """Return the candidates of all bags from values and matches of each; empty bags are left out."""
    parts = [part for part in parts if len(part[0])]
    sizes = [len(values) for values, _ in parts]
    return Lists(
        np.concatenate([values for values, _ in parts]),
        np.concatenate([matches for _, matches in parts]),
        np.cumsum([0, *sizes[:-1]]),
    )
