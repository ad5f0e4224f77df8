"""Look-ups: the sub-model of a 25-word bag, batches of 100 bags, and scoring against the `kenlm` module.

For each store: ``python benchmarks/lookups.py STORE MODEL [TEXT]``. Bags are sentences of 25 words of TEXT (one
tokenised sentence a line; the novels if not given), the store is opened with a limit of 1 GB, and a bag is cold
when its words were not looked up before in this process (the operating system may hold the file).
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from harness import OUT, megabytes, novels, own_usage, show

from sentgen.models import export_arpa, registry
from sentgen.models.scoring import score_sentences
from sentgen.models.submodel import NgramCache, prefetch
from sentgen.schema import Store

LIMIT = 2**30
BAGS = 100
CACHE = 256 * 2**20


def main(store_path: str, model_name: str, text: Path) -> None:
    sentences = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
    rng = np.random.default_rng(1)
    picked = [sentences[i] for i in rng.permutation(len(sentences)) if len(sentences[i]) >= 25]
    bags = [sentence[:25] for sentence in picked[:BAGS]]
    others = [sentence[:25] for sentence in picked[BAGS : 2 * BAGS]]
    rows: list[tuple[object, ...]] = []
    with Store(store_path, read_only=True, memory_limit=LIMIT) as store:
        model = registry.find(store, model_name)
        prefetch(store, model, [others[0]], cache=NgramCache(CACHE))
        cold = timed(lambda bag: prefetch(store, model, [bag], cache=NgramCache(CACHE)), bags)
        rows.append(("one bag, nothing cached", *percentiles(cold)))
        cache = NgramCache(CACHE)
        rows.append(
            (
                "one bag after others, cache filling",
                *percentiles(timed(lambda bag: prefetch(store, model, [bag], cache=cache), bags)),
            )
        )
        rows.append(
            (
                "the same bags again, warm",
                *percentiles(timed(lambda bag: prefetch(store, model, [bag], cache=cache), bags)),
            )
        )
        batch = timed(lambda batch: prefetch(store, model, batch, cache=NgramCache(CACHE)), [bags, others])
        rows.append(("batch of 100 bags, cold, per bag", *(value / BAGS for value in percentiles(batch))))
        show(
            f"Sub-models from {store_path}, {model.label}, order {model.order}, limit 1 GB",
            ("look-up", "median ms", "p95 ms"),
            rows,
        )
        print(f"peak memory {megabytes(own_usage()[1]):,} MB")
        if "--score" in sys.argv:
            score(store, model, sentences[:20_000])


def score(store: Store, model: registry.ModelInfo, sentences: Sequence[list[str]]) -> None:
    import kenlm

    arpa = OUT / "lookups.arpa"
    export_arpa(store, model, arpa)
    rival = kenlm.Model(str(arpa))
    rows = []
    tokens = sum(map(len, sentences))
    for name in ("cold", "warm"):
        began = time.process_time()
        ours = sum(scored.log10 for scored in score_sentences(store, model, sentences))
        rows.append((f"sentgen, {name}", time.process_time() - began, ours))
    began = time.process_time()
    theirs = sum(rival.score(" ".join(sentence)) for sentence in sentences)
    rows.append(("kenlm module, model in memory", time.process_time() - began, theirs))
    show(
        f"Scoring {len(sentences):,} sentences, {tokens:,} tokens",
        ("system", "CPU s", "sentences/CPU s", "log10"),
        [(n, s, int(len(sentences) / s), total) for n, s, total in rows],
    )


def timed(call, items):  # type: ignore[no-untyped-def]
    """Return the milliseconds of each call."""
    found = []
    for item in items:
        began = time.perf_counter()
        call(item)
        found.append((time.perf_counter() - began) * 1000)
    return found


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    return float(np.median(values)), float(np.percentile(values, 95))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if len(arguments) < 2:
        sys.exit("usage: python benchmarks/lookups.py STORE MODEL [TEXT] [--score]")
    main(arguments[0], arguments[1], Path(arguments[2]) if len(arguments) > 2 else novels(10_000_000))
