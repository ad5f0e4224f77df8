"""Models that align: trained on pairs or tuned on links, applied, looked at and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from sentgen.api import later
from sentgen.api import options as taken
from sentgen.api.arguments import signed
from sentgen.api.contents import first
from sentgen.api.door import StoreSession
from sentgen.api.tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from sentgen.alignment.stored.application import ApplicationSummary


class AlignmentModels:
    """The part of a `Database` that has to do with models which align."""

    _door: StoreSession

    @signed(taken.TrainOptions)
    def train_alignment(self, pairs: str, model: str, **options: Unpack[taken.TrainOptions]) -> Table:
        """Train a model on a corpus of pairs by EM, without links; return its iterations.

        Every iteration is stored as it is done; after an interruption, ``resume=True`` goes on.
        """
        later.trained(self._door, pairs, model, options)
        return self.alignment_model(model)

    @signed(taken.TuneOptions)
    def tune_alignment(self, name: str, gold: str | Path, **options: Unpack[taken.TuneOptions]) -> Table:
        """Tune a model on links that people drew; return a row for each direction."""
        return later.tuned(self._door, name, gold, options)

    def alignment_models(self) -> Table:
        """List the models that align."""
        with self._door.reading() as store:
            return Table(later.list_alignment_models(store))

    def alignment_model(
        self,
        name: str,
        word: str | None = None,
        *,
        direction: Literal["forward", "reverse"] = "forward",
        limit: int = 20,
    ) -> Table:
        """Return the iterations of a model, or the top rewrites of a word.

        Args:
            name: of the model.
            word: a word or phrase.
            direction: abstracts from documents, or the reverse.
            limit: rewrites; 0 for all.
        """
        with self._door.reading() as store:
            if word is None:
                return Table(later.model_report.iteration_rows(later.model_report.model_report(store, name)))
            return Table(later.model_report.top_rewrites(store, name, word, direction=direction, limit=limit))

    def remove_alignment_model(self, name: str) -> int:
        """Remove a model with the alignments that it made; return how many iterations it had."""
        with self._door.writing() as store:
            return later.remove_alignment_model(store, name)

    @signed(taken.ApplyOptions)
    def align_pairs(
        self, pairs: str, model: str | None = None, **options: Unpack[taken.ApplyOptions]
    ) -> ApplicationSummary:
        """Align a corpus of pairs, and keep links, states of words and figures in the store.

        Without a model the aligner has its priors only, and the links are those of a model called priors.
        """
        return later.applied(self._door, pairs, model, options)

    def extract(
        self, pairs: str, of: str, model: str | None = None, *, size: int = 3, limit: int = 20
    ) -> Table:
        """Learn from aligned pairs which sentences abstracts come from, and list those of other documents.

        Args:
            pairs: a corpus of pairs to learn from.
            of: the corpus whose documents are read, of pairs or any.
            model: that was applied to the pairs; the priors if not given.
            size: sentences of each document.
            limit: rows; 0 for all.
        """
        with self._door.reading() as store:
            extractor = later.extraction.learn_extractor(store, pairs, model)
            return first(
                lambda rows: later.extraction.extracts(store, extractor, of, size=size, limit=rows), limit
            )

    def alignment_figures(self, pairs: str, model: str | None = None, *, limit: int = 0) -> Table:
        """List the figures of each abstract: coverage, density, new and changed words, longest copied run.

        Args:
            pairs: a corpus of pairs.
            model: that was applied to it; the priors if not given.
            limit: pairs; 0 for all.
        """
        with self._door.reading() as store:
            return first(lambda rows: later.application.alignments(store, pairs, model, limit=rows), limit)

    def alignment_links(
        self,
        pairs: str,
        model: str | None = None,
        *,
        words: bool = False,
        sentences: bool = False,
        limit: int = 0,
    ) -> Table:
        """List the links that a model found in a corpus of pairs, or what became of each word or sentence.

        Args:
            pairs: a corpus of pairs.
            model: that was applied to it; the priors if not given.
            words: a row a word with its state, instead of a row a link.
            sentences: a row a sentence of an abstract and a sentence of the document that it comes from.
            limit: rows; 0 for all.
        """
        with self._door.reading() as store:
            listed = later.application.found_rows
            kind = {"words": words, "sentences": sentences}
            return first(lambda rows: listed(store, pairs, model, limit=rows, **kind), limit)
