"""Command line, server and Python take the same: names, types and defaults are declared once."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
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

#: Method, its command, and its operation if the server has one.
SAME = [
    ("ingest", "ingest", None),
    ("corpora", "corpora list", "corpora"),
    ("corpus", "corpora show", "corpus"),
    ("add_metadata", "corpora metadata", None),
    ("remove_corpus", "corpora remove", None),
    ("sync", "corpora sync", None),
    ("verify_corpus", "corpora verify", None),
    ("export_corpus", "corpora export", None),
    ("define_subcorpus", "subcorpora define", None),
    ("subcorpora", "subcorpora list", None),
    ("subcorpus", "subcorpora show", None),
    ("remove_subcorpus", "subcorpora remove", None),
    ("save_query", "saved add", None),
    ("saved_queries", "saved list", None),
    ("run_query", "saved run", None),
    ("remove_query", "saved remove", None),
    ("ingest_pairs", "pairs ingest", None),
    ("pairs", "pairs list", None),
    ("pair", "pairs show", None),
    ("train_parser", "parser train", None),
    ("parses", "parser list", None),
    ("forget_parses", "parser forget", None),
    ("schema", "schema", None),
    ("info", "db info", None),
    ("check_store", "db check", None),
    ("repair", "db repair", None),
    ("compact", "db compact", None),
    ("publish", "publish", None),
    ("backup", "db backup", None),
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
    ("new_lines", "lines new", "new_lines"),
    ("line_sets", "lines list", "line_sets"),
    ("LineSet.lines", "lines list", "lines"),
    ("LineSet.label", "lines label", "label_lines"),
    ("LineSet.undo", "lines undo", "undo_labels"),
    ("LineSet.report", "lines report", "lines_report"),
    ("LineSet.import_labels", "lines import", None),
    ("LineSet.remove", "lines remove", None),
    ("build_model", "models build", None),
    ("apply_model", "models apply", None),
    ("mix_models", "models mix", None),
    ("prune_model", "models prune", None),
    ("compare_models", "models compare", "compare_models"),
    ("models", "models list", "models"),
    ("remove_model", "models remove", None),
    ("properties", "models show", None),
    ("export", "models export", None),
    ("import_model", "models import-arpa", None),
    ("build_vectors", "vectors build", None),
    ("vectors", "vectors list", "vectors"),
    ("near", "vectors near", "near"),
    ("remove_vectors", "vectors remove", None),
    ("formats", "formats", "formats"),
    ("algorithms", "algorithms", "algorithms"),
    ("aligners", "aligners", "aligners"),
    ("scorers", "scorers", "scorers"),
    ("score", "score", "score"),
    ("regenerate", "regenerate", "regenerate"),
    ("align", "align text", "align"),
    ("train_alignment", "align train", None),
    ("tune_alignment", "align tune", None),
    ("alignment_models", "align models", None),
    ("alignment_model", "align model", None),
    ("remove_alignment_model", "align remove", None),
    ("align_pairs", "align apply", None),
    ("alignment_figures", "align figures", None),
    ("alignment_links", "align export", None),
    ("extract", "align extract", None),
    ("generate", "generate", "generate"),
    ("fuse", "fuse", "fuse"),
    ("check", "check", "check"),
]
#: Methods of a model, not of the store; those of a line set have its class before them.
OF_MODELS = {"score", "regenerate", "properties", "export"}
#: What no command has: a table in memory has no path to be known by.
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
#: What only a command has: where the store is, files that it reads or writes, and how it prints.
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
#: What only the API has: batches, and what it gives beside the rows.
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
    "score": {"model"},
    "regenerate": {"model", "format"},
    "generate": {"file"},
    # Both are of a model; the last two print in another form.
    "properties": {"name"},
    "export": {"name"},
    "pair": {"as_json"},
    "alignment_links": {"pharaoh"},
    # Without a name, the command lists the sets; a line set has one.
    "line_sets": {"name", "label", "labeler", "show", "sort", "limit", "offset"},
    **{f"LineSet.{one}": {"name"} for one in ("lines", "label", "undo", "report", "import_labels", "remove")},
}


def _taken(name: str) -> dict[str, inspect.Parameter]:
    of_set, _, name_of_method = name.rpartition(".")
    owner = sentgen.LanguageModel if name in OF_MODELS else sentgen.LineSet if of_set else sentgen.Database
    method: Callable[..., Any] = getattr(owner, name_of_method)
    renamed = RENAMED.get(name, {})
    taken = {renamed.get(one.name, one.name): one for one in inspect.signature(method).parameters.values()}
    return {key: one for key, one in taken.items() if key != "self"}


def _plain(default: object) -> object:
    """Return a default as all three have it: an empty list or text is none at all."""
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
    """A new method has a command that does the same, or is about the object itself."""
    of_sets = {f"LineSet.{name}" for name, one in vars(sentgen.LineSet).items() if callable(one)}
    of_sets = {name for name in of_sets if "._" not in name}

    assert methods() | of_sets == {name for name, _, _ in SAME} - OF_MODELS


def test_every_command_has_a_method() -> None:
    """A new command has a method that does the same, or a reason why not."""
    commands = {f"{one.name} {each.name}" for one in COMMANDS for each in one.commands}
    commands |= {one.name for one in COMMANDS if not one.commands}

    assert {line for _, line, _ in SAME}.isdisjoint(WITHOUT_METHOD)
    assert {line for _, line, _ in SAME} | WITHOUT_METHOD.keys() == commands


def test_the_page_lists_them() -> None:
    """The reference has each command beside its method, `docs/python.md` the reasons."""
    page = (DOCS / "python.md").read_text("utf-8")
    of_models = {name: f"LanguageModel.{name}" for name in OF_MODELS}

    assert {line: of_models.get(name, name) for name, line, _ in SAME} == METHODS
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
