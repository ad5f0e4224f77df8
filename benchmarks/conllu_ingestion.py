"""(c) Ingest CoNLL-U, everything stored and counted, against the `conllu` library that only parses."""

from __future__ import annotations

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
    told: list[str] = []
    for name in FILES:
        path = str(data(name))
        measure([SENTGEN, "ingest", path, "--corpus", "w", "--db", str(fresh("warm-up"))])
        ours, theirs = [], []
        for _ in range(ROUNDS):
            store = fresh("conllu")
            ours.append(measure([SENTGEN, "ingest", path, "--corpus", "ud", "--db", str(store)]))
            theirs.append(measure([sys.executable, "-c", _PARSE, path]))
        tokens = int(theirs[0].output)
        file = path.rsplit("/")[-1]
        for what, runs in (("sentgen ingest", ours), ("conllu parses", theirs)):
            for number, run in enumerate(runs, 1):
                rate, peak = int(tokens / run.wall), megabytes(run.peak)
                rows.append((f"{file} {number}: {what}", run.cpu, run.wall, rate, peak))
        # What other work on the machine adds is in none of the shortest times, or in few.
        wall, cpu = (
            (min(getattr(run, time) for run in ours), min(getattr(run, time) for run in theirs))
            for time in ("wall", "cpu")
        )
        told.append(
            f"{file}, shortest of {ROUNDS}: {wall[0]:.2f} s against {wall[1]:.2f} by the clock,"
            f" {cpu[0]:.2f} against {cpu[1]:.2f} CPU s; {wall[1] / wall[0]:.2f} and {cpu[1] / cpu[0]:.2f}"
            " times as fast (target: 1)"
        )
    columns = ("process", "CPU s", "wall s", "tokens/s", "peak MB")
    show("CoNLL-U: stored and counted against parsed", columns, rows)
    print(*told, sep="\n")


if __name__ == "__main__":
    main()
