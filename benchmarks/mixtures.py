"""What a mixture of EWT and GUM costs: made, and asked, against building one of its models and asking that one.

    python benchmarks/mixtures.py

CPU seconds of this process; each round asks all three kinds of model in turn, and the ratios are medians. At the end,
the same mixture in plain Python (`plain_models.py`).
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plain_models
from harness import data, show

from sentgen.counts.ingestion import Settings, ingest
from sentgen.models import ModelInfo, build, find
from sentgen.models.mix import MixRequest
from sentgen.models.ngrams.ngram_cache import NgramCache
from sentgen.models.scoring import score_sentences
from sentgen.models.stored_text import held_out
from sentgen.models.submodel import prefetch
from sentgen.schema import Store

ROUNDS = 5


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.duckdb", create=True) as store:
        for name in ("ewt", "gum"):
            ingest(store, [str(data(f"ud/en_{name}-ud-train.conllu"))], Settings(name))
            build(store, name, [name], order=4)
        kinds = {
            "of one": lambda: build(store, "one", ["ewt"], order=4),
            "stored": lambda: MixRequest(name="stored", of="ewt,gum").make(store),
            "dynamic": lambda: MixRequest(name="dynamic", of="ewt,gum", dynamic=True).make(store),
        }
        rows, models = [], {}
        spent: dict[str, dict[str, list[float]]] = {kind: {} for kind in kinds}
        for number in range(ROUNDS + 1):
            for kind, make in kinds.items():
                models[kind], took = timed(make)
                for what, seconds in {"make": took, **asked(store, models[kind])}.items():
                    if number:  # kernels may be compiled in the first round
                        spent[kind].setdefault(what, []).append(seconds)
        for kind, found in spent.items():
            ratios = [
                f"{statistics.median(a / b for a, b in zip(found[what], spent['of one'][what], strict=True)):.2f}"
                for what in found
            ]
            rows.append((kind, *(f"{statistics.median(times):.2f}" for times in found.values()), *ratios))
        parts = [(plain_models.read(store, find(store, name)), 0.5) for name in ("ewt", "gum")]
        plain = plain_models.ratio(kinds["stored"], lambda: plain_models.mix(parts), store)
    columns = ("model", "make", "score", "bags", "make x", "score x", "bags x")
    show("A mixture of EWT and GUM, order 4: CPU s, and times what a model of EWT takes", columns, rows)
    print(f"plain Python takes {plain} times the CPU time of the stored one")


def asked(store: Store, model: ModelInfo) -> dict[str, float]:
    """Return the seconds for scoring the dev part of GUM, and for looking up 100 of its sentences as bags."""
    file = str(data("ud/en_gum-ud-dev.conllu"))
    text = list(held_out(store, [model], file=file, corpus=None, form="conllu"))
    _, score = timed(lambda: list(score_sentences(store, model, text)))
    _, bags = timed(lambda: prefetch(store, model, text[:100], cache=NgramCache(2**28)))
    return {"score": score, "bags": bags}


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    made = make()
    return made, time.process_time() - started


if __name__ == "__main__":
    main()
