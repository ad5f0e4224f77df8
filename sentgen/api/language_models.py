"""A language model of a store: it scores sentences, and orders words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from sentgen.api.arguments import declared, signed
from sentgen.api.door import StoreSession
from sentgen.api.options import RegenerateOptions, ScoreOptions
from sentgen.api.sentences import Sentences
from sentgen.api.tables import Table
from sentgen.api.texts import parser_of
from sentgen.generation.answers import OrderingRequest, answer
from sentgen.generation.bags.bag_reader import Bag, Notation
from sentgen.models.arpa import export_arpa
from sentgen.models.base.registry import ModelInfo, properties
from sentgen.models.request import ScoreRequest
from sentgen.models.scored_text import ScoredText
from sentgen.models.scoring import TOTALS, Totals, model_notes, split_lines
from sentgen.output.progress import counted, steps
from sentgen.output.tabular import Rows


class Scores(Table):
    """A row a sentence; ``sums`` are the totals over all, such as ``perplexity``."""

    def __init__(self, rows: Rows, sums: Totals, notes: Sequence[str]) -> None:
        super().__init__(rows, notes=notes)
        self._sums = sums

    @property
    def sums(self) -> dict[str, Any]:
        """Sentences, tokens, unknown words, log-probability and perplexity of all sentences together."""
        return dict(zip(TOTALS, self._sums.row, strict=True))

    @property
    def log10(self) -> float:
        """The decimal log-probability of all sentences together, with their ends."""
        return self._sums.log10

    @property
    def perplexity(self) -> float:
        """The perplexity of all sentences together, with unknown words."""
        return self._sums.perplexity


class LanguageModel:
    """A model of a store, in the version that it had when it was asked for.

    Attributes:
        info: its settings, and what it was built from.
    """

    def __init__(self, door: StoreSession, info: ModelInfo) -> None:
        self._door, self.info = door, info

    @property
    def name(self) -> str:
        """Its name with its version, as ``ewt@1``."""
        return self.info.label

    def __repr__(self) -> str:
        smoothing, order, size = self.info.smoothing, self.info.order, self.info.size
        return f"<LanguageModel {self.name}: {smoothing}, order {order}, {size}>"

    def properties(self) -> Table:
        """Show its settings, its n-grams per order, its discounts, and whether it is stale."""
        with self._door.reading() as store:
            return Table(properties(store, self.info))

    def export(self, arpa_file: str | Path) -> None:
        """Write it to an ARPA file, gzipped if its name ends in .gz."""
        with self._door.reading() as store, steps(self.name) as report:
            export_arpa(store, self.info, Path(arpa_file), progress=report)

    @signed(ScoreOptions)
    def score(self, text: str | Sequence[str] = (), **options: Unpack[ScoreOptions]) -> Scores:
        """Score sentences: words separated by blanks, a sentence a line; or those of a ``corpus``."""
        with self._door.reading() as store:
            asked = declared(ScoreRequest, {"text": text, "model": self.name, **options})
            found = ScoredText(store, self.info, asked, split_lines(asked.text))
            table = found.table()
            return Scores(table, found.totals, [*model_notes(self.info), *found.notes])

    @signed(RegenerateOptions)
    def regenerate(self, bag: str | Sequence[str], **options: Unpack[RegenerateOptions]) -> Sentences:
        """Put words and [phrases] in order; the order in which they are given does not matter."""
        parser = parser_of(options.pop("parser", None))
        with self._door.reading() as store, counted("bags") as progress:
            asked = declared(OrderingRequest, {"bag": bag, "model": self.name, **options})

            def read(notation: Notation) -> list[Bag]:
                return list(map(notation.bag, asked.bag))

            return Sentences(answer(store, asked, read, parser=parser, progress=progress))
