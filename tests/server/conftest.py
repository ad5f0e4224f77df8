"""The demo store, published and served, once for all tests of a process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from serving import Server, serving

from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel
from sentgen.desk.line_sets import NewLineSet
from sentgen.lookups.subcorpora import define
from sentgen.models.vector_building import VectorRequest
from sentgen.schema import Store, snapshots
from sentgen.schema.tables.saved import SavedQuery
from sentgen.server.operations import Limits, Opening


@pytest.fixture(scope="session")
def demo(relief: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the demo treebank, a model and vectors of it; no test changes it."""
    path = Path(shutil.copy(relief, tmp_path_factory.mktemp("demo") / "demo.duckdb"))
    with Store(path) as store:
        VectorRequest(name="company", corpus=["relief"], dimensions=20, min_count=2).build(store)
        with store.begin() as connection:
            define(connection, "short", "length < 18", ["relief"])
            SavedQuery.save(connection, "camps", "kwic", ['[lemma="camp"]', "--limit", "3"])
    return path


@pytest.fixture(scope="session")
def opening(demo: Path) -> Opening:
    """The settings of the workers of the demo store."""
    limits = Limits(memory=2**31, rows=100, cells=1000, bytes=100_000, items=10, words=100)
    return Opening("lookup", str(demo), limits)


@pytest.fixture(scope="session")
def published(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a snapshot of the demo store."""
    folder = tmp_path_factory.mktemp("snapshots")
    snapshots.publish(demo, folder)
    return folder


@pytest.fixture(scope="session")
def desk(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A desk with a set of lines, some of them labeled."""
    made = Desk(tmp_path_factory.mktemp("desk") / "class.desk", create=True)
    with Store(demo, read_only=True) as store, store.connect() as connection:
        NewLineSet(name="camp", pattern="lemma:camp").make(made, connection)
    for labeler, lines in (("ann", "1-4"), ("ben", "3-6")):
        GivenLabel(name="camp", lines=lines, label="place", labeler=labeler).give(made)
    return made.path


@pytest.fixture(scope="session")
def server(published: Path, desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the demo store, with one worker of each kind."""
    options = ("--snapshots", published, "--desk", desk, "--workers", 1)
    with serving(tmp_path_factory.mktemp("server"), *options) as running:
        yield running


@pytest.fixture
def client(server: Server) -> httpx.Client:
    """A client of the server."""
    return server.client
