"""Declarations in the signature of a command become its options."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner, Result

from sentgen.cli.console.options import Arrange, with_options
from sentgen.cli.console.output import Output
from sentgen.options import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fruit:
    """What is bought."""

    name: Annotated[str, Option("Its name.", argument=True)]
    color: Annotated[list[str], Option("Colors.")] = field(default_factory=list)
    limit: Annotated[int, Option("Rows.", rows=True)] = 3
    ripe: Annotated[bool, Option("Only ripe ones.")] = True


def buy(
    *,
    request: _Fruit,
    again: Annotated[bool, typer.Option("--again", help="Once more."), Arrange(after="color")] = False,
    out: Output,
) -> None:
    """Buy fruit."""
    row = request.name, ",".join(request.color), request.limit, request.ripe, again
    out.rows(["name", "color", "limit", "ripe", "again"], [row])


def only_name(*, request: Annotated[_Fruit, Arrange(only=("name", "ripe"), panel="Fruit")]) -> None:
    """Name fruit."""
    typer.echo(f"{request.name} {request.limit}")


def invoke(function: Callable[..., None], *words: str) -> Result:
    app = typer.Typer()
    app.command()(with_options(function))
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(
    ("words", "row"),
    [
        (["fig", "--json"], {"name": "fig", "color": "", "limit": 0, "ripe": True, "again": False}),
        (
            ["fig", "--color", "a", "--color", "b", "--limit", "2", "--no-ripe", "--again", "--json"],
            {"name": "fig", "color": "a,b", "limit": 2, "ripe": False, "again": True},
        ),
    ],
)
def test_options_make_declarations(words: list[str], row: dict[str, object]) -> None:
    """What a program reads has no limit, unless there is one."""
    assert json.loads(invoke(buy, *words).stdout) == [row]


def test_a_table_for_reading_has_its_limit() -> None:
    assert invoke(buy, "fig").stdout.split()[-4:] == ["fig", "3", "true", "false"]


def test_order_and_part() -> None:
    taken = list(signature(with_options(buy)).parameters)

    assert taken == ["name", "color", "again", "limit", "ripe", *Output.LAST]
    assert invoke(only_name, "fig", "--no-ripe").stdout == "fig 3\n"
    assert invoke(only_name, "fig", "--color", "a").exit_code == 2
    assert "Fruit" in invoke(only_name, "--help").stdout


def test_formats_are_refused_before_what_is_asked() -> None:
    assert "exclude each other" in invoke(buy, "fig", "--csv", "--tsv").stderr


def test_without_declarations_a_function_stays_itself() -> None:
    def plain(word: str) -> None: ...

    assert with_options(plain) is plain
