"""What a second stage of tuned aligners would gain, which sees the links around a link, tags and trees.

    python benchmarks/alignment_second_stage.py NAME=FORMAT:PATH ... [--folds=5] [--pairs=N] [--seed=N]
        [--parser=udpipe:FILE]

The first stage is `sentgen align tune`, in folds. The second one is a logistic model of each link over the
posteriors of both directions, those of the cells around, the clues of the first stage, and with a parser tags and
dependencies. It is fitted in the same folds, on the posteriors of pairs that the first stage was not tuned on, each
pair with the same weight; its threshold is chosen on posteriors of halves of the training folds. Prints macro F1,
precision and recall, what is gained, p of approximate randomization, and CPU seconds; then what could be reached
with all sure links whose words have something in common. ``--pairs`` takes the first ones, ``--seed`` shuffles.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from alignment_tuning import Standard, examples
from link_features import NOTHING, Cells, Seen, cells, trees_of
from scipy.optimize import minimize

from sentgen.alignment import Alignment
from sentgen.alignment.pairs.alignment import PhraseLink
from sentgen.alignment.phrase_hmm.decode import LinkChoice
from sentgen.alignment.phrase_hmm.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.tuning import Objective, TuningExample, TuningTask, tune
from sentgen.alignment.phrase_hmm.weights import find_clues
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.arrays import Bools, Floats, Longs
from sentgen.corpus.parsers import open_parser
from sentgen.evaluation.alignment.gold import GoldStandard
from sentgen.evaluation.alignment.measures import measure
from sentgen.evaluation.figures.measurement import compare_all

#: Strength of the prior, as that of `align tune`.
PRIOR = 8.0
THRESHOLDS = np.arange(4, 13) / 20
#: What needs nothing but the posteriors of the first stage.
AGREEMENT = ("directions", "neighbors", "rivals", "pair")
#: The rows, and the features of each.
ROWS = {
    "both directions": ("directions",),
    "agreement": AGREEMENT,
    "agreement, clues": (*AGREEMENT, "clues"),
    "agreement, clues, tags": (*AGREEMENT, "clues", "tags"),
    "agreement, clues, dependencies": (*AGREEMENT, "clues", "dependencies"),
    "agreement, clues, both": (*AGREEMENT, "clues", "tags", "dependencies"),
}


def first_stage(of: Sequence[TuningExample], folds: int) -> list[Seen]:
    """Return what the first stage says, tuned on the other folds."""
    seen: dict[int, Seen] = {}
    for fold in range(folds):
        tuned = tune([one for n, one in enumerate(of) if n % folds != fold])
        settings, plain = tuned.settings, RewriteParameters.prior(tuned.settings)
        lexicon, wordnet = Lexicon(fold=settings.fold), find_wordnet()
        for n in range(fold, len(of), folds):
            one = of[n]
            ids = lexicon.with_kinship(lexicon.encode(one.pair).with_words(), wordnet=wordnet)
            ids = replace(ids, clues=find_clues(one.pair, ids, tuned.counts, wordnet))
            forward, reverse = (
                Objective([], plain, settings).posteriors(
                    TuningTask.of_pair(side, sure, possible, plain, settings), learnt.weights
                )
                for side, sure, possible, learnt in (
                    (ids, one.sure, one.possible, tuned.directions[0]),
                    (ids.swap_texts(), one.sure.T, one.possible.T, tuned.directions[1]),
                )
            )
            assert ids.clues is not None
            seen[n] = Seen(one, forward, reverse.T, ids.clues, ids.stops())
    return [seen[n] for n in range(len(of))]


class SecondStage:
    """A logistic model over features of some kinds, on top of the log odds of the first stage."""

    def __init__(self, kinds: Sequence[str], training: Sequence[tuple[Seen, Cells]]) -> None:
        of = next(one for _, one in training if one.kinds)
        self._chosen = [n for n, kind in enumerate(of.kinds) if kind in kinds]
        sizes = [of.sizes[n] for n in self._chosen]
        self._offsets = np.cumsum([0, *sizes[:-1]])
        odds, places, right, weight = list[Any](), list[Any](), list[Any](), list[Any]()
        for seen, one in training:
            if not one.kinds:
                continue
            sure = seen.example.sure[one.at]
            # Links that are possible only are neither right nor wrong.
            known = sure | ~seen.example.possible[one.at]
            odds.append(one.odds[known])
            places.append(self._places(one)[known])
            right.append(sure[known])
            weight.append(np.full(int(known.sum()), 1.0 / max(1, seen.example.sure.sum())))
        links = sum(int(seen.example.sure.sum()) for seen, _ in training) / len(training)
        weights = links * np.concatenate(weight)
        self._fit(sum(sizes), np.concatenate(odds), np.concatenate(places), np.concatenate(right), weights)

    def _places(self, one: Cells) -> Longs:
        places: Longs = one.features[:, self._chosen] + self._offsets
        return places

    def _fit(self, size: int, odds: Floats, places: Longs, right: Bools, weight: Floats) -> None:
        def loss(weights: Floats) -> tuple[float, Floats]:
            score = odds + weights[places].sum(axis=1)
            wrong = (1 / (1 + np.exp(-score)) - right) * weight
            value = float((np.logaddexp(0.0, np.where(right, -score, score)) * weight).sum())
            counts = np.bincount(places.ravel(), np.repeat(wrong, places.shape[1]), size)
            return value + PRIOR / 2 * float(weights @ weights), counts + PRIOR * weights

        options = {"maxiter": 60}
        self._weights = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options=options).x

    def links(self, seen: Seen, one: Cells) -> Floats:
        """Return the probabilities of links, (m, n)."""
        found = np.zeros(seen.links.shape)
        if one.kinds:
            score = one.odds + self._weights[self._places(one)].sum(axis=1)
            found[one.at] = 1 / (1 + np.exp(-score))
        return found


def chosen(links: Floats, threshold: float, stops: tuple[Bools, Bools] | None) -> Alignment:
    """Return the links that reach a threshold."""
    choice = LinkChoice(threshold, stops)
    choice.take(0, links.copy())
    return aligned(choice.chosen()[:2])


def aligned(links: Iterable[Longs]) -> Alignment:
    """Return an alignment of links, as offsets in the abstract and in the document."""
    places = zip(*(one.tolist() for one in links), strict=True)
    return Alignment(tuple(PhraseLink((j, j + 1), (i, i + 1), 1.0) for j, i in places), (), 0.0)


def best_threshold(gold: GoldStandard, seen: Sequence[Seen], links: dict[int, Floats]) -> float:
    """Return the threshold whose links have the highest macro F1 on some pairs."""
    pairs, combined = [gold.pairs[n].pair for n in links], gold.combined()
    of = [combined[n] for n in links]

    def f1(threshold: float) -> float:
        answers = [chosen(one, threshold, seen[n].stops) for n, one in links.items()]
        value: float = measure(pairs, answers, of)["macro-f1"].value
        return value

    return max(map(float, THRESHOLDS), key=f1)


def in_folds(
    gold: GoldStandard, seen: Sequence[Seen], looked_at: Sequence[Cells], kinds: Sequence[str], folds: int
) -> list[Alignment]:
    """Return the links of a second stage, or of the first one alone without kinds of features."""
    both = list(zip(seen, looked_at, strict=True))
    answers: dict[int, Alignment] = {}
    for fold in range(folds):
        training = [n for n in range(len(seen)) if n % folds != fold]
        test = range(fold, len(seen), folds)
        links = {n: seen[n].links for n in (*training, *test)}
        if kinds:
            for half in (0, 1):
                stage = SecondStage(kinds, [both[n] for n in training[1 - half :: 2]])
                links |= {n: stage.links(*both[n]) for n in training[half::2]}
            stage = SecondStage(kinds, [both[n] for n in training])
            links |= {n: stage.links(*both[n]) for n in test}
        threshold = best_threshold(gold, seen, {n: links[n] for n in training})
        answers |= {n: chosen(links[n], threshold, seen[n].stops) for n in test}
    return [answers[n] for n in range(len(seen))]


def show(label: str, gold: GoldStandard, answers: Sequence[Alignment], before: Sequence[Alignment]) -> None:
    """Print the figures of answers, and how they differ from those of the first stage."""
    pairs, combined = [one.pair for one in gold.pairs], gold.combined()
    first, second = (measure(pairs, of, combined) for of in (before, answers))
    figures = [100 * second[name].value for name in ("macro-f1", "macro-precision", "macro-recall")]
    (differ,) = compare_all({"first": first["macro-f1"], "second": second["macro-f1"]}, seed=1)
    gained = figures[0] - 100 * first["macro-f1"].value
    told = " ".join(f"{one:6.2f}" for one in figures)
    print(f"{label:<44} {told}   {gained:+.2f}   p {differ.shuffle_p:.4f}", flush=True)


def bounds(gold: GoldStandard, seen: Sequence[Seen], answers: Sequence[Alignment]) -> None:
    """Print what all sure links would give whose words have something in common, and none wrong."""
    known = [one.example.sure & (one.clues.links[0] < NOTHING) for one in seen]
    sure = sum(int(one.example.sure.sum()) for one in seen)
    share = 100 * (1 - sum(int(one.sum()) for one in known) / sure)
    print(f"  {share:.1f} % of the {sure:,} sure links join words with nothing in common")
    show("bound: all sure links but those", gold, [aligned(np.nonzero(one)) for one in known], answers)
    for one, table, answer in zip(seen, known, answers, strict=True):
        for i, j in answer.links:
            table[j, i] |= one.example.sure[j, i]
    show(
        "bound: and those of them that are found", gold, [aligned(np.nonzero(one)) for one in known], answers
    )


def read(word: str, most: int | None, seed: int | None) -> tuple[str, GoldStandard]:
    """Read ``NAME=FORMAT:PATH``, and take some pairs, perhaps in another order."""
    standard = Standard.named(word)
    pairs = list(standard.test.pairs)
    if seed is not None:
        random.Random(seed).shuffle(pairs)
    return standard.name, replace(standard.test, pairs=tuple(pairs[:most]))


def main(words: Sequence[str]) -> None:
    """Run what is asked for."""
    options = dict(word[2:].split("=", 1) for word in words if word.startswith("--"))
    folds = int(options.get("folds", 5))
    parser = open_parser(options["parser"]) if "parser" in options else None
    rows = {
        name: kinds for name, kinds in ROWS.items() if parser or not {"tags", "dependencies"} & set(kinds)
    }
    most, seed = (int(options[name]) if name in options else None for name in ("pairs", "seed"))
    print(f"{'':<44} macro F1, precision, recall; gained")
    for name, gold in (read(word, most, seed) for word in words if not word.startswith("--")):
        seen = first_stage(examples(gold), folds)
        trees = [trees_of(parser, one.pair) if parser else None for one in gold.pairs]
        looked_at = [cells(one, tree) for one, tree in zip(seen, trees, strict=True)]
        first = in_folds(gold, seen, looked_at, (), folds)
        show(f"{name}, tuned", gold, first, first)
        for label, kinds in rows.items():
            began = time.process_time()
            answers = in_folds(gold, seen, looked_at, kinds, folds)
            show(f"{name}, {label} ({time.process_time() - began:.0f} CPU s)", gold, answers, first)
        bounds(gold, seen, first)


if __name__ == "__main__":
    main(sys.argv[1:])
