"""Score a text with a stored model of 3M tokens, against the `kenlm` module with the same model.

Both are whole processes that load the model, score every sentence, and print the sum of log10; they take turns.
KenLM loads a binary file, which takes no time, and once more the ARPA file that it is made of. Without the
module or a C++ compiler, only sentgen is measured. ``python benchmarks/scoring.py [SENTENCES ...]``: sentences
are those of novels behind the first 3M tokens, from the beginning again if they are too few.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
from collections import defaultdict
from itertools import cycle, islice
from pathlib import Path

from harness import OUT, SENTGEN, build_binary, fresh, measure, megabytes, novels, show

TOKENS, MORE = 3_000_000, 10_000_000
ROUNDS = 3
_KENLM = """
import sys, kenlm
model = kenlm.Model(sys.argv[1])
print(sum(model.score(line) for line in open(sys.argv[2], encoding="utf-8")))
"""


def main(sizes: list[int]) -> None:
    store, arpa = model_of(novels(TOKENS))
    builder = build_binary() if importlib.util.find_spec("kenlm") else None
    peers = {"kenlm, binary file": arpa.with_suffix(".binary"), "kenlm, ARPA file": arpa} if builder else {}
    if builder:
        measure([builder, str(arpa), str(arpa.with_suffix(".binary"))])
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
        ratios = defaultdict[str, list[float]](list)
        for number in range(ROUNDS + 1):
            used = measure(ours)
            rows.append((f"{number}: sentgen", size, used.cpu, used.wall, megabytes(used.peak)))
            for name, file in peers.items():
                other = measure([sys.executable, "-c", _KENLM, str(file), str(text)])
                rows.append((f"{number}: {name}", size, other.cpu, other.wall, megabytes(other.peak)))
                if number:  # the first round may compile
                    ratios[name].append(used.cpu / other.cpu)
        for name, found in ratios.items():
            print(f"{size:,} sentences: CPU / CPU of {name}: median {statistics.median(found):.2f}")
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
