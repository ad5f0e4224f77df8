"""Keywords over the API: the demo store has one corpus, so that they have a store of their own."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

from serving import declaration
from ten_sentences import fill
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.schema import Store
from sentgen.server.operations import Opening, operations
from sentgen.server.operations.operation import Context


def test_the_command_gives_the_same_keywords(tmp_path: Path, opening: Opening) -> None:
    """The operation names a command line, and that prints its rows."""
    operation, path = operations()["keyness"], fill(tmp_path / "toy.duckdb")
    asked = declaration(
        "keyness",
        corpus=["toy"],
        against=["other"],
        by="lemma",
        measure="log-ratio",
        limit=4,
    )
    with Store(path, read_only=True) as store:
        result = operation.run(Context(replace(opening, store=str(path)), store), asked)
    line = operation.command_line(asked)
    told = CliRunner().invoke(build(), [*shlex.split(line)[1:], "--json", "--db", str(path)])

    assert line == "sentgen keyness toy --against other --by lemma --measure log-ratio --limit 4"
    assert json.loads(told.stdout) == result.table.to_pylist()
    assert result.truncated
