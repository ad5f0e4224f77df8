"""Conditions with a name: subcorpora as the store has them.

What is stored is the condition: a subcorpus has the sentences that meet it when it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from sentgen.errors import NotFoundError
from sentgen.lookups.metadata.conditions import Condition, choose
from sentgen.schema.tables.corpus import subcorpus


@dataclass(frozen=True, slots=True)
class Subcorpus:
    """A subcorpus as it is defined: ``corpora`` are those that it is of, none for all."""

    name: str
    corpora: tuple[str, ...]
    expression: str
    defined_at: datetime

    @property
    def condition(self) -> str:
        """The condition that its sentences meet, with its corpora."""
        return both(of_corpora(self.corpora), self.expression) if self.corpora else self.expression


def of_corpora(names: Sequence[str]) -> str:
    """Return the condition that a sentence is of one of some corpora.

    >>> of_corpora(["news", 'a "b"'])
    'corpus in ("news", "a \\\\"b\\\\"")'
    """
    quoted = ", ".join('"' + name.replace('"', '\\"') + '"' for name in names)
    return f"corpus in ({quoted})"


def both(one: str, other: str) -> str:
    """Return the condition that two conditions hold."""
    return f"({one}) and ({other})"


def some(conditions: Sequence[str]) -> str:
    """Return the condition that one of several holds."""
    return conditions[0] if len(conditions) == 1 else " or ".join(f"({one})" for one in conditions)


def stored(connection: Connection) -> list[Subcorpus]:
    """Return all subcorpora, by name."""
    rows = connection.execute(select(subcorpus).order_by(subcorpus.c.name)).all()
    return [
        Subcorpus(row.name, tuple(row.corpora.splitlines()), row.expression, row.defined_at) for row in rows
    ]


def condition_of(
    connection: Connection,
    corpora: Sequence[str],
    subcorpora: Sequence[Subcorpus],
    known: Collection[str],
    condition: str | None,
) -> Condition:
    """Return the condition on sentences of corpora and subcorpora together, of which there is one at least.

    Args:
        connection: the store.
        corpora: names of whole corpora.
        subcorpora: those whose sentences count beside theirs.
        known: the names of all corpora.
        condition: what all of the sentences meet; none for all.

    Raises:
        QueryError: a condition cannot be read, or asks for a key that there is not.
        NotFoundError: a corpus of a subcorpus is not there any more.
    """
    for one in subcorpora:
        gone = [name for name in one.corpora if name not in known]
        if gone:
            raise NotFoundError(
                f"subcorpus {one.name!r} is of {', '.join(map(repr, gone))}, which the store has no more;"
                " define it again"
            )
    parts = [of_corpora(corpora)] if corpora else []
    text = some([*parts, *(one.condition for one in subcorpora)])
    if condition is None:
        return choose(connection, text)
    choose(connection, condition)  # shows a slip in what was written
    return choose(connection, both(text, condition))
