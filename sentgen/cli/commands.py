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
        options: what it takes, as ``commands.json`` tells; of a group nothing.
        module: its module in sentgen.cli, and the function there, or the Typer of a group; empty within it.
        panel: the panel of the help in which it stands.
        commands: the commands of a group.
    """

    name: str
    help: str
    # Neither compared nor hashed: name and module say which command it is.
    options: Sequence[OptionSettings] = field(default=(), hash=False, compare=False, repr=False)
    module: str = ""
    panel: str | None = None
    commands: tuple[Listed, ...] = ()

    @property
    def summary(self) -> str:
        """Return the first paragraph of the help, for what lists commands."""
        return " ".join(self.help.split("\n\n")[0].split())


HELP = Path(__file__).with_name("commands.json")

#: The commands in each panel, with their modules, and what these call them.
_PANELS = {
    "Start here": {
        "demo": "demo:demo",
    },
    "Corpora": {
        "ingest": "corpus.ingest:ingest",
        "corpora": "corpus.corpora:app",
        "subcorpora": "looking.subcorpora:app",
        "parser": "corpus.parser:app",
        "pairs": "corpus.pairs:app",
    },
    "Look inside": {
        "ngrams": "looking.inspect:ngrams",
        "deps": "looking.inspect:deps",
        "args": "looking.inspect:args",
        "kwic": "looking.kwic:kwic",
        "match": "looking.match:match",
        "freq": "looking.inspect:freq",
        "collocations": "looking.inspect:collocations",
        "sketch": "looking.inspect:sketch",
        "thesaurus": "looking.inspect:thesaurus",
        "keyness": "looking.inspect:keyness",
        "lines": "looking.lines:app",
        "saved": "looking.saved:app",
        "cite": "looking.cite:cite",
        "sql": "looking.sql:sql",
        "schema": "looking.schema:show",
    },
    "Models and sentences": {
        "models": "modeling.models:app",
        "vectors": "modeling.vectors:app",
        "score": "modeling.score:score",
        "regenerate": "generating.regenerate:regenerate",
        "generate": "generating.generate:generate",
        "fuse": "generating.generate:fuse",
        "check": "aligning.check:check",
        "align": "aligning.align:app",
        "evaluate": "measuring.evaluate:app",
        "tune": "modeling.tune:command",
        "reproduce": "measuring.reproduce:command",
    },
    "The store": {
        "db": "keeping.db:app",
    },
    "Available components": {
        "formats": "console.listings:formats",
        "algorithms": "console.listings:algorithms",
        "aligners": "console.listings:aligners",
        "scorers": "console.listings:scorers",
    },
    "Beyond one machine": {
        "cluster": "keeping.cluster:app",
    },
    "The server": {
        "publish": "keeping.serve:publish",
        "serve": "keeping.serve:serve",
        "mcp": "keeping.serve:mcp",
        "token": "keeping.serve:token",
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
