"""All figures of one system on one test set, from its answers and the gold orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sentgen.evaluation.bleu import overlap_measurements
from sentgen.evaluation.cases import Case
from sentgen.evaluation.measurement import Floats, Measurement, ratio
from sentgen.evaluation.metrics import adjacencies_found, attachments_found, is_search_error, kendall_tau
from sentgen.generation.bag import Unit
from sentgen.generation.regenerate import Regenerated

#: What one sentence adds to both parts of a ratio.
Parts = tuple[float, float]


def measure(answers: Sequence[Regenerated], cases: Sequence[Case]) -> dict[str, Measurement]:
    """Return the figures by their names: overlap 0 to 100, the others fractions (Kendall's tau -1 to 1).

    Search errors are there if the algorithm can score other orders, attachments if it makes trees and the
    test set has some; the signature says how many sentences these figures are about.
    """
    outputs, references = [answer.text for answer in answers], [case.reference for case in cases]
    measurements = [
        *overlap_measurements(outputs, references),
        _fraction("exact-match", "sentences", map(_exact, answers, cases)),
        _fraction("kendall-tau", "mean over sentences of 2 words and more", map(_tau, answers, cases)),
        _fraction("adjacency", "pairs of neighbors, boundaries included", map(_adjacency, answers, cases)),
        _fraction("search-error", "sentences whose gold order scores higher", map(_search_error, answers)),
        _fraction("attachment", "units on their gold head", map(_attachment, answers, cases)),
    ]
    return {found.metric: found for found in measurements if found is not None}


def _fraction(name: str, of: str, parts: Iterable[Parts]) -> Measurement | None:
    """Make a ratio of what is given for each sentence; None where no sentence counts."""
    statistics: Floats = np.array(list(parts), np.float64).reshape(-1, 2)
    counted = int(np.count_nonzero(statistics[:, 1]))
    if not counted:
        return None
    return Measurement(name, f"{of}|sentences:{counted}/{len(statistics)}", statistics, ratio)


def _exact(answer: Regenerated, case: Case) -> Parts:
    return float(answer.text == case.reference), 1.0


def _tau(answer: Regenerated, case: Case) -> Parts:
    tau = kendall_tau(answer.words, case.words)
    return (0.0, 0.0) if tau is None else (tau, 1.0)


def _adjacency(answer: Regenerated, case: Case) -> Parts:
    found = adjacencies_found(answer.words, case.words)
    return float(sum(found)), float(len(found))


def _search_error(answer: Regenerated) -> Parts:
    if answer.gold_score is None:
        return 0.0, 0.0
    return float(is_search_error(answer.score, answer.gold_score)), 1.0


def _attachment(answer: Regenerated, case: Case) -> Parts:
    gold = case.gold
    if answer.tree is None or gold.heads is None:
        return 0.0, 0.0
    same = _comparable(gold.units)
    found = attachments_found(
        list(map(same, answer.units)), answer.tree.heads, list(map(same, gold.units)), gold.heads
    )
    return float(found), float(len(gold.units))


def _comparable(gold: Sequence[Unit]) -> Callable[[Unit], object]:
    """Return what makes units the same: words and tags, or words only where the test set has no tags."""
    if all(unit.tags for unit in gold):
        return lambda unit: unit
    return lambda unit: unit.words
