"""Models that others are made of, and what is noted of these: settings, corpora, parts and weights."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from sentgen.counts.shares import DATABASE_SHARE
from sentgen.errors import ModelError, StoreError
from sentgen.models.base.registry import (
    DYNAMIC,
    LATER,
    STUPID_BACKOFF,
    ModelInfo,
    changes,
    find,
    find_in,
    next_version,
    require_name,
)
from sentgen.models.build_request import FULL_SHARE, ROWS_SHARE, SORTING_SHARE
from sentgen.models.building.recipe import BuiltFrom, Chosen, Recipe
from sentgen.models.building.summed_counts import drop_temporary
from sentgen.models.building.writing import Parameters, anchors_of, record, smoothed, write_sorted
from sentgen.models.smoothing.rows import NgramRows
from sentgen.models.submodel import lowercases
from sentgen.schema import Store
from sentgen.schema.tables.models import PARTS, model_corpus
from sentgen.space import Space


def parts_named(store: Store, name: str, labels: Sequence[str]) -> list[ModelInfo]:
    """Return the models that another one is to be made of.

    Raises:
        InputError: the new model has no name.
        NotFoundError: there is no such model.
        ModelError: one has no n-grams with probabilities, or a corpus of its own was read again since.
        StoreError: the store is a lake.
    """
    require_name(name)
    if store.lake:
        raise StoreError(f"{store.lake}: a lake is only read; make the model in a store")
    parts = [find(store, label) for label in labels]
    for part in parts:
        if part.smoothing == STUPID_BACKOFF:
            raise ModelError(
                f"{part.label}: scores of {part.smoothing} are no probabilities; take a model of kneser-ney"
            )
        if part.smoothing == DYNAMIC:
            of = ",".join(label for label, _ in part.parts)
            raise ModelError(
                f"{part.label} has no n-grams of its own; name the models that it looks up: {of}"
            )
        # Its number of tokens could not tell that what is made of it is stale.
        if later := [line for line in changes(store, part) if line.endswith(LATER)]:
            raise ModelError(f"{part.label}: {later[0]}; build it again first")
    return parts


def check_alike(store: Store, parts: Sequence[ModelInfo]) -> None:
    """Refuse models whose words mean different things.

    Raises:
        ModelError: they are over something else, have brackets, classes of unknown words or lower case, and
            others have not.
    """
    kinds: dict[str, list[str | None]] = {
        "what n-grams are made of": [str(part.symbols) for part in parts],
        "brackets": ["with" if part.brackets else "without" for part in parts],
        "unknown words": ["tag" if part.unknown == "tag" else "word" for part in parts],
        "case": ["lower" if lowercases(store, part) else "kept" if part.corpora else None for part in parts],
    }
    for kind, values in kinds.items():
        told = [(part.label, value) for part, value in zip(parts, values, strict=True) if value]
        if len({value for _, value in told}) > 1:
            listed = ", ".join(f"{label} {value}" for label, value in told)
            raise ModelError(f"models that differ in {kind} cannot be mixed ({listed}); build them alike")


def store_model(
    store: Store,
    name: str,
    smoothing: str,
    parts: Sequence[tuple[ModelInfo, float]],
    orders: Sequence[NgramRows] = (),
    parameters: Parameters = (),
    space: Space | None = None,
) -> ModelInfo:
    """Store a model of some parts as the next version of its name; without n-grams, it looks them up."""
    models = [part for part, _ in parts]
    unknown = {part.unknown for part in models} - {"none"}
    settings = Recipe(
        max(part.order for part in models),
        smoothing,
        (),
        unknown.pop() if unknown else "none",
        models[0].brackets,
        models[0].symbols,
    )
    with store.begin() as connection:
        corpora, chosen = _counted(connection, models)
        model_id, version = next_version(connection, name)
        if orders:
            assert space
            memory = int(store.memory_limit / DATABASE_SHARE * SORTING_SHARE)
            source = smoothed(orders, space)
            write_sorted(connection, model_id, anchors_of(orders, space), source, memory=memory)
        notes = [(0, f"{PARTS}{part.label}", weight) for part, weight in parts]
        looked_up = [] if orders else [part.id for part in models]
        told = [*parameters, *notes]
        record(connection, model_id, (name, version), settings, corpora, told, chosen, looked_up)
        drop_temporary(connection)
        return find_in(connection, f"{name}@{version}")


def space_of(store: Store) -> Space:
    """Return the space for n-grams, as building a model takes it."""
    memory = store.memory_limit / DATABASE_SHARE
    return Space(int(memory * ROWS_SHARE), store.path.parent, most=int(memory * FULL_SHARE))


def _counted(connection: Connection, parts: Sequence[ModelInfo]) -> tuple[list[BuiltFrom], Chosen]:
    """Return the corpora of some models as they were then, and the sentences of them that were counted."""
    table, counted = model_corpus.c, {}
    for part in parts:
        rows = connection.execute(select(model_corpus).where(table.model_id == part.id)).all()
        of = frozenset((row.corpus_id, row.corpus_name, row.tokens) for row in rows)
        # Two models of the same sentences count them once.
        counted[of, part.condition] = (part.sentences, part.tokens)
    corpora = sorted(frozenset().union(*(of for of, _ in counted)))
    sentences, tokens = map(sum, zip(*counted.values(), strict=True))
    most = sum(size for _, _, size in corpora)
    found = [BuiltFrom(number, name, 0, (), 0, size) for number, name, size in corpora]
    return found, Chosen(_condition(parts), sentences, min(tokens, most))


def _condition(parts: Sequence[ModelInfo]) -> str:
    """Return the condition that all models share, else those of the single ones."""
    conditions = {part.condition for part in parts}
    if len(conditions) == 1:
        return conditions.pop()
    return "; ".join(f"{part.label}: {part.condition}" for part in parts if part.condition)
