"""Ingest the same text as CoNLL-U and as a vertical file, in turn: a token must cost no more.

``python benchmarks/vertical_ingestion.py FILE COLUMNS`` ingests a vertical file of yours instead, such as one of ten
million tokens with the columns ``word,pos,lemma``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from harness import OUT, SENTGEN, data, fresh, measure, megabytes, show

ROUNDS = 5
FILE = "ud/en_ewt-ud-train.conllu"
#: Columns of CoNLL-U that the smaller pair of files keeps: FORM, XPOS and LEMMA are the usual ones.
_USUAL = (0, 1, 2, 4)


def main(arguments: list[str]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    if arguments:
        _ingest(*arguments)
    else:
        _compare()


def _ingest(file: str, columns: str) -> None:
    """Ingest a file again and again."""
    rows: list[tuple[object, ...]] = []
    for number in range(1, ROUNDS + 1):
        store = fresh("vertical")
        run = measure([SENTGEN, "ingest", file, "--columns", columns, "--corpus", "x", "--db", str(store)])
        told = re.search(r"tokens +([\d,]+)", run.output)
        tokens = told[1] if told else ""
        stored = megabytes(store.stat().st_size)
        rows.append((f"{Path(file).name} {number}", tokens, run.cpu, run.wall, megabytes(run.peak), stored))
    show("a vertical file", ("file", "tokens", "CPU s", "wall s", "peak MB", "stored MB"), rows)


def _compare() -> None:
    # Without what a vertical file has no place for: ranges, empty nodes, enhanced edges.
    trees = OUT / "trees.conllu"
    trees.write_text(_rows(data(FILE).read_text("utf-8"), {8}), "utf-8")
    tagged = OUT / "tagged.conllu"
    tagged.write_text(_rows(trees.read_text("utf-8"), {*range(9)} - {*_USUAL}), "utf-8")
    rows: list[tuple[object, ...]] = []
    told: list[str] = []
    for conllu in (trees, tagged):
        vertical = conllu.with_suffix(".vert")
        store = str(fresh("vertical"))
        measure([SENTGEN, "ingest", str(conllu), "--corpus", "x", "--db", store])
        export = ["corpora", "export", "x", "--format", "vertical", "--to", str(vertical), "--db", store]
        measure([SENTGEN, *export])
        tokens = sum(not line.startswith("<") for line in vertical.read_text("utf-8").splitlines())
        found: dict[str, list[float]] = {}
        for number in range(1, ROUNDS + 1):
            for path in (conllu, vertical):
                store = str(fresh("vertical"))
                run = measure([SENTGEN, "ingest", str(path), "--corpus", "x", "--db", store])
                found.setdefault(path.suffix, []).append(run.cpu)
                rate = int(tokens / run.wall)
                rows.append((f"{path.name} {number}", run.cpu, run.wall, rate, megabytes(run.peak)))
        least = {suffix: min(times) for suffix, times in found.items()}
        told.append(
            f"{conllu.stem}, {tokens:,} tokens, shortest of {ROUNDS}: CoNLL-U {least['.conllu']:.2f} CPU s,"
            f" vertical {least['.vert']:.2f}, {least['.conllu'] / least['.vert']:.2f} times as fast (target: 1)"
        )
    show("vertical files against CoNLL-U", ("file", "CPU s", "wall s", "tokens/s", "peak MB"), rows)
    print(*told, sep="\n")


def _rows(text: str, without: set[int]) -> str:
    """Return CoNLL-U without ranges and empty nodes, and with `_` in some columns."""
    lines = []
    for line in text.split("\n"):
        fields = line.split("\t")
        if len(fields) == 10 and not fields[0].isdigit():
            continue
        if len(fields) == 10:
            fields = ["_" if number in without else value for number, value in enumerate(fields)]
            # Keys of MISC would be columns, 21 of them, which are nearly always empty.
            fields[9] = "SpaceAfter=No" if "SpaceAfter=No" in fields[9] else "_"
        lines.append("\t".join(fields))
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
