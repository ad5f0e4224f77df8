"""An option that takes one value and is given again is refused by every command; a list is one."""

from __future__ import annotations

import pytest
import typer
from conftest import Sentgen
from test_reading_commands import commands
from typer.main import get_command

from sentgen.cli import build

#: What a parser of a command line calls mistakes.
MISTAKE = typer.BadParameter.__base__
GROUPS = sorted({name.split()[0] for name in commands()})


@pytest.mark.parametrize("group", GROUPS)
def test_every_option_of_every_command(group: str) -> None:
    """The option is refused also if there are other errors in the line."""
    for name in (one for one in commands() if one.split()[0] == group):
        # With its settings: a command keeps the option for help that it was asked for first.
        settings = (command := get_command(build())).context_settings
        for word in name.split():
            command = command.load(word)  # type: ignore[attr-defined]
        for option in command.params:
            if option.param_type_name != "option" or option.name == "help":
                continue
            value = [] if option.is_flag else ["1"]
            told = ""
            try:
                words = [option.opts[0], *value, *["a"] * 9, option.opts[-1], *value]
                command.make_context("x", words, **settings)
            except MISTAKE as error:
                told = error.format_message()
            except typer.Exit:
                told = "another option came first"

            assert ("is given 2 times" in told) == (not option.multiple), (name, option.name)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ngrams", "the", "--limit", 3, "-n", "4"), "--limit is given 2 times"),
        (("ngrams", "the", "--limit=3", "--limit=3", "--limit=3"), "--limit is given 3 times"),
        (("freq", "--csv", "--csv"), "--csv is given 2 times"),
        (("saved", "run", "dogs", "--", "--limit", 1, "--limit", 2), "--limit is given 2 times"),
        (
            ("saved", "add", "more", "--", "kwic", "dog", "--limit", 1, "--limit", 2),
            "--limit is given 2 times",
        ),
    ],
)
def test_it_is_told(filled: Sentgen, words: tuple[object, ...], told: str) -> None:
    """The error has one line with the name of the option."""
    filled("saved", "add", "dogs", "--", "kwic", "dog", "--limit", 5)
    found = filled(*words)

    assert found.code in (1, 2)
    assert told in found.err
    assert found.out == ""


def test_later_options_change_a_saved_query(filled: Sentgen) -> None:
    """Options after the name of a saved query replace those of the query."""
    filled("saved", "add", "dogs", "--", "kwic", "dog", "--limit", 2)

    assert filled("saved", "run", "dogs", "--", "--limit", 1, "--csv").out.count("\n") == 2
    assert filled("kwic", "dog", "--filter", '"the"', "--filter", '"a"', "--help").code == 0
