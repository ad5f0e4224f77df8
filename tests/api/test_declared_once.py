"""Command line, server and Python take the same: names, types and defaults are declared once."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import sentgen
from sentgen.cli import build
from sentgen.cli.commands import COMMANDS
from sentgen.options import parameters_of
from sentgen.server.operations import operations

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from python_methods import METHODS  # noqa: E402

#: Methods that do a part of what a command does, with their operations; another method of `METHODS` does the rest.
PARTS = {"line_sets": ("lines list", "line_sets")}


def _same() -> Iterator[tuple[str, str, str | None]]:
    """Yield each method with its command, and its operation if the server has one."""
    of_parts = [operation for _, operation in PARTS.values()]
    for line, name in METHODS.items():
        routes = [one.name for one in operations().values() if one.api and one.command == line]
        yield name, line, next((route for route in routes if route not in of_parts), None)
    yield from ((name, *part) for name, part in PARTS.items())


SAME = list(_same())
#: Parameters of methods alone: a table in memory has no path.
OF_PYTHON = {"ingest": {"table_name"}, "add_metadata": {"table_name"}}
#: Commands without a method, and why.
WITHOUT_METHOD = {
    "demo": "it shows the commands",
    "parser run": "it needs no store; methods that read texts take a parser",
    "db path": "it is `Database.path`",
    **dict.fromkeys(("db upgrade", "db restore"), "it is for a store that cannot be opened yet"),
    **dict.fromkeys(("serve", "mcp"), "it goes on until it is stopped"),
    "token": "it is for a file of the server",
    **dict.fromkeys(
        [
            *(
                f"evaluate {name}"
                for name in ("generation", "fusion", "judgments", "alignment", "extraction", "regeneration")
            ),
            *("tune", "reproduce"),
        ],
        "it is an experiment, whose record is files",
    ),
    "evaluate compare": "it is about the runs of experiments, which have no methods",
    **dict.fromkeys(
        [f"cluster {name}" for name in ("count", "models", "status", "remove", "script", "export")],
        "it is for jobs on several machines, which scripts begin",
    ),
}
#: Options of commands alone: the store, files that are read or written, and forms of output.
OF_COMMANDS = {
    *(
        "db",
        "desk",
        "memory_limit",
        "wait",
        "help",
        "file",
        "input",
        "html",
        "svg",
        "conllu",
        "dry_run",
        "yes",
        "quiet",
        "timeout",
    ),
    *(
        "csv",
        "tsv",
        "json",
        "jsonl",
        "latex",
        "parquet",
        "xlsx",
        "bom",
        "plot",
        "as_object",
        "as_links",
        "show_sql",
        "all_relations",
        "width",
        "wide",
    ),
    *("fail_under", "save", "note", "progress"),
}
#: Parameters of the server alone: batches, and further parts of the answer.
OF_API = {"pairs", "html", "marks", "conllu", "sizes"}
#: Another name of a parameter here: as the issue has it, a language model is of several corpora; texts of
#: `regenerate` and `score` come to a model, which is not named a second time.
#: What is cited is a line of Python here, and BibTeX is at hand without an option.
RENAMED = {
    "build_model": {"corpora": "corpus"},
    "apply_model": {"corpora": "corpus"},
    "build_vectors": {"corpora": "corpus"},
    "sql": {"parameters": "param"},
    "cite": {"query": "words"},
    "export_corpus": {"format": "form"},
}
WITHOUT = {
    "cite": {"bibtex"},
    "LanguageModel.score": {"model"},
    "LanguageModel.regenerate": {"model", "format"},
    "generate": {"file"},
    # Both are of a model; the last two print in another form.
    "LanguageModel.properties": {"name"},
    "LanguageModel.export": {"name"},
    "pair": {"as_json"},
    "alignment_links": {"pharaoh"},
    # Without a name, the command lists the sets; a line set has one.
    "line_sets": {"name", "label", "labeler", "show", "sort", "limit", "offset"},
    **{f"LineSet.{one}": {"name"} for one in ("lines", "label", "undo", "report", "import_labels", "remove")},
}


def _taken(name: str) -> dict[str, inspect.Parameter]:
    owner_name, _, name_of_method = name.rpartition(".")
    owner = getattr(sentgen, owner_name or "Database")
    method: Callable[..., Any] = getattr(owner, name_of_method)
    renamed = RENAMED.get(name, {})
    taken = {renamed.get(one.name, one.name): one for one in inspect.signature(method).parameters.values()}
    return {key: one for key, one in taken.items() if key != "self"}


def _plain(default: object) -> object:
    """Return a default in a form that compares: an empty list or text is ``None``."""
    value = getattr(default, "value", default)
    return value if value not in ((), [], "", None, inspect.Parameter.empty, ...) else None


def _default(option: Any) -> object:
    """Return the default of an option; that of a limit of rows is told in its help, as it depends on the output."""
    told = re.search(r"Default: (\d+) in tables", getattr(option, "help", "") or "")
    return int(told[1]) if told else _plain(option.default)


def methods() -> set[str]:
    """Return the names of all methods of a `Database`, but those about the object itself."""
    found = {
        name for part in sentgen.Database.__mro__[:-1] for name, one in vars(part).items() if callable(one)
    }
    return {name for name in found if name[0] != "_"} - {"close", "model", "lines", "cache_info"}


def test_every_method_is_compared() -> None:
    """Every method has a command that does the same, or is about the object itself."""
    of_sets = {f"LineSet.{name}" for name, one in vars(sentgen.LineSet).items() if callable(one)}
    of_sets = {name for name in of_sets if "._" not in name}

    assert methods() | of_sets == {name for name, _, _ in SAME if not name.startswith("LanguageModel.")}


def test_every_command_has_a_method() -> None:
    """Every command has a method that does the same, or a reason why not."""
    commands = {f"{one.name} {each.name}" for one in COMMANDS for each in one.commands}
    commands |= {one.name for one in COMMANDS if not one.commands}

    assert {line for _, line, _ in SAME}.isdisjoint(WITHOUT_METHOD)
    assert {line for _, line, _ in SAME} | WITHOUT_METHOD.keys() == commands


def test_the_page_lists_them() -> None:
    """`docs/python.md` has the reasons; the reference has each command beside its method."""
    page = (DOCS / "python.md").read_text("utf-8")

    assert all(f"`{line}`" in page for line in WITHOUT_METHOD)


@pytest.mark.parametrize(("name", "line", "_operation"), SAME)
def test_the_command_takes_the_same(name: str, line: str, _operation: str | None) -> None:
    """Every option of the command has a parameter of its name and default, and the other way around."""
    command = get_command(build())
    for word in line.split():
        command = command.load(word)  # type: ignore[attr-defined]
    options = {one.name: one for one in command.params}
    taken, without = _taken(name), WITHOUT.get(name, set())

    missing = options.keys() - taken.keys() - OF_COMMANDS - without
    assert not missing
    assert not taken.keys() - options.keys() - OF_PYTHON.get(name, set())
    for key in taken.keys() & options.keys() - without:
        assert _plain(taken[key].default) == _default(options[key]), key


@pytest.mark.parametrize(("name", "_line", "operation"), [row for row in SAME if row[2]])
def test_the_server_takes_the_same(name: str, _line: str, operation: str) -> None:
    """Every parameter of the operation has one of its name and default here."""
    renamed = {"sql": "query", "parameters": "param"} if name == "sql" else {}
    parameters = parameters_of(operations()[operation].declaration)
    fields = {renamed.get(one.name, one.name): one.default for one in parameters}
    taken = _taken(name)
    assert not fields.keys() - taken.keys() - OF_API - WITHOUT.get(name, set())
    for key in fields.keys() & taken.keys():
        given = None if fields[key] is MISSING else fields[key]
        assert _plain(taken[key].default) == _plain(given), key


def test_help_tells_of_every_option() -> None:
    """`help(db.kwic)` shows types, defaults, and a sentence for each option."""
    from sentgen.lookups.concordances.concordance import Kwic

    said = inspect.getdoc(sentgen.Database.kwic) or ""

    assert all(f"    {one.name}: " in said for one in parameters_of(Kwic) if one.name != "pattern")
    assert "limit: int = 20" in str(inspect.signature(sentgen.Database.kwic))
