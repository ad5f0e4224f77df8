"""Run sentgen as a user does: words of a command line in, exit code and two streams out."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from sentgen.cli import build, main
from sentgen.cli.console import waiting

ROOT = Path(__file__).parents[2]

PETS = """\
# newdoc id = pets
# sent_id = p1
# text = The dog chased a cat.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tchased\tchase\tVERB\tVBD\t_\t0\troot\t_\t_
4\ta\ta\tDET\tDT\t_\t5\tdet\t_\t_
5\tcat\tcat\tNOUN\tNN\t_\t3\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# sent_id = p2
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_
4\tthe\tthe\tDET\tDT\t_\t5\tdet\t_\t_
5\tdog\tdog\tNOUN\tNN\t_\t3\tobj\t_\t_
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""
#: Its second sentence has a head that is not there.
BROKEN = PETS.replace("5\tdog\tdog\tNOUN\tNN\t_\t3", "5\tdog\tdog\tNOUN\tNN\t_\t9")


@dataclass(frozen=True)
class Told:
    """The exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str

    def __post_init__(self) -> None:
        assert "Traceback" not in self.out + self.err


Sentgen = Callable[..., Told]


def refused(told: Told, *parts: str) -> None:
    """Check that there is one clear line on standard error, exit code 1, and nothing else."""
    assert told.code == 1, told
    assert told.err.startswith("sentgen: ")
    assert told.err.count("\n") == 1
    assert told.out == ""
    for part in parts:
        assert part in told.err


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The path of the store of a test, which need not exist yet."""
    return tmp_path / "corpora.duckdb"


@pytest.fixture
def sentgen(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sentgen:
    """Run a command in this process, through the same entrance as the installed program."""
    monkeypatch.setenv("SENTGEN_DB", str(store))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(waiting, "SECONDS", 3600.0)  # whether something is compiled, tests do not know
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: str = "") -> Told:
        monkeypatch.setattr("sys.argv", ["sentgen", *map(str, arguments)])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        told = capsys.readouterr()
        return Told(int(str(code or 0)), told.out, told.err)

    return run


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[int], None]:
    """Make standard output look like a terminal of a width."""

    def make(width: int) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("LINES", "24")
        monkeypatch.setenv("TERM", "xterm-256color")

    return make


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """A treebank of two sentences."""
    path = tmp_path / "pets.conllu"
    path.write_text(PETS)
    return path


@pytest.fixture(scope="session")
def pets_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that has the corpus `pets` and the model `pets` of it; no test changes it."""
    folder = tmp_path_factory.mktemp("pets")
    path = folder / "pets.duckdb"
    (folder / "pets.conllu").write_text(PETS)
    for words in (
        ("ingest", folder / "pets.conllu", "--corpus", "pets", "--licence", "CC0"),
        ("models", "build", "pets", "--corpus", "pets", "--order", "3"),
    ):
        build()([*map(str, words), "--db", str(path)], standalone_mode=False)
    return path


@pytest.fixture
def filled(sentgen: Sentgen, store: Path, pets: Path, pets_store: Path) -> Sentgen:
    """The command line over a copy of that store, made as if from the treebank of this test."""
    shutil.copyfile(pets_store, store)
    with duckdb.connect(store) as duck:
        duck.execute("update source set path = ?", [str(pets)])
    return sentgen


def command(*arguments: object, program: str = "cli.py") -> list[str]:
    """Return a command line for another process."""
    return [sys.executable, str(ROOT / program), *map(str, arguments)]


@pytest.fixture
def holder(store: Path) -> Iterator[Callable[[bool], None]]:
    """Hold the store open in another process, reading or writing, until the test ends."""
    script = (
        "import sys, duckdb\n"
        "held = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == 'True')\n"
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
    )
    processes: list[subprocess.Popen[str]] = []

    def hold(read_only: bool) -> None:
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(store), str(read_only)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"

    yield hold
    for process in processes:
        process.communicate()
