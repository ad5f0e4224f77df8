"""Colors of the words that lines are sorted by: in a terminal that has some, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from conftest import Sentgen

_COLOR = re.compile(r"\x1b\[([\d;]*)m(.*?)\x1b\[0m")
#: Red, green and purple, and how each is told without its color.
RED, GREEN, PURPLE = "4;31", "3;32", "3;4;35"


@pytest.fixture
def in_terminal(
    sentgen: Sentgen, relief: Path, terminal: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Run a command in a terminal, and return what it shows."""

    def run(*arguments: object, width: int = 100, colors: bool = True) -> str:
        terminal(width)
        if colors:
            monkeypatch.delenv("NO_COLOR")
        told = sentgen(*arguments, "--db", relief)
        assert told.code == 0, told
        return told.out

    return run


def colored(out: str) -> list[tuple[str, str]]:
    """What is in one of these colors."""
    parts = ((style.removeprefix("1;"), text) for style, text in _COLOR.findall(out))
    return [(style, text) for style, text in parts if style in (RED, GREEN, PURPLE)]


@pytest.mark.parametrize("limit", [2, 0])
def test_words_have_the_color_of_their_key(in_terminal: Callable[..., str], limit: int) -> None:
    """Also where all lines are asked for, which come part by part."""
    out = in_terminal("kwic", "camp", "--corpus", "relief", "--sort", "1L,node,1R", "--limit", limit)

    assert colored(out)[:3] == [(RED, "Adwela"), (GREEN, "camp"), (PURPLE, ",")]


@pytest.mark.parametrize("width", [100, 60, 24])
def test_lines_are_the_same_without(in_terminal: Callable[..., str], width: int) -> None:
    """However narrow: where a line is cut, and where it is a record."""
    call: Sequence[object] = ("kwic", "camp", "--sort", "left", "--limit", 5)
    plain = in_terminal(*call, width=width, colors=False)
    out = in_terminal(*call, width=width)

    assert re.sub(r"\x1b\[[\d;]*m", "", out) == re.sub(r"\x1b\[[\d;]*m", "", plain)
    assert colored(plain) == []
    assert (RED, "Adwela") in colored(out)


def test_hits_of_trees_are_colored(in_terminal: Callable[..., str]) -> None:
    out = in_terminal(
        "match", "pattern { D [upos=DET]; N [lemma=camp]; N -> D }", "--sort", "node,1R", "-n", 2
    )

    assert {style for style, _ in colored(out)} == {RED, GREEN}


def test_a_pipe_and_an_unsorted_list_have_no_colors(
    in_terminal: Callable[..., str], sentgen: Sentgen, relief: Path
) -> None:
    assert "\x1b" not in sentgen("kwic", "camp", "--sort", "1L", "--db", relief).out
    assert colored(in_terminal("kwic", "camp", "--limit", 5)) == []
