"""Labels of line sets that are not beside the store: every command that takes a condition says where they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Sentgen, refused

from sentgen.cli import commands

_COMMANDS = json.loads(Path(commands.__file__).with_name("commands.json").read_text("utf-8"))
_OPTIONS = {name: {one["name"] for one in command.get("options", [])} for name, command in _COMMANDS.items()}


@pytest.mark.parametrize("name", [name for name, options in _OPTIONS.items() if "where" in options])
def test_conditions_may_be_on_labels_of_another_desk(name: str) -> None:
    assert "desk" in _OPTIONS[name]


def test_labels_of_another_desk(filled: Sentgen, tmp_path: Path) -> None:
    """As keys and in conditions, also of subcorpora; the desk next to the store has no such set."""
    desk = tmp_path / "other" / "mine.desk"
    desk.parent.mkdir()
    at = ("--desk", desk)
    filled("lines", "new", "the", "the", *at)
    filled("lines", "label", "the", "1", "x", "--labeler", "ann", *at)
    counts = filled("freq", "--query", '"the"', "--by", "lines.the", "--json", *at)
    lines = filled("kwic", "the", "--where", "lines.the = x", "--json", *at)
    filled("subcorpora", "define", "labeled", "--where", "lines.the = x", *at)
    shown = filled("subcorpora", "show", "labeled", "--json", *at)

    assert {row["lines.the"]: row["count"] for row in json.loads(counts.out)}["x"] == 1
    assert len({row["sent_id"] for row in json.loads(lines.out)}) == 1
    assert {row["property"]: row["value"] for row in json.loads(shown.out)}["sentences"] == "1"
    refused(filled("freq", "--query", '"the"', "--by", "lines.the"), "no line sets yet")
    refused(
        filled("freq", "--by", "lines.the", "--desk", tmp_path / "none.desk"), "none.desk: no line sets yet"
    )
