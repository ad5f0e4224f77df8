"""(a) Count the n-grams of orders 1 to 5 of 10M tokens into a store, against KenLM's lmplz on the same text.

lmplz counts, smooths and throws its ARPA file away here; sentgen reads, stores all tokens, counts, and keeps the
counts in the database. Each runs as a whole process, turn by turn; the ratio is taken pair by pair.
"""

from __future__ import annotations

import statistics
import sys

from harness import OUT, SENTGEN, fresh, lmplz, measure, megabytes, novels, show

ROUNDS = 3
LIMIT = "2GB"


def main(tokens: int) -> None:
    text = novels(tokens)
    rival = lmplz()
    warm_up = OUT / "warm-up.lines"
    warm_up.write_text("compile the kernels once .\n")
    measure([SENTGEN, "ingest", str(warm_up), "--corpus", "w", "--db", str(fresh("warm-up"))])
    rows: list[tuple[object, ...]] = []
    ratios = []
    for number in range(1, ROUNDS + 1):
        store = fresh("ngram-counting")
        ours = measure(
            [
                SENTGEN,
                "ingest",
                str(text),
                "--corpus",
                "novels",
                "--format",
                "lines",
                "--order",
                "5",
                "--db",
                str(store),
                "--memory-limit",
                LIMIT,
            ]
        )
        rows.append(
            (
                f"sentgen ingest, round {number}",
                ours.cpu,
                ours.wall,
                megabytes(ours.peak),
                megabytes(store.stat().st_size),
            )
        )
        if rival:
            theirs = measure(
                [rival, "-o", "5", "-S", "2G", "-T", str(OUT / "lmplz"), "--arpa", "/dev/null"], stdin=text
            )
            rows.append((f"lmplz -o 5, round {number}", theirs.cpu, theirs.wall, megabytes(theirs.peak), ""))
            ratios.append(ours.cpu / theirs.cpu)
    show(
        f"N-grams of orders 1-5 of {tokens:,} tokens",
        ("process", "CPU s", "wall s", "peak MB", "store MB"),
        rows,
    )
    if ratios:
        print(f"CPU of sentgen / CPU of lmplz: median {statistics.median(ratios):.2f} (target at most 0.60)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
