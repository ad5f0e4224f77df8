"""Word vectors: what building them takes, how well they tell what is akin, and what the aligner gains by them.

``python benchmarks/vectors.py STORE --wordnet DICT NAME=CORPUS+CORPUS[:OPTION=VALUE ...] ... [--aligner]``

STORE has the corpora, and stays as it is: vectors are built in a copy, by a process of their own. Similarity is
Spearman's correlation of the cosine with the path similarity of WordNet, over pairs of words that all of these
vectors have, as many pairs of each similarity; half of the words are for choosing options, the other half for
testing, and no pair has words of both. With ``--aligner``, F1 of `pbhmm` on the two halves of the development sets
(odd pairs for choosing, even ones for testing), without vectors and what is gained or lost with them.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from harness import OUT, SENTGEN, data, measure, megabytes, show
from scipy.stats import spearmanr

from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.words.wordnet import Synset, WordNet
from sentgen.evaluation.alignment.experiment import Target
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.models.vectors import WordVectors
from sentgen.schema import Store

#: Words of a part of speech, the most frequent first; pairs that are drawn, and those of each similarity.
_WORDS, _DRAWN, _EACH = 3_000, 200_000, 150
#: The most frequent senses of a word, and the longest path that is told from others.
_SENSES, _FAR = 3, 10
_PARTS = {"noun": "n", "verb": "v"}
SETS = (
    ("RTE-2", "rte2", "rte"),
    ("Edinburgh++", "edinburgh/gold.train.sure+poss.json", "edinburgh"),
    ("MTRef", "mtref/mt-reference.dev.json", "mtref"),
    ("wiki", "multimwa-wiki/wiki-dev.tsv", "multimwa"),
)
_HALVES = ("choosing", "testing")


class Paths:
    """Path similarity in WordNet: one over the nodes of the shortest way by hypernyms, of frequent senses."""

    def __init__(self, folder: Path) -> None:
        self.net = WordNet(folder)
        self._above = cache(self._climbed)
        self.senses = cache(self._senses)

    def _senses(self, word: str, part: str) -> tuple[Synset, ...]:
        found = self.net._index[part].get(word, [])
        return tuple((_PARTS[part], offset) for offset in found[:_SENSES])

    def is_mainly(self, word: str, part: str) -> bool:
        """Say whether a word has more senses as this part of speech than as the other one; nouns if as many."""
        nouns, verbs = (len(self.net._index[each].get(word, ())) for each in _PARTS)
        return nouns >= max(verbs, 1) if part == "noun" else verbs > nouns

    def _climbed(self, synset: Synset) -> Mapping[Synset, int]:
        """Return all that a synset is a kind of, with the steps to it; all have a root in common."""
        steps, queue = {synset: 0}, [synset]
        for one in queue:
            fields = self.net._data[one].partition("|")[0].split()
            first = 4 + 2 * int(fields[3], 16)
            for k in range(int(fields[first])):
                symbol, offset, letter, _ = fields[first + 1 + 4 * k : first + 5 + 4 * k]
                if symbol in ("@", "@i") and (letter, int(offset)) not in steps:
                    steps[letter, int(offset)] = steps[one] + 1
                    queue.append((letter, int(offset)))
        steps["root", 0] = max(steps.values()) + 1
        return steps

    def nodes(self, word: str, other: str, part: str) -> int:
        """Return how many nodes the shortest way has; 1 for synonyms."""
        ways = (
            steps + self._above(second)[above]
            for first in self.senses(word, part)
            for second in self.senses(other, part)
            for above, steps in self._above(first).items()
            if above in self._above(second)
        )
        return 1 + min(ways)


def pairs(paths: Paths, words: Sequence[str], part: str, half: int) -> list[tuple[str, str, float]]:
    """Return pairs of words of one half with their similarity, at most so many of each."""
    fit = [word for word in words if word.isalpha() and len(word) > 2 and paths.is_mainly(word, part)]
    own = [word for word in fit[:_WORDS] if zlib.crc32(word.encode()) % 2 == half]
    draw, found = random.Random(1), dict[int, set[tuple[str, str]]]()
    for _ in range(_DRAWN):
        word, other = sorted(draw.sample(own, 2))
        some = found.setdefault(min(_FAR, paths.nodes(word, other, part)), set())
        if len(some) < _EACH:
            some.add((word, other))
    return [(*pair, 1 / nodes) for nodes in sorted(found) for pair in sorted(found[nodes])]


def correlation(vectors: WordVectors, judged: Sequence[tuple[str, str, float]]) -> float:
    """Return Spearman's correlation of cosines with similarities."""
    left, right = (vectors.vectors[vectors.numbers(words)] for words in list(zip(*judged, strict=True))[:2])
    return float(spearmanr((left * right).sum(axis=1), [similarity for *_, similarity in judged])[0])


def built(store: Path, specs: Sequence[str]) -> list[WordVectors]:
    """Build the vectors in a copy of the store, and show what that took."""
    OUT.mkdir(parents=True, exist_ok=True)
    draft = OUT / "vectors.duckdb"
    shutil.copy(store, draft)
    rows = []
    for spec in specs:
        name, _, (corpora, *options) = (*spec.partition("=")[:2], spec.partition("=")[2].split(":"))
        command = [SENTGEN, "vectors", "build", name, "--db", str(draft), "--memory-limit", "4GB"]
        command += [word for corpus in corpora.split("+") for word in ("--corpus", corpus)]
        command += [f"--{option}" for option in options]
        used = measure(command)
        told = used.output.strip().splitlines()[-1].partition(": ")[2]
        rows.append((spec, told, round(used.cpu, 1), megabytes(used.peak)))
    show("Building, --memory-limit 4GB", ("vectors", "of", "CPU s", "peak MB"), rows)
    with Store(draft, read_only=True) as opened:
        found = [WordVectors.load(opened, spec.partition("=")[0]) for spec in specs]
    draft.unlink()
    return found


def similarity(found: Sequence[WordVectors], folder: Path) -> None:
    """Show the correlations, over words that all vectors have."""
    paths = Paths(folder)
    words = [word for word in found[0].rows if all(word in one.rows for one in found)]
    judged = {(part, half): pairs(paths, words, part, half) for part in _PARTS for half in (0, 1)}
    rows = [(one.name, *(f"{correlation(one, some):.3f}" for some in judged.values())) for one in found]
    names = [f"{part}s, {_HALVES[half]} ({len(some)})" for (part, half), some in judged.items()]
    show(f"Spearman, {len(words):,} words in common", ("vectors", *names), rows)


def alignment(found: Sequence[WordVectors], folder: Path) -> None:
    """Show F1 without vectors, and what changes with them."""
    golds = {name: read_gold(str(data(f"alignment/{path}")), form) for name, path, form in SETS}
    targets = {
        (half, name): Target(replace(gold, pairs=gold.pairs[half::2]))
        for half in (0, 1)
        for name, gold in golds.items()
    }
    base, rows = PhraseHmm.untrained("best"), []
    for wordnet in (None, folder):
        os.environ.pop("SENTGEN_WORDNET", None)
        if wordnet is not None:
            os.environ["SENTGEN_WORDNET"] = str(wordnet)
        with_net = "with WordNet" if wordnet else "without WordNet"
        before = scores(base, targets)
        rows.append((f"{with_net}, no vectors", *(f"{value:.2f}" for value in before)))
        for one in found:
            after = scores(replace(base, vectors=one), targets)
            rows.append((f"{with_net}, {one.name}", *(f"{value:+.2f}" for value in after - before)))
    show("F1 of pbhmm, and what vectors change", ("", *(f"{n}, {_HALVES[h]}" for h, n in targets)), rows)


def scores(aligner: PhraseHmm, targets: Mapping[tuple[int, str], Target]) -> np.ndarray:
    """Return F1 in per cent on each target."""
    answers = (target.measure(list(aligner.align(target.pairs))) for target in targets.values())
    return np.array([100 * one["f1"].value for one in answers])


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("specs", nargs="+", metavar="NAME=CORPUS+CORPUS[:OPTION=VALUE]")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's database files")
    parser.add_argument("--aligner", action="store_true")
    given = parser.parse_args()
    found = built(given.store, given.specs)
    similarity(found, given.wordnet)
    if given.aligner:
        alignment(found, given.wordnet)


if __name__ == "__main__":
    main()
