"""Language models of a store, which score sentences and order words; building them, and vectors of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from sentgen.api.arguments import declare, with_signatures
from sentgen.api.generating import Sentences
from sentgen.api.options import (
    BuildOptions,
    CompareOptions,
    PairOptions,
    RegenerateOptions,
    ScoreOptions,
    VectorOptions,
)
from sentgen.api.session import StoreSession, session_of
from sentgen.api.tables import Table
from sentgen.api.texts import parser_of
from sentgen.corpus.pair_readers import PairSettings
from sentgen.counts.pair_ingestion import PairSummary, ingest_pairs
from sentgen.evaluation.perplexity import CompareRequest
from sentgen.generation.answers import OrderingRequest
from sentgen.generation.bags.bag_reader import Bag, Notation
from sentgen.models.arpa import export_arpa
from sentgen.models.base import registry
from sentgen.models.base.registry import STUPID_BACKOFF, ModelInfo
from sentgen.models.build_request import BuildRequest
from sentgen.models.mix import MixRequest
from sentgen.models.prune import PruneRequest
from sentgen.models.request import ScoreRequest
from sentgen.models.scored_text import ScoredText
from sentgen.models.scoring import TOTALS, Totals, model_notes, split_lines
from sentgen.models.surprisal import Application, ApplyRequest
from sentgen.models.vector_building import VectorRequest
from sentgen.models.vectors import overview
from sentgen.output import progress
from sentgen.output.progress import counting_bar, steps
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store


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


@with_signatures
class LanguageModel:
    """A model of a store, in the version that it had when it was asked for.

    Attributes:
        info: the settings of the model, and the corpora that it was built from.
    """

    def __init__(self, session: StoreSession, info: ModelInfo) -> None:
        self._session, self.info = session_of(session, "Database.model"), info

    @property
    def name(self) -> str:
        """Its name with its version, as ``ewt@1``."""
        return self.info.label

    def __repr__(self) -> str:
        smoothing, order, size = self.info.smoothing, self.info.order, self.info.size
        return f"<LanguageModel {self.name}: {smoothing}, order {order}, {size}>"

    def properties(self) -> Table:
        """Show the settings of the model, its n-grams per order, its discounts, and whether it is stale."""
        with self._session.read() as store:
            return Table(self.info.properties(store))

    def export(self, arpa_file: str | Path) -> None:
        """Write the model to an ARPA file, gzipped if the file's name ends in .gz."""
        with self._session.read() as store, steps(self.name) as report:
            export_arpa(store, self.info, Path(arpa_file), progress=report)

    def score(self, text: str | Sequence[str] = (), **options: Unpack[ScoreOptions]) -> Scores:
        """Score sentences: words separated by blanks, a sentence a line; or those of a ``corpus``."""
        with self._session.read() as store:
            request = declare(ScoreRequest, {"text": text, "model": self.name, **options})
            scored = ScoredText(store, self.info, request, split_lines(request.text))
            table = scored.table()
            return Scores(table, scored.totals, [*model_notes(self.info), *scored.notes])

    def regenerate(self, bag: str | Sequence[str], **options: Unpack[RegenerateOptions]) -> Sentences:
        """Put words and [phrases] in order; the order in which they are given does not matter."""
        parser = parser_of(options.pop("parser", None))
        with self._session.read() as store, counting_bar("bags") as bar:
            request = declare(OrderingRequest, {"bag": bag, "model": self.name, **options})

            def read(notation: Notation) -> list[Bag]:
                return list(map(notation.bag, request.bag))

            return Sentences(request.answer(store, read, parser=parser, progress=bar))


def build_model(
    session: StoreSession, name: str, corpora: str | Sequence[str], options: BuildOptions
) -> LanguageModel:
    """Build a model, with its companions if they are asked for, and show the steps; return the model."""
    given = {**options, "name": name, "corpus": corpora, "min_count": _join_list(options.get("min_count"))}
    with session.read() as store, progress.steps(name) as report:
        request = declare(BuildRequest, given)
        if store.lake and request.smoothing == STUPID_BACKOFF:
            # In a new file, which the open store does not know.
            model = request.build(store, report)[0]
            with session.release():
                return LanguageModel(session, model)
        with session.write() as writable:
            return LanguageModel(session, registry.find(writable, request.build(writable, report)[0].label))


def apply_model(session: StoreSession, name: str, corpora: str | Sequence[str]) -> Application:
    """Apply a model, and show the parts of the text."""
    with session.write() as store, progress.steps(name) as report:
        return declare(ApplyRequest, {"name": name, "corpus": corpora}).apply(store, report)


def derive_model(
    session: StoreSession, declaration: type[MixRequest] | type[PruneRequest], given: Mapping[str, object]
) -> LanguageModel:
    """Make a model of other models, and show the steps; lists are given as the command line has them."""
    with session.write() as store, progress.steps(str(given["name"])) as report:
        values = {name: _join_list(value) for name, value in given.items()}
        return LanguageModel(session, declare(declaration, values).make(store, report))


def compare_models(session: StoreSession, models: str | Sequence[str], options: CompareOptions) -> Table:
    """Compare models on a text."""
    with session.read() as store:
        request = declare(CompareRequest, {**options, "models": _join_list(models)})
        rows, notes = request.compare(store)
        return Table(rows, notes=notes)


def _join_list(value: object) -> object:
    """Return a list joined by commas; other values are not changed."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return ",".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value


def build_vectors(
    session: StoreSession, name: str, corpora: str | Sequence[str], options: VectorOptions
) -> Table:
    """Build vectors, and show the steps."""
    with session.write() as store, progress.steps(name) as report:
        request = declare(VectorRequest, {**options, "name": name, "corpus": corpora})
        return Table(overview(store, request.build(store, report).name))


def ingest_pairs_with_progress(
    store: Store, paths: Sequence[str], corpus: str, options: PairOptions
) -> PairSummary:
    """Read pairs into a corpus."""
    given: dict[str, Any] = {**options}
    how = {name: given.pop(name) for name in ("licence", "order", "on_error") if name in given}
    settings = declare(PairSettings, given)
    with progress.steps(corpus) as report:

        def report_file(name: str, pairs: int, _: float) -> None:
            if report is not None:
                report(f"{Path(name).name}, {quantity(pairs, 'pair')}")

        return ingest_pairs(store, paths, corpus, settings=settings, progress=report_file, **how)
