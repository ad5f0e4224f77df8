"""What texts ask of a model: which words it knows, and the probabilities of their n-grams."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentgen.arrays import Floats, Ints
from sentgen.models.base.registry import DYNAMIC, ModelLike, looked_up
from sentgen.models.ngrams.laid_out import asked_of
from sentgen.models.ngrams.ngram_records import score_stream
from sentgen.models.ngrams.ngram_table import score_text
from sentgen.models.ngrams.text_ngrams import known_words, prefetch_text
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS


class ModelReader:
    """Looks up what the parts of a text ask of a model: where it is laid out, else in the store.

    Args:
        store: where the model lives.
        model: the model.
    """

    def __init__(self, store: Store, model: ModelLike) -> None:
        self.model, self._store = model, store
        #: Readers of the models that a mixture looks up, with what they weigh.
        self.parts: list[tuple[ModelReader, float]] = []
        if model.smoothing == DYNAMIC:
            self.parts = [(ModelReader(store, part), weight) for part, weight in looked_up(store, model)]
        self._asked = asked_of(store, model)
        self._known = np.zeros(0, np.int32)  # of the words of the text

    def expect(self, tokens: int) -> None:
        """Say of how many tokens the next part of the text is."""
        self._asked.expect(self._store, self.model, tokens)

    def known_in(self, forms: Sequence[str], old: int) -> Ints:
        """Return `known` of the different words of a text, the first of which were asked for before."""
        self._known = np.concatenate((self._known[:old], self.known(forms[old:])))
        return self._known

    def known(self, forms: Sequence[str]) -> Ints:
        """Return the id of each form, that of <unk> where the model has no unigram."""
        found = self._asked.laid_out
        return found.known(forms) if found else known_words(self._store, self.model, forms)

    def events(self, stream: Ints) -> tuple[Floats, Ints]:
        """Return the log-probability of each token and end of sentence, and the words of its n-gram.

        Args:
            stream: words that the model knows, each sentence between ``<s>`` and ``</s>``.
        """
        found, order = self._asked.laid_out, self.model.order
        if found:
            logps, lengths = score_stream(found.records, order, stream)
        else:
            table, ngrams = prefetch_text(self._store, self.model, stream)
            self._asked.has_read(ngrams)
            logps, lengths = score_text(table, order, stream)
        scored = stream != BOS
        return logps[scored], lengths[scored]
