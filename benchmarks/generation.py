"""Regeneration: milliseconds a sentence of every algorithm, look-ups apart, peers, and threads.

``python benchmarks/generation.py [--threads]``. The test set is the WSJ sample of section 01 as the documentation
splits it: 0100-0179 to train, 0180-0199 (245 sentences) to order, one thread. Look-ups are cold: batches of 100
sentences, n-grams and, for the algorithms that make trees, dependency counts. Times are CPU time, because the
machine is shared; the peers work on the arrays of the same sentences in the same run: networkx's arborescence for
Chu-Liu/Edmonds, scipy's linear_sum_assignment for one round of assignments, and a beam search in plain Python over
the `kenlm` module with the same pruning (64 hypotheses a stack, base noun phrases, future cost, no recombination).
``--threads`` compares the wall-clock time of a whole evaluation with one and with two jobs.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from harness import OUT, SENTGEN, data, fresh, measure, show

from sentgen.corpus.sentence import Sentence
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.regeneration.cases import Preparation, read_test_set
from sentgen.generation import PreparedBag, Search, SearchPlan, Unit, prepare
from sentgen.generation.regenerate import Gold
from sentgen.generation.trees.assignment import assign
from sentgen.generation.trees.cle import best_arborescence
from sentgen.models import ModelInfo, export_arpa
from sentgen.models.base import registry
from sentgen.schema import Store

TRAIN, TEST = "wsj01/dep/wsj_01[0-7]*.dp", "wsj01/dep/wsj_01[89]*.dp"
#: Algorithm, beam (0 for none), and milliseconds a sentence that it should stay under.
SYSTEMS = (
    *((name, 0, 3.0) for name in ("lmo", "greedy", "prim", "prim-ngram", "prim-arg", "cle", "ab")),
    ("beam", 64, 8.0),
    ("beam", 512, 60.0),
    ("viterbi", 100, math.nan),
)


def main() -> None:
    path = made()
    bags = [case.units for case in cases()]
    rows = []
    for name, beam, target in SYSTEMS:
        lookup, search = timed(path, bags, name, beam)
        label = f"{name} {beam}" if beam else name
        rows.append((label, lookup, search, lookup + search, target))
    show(
        f"{len(bags)} sentences of WSJ 0180-0199, {np.mean([len(bag) for bag in bags]):.1f} units each",
        ("CPU milliseconds a sentence", "look-up", "search", "both", "target"),
        rows,
    )
    with Store(path, read_only=True, memory_limit=2**30) as store:
        peers(store, registry.find(store, "wsj"), bags)


def timed(path: Path, bags: Sequence[Sequence[Unit]], name: str, beam: int) -> tuple[float, float]:
    """Return CPU milliseconds a sentence for looking up with nothing cached, and for searching."""
    for given in (
        bags[:1],
        bags,
    ):  # the first sentence compiles; a store that is opened again has cached nothing
        with Store(path, read_only=True, memory_limit=2**30) as store:
            plan = plan_of(store, registry.find(store, "wsj"), name, beam)
            lookup = search = 0.0
            began = time.process_time()
            for batch in prepare(store, plan, given):
                looked_up = time.process_time()
                for prepared in batch:
                    plan.algorithm.order(prepared.under(plan.settings), 1)
                lookup, search = lookup + looked_up - began, search + time.process_time() - looked_up
                began = time.process_time()
    return 1000 * lookup / len(bags), 1000 * search / len(bags)


def plan_of(store: Store, model: ModelInfo, name: str, beam: int = 0) -> SearchPlan:
    changes = {"beam": beam or None}
    return Search(algorithm=name, changes=changes, lowercase=False).plan(store, model)


def peers(store: Store, model: ModelInfo, bags: Sequence[Sequence[Unit]]) -> None:
    """Compare the heart of three searches with a peer on the same arrays."""
    import kenlm
    import networkx
    from scipy.optimize import linear_sum_assignment

    arpa = OUT / "generation.arpa"
    export_arpa(store, model, arpa)
    rival = kenlm.Model(str(arpa))
    found = list(chain.from_iterable(prepare(store, plan_of(store, model, "cle"), bags)))
    weights = [one.problem.require_trees().prob.max(axis=2) for one in found]
    square = [
        np.vstack((np.full((1, w.shape[0]), -np.inf), np.hstack((np.full((w.shape[1], 1), -np.inf), w[1:]))))
        for w in weights
    ]
    for matrix, w in zip(square, weights, strict=True):
        matrix[0, 1:] = w[0]
    costs = [-w for w in weights]

    def theirs(matrix: np.ndarray) -> None:
        graph = networkx.DiGraph()
        size = len(matrix)
        graph.add_weighted_edges_from(
            (i, j, matrix[i, j]) for i in range(size) for j in range(1, size) if i != j
        )
        networkx.maximum_spanning_arborescence(graph)

    beam = plan_of(store, model, "beam", 64)
    rows = []
    for name, ours, peer, mine, other in (
        ("best arborescence", best_arborescence, theirs, square, square),
        ("assignment of n + 1 positions to n units", assign, linear_sum_assignment, costs, costs),
        (
            "beam 64",
            lambda one: beam.algorithm.order(one.under(beam.settings), 1),
            partial(plain_beam, rival, beam=64),
            found,
            found,
        ),
    ):
        rows.append((name, *(ratio := (cpu(ours, mine), cpu(peer, other))), ratio[1] / ratio[0]))
    show(
        "cle, ab and beam against peers: networkx, scipy, plain Python over kenlm",
        ("CPU milliseconds a sentence", "sentgen", "peer", "peer / sentgen"),
        rows,
    )


def cpu(call: Callable[..., object], items: Sequence[object]) -> float:
    call(items[0])
    began = time.process_time()
    for item in items:
        call(item)
    return 1000 * (time.process_time() - began) / len(items)


def plain_beam(rival, prepared: PreparedBag, *, beam: int) -> str:  # type: ignore[no-untyped-def]
    """Order a bag with the `kenlm` module's states: the same search, written in plain Python."""
    import kenlm

    counts = Counter(unit.words for unit in prepared.bag)
    kinds = sorted(counts)
    start, null = kenlm.State(), kenlm.State()
    rival.BeginSentenceWrite(start)
    rival.NullContextWrite(null)
    unigram = {word: rival.BaseScore(null, word, kenlm.State()) for words in kinds for word in words}
    future = [sum(unigram[word] for word in words) for words in kinds]
    total = sum(future[k] * counts[words] for k, words in enumerate(kinds))
    size = sum(len(words) * number for words, number in counts.items())
    stacks: list[list[tuple[float, float, tuple[int, ...], kenlm.State, tuple[int, ...]]]] = [
        [] for _ in range(size + 1)
    ]
    stacks[0] = [(total, total, tuple(counts[words] for words in kinds), start, ())]
    for covered in range(size):
        stacks[covered].sort(key=lambda hypothesis: -hypothesis[0])
        for score, rest, left, state, path in stacks[covered][:beam]:
            for k, words in enumerate(kinds):
                if not left[k]:
                    continue
                logp, after = score - rest, state
                for word in words:
                    following = kenlm.State()
                    logp += rival.BaseScore(after, word, following)
                    after = following
                remaining = (*left[:k], left[k] - 1, *left[k + 1 :])
                stacks[covered + len(words)].append(
                    (logp + rest - future[k], rest - future[k], remaining, after, (*path, k))
                )
    best = max(
        stacks[size],
        key=lambda hypothesis: hypothesis[0] + rival.BaseScore(hypothesis[3], "</s>", kenlm.State()),
    )
    return " ".join(word for k in best[4] for word in kinds[k])


def threads() -> None:
    """Compare whole evaluations with one and with two threads, wall-clock, alternating."""
    names = ["lmo", "cle", "ab", "beam:beam=64", "beam:beam=512"]
    rows = []
    with Store(made(), memory_limit=2**30) as store:
        model = registry.find(store, "wsj")
        sentences = list(test_sentences())
        for name in (*names, "all of them"):
            systems = names if name == "all of them" else [name]
            seconds: dict[int, list[float]] = {1: [], 2: []}
            for jobs in (1, 2) * 3:
                began = time.perf_counter()
                evaluate_regeneration(store, model, sentences, systems, jobs=jobs)
                seconds[jobs].append(time.perf_counter() - began)
            one, two = min(seconds[1]), min(seconds[2])
            rows.append((name, one, two, one / two))
    show("Evaluation of 245 sentences, best of three", ("seconds", "1 job", "2 jobs", "ratio"), rows)


def cases() -> list[Gold]:
    return [case for case in (Preparation().case(sentence) for sentence in test_sentences()) if case.units]


def test_sentences() -> Iterator[Sentence]:
    return read_test_set(str(data("wsj01") / Path(TEST).relative_to("wsj01")))


def made() -> Path:
    """Return the store of the training files with a Katz model of order 4, made if it is not there."""
    path = OUT / "generation.duckdb"
    if not path.exists():
        path = fresh("generation")
        source = str(data("wsj01") / Path(TRAIN).relative_to("wsj01"))
        measure([SENTGEN, "ingest", source, "--corpus", "wsj", "--db", str(path)])
        measure(
            [
                SENTGEN,
                "models",
                "build",
                "wsj",
                "--corpus",
                "wsj",
                "--order",
                "4",
                "--smoothing",
                "katz",
                "--db",
                str(path),
            ]
        )
    return path


if __name__ == "__main__":
    threads() if "--threads" in sys.argv else main()
