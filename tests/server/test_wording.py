"""The server names parameters where the library names options of commands."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer.main
from serving import ask

from sentgen.cli import build
from sentgen.cli.commands import COMMANDS
from sentgen.options import dashed
from sentgen.schema import Store
from sentgen.server.operations import Opening, operations
from sentgen.server.operations.operation import Context
from sentgen.server.parameters import parameters as parameters_model
from sentgen.server.problems import Refused

ROOT = Path(__file__).parents[2]
#: Rooms whose messages can reach an answer of the server.
ROOMS = (
    *(
        "schema",
        "sentgen/counts",
        "sentgen/lookups",
        "sentgen/models",
        "sentgen/generation",
        "sentgen/alignment",
    ),
    *("sentgen/corpus", "sentgen/desk", "sentgen/evaluation/check", "sentgen/server"),
)
LOOKUPS = (
    "ngrams",
    "dependencies",
    "arguments",
    "kwic",
    "frequencies",
    "collocations",
    "sketch",
    "thesaurus",
    "match",
    "keyness",
)
TREES = ("regenerate", "generate", "check")
#: Files whose messages name options, with the operations that can say them; () where only a command can.
SAID: dict[str, tuple[str, ...]] = {
    "sentgen/desk/backup.py": (),  # the server makes no backups
    "sentgen/desk/desk.py": (),  # opening a desk, which the server does before it answers
    "sentgen/desk/labels.py": (),  # an answer is of the labeler that was given
    "sentgen/models/companions.py": (),  # building
    "sentgen/models/prune.py": (),  # building
    "sentgen/models/mix.py": (),  # building
    "sentgen/alignment/phrase_hmm/settings.py:set": (),  # training
    "sentgen/counts/exports.py": (),
    "sentgen/counts/sync.py": (),
    "schema/engine.py:db": (),  # opening a store, which the server does before it answers
    "schema/engine.py": tuple(operations()),
    "schema/migrate.py": (),
    "schema/manifests.py": (),  # opening a store
    "schema/readonly.py": ("sql",),
    "schema/tables/saved.py": (),
    "schema/snapshots.py": (),
    "schema/store.py": (),  # opening a store
    "schema/durability/write_lock.py": (),
    "sentgen/alignment/pairs/budget.py": ("align",),
    "sentgen/alignment/choice.py": ("align",),
    "sentgen/alignment/phrase_hmm/decode.py": ("align",),
    "sentgen/alignment/phrase_hmm/settings.py": ("align",),
    "sentgen/alignment/stored/training.py": (),
    "sentgen/alignment/phrase_hmm/tuning.py": (),
    # Of ingestion: no request has a table, columns of its own, or another encoding.
    **dict.fromkeys(
        (
            "sentgen/corpus/formats.py:text",
            "sentgen/corpus/readers/_columns.py",
            "sentgen/corpus/readers/tei.py",
            "sentgen/corpus/readers/html.py",
            "sentgen/corpus/readers/jsonl.py",
            "sentgen/corpus/readers/table.py",
            "sentgen/corpus/readers/vertical.py",
            "sentgen/corpus/sources.py",
            "sentgen/counts/document_tables.py",
        ),
        (),
    ),
    "sentgen/corpus/formats.py": ("align", "generate"),
    "sentgen/corpus/pair_readers.py": (),
    "sentgen/corpus/parsers.py": ("check", "generate"),
    "sentgen/corpus/parser_adapters.py": ("generate",),
    "sentgen/corpus/reading.py": TREES,
    "sentgen/lookups/dependency_search.py:level": ("dependencies",),
    "sentgen/lookups/dependency_search.py": ("dependencies", "arguments"),
    "sentgen/lookups/search/absence.py:by": ("frequencies",),
    "sentgen/lookups/search/absence.py": LOOKUPS,
    "sentgen/counts/cluster/machines.py": (),
    "sentgen/counts/cluster/job.py": (),
    "sentgen/counts/ingestion.py:language": (),
    "sentgen/counts/ingestion.py": ("generate",),
    "sentgen/counts/pair_ingestion.py": (),
    "sentgen/counts/tei_export.py": (),
    "sentgen/lookups/grew/matches.py": ("match",),
    "sentgen/lookups/statistics/frequencies.py": ("frequencies",),
    "sentgen/lookups/statistics/keywords.py": ("keyness",),
    "sentgen/lookups/ngram_search.py": ("ngrams",),
    "sentgen/lookups/base/keys.py": ("kwic", "frequencies", "collocations", "match"),
    "sentgen/lookups/concordances/concordance.py": ("kwic",),
    "sentgen/lookups/questions.py": ("match",),
    "sentgen/lookups/concordances/hits.py": ("kwic", "frequencies", "collocations"),
    "sentgen/lookups/cql/dialects.py": ("kwic", "frequencies", "collocations"),
    "sentgen/lookups/search/search.py": ("kwic", "frequencies", "collocations"),
    "sentgen/lookups/statistics/collocations.py": ("collocations",),
    "sentgen/lookups/base/question.py": (
        "ngrams",
        "kwic",
        "frequencies",
        "collocations",
        "match",
        "keyness",
        "near",
    ),
    "sentgen/lookups/base/statement.py": LOOKUPS,
    "sentgen/lookups/statistics/frequency_rows.py": ("frequencies",),
    "sentgen/counts/settings.py": (),  # of a corpus of its own, with one name and one way to read it
    "sentgen/evaluation/check/check.py": ("check",),
    "sentgen/evaluation/check/verb_arguments.py": ("check",),
    "sentgen/alignment/stored/application.py": (),  # of links that a store keeps
    "sentgen/generation/answers.py": ("regenerate",),
    "sentgen/generation/notes.py": ("regenerate",),
    "sentgen/generation/clusters/clusters.py": ("generate",),
    "sentgen/generation/clusters/prepared.py": ("generate",),
    **dict.fromkeys((f"sentgen/generation/fusion/{name}.py" for name in ("answer", "word_bag")), ("fuse",)),
    "sentgen/models/building/recipe.py": (),
    "sentgen/models/build_request.py": (),  # the server builds no models
    "sentgen/models/dependency/cluster_counts.py": ("generate",),
    "sentgen/models/base/symbols.py": (),
    "sentgen/models/dependency/tagging.py": ("regenerate",),
    "sentgen/models/request.py": ("score",),
    "sentgen/models/scoring.py": ("score",),
    "sentgen/models/surprisal.py": (),  # the server applies no models
    "sentgen/models/vector_building.py": (),  # of building
    "sentgen/server/operations/generation.py": ("regenerate",),
    "sentgen/server/running.py": (),
}
_COMMAND = re.compile(r"\bsentgen [a-z][^;,`()]*")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def bare(message: str) -> list[str]:
    """The options that a message names outside of a whole command."""
    return _OPTION.findall(_COMMAND.sub("", message))


def spelled(path: Path) -> Iterator[tuple[str, str]]:
    """The options that a file spells: the name of each, and that of its opposite if it is meant."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "spell":
            name, off = node.args[0], [ast.literal_eval(keyword.value) for keyword in node.keywords]
            if isinstance(name, ast.Constant):
                yield str(name.value), "".join(off)


def named(path: Path) -> Iterator[str]:
    """The texts of a file that name options with dashes; not docstrings, names and help of options, and commands."""
    tree, others = ast.parse(path.read_text("utf-8")), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            others.add(id(node.value))
        elif isinstance(node, ast.keyword) and node.arg in ("shell", "off", "short"):
            others |= {id(one) for one in ast.walk(node)}
        elif isinstance(node, ast.JoinedStr):
            others |= {id(one) for one in node.values}
    for node in ast.walk(tree):
        if id(node) in others:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
        else:
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if bare(text):
            yield text


def spelling_files(rooms: Iterable[str], sign: str) -> dict[str, Path]:
    """The files of rooms that have a sign, by their paths; the others need not be parsed."""
    paths = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    paths += [ROOT / room for room in rooms if room.endswith(".py")]
    return {str(path.relative_to(ROOT)): path for path in paths if sign in path.read_text("utf-8")}


LIBRARY = ("schema", *(f"sentgen/{path.name}" for path in (ROOT / "sentgen").iterdir() if path.name != "cli"))
MESSAGES = [
    (file, *option) for file, path in spelling_files(ROOMS, "spell(").items() for option in spelled(path)
]
#: What names options with dashes and is no message of the library.
DASHED = {
    "sentgen/alignment/baselines/external.py": "options of a program",
    "sentgen/alignment/view/html.py": "names of colors in CSS",
    "schema/excerpt.py": "options of saved command lines",
    "schema/tables/alignment.py": "the data dictionary says what commands write",
    "schema/tables/corpus.py": "the same",
    "sentgen/api/contents.py": "the command line that was saved",
    "sentgen/counts/cluster/machines.py": "a script for a cluster",
    "sentgen/evaluation/papers/daume2004.py": "a report of a command",
    "sentgen/evaluation/papers/paper.py": "help of a command alone",
    "sentgen/evaluation/papers/penn_treebank.py": "a report of a command",
    "sentgen/evaluation/papers/wan2005.py": "the same",
    "sentgen/corpus/formats.py": "a command",
    "sentgen/corpus/readers/table.py": "the end of a command",
    "sentgen/first_use.py": "commands",
    "sentgen/lookups/search/absence.py": "a value of an answer",
    "sentgen/server/service.py": "a command",
    "sentgen/server/pages/api.py": "a command of another program",
    "sentgen/server/pages/site.py": "what reads that value",
    "sentgen/server/routes.py": "what is told of the command in an answer",
}


@pytest.mark.parametrize(("file", "option", "off"), MESSAGES)
def test_no_answer_names_an_option(file: str, option: str, off: str) -> None:
    """Whatever the library says with an option, the operation that says it has a name of its own for it.

    A message that names an option for the first time in its file belongs into the table above.
    """
    dashes = option.replace("_", "-")
    assert f"{file}:{dashes}" in SAID or file in SAID

    for name in SAID.get(f"{file}:{dashes}", SAID.get(file, ())):
        assert not bare(operations()[name].spelling()(option, off)), name


def test_the_table_of_messages_is_current() -> None:
    """No file stands there that has no such message."""
    assert {key.partition(":")[0] for key in SAID} == {file for file, *_ in MESSAGES}


def test_messages_spell_options() -> None:
    """No message of the library names an option by dashes: each face writes options in its own way."""
    files = spelling_files(LIBRARY, "--")

    assert {file for file, path in files.items() if any(named(path))} == set(DASHED)


def test_what_is_spelled_is_an_option() -> None:
    """Each name, and each opposite, is one of a command."""
    listed = [command for each in COMMANDS for command in (each, *each.commands)]
    names = {
        name
        for command in listed
        for option in command.options
        for each in option.get("names", ())
        for name in each.split("/")
    }
    files = spelling_files(LIBRARY, "spell(")
    used = {dashed(name, off) for path in files.values() for name, off in spelled(path)}

    # All commands with --db have --wait, which `sentgen.cli.application` gives them.
    assert used <= names | {"--wait"}


def test_options_are_spelled_when_a_message_is_made() -> None:
    """Not when a module is imported: which face it is for is not known yet."""
    early = []
    for file, path in spelling_files(LIBRARY, "spell(").items():
        tree = ast.parse(path.read_text("utf-8"))
        within = {
            id(node)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.Lambda)
            for part in (function.body if isinstance(function.body, list) else [function.body])
            for node in ast.walk(part)
        }
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in within]
        early += [file for call in calls if isinstance(call.func, ast.Name) and call.func.id == "spell"]

    assert not early


@pytest.mark.parametrize("option", ["memory_limit", "parser"])
def test_what_the_server_decides_names_its_own_option(option: str) -> None:
    """An option that no request has is one of `sentgen serve`, which whoever runs it can give."""
    written = operations()["generate"].spelling()(option, "")
    serve: Any = typer.main.get_command(build()).load("serve")  # type: ignore[attr-defined]
    match = re.search(r"sentgen serve (--[a-z-]+)", written)

    assert match
    assert match[1] in {name for parameter in serve.params for name in parameter.opts}


@pytest.fixture(scope="module")
def compute(opening: Opening, demo: Path) -> Iterator[Context]:
    """What look-ups and computations work on; one kind is as good as the other here."""
    with Store(demo, read_only=True) as store:
        yield Context(replace(opening, kind="compute"), store)


def said(context: Context, operation: str, **parameters: Any) -> list[str]:
    """What the server says of a request: the detail of its problem, or the notes beside its rows."""
    kind = operations()[operation].kind
    asked = replace(context, opening=replace(context.opening, kind=kind))
    try:
        reply = ask(asked, operation, **parameters)
    except Refused as refusal:
        return [refusal.document.detail]
    body = json.loads(reply.body)
    return list(body["notes"]) if reply.status == 200 else [body["detail"]]


@pytest.mark.parametrize(
    ("operation", "parameters", "told"),
    [
        ("align", {"model": "a", "system": "b"}, "`model` and `system` exclude each other; choose one"),
        (
            "align",
            {"decode": "viterbi", "threshold": 0.5},
            "the best path has no `threshold`; choose `decode` posterior",
        ),
        ("align", {}, "makes a model for `model`"),
        (
            "align",
            {"abstract": None},
            "missing: `abstract`; give a `document` and its `abstract`, or `pairs`",
        ),
        ("align", {"document": None, "abstract": None}, "missing: `document` and `abstract`; give"),
        ("align", {"abstract": ""}, "abstract: is empty"),
        ("regenerate", {"tree": True, "explain": True}, "`tree` and `explain` are two tables"),
        ("regenerate", {"algorithm": "lmo", "tree": True}, "lmo makes no trees, so `tree` means nothing"),
        ("generate", {"file": "no trees here\n", "format": "text"}, "or choose `algorithm` bigram"),
        ("compare_models", {"models": "relief"}, "a comparison is on one text; give `test` or `corpus`"),
        ("ngrams", {"pattern": "Camps"}, "did you mean camps or `ignore_case`?"),
        # What was sent stays as it was.
        ("regenerate", {"model": "--model {model}"}, "no model '--model {model}'; there are: "),
        ("ngrams", {"pattern": "--model {model}"}, "--model {model}"),
    ],
)
def test_messages_are_in_the_words_of_the_api(
    compute: Context, operation: str, parameters: dict[str, Any], told: str, tmp_path: Path, monkeypatch: Any
) -> None:
    """Errors and notes, as a client gets them."""
    monkeypatch.chdir(tmp_path)  # where a worker puts the texts that it is sent
    complete = {
        "align": {"document": "The camp .", "abstract": "The camp ."},
        "regenerate": {"bag": ["the camp"], "model": "relief", "algorithm": "ab"},
    }
    asked = {**complete.get(operation, {}), **parameters}
    given = {name: value for name, value in asked.items() if value is not None}

    assert told in " ".join(said(compute, operation, **given))


@pytest.mark.parametrize("name", [name for name, one in operations().items() if one.api])
def test_the_api_is_described_in_its_own_words(name: str) -> None:
    """What is told of a parameter names no option."""
    described = parameters_model(operations()[name]).model_json_schema()["properties"]

    assert not [one for one in described.values() if bare(one.get("description", ""))]
