"""Look-ups: the sub-models of single bags and of batches of 100, and scoring against the `kenlm` module.

For each store: ``python benchmarks/lookups.py STORE MODEL [TEXT] [--whole] [--score]``. Bags are 25 words of
longer sentences of TEXT (tokenized, one sentence a line, or CoNLL-U; the novels if not given), with --whole all
sentences as they are. The store is opened as the commands do it, on one thread, with a limit of 1 GB. A bag is
cold when its words were not looked up before in this process (the operating system may hold the file), warm when
they all were. With --score, the first 20,000 sentences are scored instead.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from harness import OUT, megabytes, novels, own_usage, show

from sentgen.models import export_arpa
from sentgen.models.base import registry
from sentgen.models.ngrams.ngram_cache import NgramCache
from sentgen.models.scoring import score_sentences
from sentgen.models.submodel import prefetch
from sentgen.schema import Store

LIMIT = 2**30
CACHE = LIMIT // 8
WORDS = 25
BATCH = 100
BATCHES = 8
SCORED = 20_000

Bag = list[str]


def main(store_path: str, model_name: str, text: Path) -> None:
    if "--score" in sys.argv:
        score(store_path, model_name, [line.split() for line in lines(text)][:SCORED])
        return
    bags = picked(text, BATCHES * BATCH)
    batches = [bags[begin : begin + BATCH] for begin in range(0, len(bags), BATCH)]
    singles = [[bag] for bag in bags[:BATCH]]
    with Store(store_path, read_only=True, memory_limit=LIMIT, threads=1) as store:
        model = registry.find(store, model_name)

        def rows(name: str, asked: Sequence[Sequence[Bag]]) -> Iterator[tuple[object, ...]]:
            yield name, "nothing cached", *timed(lambda: NgramCache(CACHE), asked)
            shared = NgramCache(CACHE)
            yield name, "others cached", *timed(lambda: shared, asked)
            yield name, "the same again", *timed(lambda: shared, asked)

        def timed(cache: Callable[[], NgramCache], asked: Sequence[Sequence[Bag]]) -> tuple[float, ...]:
            """Return median and 95th percentile by the clock, and the median CPU time, ms a bag."""
            found = []
            for some in asked:
                wall, cpu = time.perf_counter(), time.process_time()
                prefetch(store, model, some, cache=cache())
                found.append((time.perf_counter() - wall, time.process_time() - cpu))
            walls, cpus = np.array(found).T * 1000 / len(asked[0])
            return float(np.median(walls)), float(np.percentile(walls, 95)), float(np.median(cpus))

        prefetch(store, model, bags[-1:], cache=NgramCache(CACHE))  # loads what is compiled
        before = own_usage()[1]
        show(
            f"Sub-models from {store_path}, {model.label}, order {model.order}, limit 1 GB",
            ("bags", "cache", "median ms a bag", "p95", "CPU ms"),
            [*rows("one", singles), *rows(f"batch of {BATCH}", batches)],
        )
        print(
            f"peak memory {megabytes(own_usage()[1]):,} MB, {megabytes(before):,} MB of it before the look-ups"
        )


def picked(text: Path, number: int) -> list[Bag]:
    """Return random sentences; the text itself is not kept in memory."""
    least = 1 if "--whole" in sys.argv else WORDS
    fit = [place for place, line in enumerate(lines(text)) if line.count(" ") >= least - 1]
    chosen = set(np.random.default_rng(1).permutation(fit)[:number].tolist())
    return [
        line.split()[: None if "--whole" in sys.argv else WORDS]
        for place, line in enumerate(lines(text))
        if place in chosen
    ]


def lines(text: Path) -> Iterator[str]:
    """Yield the sentences of a text, words separated by blanks."""
    with open(text, encoding="utf-8") as source:
        if text.suffix != ".conllu":
            yield from (line.rstrip("\n") for line in source)
            return
        words: list[str] = []
        for line in source:
            number, _, rest = line.partition("\t")
            if number.isdigit():
                words.append(rest.partition("\t")[0])
            elif not line.strip() and words:
                yield " ".join(words)
                words = []


def score(store_path: str, model_name: str, sentences: Sequence[list[str]]) -> None:
    import kenlm

    arpa = OUT / "lookups.arpa"
    rows = []
    tokens = sum(map(len, sentences))
    with Store(store_path, read_only=True, memory_limit=LIMIT, threads=1) as store:
        model = registry.find(store, model_name)
        list(score_sentences(store, model, [["the"]]))  # loads what is compiled
    with Store(store_path, read_only=True, memory_limit=LIMIT, threads=1) as store:
        for name in ("cold", "again"):
            began = time.process_time()
            ours = sum(scored.log10 for scored in score_sentences(store, model, sentences))
            rows.append((f"sentgen, {name}", time.process_time() - began, ours))
        export_arpa(store, model, arpa)
    rival = kenlm.Model(str(arpa))
    began = time.process_time()
    theirs = sum(rival.score(" ".join(sentence)) for sentence in sentences)
    rows.append(("kenlm module, model in memory", time.process_time() - began, theirs))
    show(
        f"Scoring {len(sentences):,} sentences, {tokens:,} tokens",
        ("system", "CPU s", "sentences/CPU s", "log10"),
        [(n, s, int(len(sentences) / s), total) for n, s, total in rows],
    )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if len(arguments) < 2:
        sys.exit("usage: python benchmarks/lookups.py STORE MODEL [TEXT] [--whole] [--score]")
    main(arguments[0], arguments[1], Path(arguments[2]) if len(arguments) > 2 else novels(10_000_000))
