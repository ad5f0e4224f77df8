"""A model of the store as an aligner: it fetches what the pairs at hand need of its rewrite tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from sqlalchemy import Connection

from sentgen.alignment.pairs.alignment import Alignment, Pair
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds, phrase_keys
from sentgen.alignment.phrase_hmm.parameters import (
    RewriteParameters,
    forms_of_stems,
    prior_parameters,
)
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weights import Tuning
from sentgen.alignment.stored.model_store import (
    DIRECTIONS,
    AlignmentModelInfo,
    ensure_same_stems,
    get_model,
    load_cells,
    load_parameters,
)
from sentgen.alignment.stored.tuned_models import load_tuning
from sentgen.arrays import Ints, Longs
from sentgen.errors import InputError
from sentgen.models.vectors import WordVectors, load_vectors
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

OfHmm = TypeVar("OfHmm", bound="PhraseHmm | StoredAligner")
#: Pairs whose part of the rewrite tables is fetched at once.
BATCH = 200


@dataclass(frozen=True, slots=True)
class StoredAligner:
    """A trained model; ``settings`` may decode in another way than it was trained for.

    ``words`` are the model's, by number; ``forms`` how many of each side's have each stem (abstracts first).
    ``tuning`` is what its directions learnt from gold links. Alignments have what they were chosen among if
    it is to ``explain``.
    """

    store: Store
    model: AlignmentModelInfo
    settings: PbhmmSettings
    words: tuple[str, ...]
    forms: tuple[Ints, Ints]
    label: str
    budget: Budget = UNBOUNDED
    tuning: Mapping[str, Tuning] = field(default_factory=dict)
    vectors: WordVectors | None = None
    explain: bool = False

    @property
    def name(self) -> str:
        """Name in tables."""
        return self.label

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each, in their order."""
        for begin in range(0, len(pairs), BATCH):
            batch = pairs[begin : begin + BATCH]
            yield from self.load_batch(batch).align(batch)

    def load_batch(self, pairs: Sequence[Pair]) -> PhraseHmm:
        """Return an aligner in memory that is good for these pairs."""
        # One for each batch: words that the model does not know get ids beyond its own, for this batch.
        lexicon = Lexicon(self.words, fold=self.settings.fold)
        ids = [lexicon.encode(pair) for pair in pairs]
        with self.store.connect() as connection:
            forward = self._parameters(connection, DIRECTIONS[0], ids)
            reverse = None
            # A model that was trained forward only has the priors for the other direction (`pbhmm.align`).
            if self.settings.both and self.settings.decode == "posterior" and self.model.settings.both:
                exchanged = [pair.swap_texts() for pair in ids]
                reverse = self._parameters(connection, DIRECTIONS[1], exchanged)
        known = self.label, self.settings, forward, lexicon, reverse
        return PhraseHmm(*known, self.budget, self.vectors, self.explain)

    def _parameters(
        self, connection: Connection, direction: str, pairs: Sequence[PairIds]
    ) -> RewriteParameters:
        model = self.model
        if not model.iterations:  # nothing was asked for: the priors, as a model of the store
            return prior_parameters(self.settings)
        forms = self.forms[DIRECTIONS.index(direction)]
        parameters = load_parameters(connection, model, direction, forms)
        texts = {
            "words": ([pair.document for pair in pairs], [pair.abstract for pair in pairs]),
            "stems": ([pair.document_stems for pair in pairs], [pair.abstract_stems for pair in pairs]),
        }
        tables = {
            layer: load_cells(
                connection,
                model,
                direction,
                layer,
                sources=_keys(documents, model.settings.max_document_phrase),
                targets=_keys(abstracts, model.settings.max_abstract_phrase),
            ).table()
            for layer, (documents, abstracts) in texts.items()
        }
        return replace(
            parameters, table=tables["words"], stems=tables["stems"], tuning=self.tuning.get(direction)
        )


def stored_aligner(store: Store, name: str, *, label: str | None = None) -> StoredAligner:
    """Return a model of the store as an aligner that calls itself ``label``, or by its name.

    Raises:
        NotFoundError: there is no such model, or the vectors that it was trained with are gone.
        StoreError: it was trained with another stemmer, tuned with other features, or (when it is asked to
            align) not trained at all yet.
    """
    with store.connect() as connection:
        model = get_model(connection, name)
        query = "select form, documents, abstracts from alignment_word where model_id = ? order by id"
        rows = fetch_arrow(connection, query, [model.id])
        words = tuple(rows["form"].to_pylist())
        lexicon = Lexicon(words, fold=model.settings.fold)
        ensure_same_stems(connection, model, lexicon)
        tuning = load_tuning(connection, model)
    # What is generated comes first: forms are those of the abstracts forward, of the documents in reverse.
    sides = (rows["abstracts"].to_numpy(), rows["documents"].to_numpy())
    forward, reverse = (
        forms_of_stems(np.flatnonzero(flags).astype(np.int32), lexicon.stem_of) for flags in sides
    )
    forms = (forward, reverse)
    aligner = StoredAligner(store, model, model.settings, words, forms, label or name, tuning=tuning)
    # Those that it was trained with.
    return with_vectors(aligner, store, model.settings.vectors)


def with_vectors(aligner: OfHmm, store: Store, name: str | None) -> OfHmm:
    """Return an aligner that takes words with similar vectors as related; without a name, as it is.

    Raises:
        NotFoundError: the store has no such vectors.
        InputError: the settings of the aligner give such words nothing.
    """
    if name is None:
        return aligner
    settings = replace(aligner.settings, vectors=name)
    return replace(aligner, settings=settings, vectors=named_vectors(store, settings, aligner.name))


def named_vectors(store: Store, settings: PbhmmSettings, label: str) -> WordVectors | None:
    """Return the vectors that settings name, if they do; ``label`` is what errors call the settings.

    Raises:
        NotFoundError: the store has no such vectors.
        InputError: the settings give near words nothing.
    """
    if settings.vectors is None:
        return None
    if not settings.near:
        raise InputError(f"{label} gives near words nothing, so that vectors change nothing; leave them out")
    return load_vectors(store, settings.vectors)


def _keys(texts: Sequence[Ints], longest: int) -> Longs:
    """Return the keys of all phrases, each once, sorted."""
    keys = [phrase_keys(text, length) for text in texts for length in range(1, longest + 1)]
    return np.unique(np.concatenate([np.empty(0, np.int64), *keys]))
