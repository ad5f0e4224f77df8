"""Word aligners on pairs of the size of the 2004 paper: training and aligning, whole processes.

``python benchmarks/align_baselines.py [--pairs FILE.jsonl] [SYSTEM ...]``. Without a file: the 978 abstracts of
ScisummNet and the first 1,022 of SumPubMed, the first sentences of each document with 500 words (the paper's
pairs have 511 and 129 words). eflomal, fast_align and MGIZA run where they are installed; what is not is said.
CPU time is that of the process and its children, memory the peak of the largest of them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import sys
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from harness import OUT, data, measure, megabytes, show

from sentgen.alignment import Pair
from sentgen.alignment.systems import SYSTEMS, aligner_named
from sentgen.alignment.texts import read_pairs
from sentgen.corpus.pair_readers import PairSettings
from sentgen.errors import InputError

WORDS, SIZE = 500, 2_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("systems", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--alone", action="store_true", help="align with one system in this process")
    given = parser.parse_args()
    path = given.pairs or tokenized()
    if given.alone:
        links = sum(len(alignment.links) for alignment in aligner_named(given.systems[0]).align(load(path)))
        print(f"{links} links")
        return
    compare(given.systems, path)


def compare(systems: Sequence[str], path: Path) -> None:
    """Train each system on the pairs of a file in a process of its own, and show what it took."""
    rows = []
    reading = measure([sys.executable, __file__, "--alone", "--pairs", str(path), "lcs:n=1000"]).cpu
    for system in systems:
        try:
            aligner_named(system)
        except InputError as error:
            print(f"{system}: {error}")
            continue
        used = measure([sys.executable, __file__, "--alone", "--pairs", str(path), system])
        rows.append((system, used.cpu, max(used.cpu - reading, 0.0), used.wall, megabytes(used.peak)))
        print(f"{system}: {used.cpu:.1f} CPU s, {used.output.strip()}", flush=True)
    pairs = load(path)
    document = sum(len(pair.document) for pair in pairs) / len(pairs)
    abstract = sum(len(pair.abstract) for pair in pairs) / len(pairs)
    show(
        f"{len(pairs):,} pairs of {document:.0f} x {abstract:.0f} words",
        ("system", "CPU s", "less reading", "wall s", "peak MB"),
        rows,
    )


def tokenized(size: int = SIZE) -> Path:
    """Write the pairs as JSON lines of sentences of words, once, and return the file."""
    path = OUT / f"pairs-{size}-{WORDS}.jsonl"
    if not path.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        raw, draft = OUT / "pairs-raw.jsonl", path.with_suffix(".draft")
        with (
            gzip.open(data("pairs/scisummnet.jsonl.gz"), "rt") as one,
            lzma.open(data("pairs/sumpubmed-2000.jsonl.xz"), "rt") as other,
            open(raw, "w") as sink,
        ):
            sink.writelines(islice(chain(one, other), size))
        with open(draft, "w") as sink:
            for pair in read_pairs(
                str(raw), settings=PairSettings(document_words=WORDS, replace_controls=True)
            ):
                sink.write(json.dumps([pair.key, *map(list, _sentences(pair))]) + "\n")
        raw.unlink()
        draft.rename(path)
    return path


def _sentences(pair: Pair) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    sides = ((pair.document, pair.document_starts), (pair.abstract, pair.abstract_starts))
    document, abstract = (
        [words[start:end] for start, end in zip(starts, (*starts[1:], len(words)), strict=True)]
        for words, starts in sides
    )
    return document, abstract


def load(path: Path) -> list[Pair]:
    """Read the pairs back."""
    pairs = []
    with open(path) as lines:
        for line in lines:
            key, document, abstract = json.loads(line)
            starts = [[sum(map(len, side[:i])) for i in range(len(side))] for side in (document, abstract)]
            words = [tuple(chain.from_iterable(side)) for side in (document, abstract)]
            pairs.append(Pair(key, words[0], words[1], tuple(starts[0]), tuple(starts[1])))
    return pairs


if __name__ == "__main__":
    main()
