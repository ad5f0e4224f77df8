"""Links that people drew: the options of all that read them, and pairs with links to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentgen.alignment.phrase_hmm.tuning import TuningExample
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.options import Option

GoldOption = Annotated[str, Option("Alignments that people made.", metavar="PATH")]
GoldFormatOption = Annotated[
    str,
    Option(
        "Their format: edinburgh, rte, mtref, multimwa, handalign or pharaoh.",
        short="-f",
        metavar="FORMAT",
    ),
]
CombineOption = Annotated[
    str,
    Option(
        "Links of several annotators: drawn by half of them, by any, by all, or by one.",
        metavar="half|union|intersection|NAME",
    ),
]
LimitOption = Annotated[int | None, Option("Only the first N pairs.", short="-n", metavar="N", least=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPairs:
    """The links that a model learns from."""

    gold: GoldOption
    format: GoldFormatOption = "pharaoh"
    combine: CombineOption = "half"
    limit: LimitOption = None

    def examples(self) -> list[TuningExample]:
        """Read the pairs with their links.

        Raises:
            InputError: they cannot be read, or there is no such combination or annotator.
        """
        gold = read_gold(self.gold, self.format).first(self.limit)
        return [
            TuningExample.of(one.pair, links.sure, links.possible)
            for one, links in zip(gold.pairs, gold.combined(self.combine), strict=True)
        ]
