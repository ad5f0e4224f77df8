"""A store with two documents, one of them without names of sentences, and a desk beside it."""

from __future__ import annotations

import shutil
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
    """Ingest these documents into a new store, on request after others; return the store."""

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


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with that store and a desk with the set `make`, of six lines; no test changes it."""
    folder = tmp_path_factory.mktemp("desk")
    (file := folder / "texts.conllu").write_text(conllu(), "utf-8")
    desk = Desk(folder / "a.desk", create=True)
    with Store(folder / "a.duckdb", create=True) as opened:
        ingest(opened, [str(file)], Settings("texts"))
        with opened.connect() as connection:
            NewLineSet(name="make", pattern="lemma:make", labels=["light"]).make(desk, connection)
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of the store of two documents."""
    (tmp_path / "texts.conllu").write_text(conllu(), "utf-8")
    return Path(shutil.copyfile(made / "a.duckdb", tmp_path / "a.duckdb"))


@pytest.fixture
def desk(store: Path, made: Path) -> Desk:
    """A desk beside the store, with the set `make`, of six lines."""
    return Desk(Path(shutil.copyfile(made / "a.desk", store.with_name("a.desk"))))
