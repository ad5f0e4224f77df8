"""What can be chosen about a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

#: Kinds of work. Each has workers of its own, so that none waits for another kind.
Kind = Literal["lookup", "compute", "sql"]
KINDS: tuple[Kind, ...] = ("lookup", "compute", "sql")


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
        kept: bytes of answers that are kept for those who ask the same again.
        memory: bytes that a worker may use.
        file: bytes of a file that a worker may write, by kind: machine code and temporary stores.
    """

    body: int = 1_000_000
    rows: int = 10_000
    cells: int = 200_000
    bytes: int = 16 * 2**20
    items: int = 200
    words: int = 2_000
    align_words: int = 20_000
    align_cells: int = 20_000_000
    seconds: dict[Kind, float] = field(default_factory=lambda: {"lookup": 10.0, "compute": 30.0, "sql": 10.0})
    queue: int = 64
    kept: int = 64 * 2**20
    memory: int = 2 * 2**30
    file: dict[Kind, int] = field(default_factory=lambda: {"lookup": 0, "compute": 64 * 2**20, "sql": 0})


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server runs.

    Attributes:
        snapshots: folder of the snapshots; the newest one is served.
        host, port: where it listens.
        workers: processes for each kind of work.
        tokens: whoever asks must have one of them; none if all may ask.
        hosts: names that the server may be called by, beside that of the loopback.
        sql: whether SQL is offered.
        parser: specification of the parser for texts without trees, such as ``udpipe:FILE``.
        warm_up: whether algorithms are compiled before the first request, which else waits for it.
        limits: what a request may cost.
        poll: seconds between two looks for a newer snapshot.
    """

    snapshots: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 2
    tokens: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    sql: bool = True
    parser: str | None = None
    warm_up: bool = True
    limits: Limits = field(default_factory=Limits)
    poll: float = 1.0
