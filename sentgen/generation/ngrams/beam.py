"""Left-to-right beam search with an n-gram language model (Schmaltz, Rush and Shieber 2016).

"Word Ordering Without Syntax", section 3: hypotheses with the same number of words compete; they are ranked
by their log-probability plus a future cost, the sum of the unigram log-probabilities of the remaining words.
The words of a phrase follow one another, and the end of the sentence counts. Added here: hypotheses that have
used the same units and have the same state of the language model are recombined, which loses nothing.

With features (see `sentgen.generation.ngrams.features`), the log-probability is a weighted sum over several
models, and so is the future cost; hypotheses are recombined that have the same states of all of them.

`viterbi` is the baseline of Wan et al. 2007 and 2009, "a Viterbi-like algorithm with a beam of 100" over
single words: the same search without a future cost.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Annotated

import numpy as np

from sentgen.arrays import Floats
from sentgen.errors import InputError
from sentgen.generation.bags.problem import Algorithm, Ordering, Problem, Setting
from sentgen.generation.ngrams.beam_kernels import ALL, LAST, NONE, BeamHypotheses, BeamUnits, Edges, search
from sentgen.generation.ngrams.features import FeatureSettings
from sentgen.models.ngrams.ngram_table import EMPTY, extend, table_at
from sentgen.output.wording import quantity

#: Most hypotheses times units of a search: ten to twenty seconds.
_MAX_STEPS = 2**28
#: Most paths for each sentence of an n-best list, since several paths may have the same string.
_WAYS = 100


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """The number of hypotheses of a stack."""

    beam: Annotated[
        int,
        Setting(
            "Hypotheses kept a stack.",
            shell="Hypotheses kept a stack, such as 64 or 512.",
            metavar="N",
            least=1,
            api={"le": 2048},
        ),
    ] = 64

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise InputError(f"a beam of {self.beam} holds nothing; give 1 or more")


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Return the best orders that the search found, ranked by their log-probability (`value`).

    n-best: exactly the best of all strings whose prefixes were kept, or recombined with a kept one. Orders
    with the same string, as of units that are equal to the model, count once.

    Raises:
        InputError: the beam is too wide for so many words.
    """
    return _search(problem, nbest, future_cost=True)


def order_without_future_cost(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Return orders as `order_units` does, with hypotheses ranked by the log-probability of their words."""
    return _search(problem, nbest, future_cost=False)


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the log-probability of an order as a sentence: the weighted sum of all models."""
    tables, total = problem.tables, 0.0
    for model, (weight, string) in enumerate(
        zip(weights_of(problem), problem.strings_of(units), strict=True)
    ):
        total += weight * table_at(tables, model).sentence_logp(string)
    return float(total)


def weights_of(problem: Problem) -> Floats:
    """Return the weight of each model; that of the words has 1."""
    others = problem.settings.of(FeatureSettings).features.named if problem.features else ()
    return np.array([1.0, *(weight for _, weight in others)])


def whole_sentences(problem: Problem, count: int) -> list[tuple[int, ...]]:
    """Return the best different orders of the last stack, the best first.

    They are not the exact n-best list of `order_units`, but need no further search.
    """
    copies, nodes, edges = _found(problem, LAST, future_cost=True)
    last = np.argsort(-edges.logp, kind="stable")[:count]
    paths = ([*_path(nodes, int(edges.parent[i])), int(edges.unit[i])] for i in last)
    return [_ordering(copies, path, 0.0).units for path in paths]


def _search(problem: Problem, nbest: int, *, future_cost: bool) -> list[Ordering]:
    if not problem.size:
        return [Ordering((), value(problem, (), None))]
    # Edges cost memory for every candidate, and are needed for n-best lists only.
    copies, nodes, edges = _found(problem, ALL if nbest > 1 else NONE, future_cost=future_cost)
    best = _ordering(copies, _path(nodes, len(nodes.parent) - 1), float(nodes.logp[-1]))
    different = {problem.string_of(best.units): best}
    if nbest > 1:
        for path, logp in islice(_paths(nodes, edges), _WAYS * nbest):
            ordering = _ordering(copies, path, logp)
            different.setdefault(problem.string_of(ordering.units), ordering)
            if len(different) == nbest:
                break
    return list(different.values())


def _found(
    problem: Problem, remembered: int, *, future_cost: bool
) -> tuple[list[list[int]], BeamHypotheses, Edges]:
    """Search the orders of a bag that is not empty; return its units by words, hypotheses, and edges."""
    beam = _possible_beam(problem)
    copies = _same_units(problem)
    units = _different_units(problem, copies, future_cost=future_cost)
    nodes, size, edges, ways = search(problem.tables, weights_of(problem), units, beam, remembered)
    nodes = BeamHypotheses._make(column[:size] for column in nodes)
    return copies, nodes, Edges._make(column[:ways] for column in edges)


def _possible_beam(problem: Problem) -> int:
    """Return the beam, at most the largest possible stack: u units have at most u! orders."""
    # 12! is above _MAX_STEPS: for larger bags no other bound is needed.
    beam = min(problem.settings.of(BeamSettings).beam, math.factorial(min(problem.size, 12)))
    steps = len(problem.words) * problem.size * len(weights_of(problem))
    if beam * steps > _MAX_STEPS:
        bag = f"{quantity(problem.size, 'unit')} of {quantity(len(problem.words), 'word')}"
        raise InputError(f"a beam of {beam} is too wide for {bag}; give at most {_MAX_STEPS // steps}")
    return beam


def _same_units(problem: Problem) -> list[list[int]]:
    """Return units grouped by their words in the models; short ones first, then by position in the bag."""
    classes: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for unit in range(problem.size):
        strings = tuple(tuple(string.tolist()) for string in problem.strings_of((unit,)))
        classes.setdefault(strings, []).append(unit)
    # A stable sort: ties stay in the order of the bag, so that its first unit is preferred.
    return sorted(classes.values(), key=lambda same: problem.offsets[same[0] + 1] - problem.offsets[same[0]])


def _different_units(problem: Problem, copies: Sequence[Sequence[int]], *, future_cost: bool) -> BeamUnits:
    """Return the arrays of the search: one unit of each class."""
    # Of each model, the words of each unit.
    strings = list(zip(*(problem.strings_of((same[0],)) for same in copies), strict=True))
    lengths = [[len(string) for string in of_model] for of_model in strings]
    begins = np.cumsum([0, *map(sum, lengths)])
    ahead = np.zeros(len(copies))
    # `viterbi` has no future cost: zeros, so that both searches are one kernel.
    for model, weight in enumerate(weights_of(problem) if future_cost else ()):
        table = table_at(problem.tables, model)
        logp = {word: extend(table, EMPTY, word)[0] for string in strings[model] for word in string.tolist()}
        unigrams = [sum(logp[word] for word in string.tolist()) for string in strings[model]]
        ahead += weight * np.array(unigrams, float)
    return BeamUnits(
        words=np.concatenate([string for of_model in strings for string in of_model]),
        offsets=np.array(
            [np.cumsum([begin, *mine]) for begin, mine in zip(begins, lengths, strict=False)], np.int32
        ),
        by_length=np.searchsorted(lengths[0], np.arange(lengths[0][-1] + 2)).astype(np.int32),
        bits=np.cumsum([0, *map(len, copies)], dtype=np.int32),
        ahead=ahead,
    )


def _path(nodes: BeamHypotheses, node: int) -> list[int]:
    """Return the classes of units of a hypothesis, in order."""
    path = []
    while node:
        path.append(int(nodes.unit[node]))
        node = nodes.parent[node]
    return path[::-1]


def _paths(nodes: BeamHypotheses, edges: Edges) -> Iterator[tuple[list[int], float]]:
    """Yield all paths to the last hypothesis with their log-probabilities, the best first.

    A* from the end: the estimate of the remaining path, back to the empty sentence, is the best one, the
    log-probability of the hypothesis, so that no path is expanded in vain. Ties go to the path found first.
    """
    last, by_node = len(nodes.parent) - 1, np.argsort(edges.node, kind="stable")
    edges = Edges._make(column[by_node] for column in edges)
    begins = np.searchsorted(edges.node, np.arange(len(nodes.parent) + 1))
    # Serial numbers decide ties; else the heap would compare hypotheses.
    number = count()
    queue: list[tuple[float, int, int, float, tuple[int, ...]]] = [
        (-float(nodes.logp[last]), next(number), last, 0.0, ())
    ]
    while queue:
        cost, _, node, behind, path = heapq.heappop(queue)
        if node == 0:
            yield list(path), -cost
        leading = slice(begins[node], begins[node + 1])
        logps = behind + edges.logp[leading]
        # All edges at once: edge by edge takes longer than the search.
        steps = logps - nodes.logp[edges.parent[leading]]
        columns = (edges.parent[leading], edges.unit[leading], logps, steps)
        for parent, unit, logp, step in zip(*(column.tolist() for column in columns), strict=True):
            heapq.heappush(queue, (-logp, next(number), parent, step, (unit, *path)))


def _ordering(copies: Sequence[Sequence[int]], path: Sequence[int], logp: float) -> Ordering:
    """Replace the classes of a path by units of the bag, in the order of the bag."""
    left = [iter(same) for same in copies]
    return Ordering(tuple(next(left[unit]) for unit in path), logp)


ALGORITHMS = (
    Algorithm(
        "viterbi",
        "4-gram beam search over single words (2007, 2009)",
        order_without_future_cost,
        value,
        settings=(BeamSettings,),
        defaults={"beam": 100},
        published={"2007": {"beam": 100}, "2009": {"beam": 100}},
        words=True,
    ),
    Algorithm(
        "beam",
        "n-gram beam search with a future cost (Schmaltz et al. 2016)",
        order_units,
        value,
        settings=(BeamSettings, FeatureSettings),
        defaults={"order": 5, "beam": 512},
    ),
)
