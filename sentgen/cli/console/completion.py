"""Completion of values: names in the store or lake, and formats, algorithms and aligners.

As the shell waits for it, neither the command nor SQLAlchemy is imported: DuckDB reads the names, and those
of plug-ins are in the metadata of installed packages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from functools import cache
from itertools import pairwise
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from sentgen.default_store import default_path
from sentgen.entry_points import Kind, added_names
from sentgen.errors import SentgenError
from sentgen.never_loaded import NEVER_LOADED

_CORPORA, _SUBCORPORA = ("corpus", "kind <> 'pairs'"), ("subcorpus", "true")
#: Statement for units as in `sentgen.models.request`, and for kinds of regions in the store.
_UNITS = "(select unnest(['sentence', 'token', 'document']) as name union select kind from region)"
#: By kind of value, the tables with its names, each with a condition.
_NAMES = {
    "units": ((_UNITS, "true"),),
    "corpora": (_CORPORA,),
    "pairs": (("corpus", "kind = 'pairs'"),),
    "subcorpora": (_SUBCORPORA,),
    "chosen": (_CORPORA, _SUBCORPORA),
    "models": (("model", "true"),),
    "aligners": (("alignment_model", "true"),),
    "saved": (("saved_query", "true"),),
    "vectors": (("vector_space", "true"),),
}
#: Options that name the store or the lake, by group of commands; under an empty name those of other groups.
_STORES = {"": ("--db",), "cluster": ("--in", "--from", "--to", "--db")}
#: Names of formats, algorithms and aligners, whose modules take long to import; `docs/generate_reference.py`
#: writes them.
CHOICES = Path(__file__).with_name("choices.json")
#: By kind of value, the kind of plug-ins that add names.
_KINDS: dict[str, Kind] = {"formats": "reader", "algorithms": "algorithm", "systems": "aligner"}
_OPTIONS = {
    "--corpus": "chosen",
    "--pairs": "pairs",
    "--model": "models",
    "-m": "models",
    "--vectors": "vectors",
    "--algorithm": "algorithms",
    "--algorithms": "algorithms",
    "-a": "algorithms",
    "--format": "formats",
    "--system": "systems",
    "--systems": "systems",
}
#: Options with another kind of value in a group or command, as algorithms for clusters, and formats of gold
#: alignments; empty if values are not completed. Commands that add to a corpus take no subcorpus.
_OWN = {
    "ingest": {"--corpus": "corpora"},
    "cluster": {"--corpus": "corpora"},
    "generate": {"--corpus": "corpora", **dict.fromkeys(("--algorithm", "--algorithms", "-a"), "")},
    "pairs": {"--corpus": "pairs"},
    "align": {"--model": "aligners", "-m": "aligners"},
    "keyness": {"--against": "chosen"},
    "score": {"--by": "units"},
    "evaluate alignment": {"--format": ""},
    "align tune": {"--format": ""},
}
#: Commands whose first argument is a name.
_PLACES = {
    "": ("chosen", ("keyness",)),
    "corpora": ("corpora", ("show", "verify", "export", "remove")),
    "subcorpora": ("subcorpora", ("show", "remove")),
    "models": ("models", ("show", "remove", "export", "apply")),
    "pairs": ("pairs", ("list", "show")),
    "align": ("aligners", ("model", "remove")),
    "cluster": ("corpora", ("remove",)),
    "saved": ("saved", ("run", "remove")),
    "vectors": ("vectors", ("remove",)),
}


def offering(group: str, command: str, before: Sequence[str]) -> TyperCommand | None:
    """Return a placeholder for a command that completes a value; ``None`` if the value is not completed here.

    Args:
        group: the group of the command, empty if it stands alone.
        command: name of the command.
        before: the words between its name and the incomplete word.
    """
    offered, commands = _PLACES.get(group, ("", ()))
    named = _STORES.get(group, _STORES[""])
    at = next((index for index, word in enumerate(before) if word in named), len(before))
    if [*before[:at], *before[at + 2 :]]:
        offered = _offers(group, command).get(before[-1], "")
    elif command not in commands:
        offered = ""
    store = next((word for name, word in pairwise(before) if name in named), None)
    return _takes_any(command, offered, Path(store) if store else default_path()) if offered else None


def _takes_any(name: str, offered: str, store: Path) -> TyperCommand:
    """Return a command that takes any words and offers names."""
    app = typer.Typer(add_completion=False)

    def begun(incomplete: str) -> list[str]:
        return [name for name in _names_for(offered, store) if name.startswith(incomplete)]

    named = typer.Argument(autocompletion=begun)

    @app.command(name, context_settings={"ignore_unknown_options": True, "help_option_names": []})
    def takes(words: list[str] = named) -> None: ...

    made = get_command(app)
    assert isinstance(made, TyperCommand)
    return made


def _names_for(offered: str, store: Path) -> list[str]:
    """Return all names for a kind of value."""
    if offered in _KINDS:
        known = _built_in_names()[offered]
        return [*known, *added_names(_KINDS[offered], known)]
    return sorted({name for table, condition in _NAMES[offered] for name in _names(store, table, condition)})


@cache
def _built_in_names() -> dict[str, list[str]]:
    """Return the names of sentgen's own formats, algorithms and aligners."""
    names: dict[str, list[str]] = json.loads(CHOICES.read_text("utf-8"))
    return names


def with_plugins(group: str, command: TyperCommand | TyperGroup) -> TyperCommand | TyperGroup:
    """Return a command whose help has the choices of its options that plug-ins add.

    The command of Typer is not changed; ``group`` is empty for a command without one.
    """
    offers, parameters = _offers(group, command.name or ""), list[TyperArgument | TyperOption]()
    for parameter in command.params:
        assert isinstance(parameter, TyperArgument | TyperOption)  # Typer has no others
        offered = next((offers[name] for name in parameter.opts if name in offers), "")
        if offered in _KINDS and (added := added_names(_KINDS[offered], _built_in_names()[offered])):
            parameter = copy(parameter)
            parameter.help = f"{parameter.help} Plug-ins: {', '.join(added)}."
        parameters.append(parameter)
    copied = copy(command)
    # The copied method for faster parsing would return the parameters of the original command.
    vars(copied).pop("get_params", None)
    copied.params = [*parameters]
    return copied


def _offers(group: str, command: str) -> dict[str, str]:
    """Return the kinds of values of the options of a command, by the option."""
    return _OPTIONS | _OWN.get(group or command, {}) | _OWN.get(f"{group} {command}", {})


def _names(store: Path, table: str, condition: str) -> list[str]:
    """Return names of a store or of a lake in a folder; none if it cannot be read."""
    import duckdb

    try:
        lake = (store / "manifest.json").is_file()
        if store.is_dir() and not lake:
            # Imported only for a folder of snapshots, which few have.
            from sentgen.schema.manifests import place_of

            store = place_of(store)
        rows = _of_lake(store, table) if lake else table
        database = ":memory:" if lake else str(store)
        with duckdb.connect(database, read_only=not lake, config=NEVER_LOADED) as duck:
            names = duck.execute(f"select name from {rows} where {condition}").fetchall()
            return [str(name) for (name,) in names]
    # Missing, of a version without the table, or locked: completion cannot show an error.
    except (duckdb.Error, OSError, LookupError, ValueError, TypeError, SentgenError):
        return []


def _of_lake(lake: Path, table: str) -> str:
    """Return the path of a table of a lake, without `sentgen.schema.lakes`, which has large imports."""
    files = json.loads((lake / "manifest.json").read_text("utf-8"))["tables"][table]
    paths = (str(lake / file["path"]).replace("'", "''") for file in files)
    return f"""read_parquet([{", ".join(f"'{path}'" for path in paths)}])"""
