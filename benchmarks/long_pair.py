"""A long document with a summary: time and memory of `align text`, beside other checkouts.

    python benchmarks/long_pair.py [FOLDER ...]

Runs this checkout and others, in turn, on 20,000 words of novels and 300 words out of them, every fifth one
exchanged for another word of the document: the least CPU time and peak memory of the whole process, and CPU time
without its start, beside (in brackets) those of the last checkout.
"""

from __future__ import annotations

import gzip
import re
import sys
import time
from collections.abc import Sequence
from itertools import accumulate, pairwise, product

import numpy as np
from harness import OUT, ROOT, Usage, data, measure, megabytes, show

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.view.view import PairView

#: Words of the document and of the summary, runs, and times inside each run.
LONG, SHORT, RUNS, TIMES_INSIDE = 20_000, 300, 3, 20


def main(checkouts: Sequence[str]) -> None:
    """Show what a long document takes in each checkout, and how many times what it takes in the last one."""
    texts = long_texts()
    commands = {
        "inside": (__file__, "--inside"),
        "table": ("-m", "sentgen", "align", "text", *texts),
        "page": ("-m", "sentgen", "align", "text", *texts, "--html", str(OUT / "long.html")),
    }
    used = {(one, name): list[Usage]() for one, name in product(checkouts, commands)}
    # In turn, so that what else the machine does falls on all alike.
    for _, (one, name) in product(range(RUNS), used):
        python = ("env", f"PYTHONPATH={one}", sys.executable)
        used[one, name].append(measure([*python, *commands[name]]))
    rows = list[list[float]]()
    for one in checkouts:
        inside = np.array([run.output.split() for run in used[one, "inside"]], np.float64).min(axis=0)
        cpu, peak = (
            [min(getattr(run, figure) for run in used[one, name]) for name in ("table", "page")]
            for figure in ("cpu", "peak")
        )
        rows.append([*inside.tolist(), inside.sum(), *cpu, megabytes(max(peak))])
    told = [
        (one, *(f"{mine:.2f} ({mine / last:.2f})" for mine, last in zip(row, rows[-1], strict=True)))
        for one, row in zip(checkouts, rows, strict=True)
    ]
    columns = "checkout", "links ms", "view ms", "both ms", "table, CPU s", "page, CPU s", "peak MB"
    show(f"A document of {LONG:,} words and {SHORT} words of summary", columns, told)


def inside() -> None:
    """Print the CPU ms of aligning the long texts, and of all that is told of it, in this process."""
    document, abstract = (
        [tuple(line.split()) for line in (OUT / f"long-{name}.txt").read_text("utf-8").splitlines()]
        for name in ("document", "summary")
    )
    words, starts = zip(*(joined(lines) for lines in (document, abstract)), strict=True)
    pair, aligner = Pair("1", *words, *starts), PhraseHmm.untrained()
    times = list[tuple[float, float]]()
    for _ in range(TIMES_INSIDE):
        began = time.process_time()
        (answer,) = aligner.align([pair])
        linked = time.process_time()
        PairView.make(pair, answer)
        times.append((1000 * (linked - began), 1000 * (time.process_time() - linked)))
    print(*np.min(times, axis=0))


def joined(lines: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the words of sentences, and where these begin."""
    starts = accumulate((len(line) for line in lines[:-1]), initial=0)
    return tuple(word for line in lines for word in line), tuple(starts)


def long_texts() -> tuple[str, ...]:
    """Write a document and sentences of it in another order, every fifth word exchanged, and name them."""
    with gzip.open(data("text/english-novels-100.txt.gz"), "rt") as file:
        novels = re.findall(r"\w+|[^\w\s]", file.read(4_000_000))
    rng, document = np.random.default_rng(1), novels[:LONG]
    stops = [place for place, word in enumerate(document) if word == "."]
    sentences = [document[a + 1 : b + 1] for a, b in pairwise(stops) if 15 <= b - a <= 25]
    words = [word for one in rng.permutation(len(sentences)) for word in sentences[one]][:SHORT]
    for place in range(2, SHORT, 5):
        if words[place].isalpha():
            words[place] = document[rng.integers(LONG)]
    paths = OUT / "long-document.txt", OUT / "long-summary.txt"
    OUT.mkdir(parents=True, exist_ok=True)
    for path, of in zip(paths, (document, words), strict=True):
        path.write_text(" ".join(of).replace(" . ", " .\n"), "utf-8")
    return "--document", str(paths[0]), "--abstract", str(paths[1])


if __name__ == "__main__":
    if sys.argv[1:] == ["--inside"]:
        inside()
    else:
        main([str(ROOT), *sys.argv[1:]])
