"""What the server can do: one file per noun, and the list of them all.

An operation is named, takes a declaration (see `sentgen.options`; that of its command, as a rule) and gives a
result: a table with what there is to say about it. The routes of the API, the pages and the workers are all
made from `OPERATIONS`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module

from sentgen.server.operations.operation import Operation
from sentgen.server.settings import Kind

#: Modules beside this one by whose workers do what they have in a tuple ``OPERATIONS``.
# A worker imports its own kind only: that of SQL has neither models nor machine code in its memory.
_MODULES: dict[Kind, tuple[str, ...]] = {
    "lookup": ("contents", "lookups", "match", "browsing", "additions"),
    "compute": (
        *("score", "regenerate", "generate", "fuse", "check", "align"),
        *("sentences", "backoff", "choices"),
    ),
    "sql": ("sql",),
    "desk": ("lines",),
}


@cache
def operations(kind: Kind | None = None) -> dict[str, Operation]:
    """Return the operations of one kind of work, or all, by name; only their modules are imported."""
    found: dict[str, Operation] = {}
    for one in [kind] if kind else _MODULES:
        for name in _MODULES[one]:
            module = import_module(f"sentgen.server.operations.{name}")
            found |= {each.name: replace(each, kind=one) for each in module.OPERATIONS}
    return found


__all__ = ["Operation", "operations"]
