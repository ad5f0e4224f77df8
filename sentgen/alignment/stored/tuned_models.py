"""Tuned models in the store: their weights by name, and the counts of the stems that gold links join."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection

from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.parameters import prior_parameters
from sentgen.alignment.phrase_hmm.tuning import Progress, Tuned, TuningExample, TuningPlan, tune
from sentgen.alignment.phrase_hmm.weights import NAMES, SIZE, LinkCounts, Tuning
from sentgen.alignment.stored import model_store
from sentgen.alignment.stored.model_store import DIRECTIONS, AlignmentModelInfo, StoredIteration
from sentgen.errors import InputError, StoreError
from sentgen.schema import Store
from sentgen.schema.store import append, fetch_arrow
from sentgen.schema.tables import alignment as tables

#: The corpus of a model that was tuned on a gold standard, which is in no corpus.
GOLD = 0


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
    """Tune a model on gold links and store it.

    Args:
        store: where the model goes.
        name: of the model, which must be free.
        examples: pairs with their links.
        source: what the gold standard is called.
        plan: how to tune.
        budget: memory, for all pairs at once.
        progress: called with direction, iteration, and the most iterations there may be.

    Raises:
        InputError: the model exists, or there are no links.
        MemoryLimitError: the pairs do not fit into the budget.
    """
    with store.connect() as connection:
        if model_store.find_model(connection, name) is not None:
            raise InputError(
                f"the alignment model {name!r} exists; choose another name, or remove it: "
                f"sentgen align remove {name}"
            )
    tuned = tune(examples, plan, budget=budget, progress=progress)
    with store.begin() as connection:
        model_store.add_model(
            connection,
            name,
            tuned.settings,
            corpus_id=GOLD,
            corpus=source,
            pairs=tuned.pairs,
            pairs_hash=_hash(examples),
            iterations=1,
        )
        model = model_store.get_model(connection, name)
        _save_directions(connection, model, tuned)
        _save_weights(connection, model, tuned)
        _save_counts(connection, model, tuned.counts)
    return tuned


def _hash(examples: Sequence[TuningExample]) -> str:
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr((example.pair, example.sure.tolist(), example.possible.tolist())).encode())
    return digest.hexdigest()


def _save_directions(connection: Connection, model: AlignmentModelInfo, tuned: Tuned) -> None:
    """Store each direction as one iteration, with the parameters that weights are added to."""
    plain = prior_parameters(tuned.settings)
    for direction, learnt in zip(DIRECTIONS, tuned.directions, strict=True):
        done = StoredIteration(
            direction=direction,
            number=1,
            logp=learnt.after,
            log_posterior=learnt.after - learnt.penalty,
            p_null=plain.p0,
            weights=tuned.settings.weights,
            cells=len(tuned.counts),
            seconds=learnt.seconds,
        )
        model_store.save_iteration(connection, model, done, plain)


def _save_weights(connection: Connection, model: AlignmentModelInfo, tuned: Tuned) -> None:
    for direction, learnt in zip(DIRECTIONS, tuned.directions, strict=True):
        used = np.flatnonzero(learnt.weights)
        features, values = ([NAMES[number][part] for number in used.tolist()] for part in (0, 1))
        rows = {
            "model_id": pa.array(np.full(len(used), model.id, np.int32)),
            "direction": pa.array([direction] * len(used), pa.string()),
            "feature": pa.array(features, pa.string()),
            "value": pa.array(values, pa.string()),
            "weight": pa.array(learnt.weights[used]),
        }
        append(connection, tables.alignment_weight.name, pa.table(rows))


def _save_counts(connection: Connection, model: AlignmentModelInfo, counts: LinkCounts) -> None:
    stems = np.array(counts.stems, object)
    rows = {
        "model_id": pa.array(np.full(len(counts), model.id, np.int32)),
        "stem": pa.array(stems[counts.first].tolist(), pa.string()),
        "other": pa.array(stems[counts.second].tolist(), pa.string()),
        "linked": pa.array(counts.linked),
        "together": pa.array(counts.together),
    }
    append(connection, tables.alignment_link_count.name, pa.table(rows))


def load_tuning(connection: Connection, model: AlignmentModelInfo) -> Mapping[str, Tuning]:
    """Return what each direction learnt from gold links; nothing if the model was not tuned.

    Raises:
        StoreError: a later version of sentgen tuned it, with features that this one does not know.
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
