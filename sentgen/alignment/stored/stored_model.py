"""A model of the store as an aligner, which loads the cells that the pairs of a batch need.

For a tuned model, the store has the weights by name, and the counts of gold links by their stems.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from sqlalchemy import Connection

from sentgen.alignment.pairs.alignment import Alignment, Pair
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds, text_keys
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, forms_of_stems
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.tuning import Progress, Tuned, TuningExample, TuningPlan, tune
from sentgen.alignment.phrase_hmm.weights import NAMES, SIZE, LinkCounts, Tuning
from sentgen.alignment.stored.cells import TEXTS
from sentgen.alignment.stored.model_store import DIRECTIONS, AlignmentModelInfo, append_columns
from sentgen.arrays import Ints
from sentgen.errors import InputError, StoreError
from sentgen.models.vectors import WordVectors
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow
from sentgen.schema.tables import alignment as tables

_OfHmm = TypeVar("_OfHmm", bound="PhraseHmm | StoredAligner")
#: Pairs whose part of the rewrite tables is loaded at once.
_BATCH = 200


@dataclass(frozen=True, slots=True)
class StoredAligner:
    """A trained model; ``settings`` may decode in another way than it was trained for.

    ``words`` are the words of the model by number; ``forms`` the number of words of each side with each stem
    (abstracts first); ``tuning`` the weights and counts of gold links by direction. With ``explain``
    alignments have their candidate links.
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
        for begin in range(0, len(pairs), _BATCH):
            batch = pairs[begin : begin + _BATCH]
            yield from self.load_batch(batch).align(batch)

    def load_batch(self, pairs: Sequence[Pair]) -> PhraseHmm:
        """Return an aligner in memory for these pairs."""
        # A lexicon for each batch: words that the model does not have get ids beyond its own, for this batch.
        lexicon = Lexicon(self.words, fold=self.settings.fold)
        ids = [lexicon.encode(pair) for pair in pairs]
        with self.store.connect() as connection:
            forward = self._parameters(connection, DIRECTIONS[0], ids)
            reverse = None
            # A model that was trained forward only uses the priors for the reverse direction (`pbhmm.align`).
            if self.settings.both and self.settings.decode == "posterior" and self.model.settings.both:
                exchanged = [pair.swap_texts() for pair in ids]
                reverse = self._parameters(connection, DIRECTIONS[1], exchanged)
        known = self.label, self.settings, forward, lexicon, reverse
        return PhraseHmm(*known, self.budget, self.vectors, self.explain)

    def _parameters(
        self, connection: Connection, direction: str, pairs: Sequence[PairIds]
    ) -> RewriteParameters:
        model = self.model
        if not model.iterations:  # no name: the priors, as a model of the store
            return RewriteParameters.prior(self.settings)
        forms = self.forms[DIRECTIONS.index(direction)]
        parameters = model.load_parameters(connection, direction, forms)
        longest = model.settings.max_document_phrase, model.settings.max_abstract_phrase
        by_layer = {}
        for layer, texts_of in TEXTS.items():
            sides = zip(*map(texts_of, pairs), strict=True)
            sources, targets = map(text_keys, sides, longest)
            cells = model.load_cells(connection, direction, layer, sources=sources, targets=targets)
            by_layer[layer] = cells.table()
        return replace(
            parameters, table=by_layer["words"], stems=by_layer["stems"], tuning=self.tuning.get(direction)
        )

    @staticmethod
    def load(store: Store, name: str, *, label: str | None = None) -> StoredAligner:
        """Return a model of the store as an aligner with the name ``label``, or that of the model.

        Raises:
            NotFoundError: the store has no such model, or no longer the vectors that it was trained with.
            StoreError: the model was trained with another stemmer, tuned with other features, or (when it
                aligns) has no iterations.
        """
        with store.connect() as connection:
            model = AlignmentModelInfo.get(connection, name)
            query = "select form, documents, abstracts from alignment_word where model_id = ? order by id"
            rows = fetch_arrow(connection, query, [model.id])
            words = tuple(rows["form"].to_pylist())
            lexicon = Lexicon(words, fold=model.settings.fold)
            model.ensure_same_stems(connection, lexicon)
            tuning = _load_tuning(connection, model)
        # Forms of the generated side: abstracts forward, documents in reverse.
        sides = (rows["abstracts"].to_numpy(), rows["documents"].to_numpy())
        forward, reverse = (
            forms_of_stems(np.flatnonzero(flags).astype(np.int32), lexicon.stem_of) for flags in sides
        )
        forms = (forward, reverse)
        aligner = StoredAligner(store, model, model.settings, words, forms, label or name, tuning=tuning)
        # The vectors of the training.
        return with_vectors(aligner, store, model.settings.vectors)


def with_vectors(aligner: _OfHmm, store: Store, name: str | None) -> _OfHmm:
    """Return an aligner to which words with similar vectors are related; without a name, the aligner itself.

    Raises:
        NotFoundError: the store has no such vectors.
        InputError: the settings of the aligner give such words the value 0.
    """
    if name is None:
        return aligner
    settings = replace(aligner.settings, vectors=name)
    return replace(aligner, settings=settings, vectors=named_vectors(store, settings, aligner.name))


def named_vectors(store: Store, settings: PbhmmSettings, label: str) -> WordVectors | None:
    """Return the vectors that settings name, if any; errors call the settings ``label``.

    Raises:
        NotFoundError: the store has no such vectors.
        InputError: the settings give near words the value 0.
    """
    if settings.vectors is None:
        return None
    if not settings.near:
        raise InputError(f"{label} gives near words nothing, so that vectors change nothing; leave them out")
    return WordVectors.load(store, settings.vectors)


#: Stands for the corpus of a model that was tuned on a gold standard.
_GOLD = 0


def tune_model(
    store: Store,
    name: str,
    examples: Sequence[TuningExample],
    source: str,
    plan: TuningPlan,
    *,
    budget: Budget = UNBOUNDED,
    progress: Progress | None = None,
) -> Tuned:
    """Tune a model on gold links, and store it; ``source`` is the name of the gold standard.

    For plan, budget and progress see `tune`.

    Raises:
        InputError: the model exists, or there are no links.
        MemoryLimitError: the pairs do not fit into the budget.
    """
    with store.connect() as connection:
        if AlignmentModelInfo.find(connection, name) is not None:
            raise InputError(
                f"the alignment model {name!r} exists; choose another name, or remove it: "
                f"sentgen align remove {name}"
            )
    tuned = tune(examples, plan, budget=budget, progress=progress)
    with store.begin() as connection:
        AlignmentModelInfo.add(
            connection,
            name,
            tuned.settings,
            corpus_id=_GOLD,
            corpus=source,
            pairs=tuned.pairs,
            pairs_hash=_hash(examples),
            iterations=1,
        )
        model = AlignmentModelInfo.get(connection, name)
        _save_directions(connection, model, tuned)
        _save_counts(connection, model, tuned.counts)
    return tuned


def _hash(examples: Sequence[TuningExample]) -> str:
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr((example.pair, example.sure.tolist(), example.possible.tolist())).encode())
    return digest.hexdigest()


def _save_directions(connection: Connection, model: AlignmentModelInfo, tuned: Tuned) -> None:
    """Store each direction as one iteration, with its parameters and weights."""
    plain = RewriteParameters.prior(tuned.settings)
    for direction, learnt in zip(DIRECTIONS, tuned.directions, strict=True):
        model.save_iteration(
            connection,
            plain,
            direction=direction,
            iteration=1,
            logp=learnt.after,
            log_posterior=learnt.after - learnt.penalty,
            cells=len(tuned.counts),
            seconds=learnt.seconds,
        )
        used = np.flatnonzero(learnt.weights)
        features, values = ([NAMES[number][part] for number in used.tolist()] for part in (0, 1))
        columns = {"feature": features, "value": values, "weight": learnt.weights[used]}
        append_columns(connection, tables.alignment_weight, columns, model_id=model.id, direction=direction)


def _save_counts(connection: Connection, model: AlignmentModelInfo, counts: LinkCounts) -> None:
    stems = np.array(counts.stems, object)
    columns = {
        "stem": stems[counts.first],
        "other": stems[counts.second],
        "linked": counts.linked,
        "together": counts.together,
    }
    append_columns(connection, tables.alignment_link_count, columns, model_id=model.id)


def _load_tuning(connection: Connection, model: AlignmentModelInfo) -> Mapping[str, Tuning]:
    """Return the tuning of each direction; an empty mapping if the model was not tuned.

    Raises:
        StoreError: a later version of sentgen tuned the model, with features that this version does not have.
    """
    query = "select direction, feature, value, weight from alignment_weight where model_id = ?"
    rows = fetch_arrow(connection, query, [model.id]).to_pylist()
    if not rows:
        return {}
    indexes = {name: index for index, name in enumerate(NAMES)}
    weights = {direction: np.zeros(SIZE) for direction in DIRECTIONS}
    for row in rows:
        index = indexes.get((row["feature"], row["value"]))
        if index is None:
            raise StoreError(
                f"the alignment model {model.name!r} was tuned with features that this version of sentgen "
                f"does not know ({row['feature']}: {row['value']}); tune another one: sentgen align tune"
            )
        weights[row["direction"]][index] = row["weight"]
    counts = _load_counts(connection, model)
    return {direction: Tuning(own_weights, counts) for direction, own_weights in weights.items()}


def _load_counts(connection: Connection, model: AlignmentModelInfo) -> LinkCounts:
    query = "select stem, other, linked, together from alignment_link_count where model_id = ?"
    rows = fetch_arrow(connection, query, [model.id])
    numbers: dict[str, int] = {}
    first, second = (
        np.array([numbers.setdefault(stem, len(numbers)) for stem in rows[side].to_pylist()], np.int64)
        for side in ("stem", "other")
    )
    linked, together = (np.array(rows[name].to_numpy(), np.int64) for name in ("linked", "together"))
    return LinkCounts.of_rows(tuple(numbers), first, second, linked, together)
