"""Companions of a model: models over tags, classes and items of its corpora, which joint decoding asks."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from sentgen.errors import ModelError, StoreError, spell
from sentgen.models.base import sql
from sentgen.models.base.symbols import CLASSES, ITEMS, TAGS
from sentgen.schema import Store
from sentgen.schema.tables.corpus import corpus

#: What they are over, in the order of lists.
COMPANIONS = (TAGS, CLASSES, ITEMS)
#: Names a model of more text, which is built, mixed or imported by itself: NAME-text, or text for all models.
TEXT = "text"


def companion_name(name: str, over: str) -> str:
    """Return the name of the companion of a model.

    >>> companion_name("ewt", "tags")
    'ewt-tags'
    """
    return f"{name}-{over}"


def is_annotated(store: Store, name: str) -> bool:
    """Return whether each word of a corpus has a tag, and is known to be in a base noun phrase or in none."""
    return bool(_annotated(store, [name])[0])


def corpora_of_companions(store: Store, names: Sequence[str]) -> list[str]:
    """Return those of a model's corpora that can have companions; what is no corpus, but part of one, stays.

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
    # Without a name, building says what is missing.
    if names and not left:
        raise ModelError(
            f"{', '.join(sorted(without))}: not every word has a tag and a place in or outside of base noun"
            f" phrases there, as companions need; name a treebank as {spell('corpus')}, or leave"
            f" {spell('companions')} out"
        )
    return left


def _annotated(store: Store, names: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return those of some corpora that have tags and base noun phrases, and those that do not."""
    with store.connect() as connection:
        rows = connection.execute(select(corpus.c.id, corpus.c.name).where(corpus.c.name.in_(names))).all()
        ids = ", ".join(str(row.id) for row in rows)
        found = {
            int(number)
            for (number,) in sql.run(connection, "recount.sql", "annotated", corpora=ids or "null")
        }
    having = {str(row.name) for row in rows if row.id in found}
    return having, {str(row.name) for row in rows} - having
