"""What experiments with a treebank share: its corpus, its models, and its test sentences put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.evaluation.papers.paper import PaperRequest
from sentgen.evaluation.papers.penn_treebank import Split
from sentgen.evaluation.regeneration.experiment import RegenerationSettings, evaluate_regeneration
from sentgen.evaluation.regeneration.results import PRIMARY, RegenerationResult
from sentgen.models import ModelInfo
from sentgen.models.build_request import BuildRequest
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import scalar
from sentgen.schema.tables.corpus import corpus, source

#: What corpora are counted for: the longest n-grams of any model.
ORDER = 5


@dataclass(frozen=True, slots=True)
class TreebankExperiment:
    """A store, the two parts of a treebank, and what was asked for.

    What is in the store already is used again. With ``lowercase``, text is lower-cased.
    """

    store: Store
    split: Split
    request: PaperRequest
    lowercase: bool

    @property
    def corpus(self) -> str:
        """Return the name of the corpus of the training part."""
        return self.split.name if self.lowercase else f"{self.split.name}-cased"

    def ingest_training(self) -> None:
        """Bring the training part into the store."""
        self.request.report(f"reading {quantity(len(self.split.train), 'file')} of {self.split.title}")
        self.ingest(self.corpus, self.split.train, self.split.form)

    def ingest(self, name: str, paths: Sequence[str], form: str | None = None) -> None:
        """Bring a corpus into the store, and make sure that it holds nothing else.

        Raises:
            InputError: it is there with other text, or with counts of a lower order.
        """
        with self.store.connect() as connection:
            counted = connection.execute(select(corpus.c.max_order).where(corpus.c.name == name)).scalar()
        if counted not in (None, ORDER):
            raise InputError(
                f"corpus {name!r} is counted up to order {counted}, not {ORDER}; remove it with:"
                f" sentgen corpora remove {name}"
            )
        summary = ingest(self.store, paths, Settings(name, form, order=ORDER, lowercase=self.lowercase))
        query = select(func.count()).select_from(source).join(corpus, corpus.c.id == source.c.corpus_id)
        with self.store.connect() as connection:
            sources = scalar(connection, query.where(corpus.c.name == name))
        # Sentences of another source in the model would be no reproduction.
        if sources > summary.sources + summary.unchanged:  # fewer where files have the same content
            raise InputError(
                f"corpus {name!r} holds other sources than these; remove it with:"
                f" sentgen corpora remove {name}"
            )

    def model(self, request: BuildRequest) -> ModelInfo:
        """Return a model that is there already if it is as it would be built now, else build it."""
        self.request.report(f"building the model {request.name}")
        return (request.built(self.store) or request.build(self.store))[0]

    def regenerate(self, model: ModelInfo, systems: Sequence[str], **search: Any) -> RegenerationResult:
        """Put the test sentences in order with some systems, and record the run."""
        request = self.request
        request.report(f"regenerating {self.split.tested} with {model.label}: {', '.join(systems)}")
        return evaluate_regeneration(
            self.store,
            model,
            self.split.test_sentences(),
            systems,
            RegenerationSettings(
                dependencies=[self.corpus],
                seed=request.seed,
                lowercase=self.lowercase,
                jobs=request.jobs,
            ),
            source=self.split.title,
            progress=request.progress,
            **search,
        )

    def summary(self, result: RegenerationResult) -> str:
        """Return what a run was trained and tested on, for reading."""
        tested = quantity(len(result.references), "test sentence")
        part = "; a part of the data (--quick): figures of all of it are others" if self.request.quick else ""
        return f"{self.split.title}, {tested}, seed {self.request.seed}; tests are of {PRIMARY}{part}"
