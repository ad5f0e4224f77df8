"""Short names of addresses of a server, stored on its desk."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated

from sqlalchemy import Connection, func, insert, select

from sentgen.desk.desk import Desk
from sentgen.desk.tables import short_link
from sentgen.errors import InputError, NotFoundError, printable
from sentgen.options import Option
from sentgen.output.wording import quantity

#: Letters that look neither like each other nor like digits.
LETTERS = "abcdefghjkmnpqrstuvwxyz"
#: Letters of a name, which grows when many are in use.
_SHORTEST = 3
#: Characters of an address, and links that one client may have made.
LONGEST_TARGET, _MOST_LINKS = 2000, 200
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLink:
    """An address that gets a short name."""

    target: Annotated[
        str, Option("Path of the server, with what is asked.", api={"max_length": LONGEST_TARGET})
    ]

    def make(self, desk: Desk, writer: str) -> str:
        """Return the name of the address, a new one unless it has one.

        Raises:
            InputError: this client has made too many, or the address is too long.
        """
        if len(self.target) > LONGEST_TARGET:
            raise InputError(
                f"this address is longer than {quantity(LONGEST_TARGET, 'character')}, and stays as it is"
            )
        with desk.writing() as connection:
            known = connection.scalar(select(short_link.c.name).where(short_link.c.target == self.target))
            if known is not None:
                return str(known)
            made = _number(connection, short_link.c.writer == writer)
            if made >= _MOST_LINKS:
                raise InputError(f"you have made {quantity(made, 'short link')}, which is the most")
            name = _free_name(connection)
            connection.execute(insert(short_link).values(name=name, target=self.target, writer=writer))
        return name


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLink:
    """A short name of an address."""

    name: Annotated[str, Option("The short name.", api={"max_length": 100})]

    def find(self, desk: Desk) -> str:
        """Return the address.

        Raises:
            NotFoundError: there is no link of this name.
        """
        with desk.reading() as connection:
            # Keyboards of telephones capitalize the first letter.
            query = select(short_link.c.target).where(short_link.c.name == self.name.lower())
            target = connection.scalar(query)
        if target is None:
            raise NotFoundError(
                f"no short link {printable(self.name[:_SHOWN])!r}; look at it again, or ask who made it"
            )
        return str(target)


def _free_name(connection: Connection) -> str:
    """Return a random free name, so that names cannot be enumerated."""
    length = _SHORTEST
    # At most a tenth of all names is in use, so that a few draws suffice.
    while _number(connection) * 10 > len(LETTERS) ** length:
        length += 1
    while True:
        name = "".join(secrets.choice(LETTERS) for _ in range(length))
        if not _number(connection, short_link.c.name == name):
            return name


def _number(connection: Connection, *conditions: object) -> int:
    query = select(func.count()).select_from(short_link).where(*conditions)  # type: ignore[arg-type]
    return connection.execute(query).scalar_one()
