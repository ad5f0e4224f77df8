"""Users of a server and the corpora that each may see, from a file that is read again when it changes."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Network, ip_address
from pathlib import Path
from typing import Any

from sentgen.errors import InputError

logger = logging.getLogger(__name__)

#: Value in the file for all corpora, in place of their names.
ALL = "all"
#: Key under which the gate stores the `User` in the scope of a request.
USER = "sentgen.user"
_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_KEYS = {"users": {"token", "groups", "corpora"}, "groups": {"corpora"}}


@dataclass(frozen=True, slots=True)
class User:
    """A user who may send requests.

    Attributes:
        name: name of the user; empty if users have only tokens.
        corpora: names of the corpora that the user may see; ``None`` for all.
    """

    name: str = ""
    corpora: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Asker:
    """The sender of a request: the address, and the name of the user if users have names."""

    client: str = ""
    user: str = ""

    @property
    def device(self) -> str:
        """The address; of IPv6 its network, as a device may take any number of addresses in it.

        >>> Asker("192.0.2.7").device, Asker("2001:db8::1:2:3:4").device
        ('192.0.2.7', '2001:db8::/64')
        """
        try:
            address = ip_address(self.client)
        except ValueError:  # empty without a connection
            return self.client
        return str(address) if address.version == 4 else str(IPv6Network((int(address), 64), strict=False))

    @property
    def logged(self) -> dict[str, str]:
        """Return the fields of logs for this sender."""
        return {"client": self.client, **({"user": self.user} if self.user else {})}

    @staticmethod
    def from_scope(scope: Mapping[str, Any]) -> Asker:
        """Return the sender of a request, with the user that the gate has found."""
        client = scope.get("client")
        user = scope.get(USER)
        return Asker(client[0] if client else "", user.name if user else "")


NOBODY = Asker()


def new_token() -> tuple[str, str]:
    """Return a new token, and its hash as written in a file of users."""
    token = secrets.token_urlsafe()
    return token, digest_of(token.encode())


def digest_of(token: bytes) -> str:
    """Return the hash of a token.

    >>> digest_of(b"x")[:20]
    'sha256:2d711642b726b'
    """
    # Plain SHA-256 is enough, as tokens are random and in no list of passwords.
    return f"sha256:{hashlib.sha256(token).hexdigest()}"


class UserFile:
    """A file of users, as TOML::

        [users.ann]
        token = "sha256:..."        # one, or a list
        groups = ["syntax"]
        corpora = ["novels"]        # beside those of the groups

        [groups.syntax]
        corpora = ["ewt", "gum"]    # or "all"

    Raises:
        InputError: the file cannot be read, or is no valid file of users.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = self._state()
        self._users: Mapping[str, User] | None = _read_users(path)
        self._audiences = _audiences(self._users)

    @property
    def readable(self) -> bool:
        """Whether the file is valid now; if not, nobody may ask until it is corrected."""
        self._read_again()
        return self._users is not None

    def find(self, token: bytes) -> User | None:
        """Return the user of a token by the current file; ``None`` if nobody has it."""
        self._read_again()
        return (self._users or {}).get(digest_of(token))

    @property
    def audiences(self) -> frozenset[frozenset[str] | None]:
        """The distinct sets of corpora that users may see; the previous ones while the file is invalid."""
        self._read_again()
        return self._audiences

    def _read_again(self) -> None:
        """Read the file if it has changed."""
        # At each request, so that a user who was removed is refused at once.
        if (state := self._state()) == self._seen:
            return
        self._seen = state
        try:
            self._users = _read_users(self.path)
            self._audiences = _audiences(self._users)
        except InputError as error:
            logger.error("users cannot be read", extra={"error": str(error)})
            self._users = None

    def _state(self) -> tuple[int, ...]:
        try:
            status = os.stat(self.path)
        except OSError:
            return ()
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns


def _audiences(users: Mapping[str, User]) -> frozenset[frozenset[str] | None]:
    return frozenset(user.corpora for user in users.values())


def _read_users(path: Path) -> dict[str, User]:
    """Return the users of a file by the hashes of their tokens.

    Raises:
        InputError: see `UserFile`.
    """
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=str(path)) from error
    except ValueError as error:  # no UTF-8, no TOML, or a number with too many digits for Python
        raise InputError(f"is not the TOML of a file of users: {error}", path=str(path)) from error
    users: dict[str, User] = {}
    try:
        for digests, user in _users(given):
            for digest in digests:
                if digest in users:
                    raise ValueError(f"{users[digest].name} and {user.name} have the same token")
                users[digest] = user
    except ValueError as error:
        raise InputError(str(error), path=str(path)) from error
    if not users:
        raise InputError("there are no users in it; add one with: [users.NAME]", path=str(path))
    return users


def _users(given: Mapping[str, object]) -> Iterator[tuple[list[str], User]]:
    if unknown := set(given) - set(_KEYS):
        raise ValueError(f"{min(unknown)!r} is neither users nor groups")
    groups = dict(_tables(given, "groups"))
    of_groups = {name: _corpora(f"groups.{name}", table) for name, table in groups.items()}
    for name, table in _tables(given, "users"):
        table_name = f"users.{name}"
        digests = _texts(table_name, table, "token")
        if not digests or not all(map(_DIGEST.fullmatch, digests)):
            raise ValueError(f"{table_name}: token is a hash that `sentgen token` prints, or a list of them")
        seen = [_corpora(table_name, table)]
        for group in _texts(table_name, table, "groups"):
            if group not in of_groups:
                raise ValueError(f"{table_name}: there is no [groups.{group}]")
            seen.append(of_groups[group])
        whole = any(corpora is None for corpora in seen)
        yield digests, User(name, None if whole else frozenset().union(*(each or () for each in seen)))


def _tables(given: Mapping[str, object], kind: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the names and tables of the users or groups."""
    tables = given.get(kind, {})
    if not isinstance(tables, dict):
        raise ValueError(f"{kind} is a table: [{kind}.NAME]")
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ValueError(f"{kind}.{name} is a table: [{kind}.{name}]")
        if unknown := set(table) - _KEYS[kind]:
            raise ValueError(
                f"{kind}.{name}: {min(unknown)!r} is unknown; there are: {', '.join(sorted(_KEYS[kind]))}"
            )
        yield name, table


def _corpora(table_name: str, table: Mapping[str, object]) -> frozenset[str] | None:
    """Return the corpora that a table names; ``None`` for all."""
    return None if table.get("corpora") == ALL else frozenset(_texts(table_name, table, "corpora"))


def _texts(table_name: str, table: Mapping[str, object], key: str) -> list[str]:
    """Return a value that is a list of texts; a single text is a list of one."""
    value = table.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise ValueError(f"{table_name}: {key} is a text, or a list of texts")
    return texts
