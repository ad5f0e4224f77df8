"""Building and applying models, building vectors, and reading pairs, for methods of `Database`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sentgen.api.arguments import declared
from sentgen.api.door import StoreSession
from sentgen.api.language_models import LanguageModel
from sentgen.api.options import BuildOptions, CompareOptions, PairOptions, VectorOptions
from sentgen.api.tables import Table
from sentgen.corpus.pair_readers import PairSettings
from sentgen.counts.pair_ingestion import PairSummary, ingest_pairs
from sentgen.evaluation.perplexity import CompareRequest
from sentgen.models.base import registry
from sentgen.models.base.registry import STUPID_BACKOFF
from sentgen.models.build_request import BuildRequest
from sentgen.models.mix import MixRequest
from sentgen.models.prune import PruneRequest
from sentgen.models.surprisal import Application, ApplyRequest
from sentgen.models.vectors.build import VectorRequest
from sentgen.models.vectors.registry import overview
from sentgen.output import progress
from sentgen.output.wording import quantity
from sentgen.schema import Store


def built(
    door: StoreSession, name: str, corpora: str | Sequence[str], options: BuildOptions
) -> LanguageModel:
    """Build a model, with its companions if they are asked for, and show the steps; return the model."""
    given = {**options, "name": name, "corpus": corpora, "min_count": _joined(options.get("min_count"))}
    with door.reading() as store, progress.steps(name) as report:
        asked = declared(BuildRequest, given)
        if store.lake and asked.smoothing == STUPID_BACKOFF:
            # By a file more, which what is open does not know.
            model = asked.build(store, report)[0]
            with door.released():
                return LanguageModel(door, model)
        with door.writing() as writable:
            return LanguageModel(door, registry.find(writable, asked.build(writable, report)[0].label))


def applied_model(door: StoreSession, name: str, corpora: str | Sequence[str]) -> Application:
    """Apply a model, and show the parts of the text."""
    with door.writing() as store, progress.steps(name) as report:
        return declared(ApplyRequest, {"name": name, "corpus": corpora}).apply(store, report)


def made(
    door: StoreSession, declaration: type[MixRequest] | type[PruneRequest], given: Mapping[str, object]
) -> LanguageModel:
    """Make a model of other models, and show the steps; lists are given as the command line has them."""
    with door.writing() as store, progress.steps(str(given["name"])) as report:
        values = {name: _joined(value) for name, value in given.items()}
        return LanguageModel(door, declared(declaration, values).make(store, report))


def compared(door: StoreSession, models: str | Sequence[str], options: CompareOptions) -> Table:
    """Compare models on a text."""
    with door.reading() as store:
        asked = declared(CompareRequest, {**options, "models": _joined(models)})
        rows, notes = asked.compare(store)
        return Table(rows, notes=notes)


def _joined(value: object) -> object:
    """Return a list joined by commas; what is none stays."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return ",".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value


def built_vectors(
    door: StoreSession, name: str, corpora: str | Sequence[str], options: VectorOptions
) -> Table:
    """Build vectors, and show the steps."""
    with door.writing() as store, progress.steps(name) as report:
        asked = declared(VectorRequest, {**options, "name": name, "corpus": corpora})
        return Table(overview(store, asked.build(store, report).name))


def ingested_pairs(store: Store, paths: Sequence[str], corpus: str, options: PairOptions) -> PairSummary:
    """Read pairs into a corpus."""
    given: dict[str, Any] = {**options}
    how = {name: given.pop(name) for name in ("licence", "order", "on_error") if name in given}
    settings = declared(PairSettings, given)
    with progress.steps(corpus) as report:

        def told(name: str, pairs: int, _: float) -> None:
            if report is not None:
                report(f"{Path(name).name}, {quantity(pairs, 'pair')}")

        return ingest_pairs(store, paths, corpus, settings=settings, progress=told, **how)
