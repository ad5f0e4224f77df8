"""Does a rewrite table that was learnt from pairs help the aligner once its rare rows are smoothed by vectors?

``python benchmarks/vectors_rewrites.py STORE VECTORS PAIRS [--iterations N] [--limit N] [--tests N]``

The phrase-based HMM (`best`) is trained in memory on PAIRS, a file. A row of its table, P(abstract word | document
word), is then mixed with those of the ten nearest words, each weighted by its cosine if that is .4 or more:
``n / (n + k)`` of it stays, with n the pairs whose document has the word (0 for words that no pair had). The control
mixes the same share of the untrained table in. F1 on both halves of the development sets, by `trust`, the share of
the table in the first component.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from harness import data, show
from scipy.sparse import csr_array, diags_array
from vectors import SETS

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, RewriteTable
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.texts import read_pairs
from sentgen.evaluation.alignment.experiment import Target
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.models.vectors import WordVectors
from sentgen.schema import Store

_NEIGHBORS, _LEAST, _PRIOR = 10, 0.4, 5.0
_TRUST = (0.03, 0.3)


def neighbors(words: Sequence[str], vectors: WordVectors) -> csr_array:
    """Return (words, words) weights of the nearest words of each, rows that sum to one or to nothing."""
    numbers = vectors.numbers(words)
    known = np.flatnonzero(numbers >= 0)
    of_known = vectors.vectors[numbers[known]]
    rows, columns, weights = [], [], []
    for begin in range(0, len(known), 1000):
        cosines = of_known[begin : begin + 1000] @ of_known.T
        cosines[np.arange(len(cosines)), np.arange(begin, begin + len(cosines))] = 0
        nearest = np.argpartition(-cosines, _NEIGHBORS, axis=1)[:, :_NEIGHBORS]
        for row, some in enumerate(nearest):
            near = some[cosines[row, some] >= _LEAST]
            rows += [known[begin + row]] * len(near)
            columns += known[near].tolist()
            weights += (cosines[row, near] / cosines[row, near].sum()).tolist()
    return csr_array((weights, (rows, columns)), shape=(len(words), len(words)))


def smoothed(
    parameters: RewriteParameters, near: csr_array, seen: np.ndarray, wanted: tuple[np.ndarray, np.ndarray]
) -> RewriteParameters:
    """Return parameters whose table mixes rows with those of near words, for wanted words of both sides."""
    table, size = parameters.table, len(seen)
    learnt = csr_array((table.prob, (table.document, table.abstract)), shape=(size, size))
    learnt = learnt[:, wanted[1]]
    found = near.sum(axis=1) > 0
    kept = np.where(found, seen / (seen + _PRIOR), 1.0)
    mixed = (diags_array(kept) @ learnt + diags_array(1 - kept) @ (near @ learnt)).tocsr()[wanted[0]].tocoo()
    order = np.lexsort((mixed.col, mixed.row))
    keys = (wanted[0][mixed.row[order]], wanted[1][mixed.col[order]])
    return replace(parameters, table=_table(*keys, mixed.data[order]))


def discounted(parameters: RewriteParameters, near: csr_array, seen: np.ndarray) -> RewriteParameters:
    """Return parameters whose table mixes rows with the untrained table in the same shares."""
    table = parameters.table
    kept = np.where(near.sum(axis=1) > 0, seen / (seen + _PRIOR), 1.0)[table.document]
    prob = kept * table.prob + (1 - kept) * parameters.unseen
    return replace(parameters, table=replace(table, prob=prob))


def _table(document: np.ndarray, abstract: np.ndarray, prob: np.ndarray) -> RewriteTable:
    return RewriteTable.of_cells(
        document.astype(np.int64), abstract.astype(np.int64), prob, np.zeros(len(prob))
    )


def variants(
    trained: PhraseHmm, training: Sequence[Pair], tests: Sequence[Pair], vectors: WordVectors
) -> Iterator[tuple[str, PhraseHmm]]:
    """Yield the trained aligner as it is, with the control, and with rows smoothed by vectors."""
    assert trained.reverse is not None  # as in the preset that was trained
    lexicon = trained.lexicon
    encoded = [lexicon.encode(pair) for pair in tests]
    of_sides = zip(*((one.document, one.abstract) for one in encoded), strict=True)
    sides = [np.unique(np.concatenate(ids)) for ids in of_sides]
    near = neighbors(lexicon.words, vectors)
    yield "as learnt", trained
    counts = []
    for side in ("document", "abstract"):
        found = Counter(word for pair in training for word in set(lexicon.ids(getattr(pair, side)).tolist()))
        counts.append(np.array([found[word] for word in range(len(lexicon))], float))
    directions = ((trained.parameters, counts[0], sides), (trained.reverse, counts[1], sides[::-1]))
    plain = [discounted(parameters, near, seen) for parameters, seen, _ in directions]
    yield "control", replace(trained, parameters=plain[0], reverse=plain[1])
    by_vectors = [
        smoothed(parameters, near, seen, (both[0], both[1])) for parameters, seen, both in directions
    ]
    yield "smoothed by vectors", replace(trained, parameters=by_vectors[0], reverse=by_vectors[1])


def main() -> None:
    """Train, smooth, and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("vectors")
    parser.add_argument("pairs")
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--limit", type=int, default=2_000, help="pairs to learn from")
    parser.add_argument("--tests", type=int, help="pairs of each half to measure on; all if left out")
    given = parser.parse_args()
    with Store(given.store, read_only=True) as store:
        vectors = WordVectors.load(store, given.vectors)
    training = list(read_pairs(given.pairs))[: given.limit]
    golds = {name: read_gold(str(data(f"alignment/{path}")), form) for name, path, form in SETS}
    targets = [
        Target(replace(gold, pairs=gold.pairs[half::2][: given.tests]))
        for half in (0, 1)
        for gold in golds.values()
    ]
    tests = [pair for target in targets for pair in target.pairs]
    best = PbhmmSettings.preset("best")
    # Jumps that are learnt from summaries of papers do not fit other texts: they would hide what the table does.
    settings = replace(best, fixed=best.fixed | {"jumps"})
    print(f"learning from {len(training):,} pairs", flush=True)
    trained = PhraseHmm.trained("best", training, settings, iterations=given.iterations)

    def scores(aligner: PhraseHmm) -> np.ndarray:
        return np.array([100 * one.measure(list(aligner.align(one.pairs)))["f1"].value for one in targets])

    before = scores(PhraseHmm.untrained("best"))
    rows = [("nothing learnt", *(f"{value:.2f}" for value in before))]
    for name, aligner in variants(trained, training, tests, vectors):
        for trust in _TRUST:
            one = replace(aligner, settings=replace(aligner.settings, trust=trust))
            rows.append((f"{name}, trust {trust}", *(f"{value:+.2f}" for value in scores(one) - before)))
            print(rows[-1], flush=True)
    names = [f"{name}, {half}" for half in ("choosing", "testing") for name in golds]
    show(f"F1 after {given.iterations} iterations on {len(training):,} pairs", ("table", *names), rows)


if __name__ == "__main__":
    main()
