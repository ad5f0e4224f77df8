"""Settings of a server."""

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

#: Address for servers that only this machine can reach.
LOOPBACK = "127.0.0.1"

#: Most workers of a kind by default, as each takes some hundred megabytes.
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
        """The largest number of workers of a kind."""
        return self.workers or min(os.cpu_count() or 1, _MOST_WORKERS)


@dataclass(frozen=True, slots=True)
class ServerSettings(Serving):
    """How a server runs.

    Attributes:
        snapshots: folder of the snapshots; the newest one is served.
        host: the address to listen on.
        tokens: tokens of which a request must have one; if empty, no token is needed.
        users: users with the corpora that each may see, in place of ``tokens``.
        classroom: class whose members may ask, in place of both.
        hosts: names of the server in the header Host that are accepted, besides those of the loopback.
        base_path: path below which a proxy offers the server, as ``/corpora``; empty for none.
        proxies: addresses of proxies whose header with the client's address is trusted.
        origins: other sites whose pages may send requests.
        sql: whether SQL is offered.
        only: the pages that are offered, by their paths without a slash; all if empty.
        limits: limits of a request.
        poll: seconds between two searches for a newer snapshot.
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
        """The kinds of work that the server does: SQL unless forbidden, line sets only with a desk."""
        without = {"sql": not self.sql, "desk": self.desk is None}
        return tuple(kind for kind in KINDS if not without.get(kind))
