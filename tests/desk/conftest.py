"""A store with two documents, one of them without names of sentences, and a desk beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.desk.desk import Desk
from sentgen.desk.line_sets import NewLineSet
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


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Path]:
    """Read these documents into a new store, after others if that is asked for; return the store."""

    def into(name: str = "a.duckdb", *, after: str = "", text: str = "") -> Path:
        file, store = tmp_path / "texts.conllu", tmp_path / name
        file.write_text(text or conllu(), "utf-8")
        with Store(store, create=True) as opened:
            if after:
                other = tmp_path / "other.conllu"
                other.write_text(after, "utf-8")
                ingest(opened, [str(other)], Settings("other"))
            ingest(opened, [str(file)], Settings("texts"))
        return store

    return into


@pytest.fixture
def store(read: Callable[..., Path]) -> Path:
    """That store."""
    return read()


@pytest.fixture
def desk(store: Path, tmp_path: Path) -> Desk:
    """A desk with the set `make`, of six lines."""
    made = Desk(tmp_path / "a.desk", create=True)
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        NewLineSet(name="make", pattern="lemma:make", labels=["light"]).make(made, connection)
    return made
