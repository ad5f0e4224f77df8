"""Training the phrase-based HMM in the store on pairs of the size of the 2004 paper, under a memory limit.

``python benchmarks/align_training.py [--pairs N] [--iterations N] [--preset best] [--phrases N]
[--memory-limit 2GB] [--jobs N] [--systems eflomal,fast-align,...]``

The pairs: the 978 abstracts of ScisummNet and the first 1,022 of SumPubMed, the first sentences of each document
with 500 words (the paper's have 511 and 129 words). Each command is a process of its own; training begins with
laying out the tables, so that the figures of an iteration are those of two trainings of different length.
Then the word aligners that are installed are trained on the same pairs (`benchmarks/align_baselines.py`).
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import shutil
from itertools import chain, islice
from pathlib import Path

import align_baselines
from harness import OUT, SENTGEN, data, measure, megabytes, show


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--preset", default="best")
    parser.add_argument("--phrases", type=int, help="longest phrases; those of the preset if left out")
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--systems", default="", help="word aligners to train as well, with commas")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    store = ingested(given.pairs)
    rows = []
    for iterations in range(1, given.iterations + 1):
        draft = OUT / "align.duckdb"
        shutil.copy(store, draft)
        command = [
            *(SENTGEN, "align", "train", "--db", str(draft), "--pairs", "papers", "--model", "m"),
            *("--preset", given.preset, "--set", "both=false", "--iterations", str(iterations)),
            *("--memory-limit", given.memory_limit, "--jobs", str(given.jobs)),
        ]
        if given.phrases:
            longest = str(given.phrases)
            command += ["--max-doc-phrase", longest, "--max-abstract-phrase", longest]
        used = measure(command, limit=10_000)
        size = draft.stat().st_size
        rows.append((iterations, used.cpu, used.wall, megabytes(used.peak), megabytes(size)))
        print(used.output.strip().splitlines()[-1], flush=True)
    phrases = f", phrases of {given.phrases}" if given.phrases else ""
    show(
        f"{given.pairs:,} pairs, forward, preset {given.preset}{phrases}, --memory-limit {given.memory_limit}",
        ("iterations", "CPU s", "wall s", "peak MB", "store MB"),
        rows,
    )
    if given.systems:
        align_baselines.compare(given.systems.split(","), align_baselines.tokenized(given.pairs))


def ingested(size: int) -> Path:
    """Return a store with the pairs, made once."""
    store = OUT / f"papers-{size}.duckdb"
    if store.exists():
        return store
    OUT.mkdir(parents=True, exist_ok=True)
    raw, draft = OUT / f"papers-{size}.jsonl", OUT / f"papers-{size}.draft"
    draft.unlink(missing_ok=True)
    with (
        gzip.open(data("pairs/scisummnet.jsonl.gz"), "rt") as one,
        lzma.open(data("pairs/sumpubmed-2000.jsonl.xz"), "rt") as other,
        open(raw, "w") as sink,
    ):
        sink.writelines(islice(chain(one, other), size))
    options = ("--corpus", "papers", "--document-words", "500", "--replace-controls", "--db", str(draft))
    used = measure([SENTGEN, "pairs", "ingest", str(raw), *options])
    print(f"{used.output}ingested with {used.cpu:.1f} CPU s, peak {megabytes(used.peak)} MB", flush=True)
    raw.unlink()
    draft.rename(store)
    return store


if __name__ == "__main__":
    main()
