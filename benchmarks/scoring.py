"""Score a text with a stored model of 10M tokens and order 5, against the `kenlm` module with the same model.

In one session, calls of both take turns, each with other sentences. New processes load the model, score every
sentence, and print the sum of log10, or sentgen a line of CSV for each sentence; they take turns, too. The
first process of sentgen lays the model out, those after it map it. KenLM loads a binary file, which takes no
time, and once the ARPA file that it is made of. Without the module or a C++ compiler, only sentgen is measured.
``python benchmarks/scoring.py [TOKENS [ORDER]]``: sentences are those of novels behind the first TOKENS, from
the beginning again if they are too few.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from harness import OUT, SENTGEN, build_binary, fresh, measure, megabytes, novels, show

TOKENS, ORDER, MORE = 10_000_000, 5, 20_000_000
CALLS = {1: 40, 10: 20, 100: 10, 16_000: 3}
PROCESSES = (16_000, 772_000)
ROUNDS = 3
_KENLM = """
import sys, kenlm
model = kenlm.Model(sys.argv[1])
print(sum(model.score(line) for line in open(sys.argv[2], encoding="utf-8")))
"""


def main(tokens: int = TOKENS, order: int = ORDER) -> None:
    store, arpa = model_of(tokens, order)
    sentences = new_sentences(tokens)
    builder = build_binary() if importlib.util.find_spec("kenlm") else None
    binary = arpa.with_suffix(".binary") if builder else None
    if builder:
        measure([builder, str(arpa), str(binary)])
    rows = list[tuple[object, ...]]()
    for size in PROCESSES:
        rows += processes(text_of(sentences, size), size, store, arpa if builder else None)
    show(
        f"New processes, a model of {tokens:,} tokens and order {order}",
        ("process", "sentences", "CPU s", "wall s", "peak MB"),
        rows,
    )
    show(
        "Calls in a session, CPU ms",
        ("sentences", "sentgen: least", "median", "kenlm: least", "median"),
        list(sessions(sentences, store, binary)),
    )


def model_of(tokens: int, order: int) -> tuple[Path, Path]:
    """Build the model, and write it as ARPA file."""
    store, arpa = fresh("scoring"), OUT / "scoring.arpa"
    for arguments in (
        ["ingest", str(novels(tokens)), "--corpus", "novels", "--format", "lines"],
        ["models", "build", "m", "--corpus", "novels", "--order", str(order)],
        ["models", "export", "m", "--arpa", str(arpa)],
    ):
        measure([SENTGEN, *arguments, "--db", str(store)])
    return store, arpa


def new_sentences(tokens: int) -> list[str]:
    """Return sentences that the model has not seen."""
    seen = sum(1 for _ in novels(tokens).open(encoding="utf-8"))
    with novels(MORE).open(encoding="utf-8") as lines:
        return list(islice(lines, seen, None))


def text_of(sentences: Sequence[str], size: int) -> Path:
    """Write so many sentences."""
    path = OUT / f"scoring-{size}.txt"
    path.write_text("".join(islice(cycle(sentences), size)), "utf-8")
    return path


def processes(text: Path, size: int, store: Path, arpa: Path | None) -> list[tuple[object, ...]]:
    """Measure new processes in turns; the first round may compile, and lays the model out."""
    score = [SENTGEN, "score", "--model", "m", "--file", str(text), "--csv", "--db", str(store)]
    commands = {"sentgen, totals": [*score, "--totals"], "sentgen, CSV": score}
    if arpa:
        for name, file in (("binary", arpa.with_suffix(".binary")), ("ARPA", arpa)):
            commands[f"kenlm, {name}"] = [sys.executable, "-c", _KENLM, str(file), str(text)]
    rows, taken = list[tuple[object, ...]](), {name: list[float]() for name in commands}
    for number in range(ROUNDS + 1):
        for name, command in commands.items():
            if name == "kenlm, ARPA" and number > 1:
                continue
            used = measure(command)
            rows.append((f"{number}: {name}", size, used.cpu, used.wall, megabytes(used.peak)))
            if number:
                taken[name].append(used.cpu)
    for name in list(commands)[:2] if arpa else ():
        ratios = [one / other for one, other in zip(taken[name], taken["kenlm, binary"], strict=True)]
        print(f"{size:,} sentences, {name}: CPU / CPU of kenlm, binary: {statistics.median(ratios):.2f}")
    return rows


def sessions(sentences: Sequence[str], store: Path, binary: Path | None) -> list[tuple[object, ...]]:
    """Measure calls in turns."""
    import sentgen

    with sentgen.open(store, read_only=True) as db:
        scorers: list[Callable[[Sequence[str]], Any]] = [db.model("m").score]
        if binary:
            import kenlm

            score = kenlm.Model(str(binary)).score
            scorers.append(lambda part: [score(line) for line in part])
        following = cycle(line.rstrip("\n") for line in sentences)
        rows = list[tuple[object, ...]]()
        for size, calls in CALLS.items():
            taken = [list[float]() for _ in scorers]
            for _ in range(calls):
                part = list(islice(following, size))
                for own, scorer in zip(taken, scorers, strict=True):
                    began = time.process_time()
                    scorer(part)
                    own.append((time.process_time() - began) * 1000)
            told = [figure for own in taken for figure in (min(own), statistics.median(own))]
            rows.append((size, *told, *[""] * (4 - len(told))))
    return rows


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
