"""`sentgen match` as a user runs it: formats, files, and errors."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sentgen.cli import build
from sentgen.demo import TREEBANK
from sentgen.errors import InputError
from sentgen.schema.engine import translated_errors

REQUEST = "pattern { V [upos=VERB]; V -[nsubj]-> S }"


@pytest.fixture
def store(relief: Path) -> Path:
    return relief


def run(store: Path, *words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(build(), ["match", *words, "--db", str(store)], input=stdin)


def test_a_request_comes_from_anywhere(store: Path, tmp_path: Path) -> None:
    """As an argument, from a file, from standard input."""
    (tmp_path / "request.grew").write_text(f"% subjects\n{REQUEST}\n")
    counts = [
        run(store, REQUEST, "--count"),
        run(store, "--file", str(tmp_path / "request.grew"), "--count"),
        run(store, "-", "--count", stdin=REQUEST),
        run(store, "--file", "-", "--count", stdin=REQUEST),
    ]
    words = ["sql", "--file", "-", "--json", "--db", str(store)]
    assert json.loads(CliRunner().invoke(build(), words, input="select 42 as x").stdout) == [{"x": 42}]

    assert {one.stdout for one in counts} == {counts[0].stdout}
    assert (
        int(counts[0].stdout) == len(json.loads(run(store, REQUEST, "--limit", "0", "--json").stdout)) > 100
    )
    assert json.loads(run(store, REQUEST, "--count", "--json").stdout) == [{"count": int(counts[0].stdout)}]


def test_the_sentences_of_the_hits_are_printed_and_drawn(store: Path, tmp_path: Path) -> None:
    """Each sentence is printed and drawn once, as it was ingested."""
    shown = json.loads(run(store, REQUEST, "--limit", "5", "--random", "2", "--json").stdout)
    drawn = tmp_path / "trees.svg"
    printed = run(store, REQUEST, "--limit", "5", "--random", "2", "--conllu", "--svg", str(drawn))
    names = sorted({row["sent_id"] for row in shown})
    source = TREEBANK.read_text("utf-8").split("\n\n")
    wanted = {block.partition("# sent_id = ")[2].partition("\n")[0]: block for block in source}
    blocks = printed.stdout.removesuffix("\n\n").split("\n\n")

    assert sorted(blocks) == sorted(wanted[name].strip("\n") for name in names)
    groups = ET.parse(drawn).getroot().findall("{http://www.w3.org/2000/svg}g")
    assert len(groups) == len(names)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give one request"),
        ([REQUEST, "--file", "x"], "give one request"),
        ([REQUEST, "--key", "V.lemma", "--conllu"], "counts have no sentences"),
        ([REQUEST, "--svg", "-"], "--svg needs the name of a file"),
    ],
)
def test_a_mistake_in_the_options(store: Path, words: list[str], told: str) -> None:
    """Exit code 2, in one line."""
    done = run(store, *words)

    assert done.exit_code == 2
    assert told in " ".join(done.stderr.replace("│", " ").split())


def test_nothing_is_a_no(store: Path) -> None:
    """Exit code 1, and what could be meant; a count of nothing is an answer."""
    done = run(store, "pattern { X [upos=verb] }")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "did you mean upos=VERB?" in done.stderr
    counted = run(store, "pattern { X [upos=verb] }", "--count")
    assert (counted.exit_code, counted.stdout, counted.stderr) == (0, "0\n", done.stderr)
    assert run(store, "pattern { X [upos=VERB] }", "--count").stderr == ""
    assert isinstance(run(store, "pattern { X [] }", "--key", "Y.lemma").exception, InputError)


def test_a_broken_pipe_is_none_of_the_store(tmp_path: Path) -> None:
    """`head` has seen enough while rows are still read."""
    with pytest.raises(BrokenPipeError), translated_errors(tmp_path / "x.duckdb"):
        raise BrokenPipeError(32, "Broken pipe")
