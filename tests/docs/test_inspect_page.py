"""The page on look-ups: its recipes work for every command that it names."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner, Result

from sentgen.cli import build
from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "inspect.md").read_text("utf-8")
#: Look-ups with more rows than are shown, which have a note beside the statement, and others without.
QUESTIONS = {
    "ngrams": [["the *"], ["the *", "--limit", "0"]],
    "deps": [["the", "--reverse"], ["zebra"], ["camp", "the", "--explain"]],
    "args": [["*"], ["camp", "--explain"]],
    "kwic": [
        ["the"],
        ["upos:NOUN *", "--sort", "left", "--random", "7"],
        ["camp", "--sort", "right", "--context", "3"],
        ["camp", "--limit", "0"],
        ["lemma:be", "--sort", "typical", "--explain"],
        ["the", "--places", "--filter", '[upos="NOUN"]', "-n", "2"],
        ['[upos="NOUN"] []{0,2} "of"'],
        ['[]{0,2} "camp" []* :: match.upos != "X"', "--strategy", "longest", "--sort", "left"],
        ['<s/> containing (a:[] "and" b:[] :: a.upos = b.upos)', "--count"],
    ],
    "freq": [
        [],
        ["--by", "xpos", "--corpus", "relief"],
        ["--query", 'a:[upos="ADJ"] []', "--by", "a.lemma", "--strategy", "standard"],
    ],
    "collocations": [
        ["the"],
        ['"the" [lemma="camp"]', "--window", "3"],
        ['[lemma="be"]', "--dependency", "nsubj"],
        ["lemma:be", "--dependency", "*", "--min-count", "1"],
        ["the", "--all-measures", "--window", "L2-R4", "--measure", "fisher"],
        ["the", "--graph", "--ignore-case", "-n", "5"],
    ],
    "match": [
        [
            "pattern { V [upos=VERB]; e: V -[nsubj|obj]-> S } without { V -> A; A [upos=AUX] }",
            "--random",
            "3",
        ],
        ["pattern { V ->> R; R [PronType=Rel] }", "--key", "V.lemma", "--whether", "V -[obj]-> O", "-n", "5"],
        ["pattern { X [upos=NOUN] } global { is_projective }", "--count"],
        ["pattern { X [upos=NOPE] }"],
    ],
    "sketch": [["lemma:be", "--min-count", "1"]],
    "thesaurus": [
        ["lemma:camp", "--min-count", "1"],
        ["people", "--by", "word", "--function-words", "-n", "5"],
    ],
    "keyness": [
        ["relief", "--against", "notes", "--negative", "--measure", "log-ratio"],
        ["relief", "--against", "notes", "--by", "word", "--min-count", "999"],
        ["relief", "--against", "notes", "--ignore-case", "--measure", "percent-diff"],
        ["relief", "--against", "notes", "--n", "2", "--ignore-case", "--min-count", "2"],
        [
            *("relief", "--where", "length < 18", "--against", "relief", "--against-where", "length >= 18"),
            *("--by", "lemma", "--n", "2", "--pos", "N*,VB?", "--limit", "0"),
        ],
    ],
}


@pytest.fixture(scope="module")
def store(relief: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo treebank, and a text."""
    path = Path(shutil.copy(relief, tmp_path_factory.mktemp("inspect")))
    notes = path.with_name("notes.txt")
    notes.write_text("The road to the camp was closed. Trucks brought water.\n", "utf-8")
    with Store(path) as made:
        ingest(made, [str(notes)], Settings("notes"))
    return path


def run(store: Path, *words: str) -> Result:
    """Run a command; return its exit code and its two streams."""
    return CliRunner().invoke(build(), [*words, "--db", str(store)])


def rows(result: Result) -> Any:
    """Return the rows of JSON, rounded, as threads may add floats in another order."""
    return json.loads(result.stdout, parse_float=lambda text: round(float(text), 9))


def with_option(option: str) -> set[str]:
    """Return the commands with an option."""
    commands: Any = typer.main.get_command(build())
    loaded = {name: commands.load(name) for name in commands.commands}
    leaves = {name: one for name, one in loaded.items() if not hasattr(one, "commands")}
    return {name for name, one in leaves.items() if any(option in each.opts for each in one.params)}


def test_the_recipe_is_that_of_every_command() -> None:
    """The page saves the statement of one of the commands, and every one of them is tried below."""
    recipe = re.search(r"^sentgen (\w+) .*--show-sql 2> (\S+)\nsentgen sql --file (\S+)$", PAGE, re.MULTILINE)

    assert recipe
    assert recipe[2] == recipe[3]
    assert {recipe[1], *QUESTIONS} == with_option("--show-sql")


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize(
    ("name", "asked"), [(name, asked) for name, all_asked in QUESTIONS.items() for asked in all_asked]
)
def test_the_saved_statement_gives_the_rows(name: str, asked: list[str], store: Path, tmp_path: Path) -> None:
    """What `--show-sql` writes to standard error is a file for `sentgen sql`, whatever notes stand beside it."""
    # A table has the first rows only, unless a limit is given.
    limit = () if {"--limit", "-n"} & {*asked} else ("--limit", "20")
    shown = run(store, name, *asked, "--show-sql", *limit, "--json")
    read = run(store, name, *asked, "--show-sql", *limit)
    for saved in {shown.stderr, read.stderr}:
        (tmp_path / "saved.sql").write_text(saved, "utf-8")
        again = run(store, "sql", "--file", str(tmp_path / "saved.sql"), "--json")

        assert again.exit_code == 0, again.stderr
        assert rows(again) == rows(shown)


def test_the_query_of_the_readme_lists_a_form_once(store: Path) -> None:
    """`v_frequencies` has a row for each tag and lemma of a form; a reader expects one for each form."""
    found = re.search(
        r'^\$ sentgen sql "(.+) limit \d+"$', (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert found
    listed = json.loads(run(store, "sql", found[1], "--json").stdout)
    tokens = "select form, count(*) as count from v_tokens where upos = 'VERB' group by form"
    counted = json.loads(run(store, "sql", tokens, "--json").stdout)

    assert sorted(listed, key=lambda row: row["form"]) == sorted(counted, key=lambda row: row["form"])
