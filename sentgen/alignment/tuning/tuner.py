"""Tune the phrase-based HMM: L-BFGS with early stopping in each direction, then the threshold of links."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from sentgen.alignment.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.lattice.links import LinkChoice
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.rewriting.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.rewriting.parameters import prior_parameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings, preset_settings
from sentgen.alignment.phrase_hmm.weighting.find_clues import find_clues
from sentgen.alignment.phrase_hmm.weighting.link_counts import LinkCounts, count_links
from sentgen.alignment.phrase_hmm.weighting.weight_names import NAMES, SIZE
from sentgen.alignment.phrase_hmm.weighting.weights import Tuning
from sentgen.alignment.tuning.objective import Objective, TuningExample, TuningTask
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.arrays import Bools, Floats
from sentgen.errors import InputError
from sentgen.options import Option
from sentgen.output.wording import quantity

#: One pair of so many is held out, if there are at least `_ENOUGH`.
_HELD_OUT, _ENOUGH = 10, 50
#: Iterations without a gain on the held-out pairs after which a direction ends.
_PATIENCE = 5
#: Bytes of two words of a pair, in both directions.
_TASK_BYTES = 150
#: Thresholds to choose from.
_THRESHOLDS = np.arange(3, 13) / 20

#: Called with direction, iteration, and the most iterations that there may be.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """How to tune."""

    prior: Annotated[
        float, Option("Strength of the prior that holds weights near 0.", metavar="X", least=0)
    ] = 8.0
    iterations: Annotated[int, Option("Most iterations, in each direction.", metavar="N", least=1)] = 60


@dataclass(frozen=True, slots=True)
class TunedDirection:
    """What came out of a direction.

    Attributes:
        weights: by `weight_names.NAMES`.
        iterations: how many L-BFGS took, up to the weights that were kept.
        before: log-probability of the gold links of all pairs without weights,
        after: and with them,
        penalty: less this, that of the prior.
        seconds: how long it took.
    """

    weights: Floats
    iterations: int
    before: float
    after: float
    penalty: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """A tuned model: both directions, what gold links joined, and the settings with the threshold."""

    directions: tuple[TunedDirection, TunedDirection]
    counts: LinkCounts
    settings: PbhmmSettings
    pairs: int
    #: Means of precision and recall over the pairs, as F1, without weights and with them.
    f1: tuple[float, float]

    def aligner(self, name: str) -> PhraseHmm:
        """Return it as an aligner."""
        plain = prior_parameters(self.settings)
        forward, reverse = (
            replace(plain, tuning=Tuning(one.weights, self.counts)) for one in self.directions
        )
        return PhraseHmm(name, self.settings, forward, Lexicon(fold=self.settings.fold), reverse)


def tune(
    examples: Sequence[TuningExample],
    plan: TuningPlan | None = None,
    *,
    budget: Budget = UNBOUNDED,
    progress: Progress | None = None,
    without: Collection[str] = (),
) -> Tuned:
    """Tune the preset ``best`` on gold links.

    Args:
        examples: pairs with their links.
        plan: how to tune; as its defaults say if ``None``.
        budget: memory, for all pairs at once.
        progress: called with direction, iteration, and the most iterations there may be.
        without: names of features whose weights stay 0, to see what they are worth.

    Raises:
        InputError: there are no links.
        MemoryLimitError: the pairs do not fit into the budget.
    """
    cells = sum(one.sure.size for one in examples)
    told = f"{quantity(len(examples), 'text pair')} with {quantity(cells, 'pair')} of words"
    budget.check(_TASK_BYTES * cells, told)
    if not any(one.sure.any() for one in examples):
        raise InputError("there are no sure links to learn from; look at --gold and --format")
    plan, settings, plain = plan or TuningPlan(), preset_settings("best"), prior_parameters(preset_settings("best"))
    counts = count_links([one.pair for one in examples], [one.sure for one in examples])
    ids = list(_encoded(examples, counts, settings))
    objectives = [
        Objective([TuningTask.of(*one, plain, settings) for one in tasks], plain, settings)
        for tasks in (
            [(pair, one.sure, one.possible) for pair, one in zip(ids, examples, strict=True)],
            [(pair.exchanged(), one.sure.T, one.possible.T) for pair, one in zip(ids, examples, strict=True)],
        )
    ]
    report = progress or (lambda *_: None)
    free = np.array([name not in without for name, _ in NAMES], np.float64)
    forward, reverse = (
        _direction(objective, plan, free, lambda done, name=name: report(name, done, plan.iterations))  # type: ignore[misc]
        for name, objective in zip(("forward", "reverse"), objectives, strict=True)
    )
    untuned = _Choice(examples, ids, objectives, [np.zeros(SIZE)] * 2)
    tuned = _Choice(examples, ids, objectives, [forward.weights, reverse.weights])
    before = untuned.f1(settings.threshold)
    # Of equals the one that is nearest to that of the preset.
    f1, _, threshold = max(
        (tuned.f1(one), -abs(one - settings.threshold), one) for one in _THRESHOLDS.tolist()
    )
    settings = replace(settings, threshold=threshold)
    return Tuned((forward, reverse), counts, settings, len(examples), (before, f1))


def _encoded(
    examples: Sequence[TuningExample], counts: LinkCounts, settings: PbhmmSettings
) -> Iterator[PairIds]:
    """Yield the pairs with their clues; what the counts have of a pair itself is left out."""
    lexicon, wordnet = Lexicon(fold=settings.fold), find_wordnet()
    for one in examples:
        ids = lexicon.with_kinship(lexicon.encode(one.pair).with_words(), wordnet=wordnet)
        yield replace(ids, clues=find_clues(one.pair, ids, counts, wordnet, own=one.sure))


def _direction(
    objective: Objective, plan: TuningPlan, free: Floats, report: Callable[[int], None]
) -> TunedDirection:
    """Maximize the conditional likelihood of the gold links, less the prior; ``free`` is 0 for fixed ones."""
    from scipy.optimize import minimize

    began = time.perf_counter()
    tasks = objective.tasks
    apart = [len(tasks) >= _ENOUGH and n % _HELD_OUT == _HELD_OUT - 1 for n in range(len(tasks))]
    training, held_out = (
        replace(objective, tasks=[task for task, out in zip(tasks, apart, strict=True) if out == wanted])
        for wanted in (False, True)
    )
    kept = _Kept(held_out, report)

    def loss(weights: Floats) -> tuple[float, Floats]:
        value, gradient = training.gradient(weights)
        return plan.prior / 2 * float(weights @ weights) - value, plan.prior * weights - gradient * free

    minimize(
        loss,
        np.zeros(SIZE),
        jac=True,
        method="L-BFGS-B",
        callback=kept.see,
        options={"maxiter": plan.iterations},
    )
    return TunedDirection(
        kept.weights,
        kept.iterations,
        objective.value(np.zeros(SIZE)),
        objective.value(kept.weights),
        plan.prior / 2 * float(kept.weights @ kept.weights),
        time.perf_counter() - began,
    )


class _Kept:
    """Keeps the weights of the iteration that is best on the held-out pairs, or the last one without any."""

    def __init__(self, held_out: Objective, report: Callable[[int], None]) -> None:
        self._held_out, self._report = held_out, report
        self._best, self._done = -np.inf, 0
        self.weights, self.iterations = np.zeros(SIZE), 0

    def see(self, intermediate_result: Any) -> None:
        """Look at an iteration; stops L-BFGS after some without a gain."""
        self._done += 1
        self._report(self._done)
        value = self._held_out.value(intermediate_result.x) if self._held_out.tasks else float(self._done)
        if value > self._best:
            self._best, self.weights = value, intermediate_result.x.copy()
            self.iterations = self._done
        elif self._done - self.iterations >= _PATIENCE:
            raise StopIteration


class _Choice:
    """The posteriors of all links in both directions, and how good the links are that reach a threshold."""

    def __init__(
        self,
        examples: Sequence[TuningExample],
        ids: Sequence[PairIds],
        objectives: Sequence[Objective],
        weights: Sequence[Floats],
    ) -> None:
        self._examples, self._stops = examples, [one.stops() for one in ids]
        forward, reverse = (
            [objective.posteriors(task, of) for task in objective.tasks]
            for objective, of in zip(objectives, weights, strict=True)
        )
        self._links = [np.sqrt(one * other.T) for one, other in zip(forward, reverse, strict=True)]

    def f1(self, threshold: float) -> float:
        """Return the harmonic mean of the mean precision and the mean recall of the pairs, `macro-f1`."""
        shares: tuple[list[float], list[float]] = [], []
        for one, links, stops in zip(self._examples, self._links, self._stops, strict=True):
            chosen = _chosen(links, threshold, stops)
            for share, right, of in (
                (shares[0], one.possible, chosen),
                (shares[1], chosen, one.sure),
            ):
                if of.any():
                    share.append(float((right & of).sum() / of.sum()))
        precision, recall = (float(np.mean(share)) if share else 0.0 for share in shares)
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _chosen(links: Floats, threshold: float, stops: tuple[Bools, Bools] | None) -> Bools:
    choice = LinkChoice(threshold, stops)
    choice.take(0, links.copy())
    rows, columns, _ = choice.chosen()
    chosen = np.zeros(links.shape, np.bool_)
    chosen[rows, columns] = True
    return chosen
