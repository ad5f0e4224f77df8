"""What the server can do: one file per noun, and the list of them all.

An operation is named, takes a declaration (see `sentgen.options`; that of its command, as a rule) and gives a
result: a table with what there is to say about it. The routes of the API, the pages and the workers are all
made from `OPERATIONS`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from sentgen.server.operations.operation import Operation

#: Modules beside this one; each has a tuple ``OPERATIONS``.
# A worker imports its own kind only: that of SQL has neither models nor machine code in its memory.
_MODULES = {
    "lookup": ("contents", "lookups", "match", "browsing", "additions"),
    "compute": ("score", "regenerate", "generate", "check", "align", "sentences", "backoff", "choices"),
    "sql": ("sql",),
}


@cache
def operations(kind: str | None = None) -> dict[str, Operation]:
    """Return the operations of one kind of work, or all, by name; only their modules are imported."""
    names = _MODULES[kind] if kind else [name for names in _MODULES.values() for name in names]
    found = (import_module(f"sentgen.server.operations.{name}").OPERATIONS for name in names)
    return {one.name: one for of_module in found for one in of_module}


__all__ = ["Operation", "operations"]
