"""What a TAB offers for a value: the corpora and models of the store, and the algorithms.

The shell waits for it, so neither the command nor SQLAlchemy is imported: DuckDB alone reads the names.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from sentgen.default_store import default_path

#: What is offered: where the names are.
_NAMES = {
    "corpora": "select name from corpus where kind <> 'pairs'",
    "pairs": "select name from corpus where kind = 'pairs'",
    "models": "select name from model",
    "aligners": "select name from alignment_model",
}
#: As in `sentgen.generation.algorithms`, which imports what is compiled; a test compares them.
ALGORITHMS = ("greedy", "lmo", "viterbi", "beam", "prim", "prim-ngram", "prim-arg", "cle", "ab")
_OPTIONS = {
    "--corpus": "corpora",
    "--pairs": "pairs",
    "--model": "models",
    "-m": "models",
    "--algorithm": "algorithms",
    "--algorithms": "algorithms",
    "-a": "algorithms",
}
#: Commands whose first word is a name.
_PLACES = {
    "corpora": ("corpora", ("show", "verify", "remove")),
    "models": ("models", ("show", "remove", "export")),
    "pairs": ("pairs", ("list", "show")),
    "align": ("aligners", ("model", "remove")),
}


def offering(group: str, command: str, before: Sequence[str]) -> TyperCommand | None:
    """Return what stands in for a command while a value is completed; none if it is a value of another kind.

    Args:
        group: the group of the command, empty if it stands alone.
        command: its name.
        before: the words between its name and what is completed.
    """
    offered, commands = _PLACES.get(group, ("", ()))
    at = before.index("--db") if "--db" in before else len(before)
    if [*before[:at], *before[at + 2 :]]:
        offered = _OPTIONS.get(before[-1], "")
        if group == "align" and offered == "models":
            offered = "aligners"
    elif command not in commands:
        offered = ""
    return Offering(command, offered, before) if offered else None


class Offering(TyperCommand):
    """A command that takes any words and offers names."""

    def __init__(self, name: str, offered: str, before: Sequence[str]) -> None:
        settings = {"ignore_unknown_options": True, "allow_extra_args": True}
        super().__init__(name, context_settings=settings)
        self._offered, self._before = offered, tuple(before)  # the parser takes words from its list

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the names that begin so."""
        from typer._click.shell_completion import CompletionItem

        names = ALGORITHMS if self._offered == "algorithms" else _stored(_NAMES[self._offered], self._before)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _stored(query: str, words: Sequence[str]) -> list[str]:
    """Return names of the store that the words name; none if it cannot be read."""
    import duckdb

    place = next((Path(path) for name, path in pairwise(words) if name == "--db"), None)
    try:
        with duckdb.connect(str(place or default_path()), read_only=True) as duck:
            return sorted({str(name) for (name,) in duck.execute(query).fetchall()})
    except duckdb.Error:  # not there, or written at this moment: a TAB has nobody to tell
        return []
