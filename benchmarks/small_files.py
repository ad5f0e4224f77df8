"""Many small files: ingested, once more with nothing changed, and one of them alone. ``python benchmarks/small_files.py``.

What a file costs that has not changed is the difference of the last two, each a process of its own.
"""

from __future__ import annotations

import random
import shutil

from harness import OUT, SENTGEN, fresh, measure, megabytes, show

FILES, FOLDER, WORDS = 8_000, 500, 12
_WORDS = ["the", "cat", "sat", "on", "a", "mat", "dog", "and", "bird", "in", "house", "of", "stone"]
#: CPU milliseconds wanted for a file that has not changed.
WANTED = 0.2


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    texts, rng = OUT / "small_files", random.Random(1)
    shutil.rmtree(texts, ignore_errors=True)
    for number in range(FILES):
        path = texts / f"{number // FOLDER:02d}" / f"{number:05d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{' '.join(rng.choices(_WORDS, k=WORDS))} number {number}.\n".capitalize())
    store = fresh("small_files")
    command = [SENTGEN, "ingest", "--corpus", "small", "--db", str(store)]
    new = measure([*command, str(texts)])
    one = measure([*command, str(texts / "00" / "00000.txt")])
    again = measure([*command, str(texts)])
    rows = [
        (what, run.cpu, run.wall, megabytes(run.peak))
        for what, run in ((f"{FILES:,} new", new), ("one of them again", one), ("all of them again", again))
    ]
    show("Small files", ("what", "CPU s", "wall s", "peak MB"), rows)
    print(f"{(again.cpu - one.cpu) / (FILES - 1) * 1000:.2f} ms for each unchanged file (wanted: {WANTED})")


if __name__ == "__main__":
    main()
