"""(c) Ingest CoNLL-U, everything stored and counted, against the `conllu` library that only parses."""

from __future__ import annotations

import statistics
import sys

from harness import OUT, SENTGEN, data, fresh, measure, megabytes, show

ROUNDS = 3
FILES = ("ud/en_ewt-ud-train.conllu", "ud/en_gum-ud-train.conllu")
_PARSE = """
import sys, conllu
tokens = 0
with open(sys.argv[1], encoding="utf-8") as file:
    for sentence in conllu.parse_incr(file):
        tokens += sum(isinstance(token["id"], int) for token in sentence)
print(tokens)
"""


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[object, ...]] = []
    ratios = []
    for name in FILES:
        path = str(data(name))
        measure([SENTGEN, "ingest", path, "--corpus", "w", "--db", str(fresh("warm-up"))])
        for number in range(1, ROUNDS + 1):
            store = fresh("conllu")
            ours = measure([SENTGEN, "ingest", path, "--corpus", "ud", "--db", str(store)])
            theirs = measure([sys.executable, "-c", _PARSE, path])
            tokens = int(theirs.output)
            rows.append(
                (
                    f"{path.rsplit('/')[-1]} {number}: sentgen ingest",
                    ours.cpu,
                    ours.wall,
                    int(tokens / ours.wall),
                    megabytes(ours.peak),
                )
            )
            rows.append(
                (
                    f"{path.rsplit('/')[-1]} {number}: conllu parses",
                    theirs.cpu,
                    theirs.wall,
                    int(tokens / theirs.wall),
                    megabytes(theirs.peak),
                )
            )
            ratios.append((theirs.wall / ours.wall, theirs.cpu / ours.cpu))
    show(
        "CoNLL-U: stored and counted against parsed",
        ("process", "CPU s", "wall s", "tokens/s", "peak MB"),
        rows,
    )
    print(
        f"times as fast as conllu's parse: median {statistics.median(r[0] for r in ratios):.2f} by wall clock, {statistics.median(r[1] for r in ratios):.2f} by CPU (target over 1)"
    )


if __name__ == "__main__":
    main()
