"""Fixtures that several rooms share."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import full_store
import pytest
import toy_store
from hypothesis import settings

from sentgen.corpus.parsers import training
from sentgen.corpus.parsers.qualities import Quality
from sentgen.demo import TREEBANK
from sentgen.schema import Store

# Refusals are not waited for; what is about waiting says how long.
os.environ["SENTGEN_WAIT"] = "0"

#: Examples of a property: while somebody waits for the tests, and at night.
_EXAMPLES, _NIGHTLY_EXAMPLES = 15, 500

# The first example of a compiled function pays for its compilation; CI tries the same examples every time.
settings.register_profile("sentgen", deadline=None, derandomize="CI" in os.environ, max_examples=_EXAMPLES)
settings.register_profile("nightly", deadline=None, max_examples=_NIGHTLY_EXAMPLES)
settings.load_profile("sentgen")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that asks for everything."""
    parser.addoption(
        "--nightly",
        action="store_true",
        help=f"also what is marked nightly, and {_NIGHTLY_EXAMPLES} examples of each property",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draw as many examples as are asked for."""
    if config.getoption("--nightly"):
        settings.load_profile("nightly")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for the night."""
    if not config.getoption("--nightly"):
        skipped = pytest.mark.skip(reason="takes long; python -m tests --nightly runs it")
        for item in items:
            if item.get_closest_marker("nightly"):
                item.add_marker(skipped)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with nothing in it, made once for all processes of a test run."""
    path = _shared_folder(tmp_path_factory) / "empty.duckdb"
    with _one_process(path):
        if not path.exists():
            Store(path, create=True).close()
    return path


@pytest.fixture(autouse=True)
def copied_stores(request: pytest.FixtureRequest, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a new store be a copy of an empty one: making one takes longer than most tests.

    What is about making stores is marked ``migrates``; so are commands that tests run as processes, without a mark.
    """
    if request.node.get_closest_marker("migrates"):
        return
    opened = Store.__init__

    def copied(self: Store, path: Path | str, *, create: bool = False, **settings: Any) -> None:
        if create and not Path(path).exists() and Path(path).parent.is_dir():
            shutil.copyfile(empty_store, path)
        opened(self, path, create=create, **settings)

    monkeypatch.setattr(Store, "__init__", copied)


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[tuple[Store, toy_store.ToyModel]]:
    """A store that holds a 4-gram model of five sentences."""
    with Store(tmp_path / "toy.duckdb", create=True) as store:
        yield store, toy_store.fill(store, toy_store.backoff_model(toy_store.SENTENCES, 4))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real corpora: SENTGEN_DATA, else ../shared/data beside the repository."""
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SENTGEN_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no corpora in {folder}; set SENTGEN_DATA")
    return folder


#: Seconds of training: short segments for the tokenizer, bigrams of tags, a small network.
TINY = Quality(
    tokenizer="dimension=16;epochs=3;segment_size=10;batch_size=10;learning_rate=0.01",
    tagger="models=1;iterations=2;order=2;guesser_suffix_rules=3;guesser_enrich_dictionary=2;"
    "templates=Tag 0\nTag 0,Form 0\n",
    parser="iterations=3;hidden_layer=20;structured_interval=0",
)


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of `full_store`, made once for all processes of a test run; no test changes it."""
    folder = _shared_folder(tmp_path_factory) / "full-store"
    with _one_process(folder):
        if not (folder / "full.duckdb").exists():
            folder.mkdir(exist_ok=True)
            full_store.make(folder).rename(folder / "full.duckdb")
    return folder / "full.duckdb"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A UDPipe model of the demo treebank, trained once for all processes of a test run."""
    path = _shared_folder(tmp_path_factory) / "demo.udpipe"
    with _one_process(path):
        if not path.exists():
            path.write_bytes(training.train(training.read_treebank([str(TREEBANK)]), TINY).model)
    return path


@pytest.fixture(scope="session")
def documentation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as pages, built once for all processes of a test run; a warning is an error."""
    folder = _shared_folder(tmp_path_factory) / "documentation"
    unfinished = folder.with_suffix(".unfinished")
    with _one_process(folder):
        if not folder.exists():
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(unfinished)]
            environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
            root = Path(__file__).parents[1]
            built = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
            assert built.returncode == 0, built.stderr
            unfinished.rename(folder)
    return folder


def _shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all processes of a test run have in common."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@contextmanager
def _one_process(path: Path) -> Iterator[None]:
    """Let the others wait while one makes what will be at a path."""
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
