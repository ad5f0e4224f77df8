"""A whole model in memory, for texts that are large against it.

The n-grams of a part of a text are read by their anchors, which of half a million words are nearly all of a
model of a few million: a long text would read it again for each part. So it is read once, if it fits into
memory, and each word costs a look-up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentgen.arrays import Floats, Ints
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.ngrams.mixture import DYNAMIC
from sentgen.models.ngrams.ngram_cache import ModelLike
from sentgen.models.ngrams.ngram_table import NgramTable, score_text, table_without_states
from sentgen.models.ngrams.text_ngrams import known_words, prefetch_text
from sentgen.models.registry import looked_up
from sentgen.schema import Store
from sentgen.schema.engine import arrow_table, one_number
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import BOS, RESERVED_WORDS, UNK

#: Bytes of an n-gram while the table is made, but for its words: columns as read and copied, and the table.
_BYTES = 90
#: Bytes of each of its words: from Arrow, without nulls, and beside each other.
_BYTES_A_WORD = 12
#: N-grams to each word of a part of the text up to which the whole model is read.
_MOST_NGRAMS = 100
_COUNT = "select count(*) from model_ngram where model_id = ?"
_WORDS = (
    "select form, min(id) from word group by form"
    " having min(id) in (select w1 from model_ngram where model_id = ? and n = 1)"
)
_ALL = "select n, {words}, logp, backoff from model_ngram where model_id = ?"


class ModelReader:
    """Reads what the parts of a text ask of a model: the n-grams of each, or all of them, once.

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
        self._all: NgramTable | None = None
        self._known = np.zeros(0, np.int32)  # of the words of the text
        self._words: dict[str, int] = {}  # the unigrams, when all is read
        self._too_large = model.smoothing == stupid_backoff.NAME  # which has counts alone

    def known_in(self, forms: Sequence[str], old: int) -> Ints:
        """Return the same of the different words of a text, of which so many were asked for the last time."""
        self._known = np.concatenate((self._known[:old], self.known(forms[old:])))
        return self._known

    def known(self, forms: Sequence[str]) -> Ints:
        """Return the id of each form, that of <unk> where the model has no unigram."""
        if self._all is None:
            return known_words(self._store, self.model, forms)
        return np.array([self._words.get(form, UNK) for form in forms], np.int32)

    def read_whole(self, tokens: int) -> None:
        """Read all of the model for a text of which so many tokens are a part, unless it is too large."""
        if self._all is None and not self._too_large:
            self._all = self._read(_MOST_NGRAMS * tokens)
            self._too_large = self._all is None

    def logps(self, stream: Ints) -> Floats:
        """Return the log-probabilities of a part of a text: of each token, and of the end of each sentence.

        Args:
            stream: words that the model knows, each sentence between ``<s>`` and ``</s>``.
        """
        table = prefetch_text(self._store, self.model, stream) if self._all is None else self._all
        logps: Floats = score_text(table, self.model.order, stream)[0][stream != BOS]
        return logps

    @property
    def is_whole(self) -> bool:
        """Whether all of the model is in memory."""
        return self._all is not None

    def _read(self, most: int) -> NgramTable | None:
        """Return all of the model; none if it has more n-grams than that, or than fit into memory."""
        order = self.model.order
        room = self._store.memory_limit // (_BYTES + order * _BYTES_A_WORD)
        with self._store.connect() as connection, translated_errors(self._store.path):
            duck = raw(connection)
            if one_number(duck, _COUNT, [self.model.id]) > min(most, room):
                return None
            names = ", ".join(f"w{number}" for number in range(1, order + 1))
            found = arrow_table(duck, _ALL.format(words=names), [self.model.id])
            self._words = dict(duck.execute(_WORDS, [self.model.id]).fetchall())
        for form in RESERVED_WORDS:  # in a text, they are no words of the model
            self._words.pop(form, None)
        words = np.empty((found.num_rows, order), np.int32)
        for place in range(order):
            words[:, place] = found.column(place + 1).fill_null(-1).to_numpy()
        logp, backoff = (found[name].to_numpy() for name in ("logp", "backoff"))
        return table_without_states(words, found["n"].to_numpy(), logp, backoff)[0]
