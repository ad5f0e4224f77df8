"""Aligners tuned on gold links: in folds of each gold standard, and each on the others.

    python benchmarks/alignment_tuning.py NAME=FORMAT:PATH[,TEST_PATH] ... [--folds=5]
        [--folds-only | --cross-only | --worth]

A gold standard with a second path is tuned on the first and tested on the second, without folds. Prints a row a
measurement: macro precision, recall and F1 of `best` and of the tuned model, p of approximate randomization of
macro F1, and CPU seconds for tuning and CPU milliseconds a pair for aligning. ``--worth`` tunes in folds without
each group of features instead, and compares the rest with all of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from sentgen.alignment import Alignment
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.tuning import TuningExample, tune
from sentgen.alignment.phrase_hmm.weights import TEMPLATES
from sentgen.evaluation.alignment.gold import GoldStandard
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.evaluation.alignment.measures import measure
from sentgen.evaluation.figures.measurement import compare_all

#: Features that are left out together, by the beginnings of their names.
GROUPS = {
    "neighbors": ("words to", "next content", "content words before", "matches within"),
    "rivals": ("places of", "other matches", "context beside"),
    "relative position": ("relative position",),
    "class, shape": ("class of", "shape"),
    "related in WordNet": ("related in WordNet",),
    "seen in gold links": ("seen in",),
    "null": ("null:",),
    "runs, jumps": ("words of a copied run", "jump"),
}
FIGURES = ("macro-precision", "macro-recall", "macro-f1", "f1")


@dataclass(frozen=True, slots=True)
class Standard:
    """A gold standard: what is tuned on, and what is tested on."""

    name: str
    training: GoldStandard
    test: GoldStandard

    @classmethod
    def named(cls, text: str) -> Standard:
        """Read ``NAME=FORMAT:PATH[,TEST_PATH]``."""
        name, _, rest = text.partition("=")
        form, _, paths = rest.partition(":")
        training, _, test = paths.partition(",")
        gold = read_gold(training, form)
        return cls(name, gold, read_gold(test, form) if test else gold)


def examples(gold: GoldStandard) -> list[TuningExample]:
    """Return the pairs with the links of the annotators, combined as evaluations do."""
    return [
        TuningExample.of_links(one.pair, links.sure, links.possible)
        for one, links in zip(gold.pairs, gold.combined(), strict=True)
    ]


def in_folds(gold: GoldStandard, folds: int, without: tuple[str, ...] = ()) -> tuple[list[Alignment], float]:
    """Return the answer for each pair of a model tuned on the other folds, and CPU seconds of tuning.

    ``without`` are the beginnings of the names of features that are left out.
    """
    left_out = {one.name for one in TEMPLATES if one.name.startswith(without)} if without else set()
    of = examples(gold)
    answers: dict[int, Alignment] = {}
    cpu = 0.0
    for fold in range(folds):
        began = time.process_time()
        tuned = tune([one for n, one in enumerate(of) if n % folds != fold], without=left_out)
        cpu += time.process_time() - began
        places = range(fold, len(of), folds)
        found = tuned.aligner("tuned").align([of[n].pair for n in places])
        answers |= dict(zip(places, found, strict=True))
    return [answers[n] for n in range(len(of))], cpu


def show(label: str, gold: GoldStandard, answers: Sequence[Alignment], best: Sequence[Alignment]) -> None:
    """Print the figures of both, and how they differ."""
    pairs = [one.pair for one in gold.pairs]
    before, after = (measure(pairs, of, gold.combined()) for of in (best, answers))
    (differ,) = compare_all({"best": before["macro-f1"], "tuned": after["macro-f1"]}, seed=1)
    figures = (" ".join(f"{100 * of[name].value:6.2f}" for name in FIGURES) for of in (before, after))
    print(f"{label:<40} {'   '.join(figures)}   {differ.better:<5} p {differ.shuffle_p:.4f}", flush=True)


def aligned(aligner_name: str, aligner: object, gold: GoldStandard) -> list[Alignment]:
    """Return the answers of an aligner, and print what they took."""
    began = time.process_time()
    found = list(aligner.align([one.pair for one in gold.pairs]))  # type: ignore[attr-defined]
    spent = time.process_time() - began
    print(f"  {aligner_name}: {1000 * spent / len(found):.2f} CPU ms a pair", flush=True)
    return found


def worth(standards: Sequence[Standard], folds: int) -> None:
    """Print what is lost without each group of features; `best` stands for all of them here."""
    for one in standards:
        whole, _ = in_folds(one.training, folds)
        for name, group in GROUPS.items():
            show(f"{one.name} without {name}", one.training, in_folds(one.training, folds, group)[0], whole)


def main(words: Sequence[str]) -> None:
    """Run what is asked for."""
    folds = next((int(word.partition("=")[2]) for word in words if word.startswith("--folds=")), 5)
    standards = [Standard.named(word) for word in words if not word.startswith("--")]
    if "--worth" in words:
        print(f"{'':<40} all features: {' '.join(FIGURES)}; without: the same")
        worth(standards, folds)
        return
    best = {one.name: aligned(f"best, {one.name}", PhraseHmm.untrained(), one.test) for one in standards}
    print(f"{'':<40} best: {' '.join(FIGURES)}; tuned: the same")
    for one in standards if "--cross-only" not in words else ():
        if one.test is one.training:
            answers, cpu = in_folds(one.test, folds)
            show(f"{one.name}, {folds} folds", one.test, answers, best[one.name])
            print(f"  {cpu:.1f} CPU s for {folds} models", flush=True)
    tuned = {}
    for one in standards if "--folds-only" not in words else ():
        began = time.process_time()
        tuned[one.name] = tune(examples(one.training)).aligner("tuned")
        print(f"  tuned on {one.name}: {time.process_time() - began:.1f} CPU s", flush=True)
    for (name, aligner), other in product(tuned.items(), standards):
        if name != other.name or other.test is not other.training:
            answers = aligned(f"{name} on {other.name}", aligner, other.test)
            show(f"{name} on {other.name}", other.test, answers, best[other.name])


if __name__ == "__main__":
    main(sys.argv[1:])
