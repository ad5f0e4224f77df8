"""The tables of a desk, and queries that several modules share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    func,
    select,
)

from sentgen.errors import NotFoundError

metadata = MetaData()
_OF_SET = "line_set.id"

line_set = Table(
    "line_set",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    # The command that asks for the same lines, and the labels that have keys, a JSON list.
    Column("query", String, nullable=False),
    Column("labels", String, nullable=False),
    Column("made_at", String, nullable=False),
)

line = Table(
    "line",
    metadata,
    Column("set_id", ForeignKey(_OF_SET, ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("corpus", String, nullable=False),
    Column("document", String, nullable=False),
    # The sentence's name in the source, if it has one, and its index in the document, from 0.
    Column("sent_id", String),
    Column("ordinal", Integer, nullable=False),
    # Positions of the first and the last token of the node, and the forms of those in the sentence, as JSON.
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("forms", String, nullable=False),
    # The texts that the labeler saw.
    Column("left", String, nullable=False),
    Column("node", String, nullable=False),
    Column("right", String, nullable=False),
)

#: All labels in the order in which they were given, null where one was removed; a labeler's last one counts.
label = Table(
    "label",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("set_id", ForeignKey(_OF_SET, ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("labeler", String, nullable=False),
    Column("label", String),
    # Lines that were labeled in one step are undone in one step.
    Column("step", Integer, nullable=False),
    Column("given_at", String, nullable=False),
    Index("label_of_line", "set_id", "labeler", "number"),
    sqlite_autoincrement=True,
)


#: Additions to a set by writers with an allowance; removed with the set.
share = Table(
    "share",
    metadata,
    Column("set_id", ForeignKey(_OF_SET, ondelete="CASCADE"), primary_key=True),
    Column("writer", String, primary_key=True),
    # How many of the sets the writer has made: 1 or 0 of this one.
    Column("sets", Integer, nullable=False),
    Column("bytes", Integer, nullable=False),
)

#: The students of a class, with the hash of the token in their addresses.
student = Table(
    "student",
    metadata,
    Column("name", String, primary_key=True),
    Column("token", String, nullable=False),
)

#: Addresses of a server, without its host name, and their short names.
short_link = Table(
    "short_link",
    metadata,
    Column("name", String, primary_key=True),
    Column("target", String, nullable=False, unique=True),
    Column("writer", String, nullable=False, index=True),
)


def find_set(connection: Connection, name: str) -> Any:
    """Return the row of a set.

    Raises:
        NotFoundError: there is no set of that name.
    """
    row = connection.execute(select(line_set).where(line_set.c.name == name)).first()
    if row is None:
        names = names_of_sets(connection)
        there = f"there are: {', '.join(names)}" if names else "make one with: sentgen lines new SET QUERY"
        raise NotFoundError(f"no line set {name!r}; {there}")
    return row


def names_of_sets(connection: Connection) -> Sequence[str]:
    """Return the names of all sets."""
    return connection.scalars(select(line_set.c.name).order_by(line_set.c.name)).all()


def size_of(connection: Connection, set_id: int) -> int:
    """Return how many lines a set has."""
    return connection.execute(select(func.count()).where(line.c.set_id == set_id)).scalar_one()


def lines_of(connection: Connection, set_id: int) -> list[dict[str, Any]]:
    """Return the lines of a set, in their order."""
    query = select(line).where(line.c.set_id == set_id).order_by(line.c.number)
    return [dict(row) for row in connection.execute(query).mappings()]


def labels_of(connection: Connection, set_id: int) -> dict[str, dict[int, str]]:
    """Return the labels of a set by labeler, in the order of their names, and by number of the line."""
    of_lines = (label.c.labeler, label.c.number)
    last = select(func.max(label.c.id)).where(label.c.set_id == set_id).group_by(*of_lines)
    query = select(*of_lines, label.c.label).where(label.c.id.in_(last), label.c.label.is_not(None))
    labels: dict[str, dict[int, str]] = {}
    for labeler, number, text in connection.execute(query.order_by(*of_lines)):
        labels.setdefault(labeler, {})[number] = text
    return labels
