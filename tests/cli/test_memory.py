"""Every command keeps to its memory limit, on a store that is too large for it.

The limit is that of the resident set of the process. Python and its libraries hold 0.14 to 0.19 GB of that
before a command does anything, and DuckDB takes some 20 MB beyond its own limit; a limit as low as the one here
counts what comes on top (docs/design.md), so that a command may reach `LIMIT` and `LIBRARIES` together. Measured by the operating system, as the peak of
the process.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from sentgen.cli import build, check

ROOT = Path(__file__).parents[2]
LIMIT = 200 * 2**20
LIBRARIES = 220 * 2**20
SENTENCES, LENGTH, WORDS = 100_000, 20, 50_000

#: Commands without --memory-limit, and why they need none.
WITHOUT = {
    **dict.fromkeys(("db path", "token"), "print a line"),
    "db restore": "copies files",
    "demo": "149 sentences that ship with sentgen",
    "schema": "counts the rows of tables",
    **dict.fromkeys(("serve", "mcp"), "its workers have --worker-memory"),
    "check": "opens no store; holds the two texts, and says so",
    "parser run": "opens no store; holds one batch of sentences",
    "cluster script": "prints a script",
    "evaluate judgments": "opens no store; reads a sheet",
    "cite": "the sizes of corpora",
    **dict.fromkeys((f"lines {one}" for one in ("label", "undo", "import", "remove")), "open no store"),
    **dict.fromkeys(("formats", "algorithms", "aligners", "scorers"), "print a short table"),
    "saved run": "passes on what stands behind --",
    **dict.fromkeys(("saved add", "saved list", "saved remove"), "one small table"),
    **dict.fromkeys(("cluster status", "cluster remove"), "reads and writes the manifest"),
    **dict.fromkeys(
        ("align text", "align model", "align models", "align remove", "align figures", "align export"),
        "alignment has its own bounds",
    ),
}


def commands(group: object, prefix: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield the names of all commands with their options."""
    for name in getattr(group, "commands", {}):
        command = group.load(name)  # type: ignore[attr-defined]
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", {option for one in command.params for option in one.opts}


def test_every_command_has_a_limit_or_a_reason() -> None:
    found = dict(commands(get_command(build())))

    assert {name for name, options in found.items() if "--memory-limit" not in options} <= set(WITHOUT)
    assert set(WITHOUT) <= set(found)


@pytest.mark.parametrize(
    "words",
    [
        ["check", "{}", "--against", "{}"],
    ],
)
def test_what_holds_texts_says_so_before_it_reads(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine of four kilobytes; the file is broken, so that nothing comes of it."""
    text = tmp_path / "broken.conllu"
    text.write_text("1\tbroken\n" * 100)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check, "default_memory_limit", lambda: 1024)
    done = CliRunner().invoke(build(), [word.format(text) for word in words])

    assert done.exit_code != 0
    assert "of text as a whole, in about 0.0 GB of memory" in done.stderr.splitlines()[0]


#: Runs a command and prints the peak of its resident set. A process of its own, as a child counts the peak of
#: the one that it was forked from, which is that of the tests.
_MEASURE = """\
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def run(store: Path, *arguments: object, limit: int = LIMIT) -> tuple[int, str, int]:
    """Run a command to its end; return exit code, standard error, and the peak of its resident set."""
    words = [*map(str, arguments), "--db", str(store), "--memory-limit", str(limit)]
    command = [sys.executable, "-S", "-c", _MEASURE, sys.executable, str(ROOT / "cli.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr, int(done.stdout) * 1024


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, nightly: bool) -> Path:
    """A store of two million tokens, by day half of them: one in ten is `w0`, the others fall off as in text."""
    folder = tmp_path_factory.mktemp("memory")
    rng = np.random.default_rng(1)
    sentences = SENTENCES if nightly else SENTENCES // 2
    drawn = (WORDS * rng.random((sentences, LENGTH)) ** 4).astype(int)
    drawn[rng.random(drawn.shape) < 0.1] = 0
    forms = np.array([f"w{number}" for number in range(WORDS)])
    text = folder / "large.lines"
    with text.open("w") as sink:
        sink.writelines(" ".join(words) + "\n" for words in forms[drawn].tolist())
    store = folder / "large.duckdb"
    code, err, _ = run(store, "ingest", text, "--corpus", "large", "--order", 3, limit=2**30)
    assert code == 0, err
    return store


@pytest.mark.nightly
@pytest.mark.slow
def test_commands_keep_to_their_limit(large: Path, tmp_path: Path) -> None:
    """What streams most, what builds most, and others."""
    every_token = "select t.*, r.range from token t, range(3) r"  # six million rows of twenty columns
    peaks = {}
    commands = (
        ("kwic", "w0", "--limit", 0, "--csv", "--context", 9),
        ("models", "build", "m", "--corpus", "large", "--order", 3),
        ("sql", every_token, "--parquet", tmp_path / "all.parquet"),
        ("models", "export", "m", "--arpa", tmp_path / "m.arpa"),
        ("collocations", "w0"),
        ("freq", "--limit", 0, "--csv"),
        ("kwic", "w0 w0", "--random", 1),
        ("db", "compact"),
    )
    for arguments in commands:
        code, err, peak = run(large, *arguments)
        assert code == 0, (arguments, err)
        peaks[" ".join(map(str, arguments[:2]))] = peak

    assert {name: peak >> 20 for name, peak in peaks.items() if peak > LIMIT + LIBRARIES} == {}


@pytest.mark.slow
def test_too_many_rows_are_refused_in_one_line(large: Path) -> None:
    """Rows by the million that have to be in memory as a whole, and may take a quarter of DuckDB's share."""
    code, err, peak = run(large, "ngrams", "* *", "--limit", 0, "--csv")

    assert code == 1
    assert err.count("\n") == 1
    assert "too much for the memory limit" in err
    assert peak <= LIMIT + LIBRARIES
