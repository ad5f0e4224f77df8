"""What n-best lists hold, and what choosing among them by another model is worth, as BLEU.

    python benchmarks/reranking.py STORE MODEL TEST NAME [SYSTEM ...]

Every system (joint and beam if none is named) gives its 50 best sentences of each bag of the test set; NAME, a
model of the store or a scorer of a plug-in, says how probable each is. Its weight is chosen on every other
sentence and tested on the others, and the reverse. The oracle is the sentence of the list that has most of the
n-grams of the real one (sentence BLEU).
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from sentgen.arrays import Floats
from sentgen.evaluation.regeneration.bleu import bleu, ngram_statistics
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.experiment import cases_of
from sentgen.generation import Search, prepare
from sentgen.generation.regenerate import solve_all
from sentgen.models import find
from sentgen.schema import Store

NBEST, ORDER = 50, 4
ALONE: dict[str, Any] = {"nbest": 1, "rerankers": (), "parts": False}
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)


def lists(store: Store, model: str, test: str, name: str, system: str) -> list[tuple[Floats, Floats, Floats]]:
    """Return of each bag the scores of its sentences, what the other model says, and n-grams that match."""
    search = Search(algorithm=system, nbest=NBEST, changes={"rerank": f"{name}=0"}, lowercase=False)
    plan = replace(search.plan(store, model), parts=True)
    cases = cases_of(store, find(store, model), read_test_set(test), replace(search, lowercase=None), plan)
    bags = [case.units for case in cases]
    list(solve_all(next(iter(prepare(store, plan, bags[:1]))), replace(plan, **ALONE)))  # compiles
    found, times = [], {"the best alone": 0.0, "50": 0.0, "50 with parts and scores": 0.0}
    for batch in prepare(store, plan, bags):
        for told, less in (("the best alone", ALONE), ("50", {**ALONE, "nbest": NBEST})):
            started = time.process_time()
            list(solve_all(batch, replace(plan, **less)))
            times[told] += time.process_time() - started
        started = time.process_time()
        answers = list(solve_all(batch, plan))
        times["50 with parts and scores"] += time.process_time() - started
        for case, sentences in zip((cases[one.item - 1] for one in batch), answers, strict=True):
            texts = [[word.lower() for word in one.words] for one in sentences]
            gold = [word.lower() for word in case.words]
            statistics = ngram_statistics(texts, [gold] * len(texts), ORDER)
            own, other = ([one.score for one in sentences], [one.parts[name] for one in sentences])
            found.append((np.array(own), np.array(other), np.array(statistics)))
    told = ", ".join(f"{name} {1000 * each / len(found):.1f}" for name, each in times.items())
    size = np.mean([len(own) for own, _, _ in found])
    print(f"{system}: {len(found)} bags, {size:.1f} sentences a bag; CPU ms a bag of the search: {told}")
    return found


def score(found: list[tuple[Floats, Floats, Floats]], weight: float) -> float:
    """Return the BLEU of what is best with a weight."""
    return float(bleu(np.sum([each[np.argmax(own + weight * other)] for own, other, each in found], axis=0)))


def oracle(found: list[tuple[Floats, Floats, Floats]], count: int) -> float:
    """Return the BLEU of the best of the first so many of each list."""
    return float(
        bleu(
            np.sum(
                [max(each[:count], key=lambda one: float(bleu(one, effective=True))) for _, _, each in found],
                axis=0,
            )
        )
    )


def main() -> None:
    """Print a table a system."""
    path, model, test, name, *systems = sys.argv[1:]
    with Store(path, read_only=True) as store:
        for system in systems or ["joint", "beam"]:
            found = lists(store, model, test, name, system)
            held = " ".join(f"{count}: {oracle(found, count):.2f}" for count in (1, 2, 5, 10, 20, NBEST))
            print(f"  first {score(found, 0):.2f}; best of the first {held}")
            for mine, others in ((0, 1), (1, 0)):
                half, rest = found[mine::2], found[others::2]
                best = max(WEIGHTS, key=lambda weight: score(half, weight))
                print(
                    f"  weight {best} of one half: on the other {score(rest, 0):.2f} > {score(rest, best):.2f}"
                )


if __name__ == "__main__":
    main()
