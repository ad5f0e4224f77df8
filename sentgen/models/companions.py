"""The companions of a model, and the weights that were learnt for it, both for joint decoding.

Companions are models over tags, classes and items of the same corpora. Joint decoding sums the scores of the
words, of the companions and of the factors of trees, each times its weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, insert, select

from sentgen.errors import ModelError, NotFoundError, StoreError, spell
from sentgen.models.base import sql
from sentgen.models.base.symbols import CLASSES, ITEMS, TAGS
from sentgen.schema import Store
from sentgen.schema.store import scalar
from sentgen.schema.tables.corpus import corpus
from sentgen.schema.tables.models import model_weight

#: The symbols of the companions, in the order of lists.
COMPANIONS = (TAGS, CLASSES, ITEMS)
#: Suffix of a model of more text: NAME-text, or text for all models; built, mixed or imported by itself.
TEXT = "text"

_FEATURE, _FACTOR = "feature", "factor"


def companion_name(name: str, over: str) -> str:
    """Return the name of the companion of a model.

    >>> companion_name("ewt", "tags")
    'ewt-tags'
    """
    return f"{name}-{over}"


def is_annotated(store: Store, name: str) -> bool:
    """Return whether all words of a corpus have tags, and its base noun phrases are marked."""
    return bool(_annotated(store, [name])[0])


def corpora_of_companions(store: Store, names: Sequence[str]) -> list[str]:
    """Return the corpora of a model that can have companions; subcorpora stay in the list.

    Raises:
        ModelError: no corpus has tags and base noun phrases.
        StoreError: the store is a lake.
    """
    if store.lake:
        raise StoreError(
            f"{store.lake}: a lake has no text to count tags in; build the model without"
            f" {spell('companions')}"
        )
    without = _annotated(store, names)[1]
    left = [name for name in dict.fromkeys(names) if name not in without]
    # Without corpora, building reports what is missing.
    if names and not left:
        raise ModelError(
            f"{', '.join(sorted(without))}: not every word has a tag and a place in or outside of base noun"
            f" phrases there, as companions need; name a treebank as {spell('corpus')}, or leave"
            f" {spell('companions')} out"
        )
    return left


def _annotated(store: Store, names: Sequence[str]) -> tuple[set[str], set[str]]:
    """Divide corpora into those that have tags and base noun phrases, and those that do not."""
    with store.connect() as connection:
        rows = connection.execute(select(corpus.c.id, corpus.c.name).where(corpus.c.name.in_(names))).all()
        ids = ", ".join(str(row.id) for row in rows)
        annotated = {
            int(number)
            for (number,) in sql.run(connection, "recount.sql", "annotated", corpora=ids or "null")
        }
    having = {str(row.name) for row in rows if row.id in annotated}
    return having, {str(row.name) for row in rows} - having


@dataclass(frozen=True, slots=True)
class LearntWeights:
    """Learnt weights by name, where the words weigh 1; models are named with their versions."""

    features: Mapping[str, float] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)

    def add(self, store: Store, model_id: int, algorithm: str, run: int) -> int:
        """Store the weights that a run learnt; return their version, numbered by model."""
        table = model_weight.c
        with store.begin() as connection:
            version = (
                scalar(connection, select(func.max(table.version)).where(table.model_id == model_id)) + 1
            )
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
                for kind, named in ((_FEATURE, self.features), (_FACTOR, self.factors))
                for name, weight in named.items()
            ]
            connection.execute(insert(model_weight), rows)
        return version

    @classmethod
    def find(
        cls, store: Store, model_id: int, algorithm: str, version: int | None = None
    ) -> LearntWeights | None:
        """Return the weights of a model for an algorithm, of a version or the newest; None if there are none.

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
        mine = [row for row in rows if row.version == wanted]
        return cls(
            *({row.name: row.weight for row in mine if row.kind == kind} for kind in (_FEATURE, _FACTOR))
        )
