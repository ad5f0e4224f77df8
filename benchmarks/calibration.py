"""Whether posteriors are what they say: of the links of 0.9 to 1, how many did people draw?

    python benchmarks/calibration.py NAME=FORMAT:PATH[,TEST_PATH] ... [--folds=5] [--pairs=N] [--best] [--csv=FILE]

For each gold standard, of `best` and of models tuned on it (in folds, or on the first path; not with ``--best``):
the links whose posterior is in a tenth, how many of them are sure in the gold standard, and the expected
calibration error, the mean distance between these shares and the mean posterior of the tenth. Of all links from
`LEAST` on, by kind of word; of those that are chosen, by state of the word; and the same of P(null): of the words
with that probability, the share that nobody linked. Links and words that are possible only count as neither,
and in the second error as right. Prints a table, and macro F1; ``--csv`` has all tenths, ``--pairs`` takes the first.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from alignment_tuning import Standard, examples
from harness import show

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.tuning import tune
from sentgen.alignment.words.states import STATES
from sentgen.alignment.words.word_classes import is_function_word
from sentgen.alignment.words.word_states import word_states
from sentgen.evaluation.alignment.gold import GoldLinks, GoldStandard
from sentgen.evaluation.alignment.measures import measure

#: Links of a smaller posterior are not looked at.
LEAST = 0.02
#: What the table shows; the file has every tenth.
SHOWN = ((0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0))
ROWS = "links", "content", "function", "marks", "chosen", *STATES[:-1], "P(null)"


@dataclass(frozen=True, slots=True)
class Guess:
    """A probability that was told, and whether people say so; ``None`` where they leave it open."""

    of: str
    told: float
    right: bool | None


#: Alignments of a pair: as it is chosen, and with all links from `LEAST` on.
Twice = tuple[Alignment, Alignment]


def answers(aligner: PhraseHmm, pairs: Sequence[Pair]) -> list[Twice]:
    """Align pairs."""
    wide = replace(aligner, settings=replace(aligner.settings, threshold=LEAST))
    return list(zip(aligner.align(pairs), wide.align(pairs), strict=True))


def tuned_answers(one: Standard, folds: int) -> list[Twice]:
    """Return the answer for each pair of a model that was not tuned on it."""
    pairs = [each.pair for each in one.test.pairs]
    if one.test is not one.training:
        return answers(tune(examples(one.training)).aligner("tuned"), pairs)
    of, found = examples(one.test), dict[int, Twice]()
    for fold in range(folds):
        aligner = tune([each for n, each in enumerate(of) if n % folds != fold]).aligner("tuned")
        places = range(fold, len(of), folds)
        found |= dict(zip(places, answers(aligner, [pairs[n] for n in places]), strict=True))
    return [found[n] for n in range(len(of))]


def guesses(pair: Pair, answer: Twice, gold: GoldLinks) -> Iterator[Guess]:
    """Yield all that an answer guesses of a pair, by the names of `ROWS`."""

    def guess(of: str, told: float | None, link: tuple[int, int]) -> Guess:
        right = True if link in gold.sure else None if link in gold.possible else False
        return Guess(of, told or 0.0, right)

    chosen, wide = answer
    for phrase in wide.phrases:
        for i, j in phrase.links:
            yield guess("links", phrase.posterior, (i, j))
            yield guess(kind(pair.abstract[j]), phrase.posterior, (i, j))
    states = word_states(pair, chosen)
    for phrase in chosen.phrases:
        for i, j in phrase.links:
            yield guess("chosen", phrase.posterior, (i, j))
            yield guess(states[j].state, phrase.posterior, (i, j))
    sure, possible = ({j for _, j in links} for links in (gold.sure, gold.possible))
    for j, null in enumerate(chosen.null or ()):
        yield Guess("P(null)", null, False if j in sure else None if j in possible else True)


def kind(word: str) -> str:
    """Return the row of a word."""
    if not any(character.isalnum() for character in word):
        return "marks"
    return "function" if is_function_word(word) else "content"


@dataclass(frozen=True, slots=True)
class Tenth:
    """The guesses between two probabilities: how many, those that people decide, mean, and how many are right."""

    count: int
    decided: int
    mean: float
    right: int

    @property
    def at_most(self) -> float:
        """The share that is right, with those that people leave open."""
        return (self.right + self.count - self.decided) / self.count


def between(of: Sequence[Guess], least: float, most: float) -> Tenth | None:
    """Return the guesses of a stretch of probabilities, with 1 in the last one; ``None`` without any."""
    here = [one for one in of if least <= one.told < most or one.told == most == 1]
    decided = [one for one in here if one.right is not None]
    if not here:
        return None
    right = sum(bool(one.right) for one in decided)
    return Tenth(len(here), len(decided), float(np.mean([one.told for one in here])), right)


def tenths(of: Sequence[Guess]) -> list[tuple[float, Tenth]]:
    """Return where each tenth begins that has guesses, and what is in it."""
    found = ((n / 10, between(of, n / 10, (n + 1) / 10)) for n in range(10))
    return [(least, tenth) for least, tenth in found if tenth is not None]


def error(of: Sequence[Guess], *, kindly: bool = False) -> float:
    """Return the expected calibration error; ``kindly``, what people leave open is right."""
    known = [replace(one, right=one.right is not False) for one in of if kindly or one.right is not None]
    parts = [tenth for _, tenth in tenths(known)]
    return sum(abs(one.right - one.count * one.mean) for one in parts) / max(1, len(known))


def share(of: Sequence[Guess], least: float, most: float) -> str:
    """Return the share that is right, in percent, and of how many."""
    part = between(of, least, most)
    return (
        ""
        if part is None or not part.decided
        else f"{100 * part.right / part.decided:.0f} ({part.decided:,})"
    )


def reported(
    told: tuple[str, str], gold: GoldStandard, found: Sequence[Twice], sink: list[tuple[object, ...]]
) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a model, all tenths of which go into ``sink``, and print macro F1."""
    pairs, combined = [one.pair for one in gold.pairs], gold.combined()
    figures = measure(pairs, [chosen for chosen, _ in found], combined)
    shares = (f"{100 * figures[f'macro-{name}'].value:.2f}" for name in ("f1", "precision", "recall"))
    print(*told, "macro F1, precision, recall:", *shares, flush=True)
    all_guesses = [one for each in zip(pairs, found, combined, strict=True) for one in guesses(*each)]
    for row in ROWS:
        of = [one for one in all_guesses if one.of == row]
        if not of:
            continue
        for least, one in tenths(of):
            right = one.right / one.decided if one.decided else ""
            sink.append((*told, row, least, one.count, one.decided, one.mean, right, one.at_most))
        errors = (f"{100 * error(of, kindly=kindly):.1f}" for kindly in (False, True))
        yield " ".join(told), row, f"{len(of):,}", *errors, *(share(of, *stretch) for stretch in SHOWN)


def main(words: Sequence[str]) -> None:
    """Run what is asked for."""
    options = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    most = int(options["pairs"]) if "pairs" in options else None
    rows, sink = list[tuple[str, ...]](), list[tuple[object, ...]]()
    for one in (Standard.named(word) for word in words if not word.startswith("--")):
        test = one.test.first(most)
        one = Standard(one.name, test if one.test is one.training else one.training, test)
        pairs = [each.pair for each in test.pairs]
        rows += reported((one.name, "best"), test, answers(PhraseHmm.untrained(), pairs), sink)
        if "best" not in options:
            found = tuned_answers(one, int(options.get("folds", 5)))
            rows += reported((one.name, "tuned"), test, found, sink)
    columns = "", "of", "number", "error", "kindly", *(f"{a:g} to {b:g}" for a, b in SHOWN)
    show("Share that is right, in percent (number), and expected calibration error in points", columns, rows)
    if "csv" in options:
        with open(options["csv"], "w", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(
                ("gold", "model", "of", "from", "number", "decided", "mean", "right", "right or open")
            )
            out.writerows(
                [f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row] for row in sink
            )


if __name__ == "__main__":
    main(sys.argv[1:])
