"""What a model is built from: corpora, or the sentences of them that meet a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from sentgen.errors import ModelError, NotFoundError
from sentgen.lookups.selection import select_corpora
from sentgen.lookups.statement import Bindings, Statement
from sentgen.models import sql
from sentgen.schema.tables.corpus import corpus, subcorpus
from sentgen.schema.tables.counts import segment

if TYPE_CHECKING:
    from sentgen.lookups.metadata.conditions import Condition

_FILE = "recount.sql"


@dataclass(frozen=True, slots=True)
class BuiltFrom:
    """A corpus as a model is built from it: its segments, and what was counted in them."""

    id: int
    name: str
    max_order: int
    segments: tuple[int, ...]
    sentences: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """Sentences by their metadata; their numbers are in the temporary table ``chosen``.

    Args:
        condition: what they meet, with the conditions of subcorpora.
        sentences: how many they are.
        tokens: how many tokens they have.
    """

    condition: str
    sentences: int
    tokens: int


def built_from(connection: Connection, name: str) -> BuiltFrom:
    """Return a corpus with its segments.

    Raises:
        NotFoundError: there is no such corpus.
    """
    found = connection.execute(select(corpus).where(corpus.c.name == name)).one_or_none()
    if found is None:
        names = connection.execute(select(corpus.c.name).order_by(corpus.c.name)).scalars().all()
        existing = f"there are: {', '.join(names)}" if names else "there are none yet"
        raise NotFoundError(f"no corpus {name!r}; {existing}")
    segments = connection.execute(
        select(segment).where(segment.c.corpus_id == found.id).order_by(segment.c.id)
    ).all()
    return BuiltFrom(
        found.id,
        found.name,
        found.max_order,
        tuple(row.id for row in segments),
        sum(row.sentences for row in segments),
        sum(row.tokens for row in segments),
    )


def selected(
    connection: Connection, names: Sequence[str], condition: str | None
) -> tuple[list[str], Condition | None]:
    """Return the corpora that a model is built from, and the condition on their sentences; none for all.

    Args:
        connection: the store.
        names: names of corpora and subcorpora.
        condition: what the metadata of all sentences meet.

    Raises:
        NotFoundError: there is no such corpus.
        QueryError: the condition cannot be read, or asks for a key that there is not.
    """
    wanted = list(dict.fromkeys(names))
    of_sentences = connection.execute(select(subcorpus.c.name).where(subcorpus.c.name.in_(wanted))).first()
    if condition is None and of_sentences is None:
        return wanted, None
    selection = select_corpora(connection, wanted, condition=condition)
    every = connection.execute(select(corpus.c.name).order_by(corpus.c.name)).scalars()
    return list(selection.names or every), selection.condition


def choose(connection: Connection, condition: Condition, corpora: Sequence[int]) -> Chosen:
    """Make the temporary table ``chosen`` with the numbers of the sentences that meet a condition.

    Raises:
        ModelError: there are none.
    """
    bindings = Bindings()
    among = f"s.corpus_id in ({', '.join(map(str, corpora))}) and s.id in ({condition.sentences(bindings)})"
    text = sql.statements(_FILE)["chosen"].format(among=among)
    Statement(text, bindings).run(connection)
    ((sentences, tokens),) = sql.run(connection, _FILE, "size_of_chosen")
    if not sentences:
        hints = "; ".join(condition.hints(connection))
        raise ModelError(f"no sentences for a model where {condition.text}{hints and f'; {hints}'}")
    return Chosen(condition.text, sentences, tokens)
