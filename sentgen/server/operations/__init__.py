"""What the server can do, how much one request may cost, and what a worker is told when it starts.

An operation is named, takes a declaration (see `sentgen.options`; that of its command, as a rule) and gives a
result: a table with what there is to say about it. The routes of the API, the pages and the workers are all
made from `OPERATIONS`.
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
#: Those whose answers are not functions of the snapshot: SQL may ask for the time, and line sets change.
NEVER_KEPT: tuple[Kind, ...] = ("sql", "desk")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for, and how much one answer may hold.

    Attributes:
        body: bytes of a request.
        rows, cells, bytes: of an answer; what is beyond is cut off, and the answer says so.
        items: sentences, bags or pairs in one request.
        words: words in one of them.
        align_words: words of a document that is aligned, or of its abstract.
        align_cells: words of a document times words of its abstract.
        seconds: seconds of work, by kind; then the worker is killed.
        queue: requests that wait for a worker of a kind; the next one is refused.
        user_requests: requests of one user that are answered at a time, where users have names.
        desk_sets: line sets that one client may have made; beside one address, all behind a proxy are one.
        desk_bytes: bytes of these sets, and of labels that the client gave.
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
    user_requests: int = 8
    desk_sets: int = 200
    desk_bytes: int = 128 * 2**20
    kept: int = 64 * 2**20
    memory: int = 2 * 2**30
    # Nothing at all where only questions are asked: DuckDB cannot write, even if every lock failed.
    file: dict[Kind, int] = field(
        default_factory=lambda: {"lookup": 0, "compute": 64 * 2**20, "sql": 0, "desk": 2**30}
    )


@dataclass(frozen=True, slots=True)
class Opening:
    """What a worker is told when it starts, as an object on its command line.

    Attributes:
        kind: kind of its work.
        store: which it opens.
        limits: limits of its work.
        parser: parser of texts without trees.
        warm_up: whether to compile and load the algorithms first.
        desk: the file of line sets; SQL has nothing to do with it.
        apart: whether each client has a file of its own beside it.
    """

    kind: Kind
    store: str
    limits: Limits
    parser: str | None = None
    warm_up: bool = False
    desk: str = ""
    apart: bool = False


#: Modules beside this one by whose workers do what they have in a tuple ``OPERATIONS``.
# A worker imports its own kind only: that of SQL has neither models nor machine code in its memory.
_MODULES: dict[Kind, tuple[str, ...]] = {
    "lookup": ("lookups",),
    "compute": ("score", "generation", "align"),
    "sql": ("sql",),
    "desk": ("desk",),
}


@cache
def operations(kind: Kind | None = None) -> dict[str, Operation]:
    """Return the operations of one kind of work, or all, by name; only their modules are imported."""
    return {
        operation.name: replace(operation, kind=each)
        for each in ([kind] if kind else _MODULES)
        for name in _MODULES[each]
        for operation in import_module(f"sentgen.server.operations.{name}").OPERATIONS
    }
