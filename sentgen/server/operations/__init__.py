"""What the server can do: one file per noun, and the list of them all.

An operation is named, takes a declaration (see `sentgen.options`; that of its command, as a rule) and gives a
result: a table with what there is to say about it. The routes of the API, the pages and the workers are all
made from `OPERATIONS`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from sentgen.server.operations.limits import Kind

if TYPE_CHECKING:
    from sentgen.server.operations.operation import Operation

#: Modules beside this one by whose workers do what they have in a tuple ``OPERATIONS``.
# A worker imports its own kind only: that of SQL has neither models nor machine code in its memory.
_MODULES: dict[Kind, tuple[str, ...]] = {
    "lookup": ("contents", "lookups", "browsing", "additions"),
    "compute": ("score", "generation", "align", "sentences", "choices"),
    "sql": ("sql",),
    "desk": ("lines", "links"),
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
