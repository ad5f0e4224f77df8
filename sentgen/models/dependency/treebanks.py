"""Which corpora give a generator its dependency trees."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, literal, select

from sentgen.counts import corpora
from sentgen.errors import ModelError
from sentgen.models.building.tagging import having_trees, with_trees
from sentgen.models.dependency.dependencies import Layer
from sentgen.models.submodel import ModelLike
from sentgen.schema import Store
from sentgen.schema.tables.corpus import corpus, token
from sentgen.schema.tables.models import model_corpus


def corpora_of(store: Store, model: ModelLike) -> list[tuple[int, str]]:
    """Return ids and names of the corpora that a language model was built from, by id."""
    query = (
        select(corpus.c.id, corpus.c.name)
        .join(model_corpus, model_corpus.c.corpus_id == corpus.c.id)
        .where(model_corpus.c.model_id == model.id)
    )
    with store.connect() as connection:
        return [(int(number), str(name)) for number, name in connection.execute(query.order_by("id"))]


def has_trees(store: Store, model: ModelLike, layer: Layer = "unit") -> bool:
    """Tell whether a corpus that a language model was built from has trees."""
    mine = [number for number, _ in corpora_of(store, model)]
    if not mine or not having_trees(store, mine, layer):
        return False
    # A lake may have counts of trees without the trees.
    head = token.c.head if layer == "word" else token.c.unit_head
    query = select(literal(1)).where(token.c.corpus_id.in_(mine), head.is_not(None)).limit(1)
    with store.connect() as connection:
        return connection.execute(query).first() is not None


def have_function_heads(store: Store, corpora: Sequence[int]) -> bool:
    """Return whether function words are heads in the counts of some corpora."""
    query = select(func.bool_or(corpus.c.function_heads)).where(corpus.c.id.in_(corpora))
    with store.connect() as connection:
        return bool(connection.execute(query).scalar())


def treebanks_of(
    store: Store, model: ModelLike, names: Sequence[str] | None = None, layer: Layer = "unit"
) -> list[int]:
    """Return the ids of the corpora whose trees go with a language model.

    Args:
        store: where they are.
        model: the language model.
        names: the corpora to use; if ``None``, those that the model was built from and that have trees.
        layer: `unit` or `word`.

    Raises:
        NotFoundError: there is no corpus of a name.
        ModelError: a named corpus, or every corpus of the model, has no trees.
    """
    if names is not None:
        return named_treebanks(store, names, layer)
    return with_trees(store, [number for number, _ in corpora_of(store, model)], layer)


def named_treebanks(store: Store, names: Sequence[str], layer: Layer = "unit") -> list[int]:
    """Return the ids of some corpora, all of which have trees.

    Raises:
        NotFoundError: there is no corpus of a name.
        ModelError: a corpus has no trees.
    """
    with store.connect() as connection:
        rows = [corpora.find(connection, name) for name in dict.fromkeys(names)]
    wanted = sorted((int(row.id), str(row.name)) for row in rows)
    found = with_trees(store, [number for number, _ in wanted], layer)
    missing = [name for number, name in wanted if number not in found]
    # Only of named ones: a model may well be built from plain text beside treebanks.
    if missing:
        raise ModelError(
            f"there are no dependency trees in {' and '.join(missing)}; name treebanks only"
            " with --dependencies"
        )
    return found
