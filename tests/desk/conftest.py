"""A store with two documents, one of them without names of sentences, and a desk beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from labeled_texts import conllu

from sentgen.counts.ingestion import Settings, ingest
from sentgen.desk.desk import Desk
from sentgen.desk.line_sets import NewLineSet
from sentgen.schema import Store


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
