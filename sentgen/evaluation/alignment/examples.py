"""Pairs with what each system did to them: links that it missed, and links that are wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment import Link, Pair
from sentgen.evaluation.alignment.measures import PRIMARY
from sentgen.evaluation.alignment.results import AlignmentResult
from sentgen.evaluation.alignment.tables import percent
from sentgen.output.wording import quantity

EXAMPLES = 20
#: Texts of an example that are longer than this many words are not shown whole.
_WORDS = 120


@dataclass(frozen=True, slots=True)
class LinkErrors:
    """The links of a pair that one system missed, and those that are wrong, as words."""

    system: str
    figure: str
    missed: Sequence[str]
    wrong: Sequence[str]


@dataclass(frozen=True, slots=True)
class PairExample:
    """A pair and the errors of each system, the best one of the run first."""

    key: str
    document: str
    abstract: str
    errors: Sequence[LinkErrors]


def examples(result: AlignmentResult, count: int = EXAMPLES) -> list[PairExample]:
    """Return pairs that are drawn with the seed of the run, in their order, without looking at answers."""
    drawn = np.random.default_rng(result.seed).permutation(len(result.pairs))[:count]
    return [_example(result, int(item)) for item in sorted(drawn)]


def _example(result: AlignmentResult, item: int) -> PairExample:
    pair, gold = result.pairs[item], result.gold[item]
    errors = []
    for system in result.ranked:
        links, measurement = system.answers[item].links, system.measurements[PRIMARY]
        figure = percent(float(measurement.figure(measurement.statistics[item])))
        missed, wrong = _named(pair, gold.sure - links), _named(pair, links - gold.possible)
        errors.append(LinkErrors(system.system, figure, missed, wrong))
    return PairExample(pair.key, _shortened(pair.document), _shortened(pair.abstract), errors)


def _named(pair: Pair, links: Collection[Link]) -> list[str]:
    # In the order of the abstract, which people read.
    ordered = sorted(links, key=lambda link: (link[1], link[0]))
    return [f"{pair.document[i]} → {pair.abstract[j]}" for i, j in ordered]


def _shortened(words: Sequence[str]) -> str:
    more = len(words) - _WORDS
    return " ".join(words[:_WORDS]) + (f" … and {quantity(more, 'word')} more" if more > 0 else "")
