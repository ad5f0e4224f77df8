"""What commits cost: 10M tokens at once, 1,000 small files at once and one by one, and a model over them.

Run it in two checkouts, one beside the other, to compare how they commit.
"""

from __future__ import annotations

import shutil
import sys
from itertools import islice
from pathlib import Path

from harness import OUT, SENTGEN, Usage, fresh, measure, megabytes, novels, show

LIMIT = "2GB"


def small_files(files: int, lines: int = 20) -> Path:
    """Write so many files of a few lines each into a folder."""
    folder = OUT / f"small-{files}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with novels(1_000_000).open(encoding="utf-8") as text:
        for number in range(files):
            (folder / f"{number:05}.lines").write_text("".join(islice(text, lines)), encoding="utf-8")
    return folder


def main(tokens: int, files: int) -> None:
    store = fresh("commits")
    ingest = [SENTGEN, "ingest", "--db", str(store), "--memory-limit", LIMIT, "--format", "lines"]
    folder = small_files(files)
    one_by_one = sorted(folder.iterdir())[: files // 100]
    steps: list[tuple[str, list[list[str]]]] = [
        (f"ingest {tokens:,} tokens", [[*ingest, "--corpus", "big", str(novels(tokens))]]),
        (f"ingest {files:,} small files", [[*ingest, "--corpus", "small", str(folder)]]),
        (
            f"ingest {len(one_by_one)} small files, a command each",
            [[*ingest, "--corpus", "single", str(path)] for path in one_by_one],
        ),
        (
            "build a model of order 3",
            [
                [SENTGEN, "models", "build", "m", "--corpus", "small", "--order", "3", "--db", str(store)],
            ],
        ),
        (
            "remove the small files",
            [[SENTGEN, "corpora", "remove", "small", "--yes", "--db", str(store)]],
        ),
    ]
    rows = []
    for name, commands in steps:
        used = [measure(command) for command in commands]
        rows.append((name, *_sums(used), megabytes(store.stat().st_size)))
    show(f"Commits, limit {LIMIT}", ("step", "CPU s", "wall s", "peak MB", "store MB"), rows)


def _sums(used: list[Usage]) -> tuple[float, float, int]:
    return sum(u.cpu for u in used), sum(u.wall for u in used), megabytes(max(u.peak for u in used))


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(*(numbers or [10_000_000, 1_000]))
