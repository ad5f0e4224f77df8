"""Tune the phrase-based HMM: L-BFGS with early stopping in each direction, then the threshold of links.

The objective is the conditional likelihood of gold links: log P(links | texts) = log of the sum over the
paths that agree with the links - log of the sum over all paths. A path agrees if each word with sure links
comes from one of its possible links, each other word from one of its possible links or from null. The
gradient is the expectation of each feature with the links fixed, minus that without: two runs of the exact
forward and backward passes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from sentgen.alignment.pairs.alignment import Link, Pair
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.decode import LinkChoice
from sentgen.alignment.phrase_hmm.emission import rewriting
from sentgen.alignment.phrase_hmm.inference import Chain, Emission, Posteriors, infer_rows, jump_cells
from sentgen.alignment.phrase_hmm.kernels import add_along, add_counts, add_event_links
from sentgen.alignment.phrase_hmm.lexicon import Clues, Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weights import (
    LINK_OFFSETS,
    NAMES,
    NULL_OFFSETS,
    SIZE,
    LinkCounts,
    Tuning,
    by_place,
    find_clues,
    jump_places,
    run_places,
    weighted,
)
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.arrays import Bools, Floats
from sentgen.errors import InputError, spell
from sentgen.options import Option
from sentgen.output.wording import quantity


@dataclass(frozen=True, slots=True)
class TuningExample:
    """A pair and its sure and possible gold links as flags, (m, n); sure links are possible, too."""

    pair: Pair
    sure: Bools
    possible: Bools

    @classmethod
    def of_links(cls, pair: Pair, sure: frozenset[Link], possible: frozenset[Link]) -> TuningExample:
        """Return an example with links as (document, abstract) from 0."""
        tables = np.zeros((2, len(pair.abstract), len(pair.document)), np.bool_)
        for table, links in zip(tables, (sure, possible | sure), strict=True):
            for i, j in links:
                table[j, i] = True
        return cls(pair, *tables)


@dataclass(frozen=True, slots=True)
class TuningTask:
    """An example in one direction: the model without weights, and the paths that agree with gold links."""

    emission: Emission
    clues: Clues
    links: Floats  # 1 where a link is possible, else 0, (m, n)
    null: Floats  # 1 where null is, (m,)
    events: Floats  # 1 where all links of the event are possible, (events,)

    @classmethod
    def of_pair(
        cls,
        ids: PairIds,
        sure: Bools,
        possible: Bools,
        parameters: RewriteParameters,
        settings: PbhmmSettings,
    ) -> TuningTask:
        """Return the task of a pair with clues."""
        assert ids.clues is not None
        emission = by_place(rewriting(ids, parameters, settings).emission)
        wrong = np.zeros(len(emission.prob))
        add_along(emission.events, (~possible).astype(np.float64), wrong)
        agree: tuple[Bools, ...] = (possible, np.logical_not(sure.any(axis=1)), wrong == 0)
        return cls(emission, ids.clues, *(table.astype(np.float64) for table in agree))

    def without_wrong_links(self, emission: Emission) -> Emission:
        """Return an emission in which all that disagrees with the gold links has the probability 0."""
        return emission._replace(
            words=emission.words * self.links,
            null=emission.null * self.null,
            prob=emission.prob * self.events,
        )


@dataclass(frozen=True, slots=True)
class Objective:
    """The tasks of one direction; ``parameters`` are those without weights."""

    tasks: Sequence[TuningTask]
    parameters: RewriteParameters
    settings: PbhmmSettings

    def value(self, weights: Floats) -> float:
        """Return the log-probability of the gold links."""
        return sum(self._task(task, weights, None) for task in self.tasks)

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the log-probability of the gold links, and its gradient."""
        counts = np.zeros(SIZE)
        return sum(self._task(task, weights, counts) for task in self.tasks), counts

    def posteriors(self, task: TuningTask, weights: Floats) -> Floats:
        """Return the posteriors of all links, (m, n)."""
        emission = weighted(task.emission, task.clues, weights)
        return _infer(emission, self._chain(task, weights), counting=False)[1]

    def _task(self, task: TuningTask, weights: Floats, counts: Floats | None) -> float:
        emission, over = weighted(task.emission, task.clues, weights), self._chain(task, weights)
        free, free_links = _infer(emission, over, counting=counts is not None)
        fixed, fixed_links = _infer(task.without_wrong_links(emission), over, counting=counts is not None)
        if counts is not None:
            add_counts(task.clues.links, LINK_OFFSETS, fixed_links - free_links, counts)
            add_counts(
                task.clues.abstract[:, None, :], NULL_OFFSETS, (fixed.null - free.null)[None, :], counts
            )
            np.add.at(counts, run_places(emission.events), fixed.events - free.events)
            cells = jump_cells(self.settings.window, self.settings.reach)
            np.add.at(counts, jump_places(cells), fixed.jumps - free.jumps)
        return fixed.logp - free.logp

    def _chain(self, task: TuningTask, weights: Floats) -> Chain:
        tuned = replace(self.parameters, tuning=Tuning(weights, LinkCounts.none()))
        return tuned.chain(self.settings, len(task.emission.document), len(task.emission.abstract))


def _infer(emission: Emission, over: Chain, *, counting: bool) -> tuple[Posteriors, Floats]:
    """Return posteriors and expected counts of a pair, and the posteriors of its links, (m, n)."""
    links = np.empty((len(emission.abstract), len(emission.document)))

    def take(first: int, words: Floats, events: Floats) -> None:
        add_event_links(emission.events, events, first, words)
        links[first : first + len(words)] = words

    return infer_rows(emission, over, take, counting=counting), links


#: One of this many pairs is held out, if there are at least `_ENOUGH` pairs.
_HELD_OUT, _ENOUGH = 10, 50
#: Iterations without a gain on the held-out pairs after which the tuning of a direction ends.
_MOST_WITHOUT_GAIN = 5
#: Bytes of an abstract word with a document word, in both directions.
_TASK_BYTES = 150
#: Thresholds to choose from.
_THRESHOLDS = np.arange(3, 13) / 20

#: Called with direction, iteration, and the maximum of iterations.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """Options of the tuning."""

    prior: Annotated[
        float, Option("Strength of the prior that holds weights near 0.", metavar="X", least=0)
    ] = 8.0
    iterations: Annotated[int, Option("Most iterations, in each direction.", metavar="N", least=1)] = 60


@dataclass(frozen=True, slots=True)
class _TunedDirection:
    """The result of tuning a direction.

    Attributes:
        weights: a weight for each feature of `weights.NAMES`.
        iterations: iterations of L-BFGS up to the weights that were kept.
        before: log-probability of the gold links of all pairs without weights.
        after: log-probability of the same links with the weights.
        penalty: minus the log-density of the prior at the weights, up to a constant.
        seconds: duration of the tuning.
    """

    weights: Floats
    iterations: int
    before: float
    after: float
    penalty: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """A tuned model: both directions, the counts of gold links, and the settings with the threshold."""

    directions: tuple[_TunedDirection, _TunedDirection]
    counts: LinkCounts
    settings: PbhmmSettings
    pairs: int
    #: Means of precision and recall over the pairs, as F1, without weights and with them.
    f1: tuple[float, float]

    def aligner(self, name: str) -> PhraseHmm:
        """Return the tuned model as an aligner."""
        plain = RewriteParameters.prior(self.settings)
        forward, reverse = (
            replace(plain, tuning=Tuning(direction.weights, self.counts)) for direction in self.directions
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
        plan: settings of the tuning; the defaults if ``None``.
        budget: memory, for all pairs at once.
        progress: called with direction, iteration, and the maximum of iterations.
        without: names of features whose weights stay 0, to measure their contribution.

    Raises:
        InputError: there are no links.
        MemoryLimitError: the pairs do not fit into the budget.
    """
    cells = sum(example.sure.size for example in examples)
    what = f"{quantity(len(examples), 'text pair')} with {quantity(cells, 'pair')} of words"
    budget.ensure_fits(_TASK_BYTES * cells, what)
    if not any(example.sure.any() for example in examples):
        raise InputError(
            f"there are no sure links to learn from; look at {spell('gold')} and {spell('format')}"
        )
    plan, settings, plain = (
        plan or TuningPlan(),
        PbhmmSettings.preset("best"),
        RewriteParameters.prior(PbhmmSettings.preset("best")),
    )
    counts = LinkCounts.of_pairs(
        [example.pair for example in examples], [example.sure for example in examples]
    )
    ids = list(_encode(examples, counts, settings))
    objectives = [
        Objective([TuningTask.of_pair(*example, plain, settings) for example in tasks], plain, settings)
        for tasks in (
            [(pair, example.sure, example.possible) for pair, example in zip(ids, examples, strict=True)],
            [
                (pair.swap_texts(), example.sure.T, example.possible.T)
                for pair, example in zip(ids, examples, strict=True)
            ],
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
    # Ties go to the threshold nearest to that of the preset.
    f1, _, threshold = max(
        (tuned.f1(example), -abs(example - settings.threshold), example) for example in _THRESHOLDS.tolist()
    )
    settings = replace(settings, threshold=threshold)
    return Tuned((forward, reverse), counts, settings, len(examples), (before, f1))


def _encode(
    examples: Sequence[TuningExample], counts: LinkCounts, settings: PbhmmSettings
) -> Iterator[PairIds]:
    """Yield the pairs with their clues, computed from counts without the pair itself."""
    lexicon, wordnet = Lexicon(fold=settings.fold), find_wordnet()
    for example in examples:
        ids = lexicon.with_kinship(lexicon.encode(example.pair).with_words(), wordnet=wordnet)
        yield replace(ids, clues=find_clues(example.pair, ids, counts, wordnet, own=example.sure))


def _direction(
    objective: Objective, plan: TuningPlan, free: Floats, report: Callable[[int], None]
) -> _TunedDirection:
    """Maximize the conditional likelihood times the prior; ``free`` is 0 for weights that stay 0, else 1."""
    from scipy.optimize import minimize

    began = time.perf_counter()
    tasks = objective.tasks
    is_held_out = [len(tasks) >= _ENOUGH and n % _HELD_OUT == _HELD_OUT - 1 for n in range(len(tasks))]
    training, held_out = (
        replace(
            objective, tasks=[task for task, held in zip(tasks, is_held_out, strict=True) if held == wanted]
        )
        for wanted in (False, True)
    )
    best = _BestWeights(held_out, report)

    def loss(weights: Floats) -> tuple[float, Floats]:
        value, gradient = training.gradient(weights)
        return plan.prior / 2 * float(weights @ weights) - value, plan.prior * weights - gradient * free

    minimize(
        loss,
        np.zeros(SIZE),
        jac=True,
        method="L-BFGS-B",
        callback=best.see,
        options={"maxiter": plan.iterations},
    )
    return _TunedDirection(
        best.weights,
        best.iterations,
        objective.value(np.zeros(SIZE)),
        objective.value(best.weights),
        plan.prior / 2 * float(best.weights @ best.weights),
        time.perf_counter() - began,
    )


class _BestWeights:
    """Keeps the weights of the iteration that is best on the held-out pairs, or the last one without any."""

    def __init__(self, held_out: Objective, report: Callable[[int], None]) -> None:
        self._held_out, self._report = held_out, report
        self._best, self._done = -np.inf, 0
        self.weights, self.iterations = np.zeros(SIZE), 0

    def see(self, intermediate_result: Any) -> None:
        """Record an iteration; stop L-BFGS after ``_MOST_WITHOUT_GAIN`` iterations without a gain."""
        self._done += 1
        self._report(self._done)
        value = self._held_out.value(intermediate_result.x) if self._held_out.tasks else float(self._done)
        if value > self._best:
            self._best, self.weights = value, intermediate_result.x.copy()
            self.iterations = self._done
        elif self._done - self.iterations >= _MOST_WITHOUT_GAIN:
            raise StopIteration


class _Choice:
    """The posteriors of all links, joined from both directions, to measure the links of a threshold."""

    def __init__(
        self,
        examples: Sequence[TuningExample],
        ids: Sequence[PairIds],
        objectives: Sequence[Objective],
        weights: Sequence[Floats],
    ) -> None:
        self._examples, self._stops = examples, [forward_links.stops() for forward_links in ids]
        forward, reverse = (
            [objective.posteriors(task, direction_weights) for task in objective.tasks]
            for objective, direction_weights in zip(objectives, weights, strict=True)
        )
        self._links = [np.sqrt(left * right.T) for left, right in zip(forward, reverse, strict=True)]

    def f1(self, threshold: float) -> float:
        """Return the harmonic mean of the mean precision and the mean recall of the pairs, `macro-f1`."""
        shares: tuple[list[float], list[float]] = [], []
        for example, links, stops in zip(self._examples, self._links, self._stops, strict=True):
            chosen = _choose(links, threshold, stops)
            for share, right, total in (
                (shares[0], example.possible, chosen),
                (shares[1], chosen, example.sure),
            ):
                if total.any():
                    share.append(float((right & total).sum() / total.sum()))
        precision, recall = (float(np.mean(share)) if share else 0.0 for share in shares)
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _choose(links: Floats, threshold: float, stops: tuple[Bools, Bools] | None) -> Bools:
    choice = LinkChoice(threshold, stops)
    choice.take(0, links.copy())
    rows, columns, _ = choice.chosen()
    chosen = np.zeros(links.shape, np.bool_)
    chosen[rows, columns] = True
    return chosen
