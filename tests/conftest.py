"""Fixtures that several rooms share."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import full_store
import pytest
import tiny_parser
import toy_store
from hypothesis import settings
from numba.core.dispatcher import Dispatcher
from xdist.scheduler import LoadFileScheduling

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
    parser.addoption(
        "--longest", type=float, metavar="SECONDS", help="fail a test that computes longer (by day only)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draw as many examples as are asked for, and prepare to find tests that compute for too long."""
    if config.getoption("--nightly"):
        settings.load_profile("nightly")
    if config.getoption("--longest"):
        _measure_loading()


#: Properties of a test that only runs at night, with its room, and of one that computed for long by day.
_ADDED, _TOO_LONG = "nightly", "too long"
#: Share of the limit from which a test is named.
_NEAR = 2 / 3


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for the night, and mark it as such where it runs."""
    skipped = pytest.mark.skip(reason="takes long; python -m tests --nightly runs it")
    for item in _for_the_night(items):
        item.user_properties.append((_ADDED, Path(item.path).relative_to(Path(__file__).parent).parts[0]))
        if not config.getoption("--nightly"):
            item.add_marker(skipped)


def _for_the_night(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Find what is marked nightly, but for the cases that stand for all of a test by day: the first and others."""
    cases: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if marks := [*item.iter_markers("nightly")]:
            by_day = min(mark.kwargs.get("by_day", 0) for mark in marks)
            cases[item.nodeid.partition("[")[0], by_day].append(item)
    for (name, by_day), family in cases.items():
        if by_day:
            # The tests come in any order; the cases are numbered as they stand in the file.
            family.sort(key=lambda item: [*item.callspec.indices.values()])  # type: ignore[attr-defined]
            others = range(1, len(family))
            # The same ones every day; by chance, as every third one may have the same value of a parameter.
            chosen = Random(name).sample(others, min(by_day - 1, len(others)))
            family = [item for number, item in enumerate(family) if number and number not in chosen]
        yield from family


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """Let one process run the tests of a file, which may share a store, and of a folder that shares a server."""
    return _ByFileOrServer(config, log)


class _ByFileOrServer(LoadFileScheduling):
    """Says what belongs together."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file.rpartition("/")[0] if file.startswith("tests/server/") else file


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test by day that computes for too long."""
    began, _loading[:] = _computed(), []
    result = yield
    longest, took = item.config.getoption("--longest"), _computed() - began - sum(_loading)
    if not longest or item.config.getoption("--nightly") or took <= _NEAR * longest:
        return result
    # What a test takes differs from run to run: it is named before it fails.
    if (took := took / _slowness()) > _NEAR * longest:
        item.user_properties.append((_TOO_LONG, f"{took:.1f} s {item.nodeid}"))
    if took > longest:
        pytest.fail(
            f"computed for {took:.1f} s, where {longest:.1f} s are allowed: make it cheaper, or mark it nightly",
            pytrace=False,
        )
    return result


def _computed() -> float:
    """Return the processor time of this process and of those that have ended, in seconds.

    By the clock, a test takes three times as long while others run; this changes far less.
    """
    return sum(os.times()[:4])


#: Seconds in which machine code was loaded or compiled in the test that runs.
_loading: list[float] = []


def _measure_loading() -> None:
    """Measure what the first test of a process computes that calls compiled functions, whichever that is."""
    compiled, depth = Dispatcher.compile, 0

    def measured(self: Dispatcher, *arguments: Any) -> Any:
        nonlocal depth
        began, depth = time.process_time(), depth + 1
        try:
            return compiled(self, *arguments)
        finally:
            depth -= 1
            if not depth:  # what a function calls is compiled within
                _loading.append(time.process_time() - began)

    Dispatcher.compile = measured


#: Seconds that both samples of `_slowness` compute for on the machine that the limit is for (AMD EPYC, idle).
_LOOP, _START = 0.05, 0.5
#: How often it takes them in a process, and what came out.
_SAMPLES = 3
_slow: list[float] = []


def _slowness() -> float:
    """Return how many times slower this machine is than that one; 1 for a faster one.

    Only asked when a test is near the limit, and soon after it: also processor time grows while other processes
    fill the caches. Most of such tests start processes, which wait for memory more than a loop does: the
    greater of both, and the greatest of the first samples, as one alone may fall into a moment of rest.
    """
    if len(_slow) < _SAMPLES:
        began = time.process_time()
        sum(number * number % 7 for number in range(600_000))
        looped, began = time.process_time() - began, _computed()
        imports = [sys.executable, "-c", "import duckdb, numba, sentgen.cli"]
        # What the test has patched is so still: where that is in the way, the loop counts.
        subprocess.run(imports, cwd=Path(__file__).parents[1], stderr=subprocess.DEVNULL, check=False)
        _slow.append(max(looped / _LOOP, (_computed() - began) / _START))
    return max(1.0, *_slow)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which tests computed for long, or what ran that only runs at night."""
    ended = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    for told in sorted(value for one in ended for name, value in one.user_properties if name == _TOO_LONG):
        terminalreporter.write_line(f"computed for long: {told}")
    if not config.getoption("--nightly"):
        return
    rooms = Counter(dict(one.user_properties).get(_ADDED) for one in ended if one.when == "call")
    rooms.pop(None, None)
    told = ", ".join(f"{room} {number}" for room, number in sorted(rooms.items()))
    terminalreporter.write_line(
        f"--nightly added {rooms.total()} cases ({told}), more rounds of kills, "
        f"and {_NIGHTLY_EXAMPLES} examples of a property instead of {_EXAMPLES}"
    )


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """Give Ctrl-C back to Python: a server or a worker that a test ran in this process took it."""
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
def nightly(request: pytest.FixtureRequest) -> bool:
    """Whether there is time for all rounds, and for the largest data."""
    return bool(request.config.getoption("--nightly"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real corpora: SENTGEN_DATA, else ../shared/data beside the repository."""
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SENTGEN_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no corpora in {folder}; set SENTGEN_DATA")
    return folder


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
            tiny_parser.train(path)
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


@pytest.fixture(autouse=True)
def log_of_its_own() -> Iterator[None]:
    """Take away what a test has logs written to: a server in this process leaves a stream that is closed."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for one in root.handlers[:]:
        if one not in handlers:
            root.removeHandler(one)
    root.setLevel(level)
