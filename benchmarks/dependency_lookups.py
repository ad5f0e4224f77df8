"""Look-ups of the dependency model, alone and with the n-grams, in batches of 100 sentences of EWT dev.

``python benchmarks/dependency_lookups.py [STORE MODEL CORPUS...]``; if not given, a store of the training parts of
EWT and GUM is made. The first batch compiles the kernels and is not counted. Each batch has words that were not
looked up before; "again" asks for the same batches once more. Streamed means that the trees do not fit into memory.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from harness import OUT, SENTGEN, data, fresh, measure, megabytes, own_usage, show

from sentgen.corpus.base_np import mark_base_nps
from sentgen.counts import corpora
from sentgen.evaluation.testset import read_test_set
from sentgen.generation import units_of
from sentgen.models import registry
from sentgen.models.dependency.dependencies import Layer, TaggedWord, prefetch_dependencies
from sentgen.models.dependency.trees import TreeCache
from sentgen.models.ngrams.ngram_cache import NgramCache
from sentgen.models.submodel import prefetch
from sentgen.schema import Store

SIZE = 100
BATCHES = 15
LIMIT = 2**28
Batch = list[list[TaggedWord]]


def main(path: Path, label: str, names: Sequence[str]) -> None:
    words, units = sentences()
    with Store(path, read_only=True, memory_limit=2**30) as store:
        model = registry.find(store, label)
        with store.connect() as connection:
            numbers = [int(corpora.find(connection, name).id) for name in names]

        def of_trees(layer: Layer, cache: TreeCache, bags: Batch) -> None:
            prefetch_dependencies(store, numbers, layer, bags, cache=cache)

        def of_ngrams(cache: NgramCache, bags: Batch) -> None:
            prefetch(store, model, [[word for word, _ in bag] for bag in bags], cache=cache)

        def of_both(ngrams: NgramCache, trees: TreeCache, pair: tuple[Batch, Batch]) -> None:
            of_ngrams(ngrams, pair[0])
            of_trees("unit", trees, pair[1])

        held = TreeCache(LIMIT)
        calls: dict[str, tuple[Callable[..., None], Sequence[Any]]] = {
            "n-grams of words": (partial(of_ngrams, NgramCache(LIMIT)), words),
            "dependencies of words": (partial(of_trees, "word", TreeCache(LIMIT)), words),
            "dependencies of units": (partial(of_trees, "unit", held), units),
            "dependencies of units, streamed": (partial(of_trees, "unit", TreeCache(0)), units),
            "dependencies of units, one sentence": (partial(of_trees, "unit", held), cut(units[1], 1)),
            "n-grams of words, dependencies of units": (
                partial(of_both, NgramCache(LIMIT), TreeCache(LIMIT)),
                list(zip(words, units, strict=True)),
            ),
        }
        rows = [
            (name + again, *timed(call, batches))
            for name, (call, batches) in calls.items()
            for again in ("", ", again")
        ]
    sizes = [np.mean([len(bag) for batch in batches for bag in batch]) for batches in (words, units)]
    show(
        f"{path.name} ({', '.join(names)}), EWT dev, {sizes[0]:.1f} words or {sizes[1]:.1f} units a sentence",
        ("milliseconds a sentence", "median", "worst batch", "CPU"),
        rows,
    )
    print(
        f"trees of units in memory {held.bytes:,} bytes, peak of the process {megabytes(own_usage()[1]):,} MB"
    )


def sentences() -> tuple[list[Batch], list[Batch]]:
    """Return batches of sentences as tagged words, and as units."""
    found = list(read_test_set(str(data("ud/en_ewt-ud-dev.conllu"))))[: SIZE * BATCHES]
    for sentence in found:
        mark_base_nps(sentence)
    words = [list(zip(s.forms, s.xpos or [], strict=True)) for s in found]
    units = [[(unit.head, unit.head_tag) for unit in units_of(sentence)] for sentence in found]
    return cut(words, SIZE), cut(units, SIZE)


def cut(bags: Batch, size: int) -> list[Batch]:
    return [bags[i : i + size] for i in range(0, len(bags), size)]


def timed(call: Callable[..., None], batches: Sequence[Any]) -> tuple[float, float, float]:
    """Return median and worst wall-clock milliseconds a sentence of all batches but the first, and mean CPU."""
    walls, cpus = [], []
    for batch in batches:
        wall, cpu = time.perf_counter(), time.process_time()
        call(batch)
        sentences = len(batch[0]) if isinstance(batch, tuple) else len(batch)
        walls.append((time.perf_counter() - wall) * 1000 / sentences)
        cpus.append((time.process_time() - cpu) * 1000 / sentences)
    return float(np.median(walls[1:])), max(walls[1:]), float(np.mean(cpus[1:]))


def made() -> Path:
    """Return the store of EWT and GUM with a 4-gram model, made if it is not there."""
    path = OUT / "dependency-lookups.duckdb"
    if not path.exists():
        path = fresh("dependency-lookups")
        for name in ("ewt", "gum"):
            source = str(data(f"ud/en_{name}-ud-train.conllu"))
            measure([SENTGEN, "ingest", source, "--corpus", name, "--db", str(path)])
        chosen = ["--corpus", "ewt", "--corpus", "gum", "--order", "4"]
        measure([SENTGEN, "models", "build", "both", *chosen, "--db", str(path)])
    return path


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main(made(), "both", ["ewt", "gum"])
    elif len(sys.argv) > 3:
        main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
    else:
        sys.exit("usage: python benchmarks/dependency_lookups.py [STORE MODEL CORPUS...]")
