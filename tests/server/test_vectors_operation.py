"""Vectors over the API: their words are those of the command, which it names."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from serving import declaration
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.errors import NotFoundError
from sentgen.schema import Store
from sentgen.server.operations import Opening, operations
from sentgen.server.operations.operation import Context


def test_the_command_gives_the_same_words(demo: Path, opening: Opening) -> None:
    """As many as are asked for, of those that occur often enough; there are more."""
    operation = operations()["near"]
    asked = declaration(operation.name, word="heavy rain", min_count=5, limit=4)
    with Store(demo, read_only=True) as store:
        result = operation.run(Context(replace(opening, store=str(demo)), store), asked)
    line = operation.command_line(asked)
    told = CliRunner().invoke(build(), [*shlex.split(line)[1:], "--json", "--db", str(demo)])

    assert line == "sentgen vectors near 'heavy rain' --min-count 5 --limit 4"
    assert json.loads(told.stdout) == result.table.to_pylist()
    assert (result.table.num_rows, result.truncated) == (4, True)


def test_the_statement_can_be_pasted(demo: Path, opening: Opening) -> None:
    """It is whole: the words of a phrase stand in it."""
    operation = operations()["near"]
    asked = declaration(operation.name, word="heavy rain", vectors="company", limit=3)
    with Store(demo, read_only=True) as store:
        result = operation.run(Context(replace(opening, store=str(demo)), store), asked)
    told = CliRunner().invoke(build(), ["sql", result.sql[0], "--json", "--db", str(demo)])

    assert json.loads(told.stdout) == result.table.to_pylist()


def test_a_word_without_a_vector_is_not_found(demo: Path, opening: Opening) -> None:
    """The error is that of an unknown name, as for a corpus."""
    operation = operations()["near"]
    asked = declaration(operation.name, word="xyzzy")
    with (
        Store(demo, read_only=True) as store,
        pytest.raises(NotFoundError, match="no vector of 'xyzzy' in 'company'"),
    ):
        operation.run(Context(replace(opening, store=str(demo)), store), asked)
