"""Tasks that see all words: the probabilities of words, where the files of the lake end, and these files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa

from sentgen.arrays import Floats, Longs
from sentgen.counts.cluster.files import read_batch
from sentgen.models.building.summed_counts import count
from sentgen.models.building.writing import OrderNgrams, in_order
from sentgen.models.cluster.plan import ModelPlan, columns
from sentgen.models.cluster.suffixes import sums
from sentgen.models.smoothing import kneser_ney
from sentgen.models.smoothing.rows import read_unigrams
from sentgen.schema.lakes.files import write_file

#: Share of the memory of a task that sorting may take.
_SORTING = 0.5


def unigrams(plan: ModelPlan, file: int) -> dict[str, object]:
    """Give words their probabilities, and cut anchors into files of about so many n-grams each.

    Returns:
        What was estimated of order 1, the number of words of the model, and the least anchor of each file.
    """
    space, settings = plan.space(), plan.recipe
    with plan.connected() as connection:
        count(connection, plan.corpora, replace(settings, order=1), lambda _: None)
        rows = read_unigrams(connection, settings.min_count[0], settings.unknown != "none", space)
    size = int(rows.last[-1]) + 1
    if settings.order > 1:
        rows.value[:] = sums(plan, "words", plan.parts, size)[rows.last]
    parameters = kneser_ney.estimate_and_interpolate([rows], space)
    rows.value[rows.begins[0]] = 1.0  # <s> is always there
    values: Floats = np.zeros(size)
    values[rows.last] = rows.value
    plan.keep("unigrams", 0, {"probabilities": values})
    anchors = sums(plan, "anchors", len(plan.ranges), size)
    anchors += values > 0
    vocabulary = int(np.count_nonzero(values)) - 1
    return {"parameters": parameters, "vocabulary": vocabulary, "anchors": _cuts(anchors, file)}


def _cuts(anchors: Longs, most: int) -> list[int]:
    """Return the least anchor of each file; the n-grams of an anchor stay together."""
    behind = np.cumsum(anchors)
    cuts, done = [0], 0
    while True:
        following = int(np.searchsorted(behind, done + most)) + 1
        if following >= len(behind) or behind[following - 1] == behind[-1]:
            return cuts
        cuts.append(following)
        done = int(behind[following - 1])


def write(plan: ModelPlan, number: int, model: int, part: int) -> dict[str, dict[str, object]]:
    """Write a file of the lake: the n-grams of its anchors, sorted as a store has them.

    Args:
        plan: of the model.
        number: of the file among those of the model.
        model: number of the model.
        part: place of the file among those of the table.
    """

    def batches() -> Iterator[tuple[int, pa.RecordBatch]]:
        for n in range(1, plan.recipe.order + 1):
            for one in range(len(plan.ranges)):
                yield n, read_batch(plan.file("place", one, n), number)

    def source(least: int, end: int) -> Iterator[OrderNgrams]:
        for n, batch in batches():
            *words, logp, backoff = columns(batch)
            anchor = np.max(words, axis=0)
            here = (anchor >= least) & (anchor < end)
            yield OrderNgrams(
                np.array([column[here] for column in words]).reshape(n, -1), logp[here], backoff[here]
            )

    anchors = np.zeros(0, np.int64)
    for n, batch in batches():
        found = np.bincount(np.max(columns(batch)[:n], axis=0))
        anchors = np.pad(anchors, (0, max(0, len(found) - len(anchors))))
        anchors[: len(found)] += found
    memory = int(plan.memory * _SORTING)
    rows = (
        batch for table in in_order(model, anchors, source, memory=memory) for batch in table.to_batches()
    )
    return {"file": asdict(write_file(plan.lake, "model_ngram", part, rows))}
