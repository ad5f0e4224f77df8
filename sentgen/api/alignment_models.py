"""Models that align: trained on pairs or tuned on links, applied, looked at and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from sentgen.api import options as taken
from sentgen.api.arguments import with_signatures
from sentgen.api.contents import first, listing
from sentgen.api.session import StoreSession
from sentgen.api.tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from sentgen.alignment.stored.application import ApplicationSummary


@with_signatures
class AlignmentModels:
    """The part of a `Database` that has to do with models which align."""

    _session: StoreSession

    def train_alignment(self, pairs: str, model: str, **options: Unpack[taken.TrainOptions]) -> Table:
        """Train a model on a corpus of pairs by EM, without links; return its iterations.

        Every iteration is stored as it is done; after an interruption, ``resume=True`` goes on.
        """
        from sentgen.api import aligning

        aligning.train(self._session, pairs, model, options)
        return self.alignment_model(model)

    def tune_alignment(self, name: str, gold: str | Path, **options: Unpack[taken.TuneOptions]) -> Table:
        """Tune a model on links that people drew; return a row for each direction."""
        from sentgen.api import aligning

        return aligning.tune(self._session, name, gold, options)

    def alignment_models(self) -> Table:
        """List the models that align."""
        return listing(self._session, "alignment-models")

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
        from sentgen.alignment.stored import model_report

        with self._session.read() as store:
            if word is None:
                return Table(model_report.iteration_rows(model_report.model_report(store, name)))
            return Table(model_report.top_rewrites(store, name, word, direction=direction, limit=limit))

    def remove_alignment_model(self, name: str) -> int:
        """Remove a model with the alignments that it made; return how many iterations it had."""
        from sentgen.alignment.stored.model_store import remove_model as remove_alignment_model

        with self._session.write() as store:
            return remove_alignment_model(store, name)

    def align_pairs(
        self, pairs: str, model: str | None = None, **options: Unpack[taken.ApplyOptions]
    ) -> ApplicationSummary:
        """Align a corpus of pairs, and keep links, states of words and figures in the store.

        Without a model the aligner has its priors only, and the links are those of a model called priors.
        """
        from sentgen.api import aligning

        return aligning.apply(self._session, pairs, model, options)

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
        from sentgen.alignment.stored import extraction

        with self._session.read() as store:
            extractor = extraction.learn_extractor(store, pairs, model)
            return first(lambda rows: extraction.extracts(store, extractor, of, size=size, limit=rows), limit)

    def alignment_figures(self, pairs: str, model: str | None = None, *, limit: int = 0) -> Table:
        """List the figures of each abstract: coverage, density, new and changed words, longest copied run.

        Args:
            pairs: a corpus of pairs.
            model: that was applied to it; the priors if not given.
            limit: pairs; 0 for all.
        """
        from sentgen.alignment.stored import application

        with self._session.read() as store:
            return first(lambda rows: application.alignments(store, pairs, model, limit=rows), limit)

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
        from sentgen.alignment.stored import application

        with self._session.read() as store:
            listed = application.found_rows
            kind = {"words": words, "sentences": sentences}
            return first(lambda rows: listed(store, pairs, model, limit=rows, **kind), limit)
