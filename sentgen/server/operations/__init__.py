"""The operations of the server, the limits of a request, and the settings of a worker.

An operation has a name, takes a request of a declared class (see `sentgen.options`; as a rule the class of
its command) and returns a result: a table with notes. The routes of the API, the pages and the workers are
all made from the tuples `OPERATIONS` of the modules.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sentgen.server.operations.operation import Operation

#: Kinds of work. Each has workers of its own, so that none waits for another kind.
Kind = Literal["lookup", "compute", "sql", "desk"]
KINDS: tuple[Kind, ...] = ("lookup", "compute", "sql", "desk")
#: Kinds whose answers are not cached, as they depend on more than the snapshot: SQL may ask for the time, and
#: line sets change.
NEVER_KEPT: tuple[Kind, ...] = ("sql", "desk")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of requests and answers.

    Attributes:
        body: bytes of a request.
        rows, cells, bytes: sizes of an answer; the rest is cut off, and the answer says so.
        items: sentences, bags or pairs in one request.
        words: words in a sentence, bag or pair.
        align_words: words of a document that is aligned, or of its abstract.
        align_cells: words of a document times words of its abstract.
        seconds: seconds of work, by kind, after which the worker is killed.
        queue: requests that wait for a worker of a kind; more are refused.
        user_requests: requests of one user that are answered at a time, if users have names.
        desk_sets: line sets of one client; clients behind the same address count as one.
        desk_bytes: bytes of the line sets of one client, and of the labels that the client gave.
        kept: bytes of answers in the cache.
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
    # A request that would wait longer than it may work is better refused at once.
    queue: int = 64
    user_requests: int = 8
    desk_sets: int = 200
    desk_bytes: int = 128 * 2**20
    kept: int = 64 * 2**20
    memory: int = 2 * 2**30
    # 0 for workers that only read, so that DuckDB could not write even if every lock failed.
    file: dict[Kind, int] = field(
        default_factory=lambda: {"lookup": 0, "compute": 64 * 2**20, "sql": 0, "desk": 2**30}
    )


@dataclass(frozen=True, slots=True)
class Opening:
    """Settings of a worker, given to it as JSON on its command line.

    Attributes:
        kind: kind of its work.
        store: path of the store.
        limits: limits of its work.
        parser: parser for texts without trees.
        warm_up: whether to compile and load the algorithms first.
        desk: file of line sets; empty for SQL.
        apart: whether each client has a desk of its own, in a file next to ``desk``.
    """

    kind: Kind
    store: str
    limits: Limits
    parser: str | None = None
    warm_up: bool = False
    desk: str = ""
    apart: bool = False


#: Modules of this package with a tuple ``OPERATIONS``, by the kind of their workers.
# A worker imports only the modules of its kind: SQL has neither models nor machine code in its memory.
_MODULES: dict[Kind, tuple[str, ...]] = {
    "lookup": ("lookups",),
    "compute": ("score", "generation", "align"),
    "sql": ("sql",),
    "desk": ("desk",),
}


@cache
def operations(kind: Kind | None = None) -> dict[str, Operation]:
    """Return the operations of a kind, or all, by name; only their modules are imported."""
    return {
        operation.name: replace(operation, kind=each)
        for each in ([kind] if kind else _MODULES)
        for name in _MODULES[each]
        for operation in import_module(f"sentgen.server.operations.{name}").OPERATIONS
    }
