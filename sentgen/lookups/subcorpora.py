"""Named subcorpora: sentences chosen by their metadata, with a name that can be used like that of a corpus.

Only the condition is stored: a subcorpus has the sentences that meet it at the time of a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sqlalchemy import Connection, delete, insert, select

from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.base.metadata import Condition, Subcorpus, both_hold
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.schema.store import Store, now
from sentgen.schema.tables.corpus import corpus, subcorpus

_SIZE = """\
select count(*) as sentences, coalesce(sum(length), 0)::bigint as tokens,
  count(distinct document_id) as documents
from sentence
where id in ({sentences})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubcorpusName:
    """One subcorpus."""

    name: Annotated[str, Option("Name of the subcorpus.", argument=True, shell="Subcorpus.", metavar="NAME")]


def find(connection: Connection, name: str) -> Subcorpus:
    """Return a subcorpus.

    Raises:
        NotFoundError: there is no subcorpus of that name; the message lists the names of the others.
    """
    every = Subcorpus.all(connection)
    for known in every:
        if known.name == name:
            return known
    if not every:
        there = "there are none yet; define one with: sentgen subcorpora define NAME --where EXPR"
    else:
        there = f"there are: {', '.join(each.name for each in every)}"
    raise NotFoundError(f"no subcorpus {name!r}; {there}")


def define(
    connection: Connection, name: str, expression: str, corpora: Sequence[str] = ()
) -> tuple[Subcorpus, int]:
    """Define a subcorpus; return it with the number of its sentences.

    Args:
        connection: connection of a transaction.
        corpora: the corpora that it selects from; none for all, also future ones. A subcorpus among them is
            replaced by its present condition.

    Raises:
        InputError: the name is empty, or taken; or no sentence meets the condition.
        QueryError: the condition cannot be read, or names a key that no document or sentence has.
        NotFoundError: there is no such corpus.
    """
    if not name.strip() or name != " ".join(name.split()):
        raise InputError(f"a subcorpus needs a name of one line, and {name!r} is none")
    if connection.execute(select(corpus).where(corpus.c.name == name)).first() is not None:
        raise InputError(f"{name!r} is a corpus; give the subcorpus another name")
    if any(stored.name == name for stored in Subcorpus.all(connection)):
        raise InputError(f"there is a subcorpus {name!r}; remove it first, or take another name")
    # Checked by itself, so that an error quotes it as it was written, not joined with those of corpora.
    Condition.read(connection, expression)
    chosen = Selection.named(connection, corpora).condition
    if chosen is not None:  # a subcorpus is among them
        made = Subcorpus(name, (), both_hold(chosen.text, expression), now())
    else:
        made = Subcorpus(name, tuple(dict.fromkeys(corpora)), expression, now())
    condition = Condition.read(connection, made.condition)
    sentences = _sizes(connection, condition)["sentences"]
    if not sentences:
        raise InputError(f"subcorpus {name!r} is not defined: {'; '.join(condition.hints(connection))}")
    row = {"name": name, "corpora": "\n".join(made.corpora), "expression": made.expression}
    connection.execute(insert(subcorpus), row | {"defined_at": made.defined_at})
    return made, sentences


def remove(connection: Connection, name: str) -> Subcorpus:
    """Delete a subcorpus, and return it; its sentences stay, and so do models that were built from it.

    Raises:
        NotFoundError: there is no subcorpus of that name.
    """
    removed = find(connection, name)
    connection.execute(delete(subcorpus).where(subcorpus.c.name == name))
    return removed


def _sizes(connection: Connection, condition: Condition) -> dict[str, int]:
    """Return the numbers of ``sentences`` that meet a condition, of their ``tokens`` and ``documents``."""
    bindings = Bindings()
    text = _SIZE.format(sentences=condition.sentences(bindings))
    (row,) = Statement(text, bindings).fetch(connection, 1).to_pylist()
    return row


def overview(store: Store) -> Rows:
    """Return all subcorpora: name, corpora, condition and when they were defined."""
    with store.connect() as connection:
        rows = [
            (one.name, ", ".join(one.corpora) or None, one.expression, one.defined_at)
            for one in Subcorpus.all(connection)
        ]
    return Rows(("name", "corpora", "where", "defined_at"), rows)


def properties(connection: Connection, name: str) -> Rows:
    """Return a table about a subcorpus: property and value."""
    part = find(connection, name)
    condition = Selection.named(connection, [name]).condition
    assert condition is not None
    values = {
        "name": part.name,
        "corpora": ", ".join(part.corpora) or "all",
        "where": part.expression,
        "defined_at": part.defined_at.isoformat(sep=" ", timespec="seconds"),
        **_sizes(connection, condition),
    }
    return Rows(("property", "value"), [(key, str(value)) for key, value in values.items()])
