"""The commands: where each of them is, its help, and its options.

Help and completion read these, and import no command. ``commands.json`` has help and options, by the names of
the commands; `docs/generate_reference.py` writes it of the commands.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: An option or argument: name, kind, and what is not left out of default, names and settings.
OptionSettings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Listed:
    """A command, or a group of commands, as help and completion list it.

    Args:
        name: what the user types.
        help: the help above its options.
        options: the options of the command, as ``commands.json`` lists them; empty for a group.
        module: the module in sentgen.cli and the name of the function, or of the Typer of a group, in it;
            empty for the commands of a group.
        panel: the panel of the help that lists it.
        commands: the commands of a group.
    """

    name: str
    help: str
    # Neither compared nor hashed, as name and module identify the command.
    options: Sequence[OptionSettings] = field(default=(), hash=False, compare=False, repr=False)
    module: str = ""
    panel: str | None = None
    commands: tuple[Listed, ...] = ()

    @property
    def summary(self) -> str:
        """Return the first paragraph of the help, for what lists commands."""
        return " ".join(self.help.split("\n\n")[0].split())


HELP = Path(__file__).with_name("commands.json")

#: The commands of each panel, with their modules and their names there.
_PANELS = {
    "Start here": {
        "demo": "demo:demo",
    },
    "Corpora": {
        "ingest": "ingest:ingest",
        "corpora": "corpora:app",
        "subcorpora": "corpora:subcorpora_app",
        "parser": "parser:app",
        "pairs": "pairs:app",
    },
    "Look inside": {
        "ngrams": "inspect:ngrams",
        "deps": "inspect:deps",
        "args": "inspect:args",
        "kwic": "kwic:kwic",
        "match": "match:match",
        "freq": "inspect:freq",
        "collocations": "inspect:collocations",
        "sketch": "inspect:sketch",
        "thesaurus": "inspect:thesaurus",
        "keyness": "inspect:keyness",
        "lines": "lines:app",
        "saved": "saved:app",
        "cite": "cite:cite",
        "sql": "sql:sql",
        "schema": "sql:schema",
    },
    "Models and sentences": {
        "models": "models:app",
        "vectors": "vectors:app",
        "score": "score:score",
        "regenerate": "regenerate:regenerate",
        "generate": "generate:generate",
        "fuse": "generate:fuse",
        "check": "check:check",
        "align": "align:app",
        "evaluate": "evaluate:app",
        "tune": "tune:command",
        "reproduce": "reproduce:command",
    },
    "The store": {
        "db": "db:app",
    },
    "Available components": {
        "formats": "console.listings:formats",
        "algorithms": "console.listings:algorithms",
        "aligners": "console.listings:aligners",
        "scorers": "console.listings:scorers",
    },
    "Beyond one machine": {
        "cluster": "cluster:app",
    },
    "The server": {
        "publish": "serve:publish",
        "serve": "serve:serve",
        "mcp": "serve:mcp",
        "token": "serve:token",
    },
}


def _all() -> tuple[Listed, ...]:
    described: dict[str, dict[str, Any]] = json.loads(HELP.read_text("utf-8"))
    within: dict[str, list[Listed]] = {}
    for words, about in described.items():
        group, _, name = words.rpartition(" ")
        within.setdefault(group, []).append(Listed(name, **about))
    return tuple(
        Listed(
            name,
            **described.get(name, {"help": ""}),
            module=module,
            panel=panel,
            commands=tuple(within.get(name, ())),
        )
        for panel, modules in _PANELS.items()
        for name, module in modules.items()
    )


COMMANDS = _all()
