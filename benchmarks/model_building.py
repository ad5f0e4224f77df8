"""Build an order-5 Kneser-Ney model of 10M tokens, ingestion included, against KenLM's lmplz on the same text.

lmplz counts, smooths and throws its ARPA file away here. `sentgen ingest` stores text and counts, and
`sentgen models build` stores the model, sorted for look-ups. Each runs as a whole process, turn by turn; ratios
are taken round by round. The first round, in which kernels may be compiled, is not counted.
"""

from __future__ import annotations

import statistics
import sys

from harness import OUT, SENTGEN, fresh, lmplz, measure, megabytes, novels, show

ROUNDS = 3
LIMIT = "2GB"
TARGET = 1.5


def main(tokens: int) -> None:
    text, rival = novels(tokens), lmplz()
    rows: list[tuple[object, ...]] = []
    ratios = []
    for number in range(ROUNDS + 1):
        store = fresh("model-building")
        options = ["--db", str(store), "--memory-limit", LIMIT]
        steps = {
            "ingest": ["ingest", str(text), "--corpus", "novels", "--format", "lines"],
            "models build": ["models", "build", "m", "--corpus", "novels", "--order", "5"],
        }
        ours = 0.0
        for name, arguments in steps.items():
            used = measure([SENTGEN, *arguments, *options])
            ours += used.cpu
            size = megabytes(store.stat().st_size)
            rows.append((f"{number}: sentgen {name}", used.cpu, used.wall, megabytes(used.peak), size))
        if rival:
            command = [rival, "-o", "5", "-S", "2G", "-T", str(OUT / "lmplz"), "--arpa", "/dev/null"]
            theirs = measure(command, stdin=text)
            rows.append((f"{number}: lmplz -o 5", theirs.cpu, theirs.wall, megabytes(theirs.peak), ""))
            if number:
                ratios.append(ours / theirs.cpu)
    columns = ("process", "CPU s", "wall s", "peak MB", "store MB")
    show(f"A Kneser-Ney model of order 5 of {tokens:,} tokens", columns, rows)
    if ratios:
        ratio = statistics.median(ratios)
        print(f"ingest and build: CPU / CPU of lmplz: median {ratio:.2f} (target at most {TARGET})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
