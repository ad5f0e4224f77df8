"""Questions to a large store of plain text, under a limit of 1 GB; with two checkouts, each by both in turn.

python benchmarks/lookups_large.py [TOKENS or STORE] [--before CHECKOUT]
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness import ROOT, SENTGEN, fresh, measure, megabytes, resampled, show

LIMIT = "1GB"
QUESTIONS = (
    ("kwic", "stormy night"),
    ("kwic", "stormy night", "--random", "1"),
    ("kwic", "stormy night", "--limit", "0"),
    ("kwic", "stormy"),
    ("kwic", "stormy * , *"),
    ("kwic", "of the"),
    ("kwic", "Stormy Night", "--ignore-case", "--sort", "left"),
    ("ngrams", "stormy *"),
    ("freq",),
    ("freq", "--ignore-case"),
    ("freq", "--query", '"stormy"', "--by", "document"),
    ("freq", "--query", "[] []", "--by", "word"),
    ("freq", "--query", "[] [] []", "--by", "word"),
)


def store_of(tokens: int) -> Path:
    """Ingest resampled novels."""
    store = fresh("lookups-large")
    text = str(resampled(tokens))
    options = ["--db", str(store), "--memory-limit", "2GB", "--format", "lines"]
    used = measure([SENTGEN, "ingest", text, "--corpus", "big", *options])
    print(f"ingested in {used.cpu:.1f} CPU s, {megabytes(store.stat().st_size)} MB")
    return store


def main(asked: str, checkouts: list[Path]) -> None:
    store = Path(asked) if Path(asked).exists() else store_of(int(asked))
    rows: list[tuple[object, ...]] = []
    for words in QUESTIONS:
        for checkout in checkouts:
            command = [sys.executable, str(checkout / "cli.py"), *words, "--csv"]
            # Not the first time, which waits for the disk.
            for _ in range(2):
                used = measure([*command, "--db", str(store), "--memory-limit", LIMIT])
            rows.append((" ".join(words), checkout.name, used.cpu, used.wall, megabytes(used.peak)))
    show(f"{store.name}, limit {LIMIT}", ("question", "checkout", "CPU s", "wall s", "peak MB"), rows)


if __name__ == "__main__":
    asked, *others = [argument for argument in sys.argv[1:] if argument != "--before"] or ["100000000"]
    main(asked, [*map(Path, others), ROOT])
