"""Two documents for line sets, and helpers that read such a set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sentgen.desk.desk import Desk
from sentgen.desk.line_sets import SetLines
from sentgen.schema import Store

NAMED = ["we make a list", "they made it", "he will make do", "nothing here", "she made up a story"]
UNNAMED = ["make way", "no", "they make make believe"]


def conllu(named: Sequence[str] = NAMED, unnamed: Sequence[str] = UNNAMED) -> str:
    """Two documents: `talk`, whose sentences have names, and `plain`, whose have none."""
    blocks = ["# newdoc id = talk"]
    for number, sentence in enumerate(named, 1):
        blocks.append(f"# sent_id = t{number}\n{_rows(sentence)}\n")
    blocks.append("# newdoc id = plain")
    blocks += [f"{_rows(sentence)}\n" for sentence in unnamed]
    return "\n".join(blocks) + "\n"


def _rows(sentence: str) -> str:
    rows = []
    for place, form in enumerate(sentence.split(), 1):
        lemma = "make" if form == "made" else form
        rows.append(f"{place}\t{form}\t{lemma}\tX\t_\t_\t{place - 1}\t{'dep' if place > 1 else 'root'}\t_\t_")
    return "\n".join(rows)


WORDS = ("left", "node", "right")


def listed(desk: Desk, store: Path, **asked: Any) -> list[dict[str, Any]]:
    """Return the lines of `make`, all or fewer."""
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        return SetLines(**{"name": "make", "limit": 0, **asked}).find(desk, connection).rows.to_pylist()


def states(desk: Desk, store: Path, name: str = "make") -> dict[int, str]:
    """Return the states of the lines that have changed."""
    return {one["line"]: one["state"] for one in listed(desk, store, name=name) if one["state"]}
