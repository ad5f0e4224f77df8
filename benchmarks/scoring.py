"""Score a text with a stored model of 3M tokens, against the `kenlm` module with the same model as ARPA file.

Both are whole processes that load the model, score every sentence, and print the sum of log10; they take turns.
KenLM reads its text format, which takes most of its time where the text is short: what it needs to read it is
measured by itself, and taken off for a second ratio, as a binary file is loaded at once. Without the module,
only sentgen is measured. ``python benchmarks/scoring.py [SENTENCES ...]``: sentences are those of novels behind
the first 3M tokens, from the beginning again if they are too few.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
from itertools import cycle, islice
from pathlib import Path

from harness import OUT, SENTGEN, fresh, measure, megabytes, novels, show

TOKENS, MORE = 3_000_000, 10_000_000
ROUNDS = 3
TARGET = 2.0
_KENLM = """
import sys, kenlm
model = kenlm.Model(sys.argv[1])
print(sum(model.score(line) for line in open(sys.argv[2], encoding="utf-8")))
"""


def main(sizes: list[int]) -> None:
    store, arpa = model_of(novels(TOKENS))
    there = importlib.util.find_spec("kenlm") is not None
    rows: list[tuple[object, ...]] = []
    for size in sizes:
        text = text_of(size)
        ours = [
            SENTGEN,
            "score",
            "--model",
            "m",
            "--file",
            str(text),
            "--totals",
            "--csv",
            "--db",
            str(store),
        ]
        theirs = [sys.executable, "-c", _KENLM, str(arpa), str(text)]
        reading = [sys.executable, "-c", _KENLM, str(arpa), "/dev/null"]
        ratios, without = [], []
        for number in range(ROUNDS + 1):
            used = measure(ours)
            rows.append((f"{number}: sentgen", size, used.cpu, used.wall, megabytes(used.peak)))
            if there:
                other, load = measure(theirs), measure(reading)
                rows.append((f"{number}: kenlm", size, other.cpu, other.wall, megabytes(other.peak)))
                rows.append((f"{number}: of which reading", size, load.cpu, load.wall, megabytes(load.peak)))
                if number:  # the first round may compile
                    ratios.append(used.cpu / other.cpu)
                    without.append(used.cpu / max(other.cpu - load.cpu, 0.01))
        if ratios:
            print(
                f"{size:,} sentences: CPU / CPU of kenlm: median {statistics.median(ratios):.2f} (target {TARGET}),"
                f" without its reading of the model {statistics.median(without):.2f}"
            )
    show(
        f"Scores by a model of {TOKENS:,} tokens",
        ("process", "sentences", "CPU s", "wall s", "peak MB"),
        rows,
    )


def model_of(text: Path) -> tuple[Path, Path]:
    """Build the model, and write it as ARPA file."""
    store, arpa = fresh("scoring"), OUT / "scoring.arpa"
    for arguments in (
        ["ingest", str(text), "--corpus", "novels", "--format", "lines"],
        ["models", "build", "m", "--corpus", "novels", "--order", "3"],
        ["models", "export", "m", "--arpa", str(arpa)],
    ):
        measure([SENTGEN, *arguments, "--db", str(store)])
    return store, arpa


def text_of(size: int) -> Path:
    """Write so many sentences that the model has not seen."""
    seen = sum(1 for _ in novels(TOKENS).open(encoding="utf-8"))
    with novels(MORE).open(encoding="utf-8") as lines:
        new = list(islice(lines, seen, None))
    path = OUT / f"scoring-{size}.txt"
    path.write_text("".join(islice(cycle(new), size)), "utf-8")
    return path


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [16_352, 1_000_000])
