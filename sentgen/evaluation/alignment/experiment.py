"""Evaluation of aligners: run every system on a gold standard, measure, compare, and record.

The evaluation of Daumé and Marcu 2004, section 3, on any gold standard.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.systems import Missing, ensure_fits, make_system, package_of
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.errors import InputError, PluginError, SentgenError
from sentgen.evaluation.alignment.gold import Combination, GoldLinks, GoldStandard, Possible
from sentgen.evaluation.alignment.measures import PRIMARY, Agreement, agreements, ignored_words, measure
from sentgen.evaluation.figures.measurement import Measurement
from sentgen.evaluation.figures.results import (
    ExperimentResult,
    FigureRow,
    MainFigure,
    OutputRow,
    Progress,
    Recorder,
    SystemResult,
    with_intervals,
)
from sentgen.schema import Store


@dataclass(frozen=True, slots=True)
class Target:
    """A gold standard, and how systems are measured by it.

    Attributes:
        gold: the links of all annotators.
        combine: how links of several annotators are combined (see `GoldStandard.combined`).
        possible: how possible links count.
        ignored: lower-cased words that some figures leave out.
    """

    gold: GoldStandard
    combine: str = "half"
    possible: Possible = "keep"
    ignored: frozenset[str] = field(default_factory=ignored_words)

    @property
    def pairs(self) -> list[Pair]:
        """Return the texts."""
        return [pair.pair for pair in self.gold.pairs]

    def links(self) -> list[GoldLinks]:
        """Return the links of each pair.

        Raises:
            InputError: there is no such combination or annotator.
        """
        return self.gold.combined(self.combine, possible=self.possible)

    def measure(self, answers: Sequence[Alignment]) -> dict[str, Measurement]:
        """Return all figures of a system."""
        return self._measure(answers, self.links(), f"{self.combine} of {len(self.gold.annotators)}")

    def humans(self) -> Iterator[SystemResult[Alignment]]:
        """Measure the sure links of each annotator by the links of the others.

        Section 3.4 of the paper compares two annotators with each other; of three, each is compared with the
        links of at least one of the other two, unless another combination is given.
        """
        if len(self.gold.annotators) < 2:
            return
        how: Combination = "half"
        # If one annotator is named, the others are combined by `half`.
        for name in get_args(Combination):
            how = name if name == self.combine else how
        for number, name in enumerate(self.gold.annotators):
            others = self.gold.by_others(number, how, possible=self.possible)
            answers = [Alignment.of_links(pair.annotations[number].sure) for pair in self.gold.pairs]
            figures = self._measure(answers, others, f"{how} of the other annotators")
            yield SystemResult(f"human {name}", answers, figures)

    def _measure(
        self, answers: Sequence[Alignment], target: Sequence[GoldLinks], combined: str
    ) -> dict[str, Measurement]:
        signature = f"gold:{combined}|possible:{self.possible}"
        return measure(self.pairs, answers, target, ignored=self.ignored, signature=signature)

    @property
    def parameters(self) -> dict[str, object]:
        """Return the parameters for the record."""
        digest = hashlib.sha256()
        for pair in self.gold.pairs:
            # Sorted: sets have no order of their own.
            links = [(sorted(each.sure), sorted(each.possible)) for each in pair.annotations]
            digest.update(repr((pair.pair, links)).encode())
        return {
            "sha256": digest.hexdigest(),
            "pairs": len(self.gold.pairs),
            "annotators": list(self.gold.annotators),
            "combine": self.combine,
            "possible": self.possible,
            "ignored words": len(self.ignored),
        }


COMMAND = "evaluate alignment"
#: Figures that are recorded for each pair.
_SINGLE = ("soft-precision", "recall", "soft-f1", "precision", "f1")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentResult(ExperimentResult[SystemResult[Alignment]]):
    """A run over a gold standard.

    Systems have times: the seconds of making the system, and the milliseconds a pair, which include training
    for systems that learn from the pairs that they align.

    ``humans`` are annotators, each measured by the links of the others; ``agreements`` are those of pairs of
    annotators. ``missing`` are systems that could not run.
    """

    main = MainFigure(PRIMARY, "SoftF", 100)
    humans: Sequence[SystemResult[Alignment]]
    agreements: Sequence[Agreement]
    missing: Sequence[Missing]
    pairs: Sequence[Pair] = field(repr=False)
    gold: Sequence[GoldLinks] = field(repr=False)
    ignored: frozenset[str] = field(repr=False)

    def rows(self) -> Iterator[FigureRow]:
        """Yield every figure of the whole set.

        Annotators are the systems ``human A``; their agreement is in rows of the system ``A vs B``, like
        comparisons of systems.
        """
        for system in (*self.systems, *self.humans):
            yield from system.rows_with_intervals(self.seed)
        for system in self.systems:
            yield from system.rows(system.times.values())
        for agreement in self.agreements:
            signature = f"Cohen's kappa over pairs of words|{agreement.scope} words|items:{agreement.items}"
            both = f"{agreement.one} vs {agreement.other}"
            metric = f"kappa:{agreement.kind}:{agreement.scope}"
            yield FigureRow(both, metric, agreement.kappa, signature)
        yield from (row for row in self.comparison_rows() if ":sign-test:" not in row.metric)

    def item_rows(self) -> Iterator[FigureRow]:
        """Yield the figures of each pair, all words."""
        for system in self.systems:
            for name in _SINGLE:
                measurement = system.measurements[name]
                for item, value in enumerate(measurement.figure(measurement.statistics).tolist(), 1):
                    yield FigureRow(system.system, name, value, f"{measurement.signature}|one pair", item)

    def outputs(self) -> Iterator[OutputRow]:
        """Yield every answer: the texts, the links in Pharaoh's form, the gold links."""
        gold = [
            " ".join(f"{i}{'-' if (i, j) in links.sure else 'p'}{j}" for i, j in sorted(links.possible))
            for links in self.gold
        ]
        for system in self.systems:
            for item, (pair, answer) in enumerate(zip(self.pairs, system.answers, strict=True), 1):
                texts = f"{' '.join(pair.document)} ||| {' '.join(pair.abstract)}"
                yield OutputRow(system.system, item, texts, answer.pharaoh(), gold[item - 1])


def evaluate_alignment(
    store: Store,
    target: Target,
    systems: Sequence[str],
    *,
    training: Sequence[Pair] = (),
    seed: int = 1,
    parameters: Mapping[str, object] | None = None,
    budget: Budget = UNBOUNDED,
    progress: Progress | None = None,
) -> AlignmentResult:
    """Align every pair with every system, score the alignments, and record them as a run.

    Args:
        store: the store with models, in which the run is recorded; not read-only.
        target: the gold standard.
        systems: names with settings (see `sentgen.alignment.systems`).
        training: pairs that systems learn from in addition to those of the gold standard.
        seed: seed of the samples and the tests.
        parameters: parameters of the run, for the record.
        budget: memory for aligning a pair; a system that needs more is left out.
        progress: called as pairs are done.

    Raises:
        InputError: a setting is wrong, or no system can run.
        NotFoundError: the store has no such model.
        PluginError: a system of a plug-in fails.
    """
    recorder = Recorder(store, COMMAND)
    store.downgrade_to_read()
    links = target.links()  # before any system runs: the combination may not exist
    results, missing = _results(store, target, systems, training, budget, progress)
    plugins = {result.system: package for result in results if (package := package_of(result.system))}
    result = AlignmentResult.from_systems(
        results,
        seed,
        humans=with_intervals(list(target.humans()), seed),
        agreements=agreements(target.gold, ignored=target.ignored),
        missing=missing,
        pairs=target.pairs,
        gold=links,
        ignored=target.ignored,
        parameters={
            **(parameters or {}),
            **target.parameters,
            "training pairs": len(training),
            "wordnet": find_wordnet() is not None,
            "systems": [result.system for result in results],
            **({"plugins": plugins} if plugins else {}),
        },
    )
    return recorder.record(result)


def _results(
    store: Store,
    target: Target,
    systems: Sequence[str],
    training: Sequence[Pair],
    budget: Budget,
    progress: Progress | None,
) -> tuple[list[SystemResult[Alignment]], list[Missing]]:
    results, missing, pairs = list[SystemResult[Alignment]](), list[Missing](), target.pairs
    for spec in systems:
        clock = time.perf_counter()
        made = make_system(spec, pairs, training, store=store, budget=budget)
        if isinstance(made, Missing):
            missing.append(made)
            continue
        training_seconds = time.perf_counter() - clock
        clock, answers = time.perf_counter(), list[Alignment]()
        try:
            for pair in pairs:
                # All pairs are checked before any is aligned, so that a system is left out at once, not after
                # hours.
                ensure_fits(spec, pair, budget)
            for answer in made.align(pairs):
                answers.append(answer)
                if progress is not None:
                    progress(spec, len(answers), len(pairs))
        except PluginError:
            raise
        except SentgenError as error:  # an installed program that fails, or too little memory
            missing.append(Missing(spec, str(error)))
            continue
        # Without the time of training, which is another figure.
        ms = 1000 * (time.perf_counter() - clock) / len(pairs)
        times = {
            "training-seconds": Measurement.mean("training-seconds", "seconds", [training_seconds]),
            "pair-ms": Measurement.mean("pair-ms", "milliseconds a pair, mean", [ms]),
        }
        results.append(SystemResult(spec, answers, target.measure(answers), times))
    if not results:
        reasons = "; ".join(f"{lack.system}: {lack.reason}" for lack in missing)
        raise InputError(f"no system can run here: {reasons}")
    return results, missing
