"""What can be chosen about a server."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sentgen.options import PARSERS, Option
from sentgen.server.operations import KINDS, Kind, Limits
from sentgen.server.users import UserFile

if TYPE_CHECKING:
    from sentgen.server.classroom import Classroom

#: Where a server listens that nobody else reaches.
LOOPBACK = "127.0.0.1"

#: Workers of a kind, where nobody says how many: each takes some hundred megabytes.
_MOST_WORKERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Where a server listens, and with what it works."""

    host: Annotated[
        str | None, Option("Address to listen on. Default: 127.0.0.1, or for a class all of this machine.")
    ] = None
    port: Annotated[int, Option("Port; 0 for any that is free.", least=0, most=65535)] = 8000
    workers: Annotated[
        int | None,
        Option(
            "Most processes for each kind of work: look-ups, computation, SQL. Default: the cores, up to 8.",
            metavar="N",
            least=1,
            most=64,
        ),
    ] = None
    parser: Annotated[str | None, Option(f"Parser for texts without trees: {PARSERS}.", metavar="PARSER")] = (
        None
    )
    desk: Annotated[
        Path | None,
        Option(
            "File of line sets, which whoever may ask makes and labels; none unless given.", metavar="FILE"
        ),
    ] = None
    warm_up: Annotated[bool, Option("Compile the algorithms first, or when they are first asked for.")] = True

    @property
    def processes(self) -> int:
        """How many workers of a kind there are at most."""
        return self.workers or min(os.cpu_count() or 1, _MOST_WORKERS)


@dataclass(frozen=True, slots=True)
class ServerSettings(Serving):
    """How a server runs.

    Attributes:
        snapshots: folder of the snapshots; the newest one is served.
        host: the address to listen on.
        tokens: whoever asks must have one of them; none if all may ask.
        users: who may ask, and what each may see, in place of ``tokens``.
        classroom: whoever has joined may ask, in place of both.
        hosts: names that the server may be called by, beside that of the loopback.
        base_path: below which a proxy offers the server, as ``/corpora``; nothing if it is offered alone.
        proxies: addresses from which the header of a client's address is believed.
        origins: other sites whose pages may ask.
        sql: whether SQL is offered.
        only: the pages that are offered, by their paths without a slash; all if there are none.
        limits: what a request may cost.
        poll: seconds between two looks for a newer snapshot.
    """

    snapshots: Path
    tokens: tuple[str, ...] = ()
    host: str = field(default=LOOPBACK, kw_only=True)
    users: UserFile | None = None
    classroom: Classroom | None = None
    hosts: tuple[str, ...] = ()
    base_path: str = ""
    proxies: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    sql: bool = True
    only: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    poll: float = 1.0

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of work that it does: SQL unless that is forbidden, a desk only if it was given one."""
        without = {"sql": not self.sql, "desk": self.desk is None}
        return tuple(kind for kind in KINDS if not without.get(kind))
