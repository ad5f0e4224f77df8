"""Fixtures that several folders of tests share."""

from __future__ import annotations

import fcntl
import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import full_store
import pytest
import tiny_parser
import toy_store
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.models import build
from sentgen.schema import Store

# If set, each process of a test would compile all modules anew, and pytest would rewrite all assertions.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No waiting before a refusal; tests about waiting set their own time.
os.environ["SENTGEN_WAIT"] = "0"

#: Number of Hypothesis examples of a test: by day, and at night.
_EXAMPLES, _NIGHTLY_EXAMPLES = 15, 500

# The first example of a compiled function pays for its compilation; CI tries the same examples every time.
settings.register_profile("sentgen", deadline=None, derandomize="CI" in os.environ, max_examples=_EXAMPLES)
settings.register_profile("nightly", deadline=None, max_examples=_NIGHTLY_EXAMPLES)
settings.load_profile("sentgen")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that runs the nightly tests, too."""
    parser.addoption(
        "--nightly",
        action="store_true",
        help=f"also what is marked nightly, and {_NIGHTLY_EXAMPLES} examples of each property",
    )
    parser.addoption(
        "--busiest",
        type=int,
        default=0,
        metavar="N",
        help="name the N tests that compute longest, and each room",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set the number of Hypothesis examples."""
    if config.getoption("--nightly"):
        settings.load_profile("nightly")


#: Names of properties in reports: the folder of a test that only runs at night; the processor time in seconds of a
#: phase of a test; in the first phase of a process, the time of all before it.
_ADDED, _COMPUTED, _COLLECTED = "nightly", "computed", "collected"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the nightly tests by day, and mark them at night."""
    skipped = pytest.mark.skip(reason="takes long; python -m tests --nightly runs it")
    for item in _for_the_night(items):
        item.user_properties.append((_ADDED, Path(item.path).relative_to(Path(__file__).parent).parts[0]))
        if not config.getoption("--nightly"):
            item.add_marker(skipped)


def pytest_collection_finish() -> None:
    """Exclude the tests and modules from garbage collection: thousands of objects that live until the end."""
    global _computed
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    _computed = sum(os.times()[:4])


def _for_the_night(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Return the cases marked nightly, without those that also run by day: the first and some others."""
    cases: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if marks := [*item.iter_markers("nightly")]:
            by_day = min(mark.kwargs.get("by_day", 0) for mark in marks)
            cases[item.nodeid.partition("[")[0], by_day].append(item)
    for (name, by_day), family in cases.items():
        if by_day:
            # The tests may be in any order; the cases are numbered in the order of the file.
            family.sort(key=lambda item: [*item.callspec.indices.values()])  # type: ignore[attr-defined]
            others = range(1, len(family))
            # The same cases every day, but not every third, as these may all have the same value of a parameter.
            chosen = Random(name).sample(others, min(by_day - 1, len(others)))
            family = [item for number, item in enumerate(family) if number and number not in chosen]
        yield from family


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """Run the tests of a file, which may share a store, or of a folder that shares a server, in one process."""
    return _ByFileOrServer(config, log)


class _ByFileOrServer(LoadFileScheduling):
    """Groups the tests that must run in one process."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file.rpartition("/")[0] if file.startswith("tests/server/") else file


#: Processor time in seconds of this process and its finished children at the end of the last phase.
_computed = 0.0
#: The first phase of a test in this process.
_reported: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record the processor time of a phase; on a busy machine, the clock shows three times as much."""
    global _computed
    report, before = (yield), _computed
    _computed = sum(os.times()[:4])
    report.user_properties.append((_COMPUTED, _computed - before))
    if not _reported:
        report.user_properties.append((_COLLECTED, before))
        _reported.append(report.nodeid)
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report the tests with the most processor time, and the nightly tests that ran."""
    reports = [
        one
        for kind in ("passed", "failed", "skipped", "", "error")
        for one in terminalreporter.getreports(kind)
    ]
    if number := config.getoption("--busiest"):
        tests, rooms = Counter[str](), Counter[str]()
        for report in reports:
            noted = dict(getattr(report, "user_properties", ()))
            tests[report.nodeid] += noted.get(_COMPUTED, 0.0)
            rooms[report.nodeid.split("/")[1]] += noted.get(_COMPUTED, 0.0)
            rooms["collection"] += noted.get(_COLLECTED, 0.0)
        terminalreporter.section(f"processor time: {rooms.total():.0f} s")
        terminalreporter.write_line(
            ", ".join(f"{room} {seconds:.0f}" for room, seconds in rooms.most_common())
        )
        for name, seconds in tests.most_common(number):
            terminalreporter.write_line(f"{seconds:.1f} s {name}")
    if not config.getoption("--nightly"):
        return
    added = Counter(
        dict(one.user_properties).get(_ADDED) for one in reports if getattr(one, "when", "") == "call"
    )
    added.pop(None, None)
    counts = ", ".join(f"{room} {number}" for room, number in sorted(added.items()))
    terminalreporter.write_line(
        f"--nightly added {added.total()} cases ({counts}), more rounds of kills, "
        f"and {_NIGHTLY_EXAMPLES} examples of a property instead of {_EXAMPLES}"
    )


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """Restore Python's handler of Ctrl-C, which a server or worker in this process replaces."""
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)


#: Files that all processes of a test run read, so that none may open them for writing.
_shared = set[Path]()


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store, made once for all processes of a test run."""
    path = _shared_folder(tmp_path_factory) / "empty.duckdb"
    with _one_process(path):
        if not path.exists():
            Store(path, create=True).close()
    return path


@pytest.fixture(scope="session", autouse=True)
def copied_stores(empty_store: Path) -> Iterator[Callable[..., None]]:
    """Make new stores as copies of an empty one, since making a store takes longer than most tests.

    Tests with the fixture `made_stores`, and commands in processes of their own, make stores as users do.
    """
    opened = Store.__init__

    def copied(self: Store, path: Path | str, *, create: bool = False, **settings: Any) -> None:
        assert settings.get("read_only") or Path(path) not in _shared, "others read it: give read_only=True"
        if create and not Path(path).exists() and Path(path).parent.is_dir():
            shutil.copyfile(empty_store, path)
        opened(self, path, create=create, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "__init__", copied)
        yield opened


@pytest.fixture
def made_stores(copied_stores: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make new stores as for users, not as copies."""
    monkeypatch.setattr(Store, "__init__", copied_stores)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store, open for writing."""
    with Store(tmp_path / "store.duckdb", create=True, threads=2) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that all tests of a file share; it is empty before the first one."""
    with Store(tmp_path_factory.mktemp("shared") / "store.duckdb", create=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def relief(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the treebank of the demo and a model of it, made once for all processes; no test changes it."""

    def make(path: Path) -> None:
        with Store(path, create=True) as made:
            ingest(made, [str(TREEBANK)], Settings("relief", licence="Apache-2.0"))
            build(made, "relief", ["relief"], order=3, smoothing="kneser-ney")

    return _made_once(tmp_path_factory, "relief.duckdb", make)


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[tuple[Store, toy_store.ToyModel]]:
    """A store that holds a 4-gram model of five sentences."""
    with Store(tmp_path / "toy.duckdb", create=True) as store:
        yield store, toy_store.fill(store, toy_store.backoff_model(toy_store.SENTENCES, 4))


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """Whether nightly tests run, with all rounds and the largest data."""
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
    _shared.add(folder / "full.duckdb")
    return folder / "full.duckdb"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A UDPipe model of the demo treebank, trained once for all processes of a test run."""
    return _made_once(tmp_path_factory, "demo.udpipe", tiny_parser.train)


@pytest.fixture(scope="session")
def installed_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the example of plug-ins is installed, once for all processes; no test changes it."""
    from plugged import install_example  # late, as it imports all that plug-ins extend, which few tests need

    return _made_once(tmp_path_factory, "example", install_example) / "site"


@pytest.fixture(scope="session")
def documentation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the documentation, built once for all processes of a test run; a warning is an error."""

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        root = Path(__file__).parents[1]
        built = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        assert built.returncode == 0, built.stderr

    return _made_once(tmp_path_factory, "documentation", make)


def _made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a file or folder for all processes of a test run; the first one makes it, completely or not at all."""
    path = _shared_folder(tmp_path_factory) / name
    draft = path.with_suffix(".draft")
    with _one_process(path):
        if not path.exists():
            make(draft)
            draft.rename(path)
    _shared.add(path)
    return path


def _shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all processes of a test run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@contextmanager
def _one_process(path: Path) -> Iterator[None]:
    """Lock a path while one process makes the file or folder there, and the others wait."""
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(autouse=True)
def log_of_its_own() -> Iterator[None]:
    """Remove the log handlers that a test added: a server in this process leaves a handler with a closed stream."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for one in root.handlers[:]:
        if one not in handlers:
            root.removeHandler(one)
    root.setLevel(level)
