"""Command line, server and Python take the same: names, types and defaults are declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING
from typing import Any

import pytest
from typer.main import get_command

import sentgen
from sentgen.cli import build
from sentgen.options import parameters_of
from sentgen.server.operations import operations

#: Method, its command, and its operation if the server has one.
SAME = [
    ("ingest", "ingest", None),
    ("corpora", "corpora list", "corpora"),
    ("corpus", "corpora show", "corpus"),
    ("add_metadata", "corpora metadata", None),
    ("remove_corpus", "corpora remove", None),
    ("publish", "publish", None),
    ("cite", "cite", None),
    ("sql", "sql", "sql"),
    ("ngrams", "ngrams", "ngrams"),
    ("dependencies", "deps", "dependencies"),
    ("arguments", "args", "arguments"),
    ("kwic", "kwic", "kwic"),
    ("match", "match", "match"),
    ("frequencies", "freq", "frequencies"),
    ("collocations", "collocations", "collocations"),
    ("sketch", "sketch", "sketch"),
    ("thesaurus", "thesaurus", "thesaurus"),
    ("keyness", "keyness", "keyness"),
    ("build_model", "models build", None),
    ("models", "models list", "models"),
    ("remove_model", "models remove", None),
    ("build_vectors", "vectors build", None),
    ("vectors", "vectors list", "vectors"),
    ("near", "vectors near", "near"),
    ("remove_vectors", "vectors remove", None),
    ("formats", "formats", "formats"),
    ("algorithms", "algorithms", "algorithms"),
    ("aligners", "aligners", "aligners"),
    ("score", "score", "score"),
    ("regenerate", "regenerate", "regenerate"),
    ("align", "align text", "align"),
    ("generate", "generate", "generate"),
    ("check", "check", "check"),
]
#: What only a command has: where the store is, files that it reads or writes, and how it prints.
OF_COMMANDS = {
    *("db", "memory_limit", "wait", "help", "file", "input", "html", "svg", "conllu", "dry_run", "timeout"),
    *(
        "csv",
        "tsv",
        "json",
        "jsonl",
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
#: What only the API has: batches, and what it gives beside the rows.
OF_API = {"pairs", "html", "marks", "conllu", "sizes"}
#: Another name of a parameter here: as the issue has it, a language model is of several corpora; texts of
#: `regenerate` and `score` come to a model, which is not named a second time.
#: What is cited is a line of Python here, and BibTeX is at hand without an option.
RENAMED = {
    "build_model": {"corpora": "corpus"},
    "build_vectors": {"corpora": "corpus"},
    "sql": {"parameters": "param"},
    "cite": {"query": "words"},
}
WITHOUT = {"cite": {"bibtex"}, "score": {"model"}, "regenerate": {"model", "format"}, "generate": {"file"}}


def _taken(name: str) -> dict[str, inspect.Parameter]:
    owner = sentgen.LanguageModel if name in ("score", "regenerate") else sentgen.Database
    method: Callable[..., Any] = getattr(owner, name)
    renamed = RENAMED.get(name, {})
    taken = {renamed.get(one.name, one.name): one for one in inspect.signature(method).parameters.values()}
    return {key: one for key, one in taken.items() if key != "self"}


def _plain(default: object) -> object:
    """Return a default as all three have it: an empty list or text is none at all."""
    value = getattr(default, "value", default)
    return value if value not in ((), [], "", None, inspect.Parameter.empty, ...) else None


def test_every_method_is_compared() -> None:
    """A new method has a command that does the same, or is about the object itself."""
    methods = {name for name, one in vars(sentgen.Database).items() if callable(one) and name[0] != "_"}

    assert methods - {"close", "model"} == {name for name, _, _ in SAME} - {"score", "regenerate"}


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
    assert not taken.keys() - options.keys()
    for key in taken.keys() & options.keys() - without:
        assert _plain(taken[key].default) == _plain(options[key].default), key


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
