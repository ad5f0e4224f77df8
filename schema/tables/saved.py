"""Saved queries: named command lines of lookups, stored in the store itself."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, DateTime, String, Table, delete, insert, select

from sentgen.errors import InputError, NotFoundError, spell
from sentgen.schema.base import column, metadata, now

saved_query = Table(
    "saved_query",
    metadata,
    column("name", String, "Name under which it was saved; each once."),
    column("command", String, "Command of sentgen that asks it, such as kwic."),
    column("arguments", String, "Arguments and options of the command: a JSON list of strings."),
    column("saved_at", DateTime, "When it was saved (UTC)."),
    comment="A query that was saved under a name (sentgen saved).",
)


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A saved query: its name, its command with arguments, and when it was saved (UTC)."""

    name: str
    command: str
    arguments: tuple[str, ...]
    saved_at: datetime

    @property
    def line(self) -> str:
        """Return the command line, quoted for a shell."""
        return shlex.join(["sentgen", self.command, *self.arguments])

    @classmethod
    def all(cls, connection: Connection) -> list[SavedQuery]:
        """Return all saved queries, by name."""
        rows = connection.execute(select(saved_query).order_by(saved_query.c.name))
        return [cls(row.name, row.command, tuple(json.loads(row.arguments)), row.saved_at) for row in rows]

    @classmethod
    def find(cls, connection: Connection, name: str) -> SavedQuery:
        """Return a saved query.

        Raises:
            NotFoundError: there is no query of that name.
        """
        queries = cls.all(connection)
        for query in queries:
            if query.name == name:
                return query
        there = ", ".join(query.name for query in queries)
        advice = f"there are: {there}" if there else "save one with: sentgen saved add NAME -- kwic PATTERN"
        raise NotFoundError(f"no saved query {name!r}; {advice}")

    @classmethod
    def save(
        cls,
        connection: Connection,
        name: str,
        command: str,
        arguments: Sequence[str],
        *,
        replace: bool = False,
    ) -> None:
        """Save a query under a name; an older one of that name is replaced only with ``replace``.

        Raises:
            InputError: the name is blank, or taken.
        """
        if not name.strip():
            raise InputError("a blank is no name for a saved query; give it another one")
        if replace:
            connection.execute(delete(saved_query).where(saved_query.c.name == name))
        elif any(query.name == name for query in cls.all(connection)):
            raise InputError(
                f"there is a saved query {name!r}; choose another name, or {spell('replace')} it"
            )
        row = {"name": name, "command": command, "arguments": json.dumps(list(arguments)), "saved_at": now()}
        connection.execute(insert(saved_query), row)

    @classmethod
    def remove(cls, connection: Connection, name: str) -> None:
        """Remove a saved query.

        Raises:
            NotFoundError: there is no query of that name.
        """
        cls.find(connection, name)
        connection.execute(delete(saved_query).where(saved_query.c.name == name))
