"""(b, d, e) 100M tokens under a limit of 2 GB; then 1 % more; then removal."""

from __future__ import annotations

import sys

from harness import SENTGEN, fresh, measure, megabytes, resampled, show

LIMIT = "2GB"


def main(tokens: int) -> None:
    big, small = resampled(tokens), resampled(tokens // 100, seed=2)
    store = fresh("large")
    options = ["--db", str(store), "--memory-limit", LIMIT, "--format", "lines"]
    rows: list[tuple[object, ...]] = []
    steps = [
        (f"(b) ingest {tokens:,} tokens", [SENTGEN, "ingest", str(big), "--corpus", "big", *options]),
        (
            f"(d) add {tokens // 100:,} tokens to it",
            [SENTGEN, "ingest", str(small), "--corpus", "big", *options],
        ),
        (
            f"    {tokens // 100:,} tokens as another corpus",
            [SENTGEN, "ingest", str(small), "--corpus", "small", *options],
        ),
        ("(e) remove the small corpus", [SENTGEN, "corpora", "remove", "small", "--yes", "--db", str(store)]),
        ("(e) remove the large corpus", [SENTGEN, "corpora", "remove", "big", "--yes", "--db", str(store)]),
    ]
    first = 0.0
    for name, command in steps:
        if name.startswith("(e) remove the large") and "--keep" in sys.argv:
            continue
        used = measure(command)
        first = first or used.cpu
        rows.append(
            (
                name,
                used.cpu,
                used.wall,
                f"{used.cpu / first:.1%}",
                megabytes(used.peak),
                megabytes(store.stat().st_size),
            )
        )
    show(
        f"A store of {tokens:,} tokens, limit {LIMIT}",
        ("step", "CPU s", "wall s", "of (b)", "peak MB", "store MB"),
        rows,
    )


if __name__ == "__main__":
    numbers = [argument for argument in sys.argv[1:] if argument.isdigit()]
    main(int(numbers[0]) if numbers else 100_000_000)
