"""The help of all commands, what it costs, and the table that it is read from."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest
from conftest import Sentgen
from typer._completion_classes import BashComplete
from typer.main import get_group

from sentgen.alignment.systems import PBHMM, SYSTEMS
from sentgen.cli import build
from sentgen.cli.application import describe_command, import_command
from sentgen.cli.commands import COMMANDS, HELP, Listed
from sentgen.corpus.formats import READERS
from sentgen.generation import ALGORITHMS
from sentgen.schema import Store
from sentgen.schema.lake_transfer import export
from sentgen.schema.places import Place
from sentgen.schema.snapshots import publish

#: What no help and no completion of names has to wait for.
HEAVY = {
    "fastapi",
    "numba",
    "numpy",
    "pyarrow",
    "duckdb",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "nltk",
    "scipy",
    "sacrebleu",
}


def imported(*words: str, **environment: str) -> set[str]:
    """Return the modules that a command line has imported."""
    code = f"""
import sys
sys.argv = ["sentgen", *{words!r}]
from sentgen import never_loaded
never_loaded.refuse_pandas()  # as the program does
from sentgen.cli import main
try:
    main()
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    assert told.stdout
    return set(told.stderr.split("\n")[-2].split())


@pytest.mark.parametrize(
    "words",
    [
        *(("--help",), (), ("models", "--help"), ("evaluate",)),
        # Of one command, in a group, too, and whatever else stands there.
        *(("kwic", "--help"), ("ingest", "a.conllu", "--corpus", "a", "-h"), ("models", "build", "-h")),
    ],
    ids=" ".join,
)
def test_help_imports_no_command(words: tuple[str, ...]) -> None:
    """Help reads the table; nor are values checked, for which Typer imports pydantic."""
    modules = imported(*words)
    command = re.compile(r"sentgen\.(lookups|schema|corpus|models|cli\.(?!commands|application|console))")

    assert not {*HEAVY, "pydantic"} & modules
    assert not [name for name in modules if command.match(name)]


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    "words",
    [("ngrams", "The *"), ("match", "pattern { X [] }"), ("deps", "chased")],
    ids=" ".join,
)
def test_look_ups_import_no_arrays(words: tuple[str, ...], full: Path) -> None:
    """Arrow with numpy would take longer than a look-up of counts; hits and tokens are counted in arrays."""
    none = {"numpy", "pyarrow", "numba", "alembic", "pydantic", "sentgen.lookups.questions"}
    # The tests have set a number for it, which Typer reads.
    modules = imported(*words, "--db", str(full), SENTGEN_WAIT="")

    assert not none & modules


def test_the_package_runs_as_a_program() -> None:
    """`python -m sentgen` is `sentgen`."""
    command = [sys.executable, "-m", "sentgen"]
    told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    wrong = subprocess.run([*command, "corpora", "x"], capture_output=True, text=True, check=False)

    assert told.stdout.startswith("sentgen ")
    assert (wrong.returncode, "No such command 'x'" in wrong.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("igest",), "Did you mean 'ingest'?"),
        (("corpora", "shwo"), "Did you mean 'show'?"),
        (("align", "trian"), "Did you mean 'train'?"),
        (("db", "upgade"), "Did you mean 'upgrade'?"),
        (("train",), "Did you mean 'sentgen parser train' or 'sentgen align train'?"),
        (("vectors", "publish"), "Did you mean 'sentgen publish'?"),
        (("corpora", "ingest"), "Did you mean 'sentgen ingest' or 'sentgen pairs ingest'?"),
        (("xyzzy",), "No such command 'xyzzy'. ╰"),
    ],
)
def test_commands_that_are_not_there_name_what_may_be_meant(
    words: tuple[str, ...], meant: str, sentgen: Sentgen
) -> None:
    """Here or, under that name, elsewhere, on all levels."""
    told = sentgen(*words)

    assert told.code == 2
    assert meant in " ".join(re.sub(r"[│─╮]", " ", told.err).split())


def test_version_imports_nothing() -> None:
    """Not even what reads command lines."""
    assert not {*HEAVY, "typer", "rich", "logging"} & imported("--version")


@pytest.mark.parametrize(
    ("typed", "place", "expected"),
    [
        ("sentgen mod", 1, ["models"]),
        ("sentgen models im", 2, ["import-arpa"]),
        ("sentgen kwic dog --so", 3, ["--sort"]),
        ("sentgen kwic --dialect c", 3, ["cqp"]),
        ("sentgen corpora list --w", 3, ["--wait", "--wide"]),
    ],
)
def test_completion_imports_no_command(typed: str, place: int, expected: list[str]) -> None:
    """A TAB is answered from the table, in groups, too, and of options and their choices."""
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(place), "_SENTGEN_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv = ['sentgen']; from sentgen.cli import program; program()"
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | asked,
    )

    assert told.stdout.split() == expected
    assert not HEAVY & {line.split("|")[-1].strip() for line in told.stderr.split("\n")}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("sentgen kwic dog --corpus p", ["pets"]),
        ("sentgen align train --pairs ", ["held", "pairs"]),
        ("sentgen regenerate -m k", ["katz", "kn"]),
        ("sentgen models show ", ["katz", "kn", "tags"]),
        ("sentgen models show --db {db} t", ["tags"]),
        ("sentgen corpora remove --db {db} n", ["notes"]),
        ("sentgen align apply -m ", ["aligner", "tuned"]),
        ("sentgen align model ", ["aligner", "tuned"]),
        ("sentgen corpora export n", ["notes"]),
        ("sentgen regenerate -a pr", ["prim", "prim-ngram", "prim-arg"]),
        ("sentgen models apply ka", ["katz"]),
        ("sentgen score -m kn --corpus pets --by s", ["sentence", "speaker"]),
        ("sentgen score --by to", ["token"]),
        ("sentgen sql --db /no/such/store --corpus ", []),
    ],
)
def test_completion_of_names(
    typed: str, expected: list[str], full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corpora and models are those of the store, algorithms those that there are."""
    monkeypatch.setenv("SENTGEN_DB", str(full))

    assert _offered(typed.format(db=full)) == sorted(expected)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("sentgen kwic dog --corpus s", ["short"]),
        ("sentgen models build m --corpus s", ["short"]),
        ("sentgen subcorpora show ", ["short"]),
        ("sentgen keyness s", ["short"]),
        ("sentgen keyness pets --against s", ["short"]),
        ("sentgen check x --against s", []),
        ("sentgen ingest x --corpus s", []),
        ("sentgen generate --corpus s", []),
        ("sentgen cluster count x --in {db} --corpus s", []),
        ("sentgen pairs ingest x --corpus ", ["held", "pairs"]),
        ("sentgen saved run ", ["dogs"]),
        ("sentgen saved remove --db {db} d", ["dogs"]),
        ("sentgen saved add d", []),
    ],
)
def test_completion_of_subcorpora_and_saved_queries(
    typed: str, expected: list[str], full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where their names stand, and nowhere else."""
    monkeypatch.setenv("SENTGEN_DB", str(full))

    assert _offered(typed.format(db=full)) == expected


def test_completion_in_a_store_without_subcorpora(full: Path, tmp_path: Path) -> None:
    """One of an earlier version, which has no such table, offers its corpora."""
    store = tmp_path / "old.duckdb"
    copyfile(full, store)
    with duckdb.connect(str(store)) as duck:
        duck.execute("drop table subcorpus cascade")

    assert _offered(f"sentgen kwic dog --db {store} --corpus p") == ["pets"]


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("sentgen kwic dog --db {lake} --corpus p", ["pets"]),
        ("sentgen models show --db {lake} t", ["tags"]),
        ("sentgen cluster models news --in {lake} --corpus n", ["notes"]),
        ("sentgen cluster remove --from {lake} n", ["notes"]),
        ("sentgen cluster remove --from {lake} --model k", ["katz", "kn"]),
        ("sentgen align model --db {empty} ", []),
        ("sentgen models show --db {broken} ", []),
    ],
)
def test_completion_of_names_of_a_lake(full: Path, tmp_path: Path, typed: str, expected: list[str]) -> None:
    """Those that its manifest names; of what is no lake, none."""
    with Store(full, read_only=True) as store:
        export(store, Place(tmp_path / "lake's"))
    for name, content in (("empty", '{"tables": {}}'), ("broken", "[")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(content)
    places = {"lake": tmp_path / "lake's", "empty": tmp_path / "empty", "broken": tmp_path / "broken"}

    assert _offered(typed.format(**places)) == sorted(expected)


def test_completion_of_names_of_snapshots(full: Path, tmp_path: Path) -> None:
    """Those of the newest one of a folder; none where there is no whole one."""
    publish(full, tmp_path / "snapshots")

    assert _offered(f"sentgen kwic dog --db {tmp_path}/snapshots --corpus p") == ["pets"]
    for path in (tmp_path / "snapshots").glob("*.duckdb"):
        path.unlink()
    assert _offered(f"sentgen kwic dog --db {tmp_path}/snapshots --corpus p") == []


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("sentgen ingest notes.txt --format ", READERS),
        ("sentgen regenerate --algorithm ", ALGORITHMS),
        ("sentgen evaluate alignment --systems ", (PBHMM, *SYSTEMS)),
    ],
)
def test_completion_of_what_is_compiled(typed: str, names: Iterable[str]) -> None:
    """Its names are offered from a file that is generated, as importing them takes long."""
    assert _offered(typed) == sorted(names)


def _offered(typed: str) -> list[str]:
    """Return what a TAB at the end offers."""
    _, *before, incomplete = typed.split(" ")
    shell = BashComplete(get_group(build()), {}, "sentgen", "_SENTGEN_COMPLETE")
    return sorted(one.value for one in shell.get_completions(before, incomplete))


LEAVES = [(one, two) for one in COMMANDS for two in one.commands or (one,)]


@pytest.mark.parametrize(("one", "two"), LEAVES, ids=lambda listed: listed.name)
def test_the_table_helps_as_the_command_does(one: Listed, two: Listed) -> None:
    """Its options, in their order, with names, kinds, bounds and defaults, and its text, byte for byte."""
    found: Any = import_command(one)
    texts = []
    for command in (found.commands[two.name] if one.commands else found, describe_command(two)):
        command.rich_markup_mode = None
        context = command.context_class(command, terminal_width=100, help_option_names=["-h", "--help"])
        texts.append(command.get_help(context))
        command.rich_markup_mode = "markdown"

    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("ngrams", "the *", "--corpus", "-h"), 1, "no corpus '-h'"),
        (("ngrams", "--", "-h"), 1, "-h"),
        (("corpora", "show", "--", "--help"), 1, "no corpus '--help'"),
        (("ngrams", "--limit", "-h"), 2, "valid integer"),
        (("ngrams", "--csv", "--csv", "-h"), 2, "--csv is given 2 times"),
        (("ngrams", "--limits", "-h"), 2, "No such option: --limits"),
        (("ngrams", "--limit", "x", "-h"), 0, "Show the n-grams"),
        (("corpora", "-h", "show"), 0, "tell more of them"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_help_is_asked_for_as_an_option(
    words: tuple[str, ...],
    code: int,
    told: str,
    full: Path,
    sentgen: Sentgen,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not where the same word is a value; and what is wrong before it is told first."""
    monkeypatch.setenv("SENTGEN_DB", str(full))
    done = sentgen(*words)

    assert done.code == code
    assert told in " ".join(re.sub(r"[│─╮]", " ", done.out + done.err).split())


def test_table_says_what_the_commands_say() -> None:
    """`docs/generate_reference.py` writes it of the commands; a test of the documentation compares both."""
    listed = [one.name for one in COMMANDS] + [
        f"{one.name} {two.name}" for one in COMMANDS for two in one.commands
    ]

    assert sorted(json.loads(HELP.read_text("utf-8"))) == sorted(listed)
