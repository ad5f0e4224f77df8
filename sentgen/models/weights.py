"""Weights that were learnt for a model: what other models and the factors of trees weigh beside its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Row, func, insert, select

from sentgen.errors import NotFoundError
from sentgen.schema import Store
from sentgen.schema.store import scalar
from sentgen.schema.tables.models import model_weight

_FEATURE, _FACTOR = "feature", "factor"


@dataclass(frozen=True, slots=True)
class LearntWeights:
    """What weighs beside the 1 of the words, by name; models are named with their versions."""

    features: Mapping[str, float] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)


def add_weights(store: Store, model_id: int, algorithm: str, weights: LearntWeights, run: int) -> int:
    """Store what a run learnt; return its version, which counts what was learnt for the model."""
    table = model_weight.c
    with store.begin() as connection:
        version = scalar(connection, select(func.max(table.version)).where(table.model_id == model_id)) + 1
        rows = [
            {
                "model_id": model_id,
                "version": version,
                "algorithm": algorithm,
                "kind": kind,
                "name": name,
                "weight": weight,
                "run_id": run,
            }
            for kind, named in ((_FEATURE, weights.features), (_FACTOR, weights.factors))
            for name, weight in named.items()
        ]
        connection.execute(insert(model_weight), rows)
    return version


def learnt_weights(
    store: Store, model_id: int, algorithm: str, version: int | None = None
) -> LearntWeights | None:
    """Return what was learnt for a model and an algorithm, the last time if no version is given.

    None if nothing was learnt yet.

    Raises:
        NotFoundError: there is no such version.
    """
    table = model_weight.c
    query = select(table.version, table.kind, table.name, table.weight).where(
        table.model_id == model_id, table.algorithm == algorithm
    )
    with store.connect() as connection:
        rows = connection.execute(query.order_by(table.version, table.name)).all()
    versions = sorted({int(row.version) for row in rows})
    if version is None and not versions:
        return None
    wanted = versions[-1] if version is None else version
    if wanted not in versions:
        there = ", ".join(map(str, versions)) or "none"
        raise NotFoundError(f"no weights {wanted} for {algorithm} with this model; there are: {there}")
    return LearntWeights(
        *(_named(rows, wanted, kind) for kind in (_FEATURE, _FACTOR)),
    )


def _named(rows: Sequence[Row[int, str, str, float]], version: int, kind: str) -> dict[str, float]:
    mine = (row for row in rows if (row.version, row.kind) == (version, kind))
    return {str(row.name): float(row.weight) for row in mine}
