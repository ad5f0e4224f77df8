"""The conditional likelihood of gold links, and its gradient.

log P(links | texts) = log of the sum over the paths that agree with the links - that over all paths. A path
agrees if each word with sure links comes from one of its possible ones, each other word from one of its
possible ones or from null. The gradient is what is expected of each feature with the links fixed, less what
is expected without: two runs of the exact forward and backward passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentgen.alignment.alignment import Link
from sentgen.alignment.pair import Pair
from sentgen.alignment.phrase_hmm.lattice.decode_kernels import add_event_links
from sentgen.alignment.phrase_hmm.lattice.inference import Posteriors, chain, infer_rows
from sentgen.alignment.phrase_hmm.lattice.jumps import jump_cells
from sentgen.alignment.phrase_hmm.lattice.lattice_kernels import Chain, Emission
from sentgen.alignment.phrase_hmm.rewriting.emission import rewriting
from sentgen.alignment.phrase_hmm.rewriting.lexicon import PairIds
from sentgen.alignment.phrase_hmm.rewriting.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weighting.clues import Clues
from sentgen.alignment.phrase_hmm.weighting.link_counts import no_counts
from sentgen.alignment.phrase_hmm.weighting.weight_kernels import add_along, add_counts
from sentgen.alignment.phrase_hmm.weighting.weight_names import SIZE
from sentgen.alignment.phrase_hmm.weighting.weights import (
    LINK_OFFSETS,
    NULL_OFFSETS,
    Tuning,
    by_place,
    jump_places,
    run_places,
    weighted,
)
from sentgen.arrays import Bools, Floats


@dataclass(frozen=True, slots=True)
class TuningExample:
    """A pair, and which links are sure and which possible, (m, n); sure ones are possible, too."""

    pair: Pair
    sure: Bools
    possible: Bools

    @classmethod
    def of(cls, pair: Pair, sure: frozenset[Link], possible: frozenset[Link]) -> TuningExample:
        """Return an example with links as (document, abstract) from 0."""
        tables = np.zeros((2, len(pair.abstract), len(pair.document)), np.bool_)
        for table, links in zip(tables, (sure, possible | sure), strict=True):
            for i, j in links:
                table[j, i] = True
        return cls(pair, *tables)


@dataclass(frozen=True, slots=True)
class TuningTask:
    """An example in one direction: what the model has without weights, and which paths agree with gold."""

    emission: Emission
    clues: Clues
    links: Floats  # 1 where a link is possible, else 0, (m, n)
    null: Floats  # 1 where null is, (m,)
    events: Floats  # 1 where all links of the event are possible, (events,)

    @classmethod
    def of(
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
        return cls(emission, ids.clues, *(one.astype(np.float64) for one in agree))

    def agreeing(self, emission: Emission) -> Emission:
        """Return an emission without what disagrees with the gold links."""
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
        fixed, fixed_links = _infer(task.agreeing(emission), over, counting=counts is not None)
        if counts is not None:
            add_counts(task.clues.links, LINK_OFFSETS, fixed_links - free_links, counts)
            add_counts(task.clues.abstract[:, None, :], NULL_OFFSETS, (fixed.null - free.null)[None, :], counts)
            np.add.at(counts, run_places(emission.events), fixed.events - free.events)
            cells = jump_cells(self.settings.window, self.settings.reach)
            np.add.at(counts, jump_places(cells), fixed.jumps - free.jumps)
        return fixed.logp - free.logp

    def _chain(self, task: TuningTask, weights: Floats) -> Chain:
        tuned = replace(self.parameters, tuning=Tuning(weights, no_counts()))
        return chain(tuned, self.settings, len(task.emission.document), len(task.emission.abstract))


def _infer(emission: Emission, over: Chain, *, counting: bool) -> tuple[Posteriors, Floats]:
    """Return what is expected of a pair, and the posteriors of its links, (m, n)."""
    links = np.empty((len(emission.abstract), len(emission.document)))

    def take(first: int, words: Floats, events: Floats) -> None:
        add_event_links(emission.events, events, first, words)
        links[first : first + len(words)] = words

    return infer_rows(emission, over, take, counting=counting), links
