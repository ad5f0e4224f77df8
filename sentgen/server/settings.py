"""What can be chosen about a server."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from sentgen.options import Option

#: Kinds of work. Each has workers of its own, so that none waits for another kind.
Kind = Literal["lookup", "compute", "sql", "desk"]
KINDS: tuple[Kind, ...] = ("lookup", "compute", "sql", "desk")


#: Those whose answers are not functions of the snapshot: SQL may ask for the time, and line sets change.
NEVER_KEPT: tuple[Kind, ...] = ("sql", "desk")

#: Workers of a kind, where nobody says how many: each takes some hundred megabytes.
_MOST_WORKERS = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for, and how much one answer may hold.

    Attributes:
        body: bytes of a request.
        rows, cells, bytes: of an answer; what is beyond is cut off, and the answer says so.
        items: sentences, bags or pairs in one request.
        words: words in one of them.
        align_words: words of a document that is aligned, or of its abstract,
        align_cells: and the product of both.
        seconds: of work, by kind; then the worker is killed.
        queue: requests that wait for a worker of a kind; the next one is refused.
        desk_sets: line sets that one client may have made; beside one address, all behind a proxy are one.
        desk_bytes: of these sets, and of labels that the client gave.
        kept: bytes of answers that are kept for those who ask the same again.
        memory: bytes that a worker may use.
        file: bytes of a file that a worker may write, by kind: machine code, temporary stores, the desk.
    """

    body: int = 1_000_000
    rows: int = 10_000
    cells: int = 200_000
    bytes: int = 16 * 2**20
    items: int = 200
    words: int = 2_000
    align_words: int = 20_000
    align_cells: int = 20_000_000
    seconds: dict[Kind, float] = field(
        default_factory=lambda: {"lookup": 10.0, "compute": 30.0, "sql": 10.0, "desk": 10.0}
    )
    # Who would wait longer than requests may work is better told so at once.
    queue: int = 64
    desk_sets: int = 200
    desk_bytes: int = 128 * 2**20
    kept: int = 64 * 2**20
    memory: int = 2 * 2**30
    # Nothing at all where only questions are asked: DuckDB cannot write, even if every lock failed.
    file: dict[Kind, int] = field(
        default_factory=lambda: {"lookup": 0, "compute": 64 * 2**20, "sql": 0, "desk": 2**30}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Where a server listens, and with what it works."""

    host: Annotated[str, Option("Address to listen on.")] = "127.0.0.1"
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
    parser: Annotated[
        str | None, Option("Parser for texts without trees, such as udpipe:FILE.", metavar="PARSER")
    ] = None
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
        tokens: whoever asks must have one of them; none if all may ask.
        hosts: names that the server may be called by, beside that of the loopback.
        sql: whether SQL is offered.
        only: the pages that are offered, by their paths without a slash; all if there are none.
        limits: what a request may cost.
        poll: seconds between two looks for a newer snapshot.
    """

    snapshots: Path
    tokens: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    sql: bool = True
    only: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    poll: float = 1.0

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of work that it does: SQL unless that is forbidden, a desk only if it was given one."""
        without = {"sql": not self.sql, "desk": self.desk is None}
        return tuple(kind for kind in KINDS if not without.get(kind))
