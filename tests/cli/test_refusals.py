"""Whatever goes wrong, a user sees one clear line and an exit code, and nothing is half written."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BROKEN, PETS, ROOT, Sentgen, Told, command, refused

#: Commands that read a store, with what they need.
READING = (
    ("corpora", "list"),
    ("corpora", "show", "pets"),
    ("ngrams", "the *"),
    ("freq",),
    ("sql", "select 1"),
    ("score", "-m", "pets", "The dog"),
    ("regenerate", "-m", "pets", "The dog"),
    ("db", "info"),
    ("db", "check"),
    ("db", "repair", "--dry-run"),
)
WRITING = (
    ("ingest", "pets.conllu", "--corpus", "pets"),
    ("corpora", "remove", "pets", "--yes"),
    ("models", "build", "m", "--corpus", "pets"),
    ("db", "compact"),
    ("db", "repair"),
)


def outside(*arguments: object, limit: int | None = None, store: Path) -> Told:
    """Run a command in a process of its own, which may write files of at most ``limit`` bytes."""
    words = command(*arguments)
    if limit is not None:
        words = ["bash", "-c", f'ulimit -f {limit // 1024}; exec "$@"', "bash", *words]
    environment = {**os.environ, "SENTGEN_DB": str(store)}
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, cwd=store.parent, env=environment
    )
    return Told(done.returncode, done.stdout, done.stderr)


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("ingest", "none.conllu", "--corpus", "c"), ("none.conllu: no such file or folder",)),
        (("ingest", "*.none", "--corpus", "c"), ("*.none: no file matches",)),
        (("ingest", "empty.conllu", "--corpus", "c"), ("empty.conllu: is empty",)),
        (("ingest", "empty.txt", "--corpus", "c"), ("empty.txt: is empty",)),
        (("ingest", "void", "--corpus", "c"), ("void: the folder has no files",)),
        (("ingest", "noise.bin", "--corpus", "c"), ("noise.bin:1: NUL in the text; is it a binary file",)),
        (("ingest", "a.xyz", "--corpus", "c"), ("a.xyz: cannot tell the format; give --format",)),
        (("ingest", "a.xyz", "--corpus", "c", "-f", "conllu"), ("a.xyz:1: ",)),
        (("ingest", "bad.gz", "--corpus", "c"), ("bad.gz: cannot read this gzip",)),
        (("ingest", "latin.txt", "--corpus", "c"), ("latin.txt:1: byte 0xe9 is not UTF-8", "iconv")),
        (("ingest", "broken.conllu", "--corpus", "c"), ("broken.conllu:11: ", "sentence p2", "[head-range]")),
        (("ingest", "a.jsonl", "--corpus", "c"), ("a.jsonl:1: ", "[json]")),
    ],
)
def test_bad_files(
    sentgen: Sentgen, tmp_path: Path, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    """A bad file is named with its line, and leaves no corpus."""
    (tmp_path / "void").mkdir()
    for name, data in {
        "empty.conllu": b"",
        "empty.txt": b"\n \n",
        "noise.bin": b"\0\1\2\3" * 100,
        "a.xyz": b"what is this\n",
        "bad.gz": b"\x1f\x8b\x08\0garbage",
        "latin.txt": "caf\u00e9 au lait .\n".encode("latin-1"),
        "broken.conllu": BROKEN.encode(),
        "a.jsonl": b'{"title": "none"}\n',
    }.items():
        (tmp_path / name).write_bytes(data)

    refused(sentgen(*arguments), *parts)

    assert sentgen("corpora", "list").out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("models", "build", "m", "--corpus", "pets", "--min-count", "9" * 4301),
        ("db", "check", "--memory-limit", "9" * 4301),
    ],
)
def test_numbers_too_long_for_python(filled: Sentgen, arguments: tuple[str, ...]) -> None:
    """They are refused in one line, not with a traceback; wrong usage has exit code 2."""
    told = filled(*arguments)

    assert told.code == 2
    assert "Traceback" not in told.err


def test_skipping_broken_sentences(sentgen: Sentgen, tmp_path: Path) -> None:
    """--on-error skip keeps the rest, and what was refused can be looked up."""
    (tmp_path / "b.conllu").write_text(BROKEN)

    told = sentgen("ingest", "b.conllu", "--corpus", "c", "--on-error", "skip")

    assert told.code == 0
    assert told.err.startswith("rejected: b.conllu:11: ")
    assert "sentences       1\n" in told.out
    assert "head-range" in sentgen("corpora", "show", "c", "--rejected").out


def test_collecting_broken_sentences(sentgen: Sentgen, tmp_path: Path) -> None:
    """--on-error collect refuses the file as a whole, tells all, and says so by its exit code."""
    (tmp_path / "b.conllu").write_text(BROKEN + BROKEN.replace("p2", "p4"))

    told = sentgen("ingest", "b.conllu", "--corpus", "c", "--on-error", "collect")

    assert told.code == 1
    assert told.err.count("rejected: b.conllu:") == 2
    assert "sentences       0\n" in told.out
    assert sentgen("corpora", "show", "c", "--rejected").out.count("head-range") == 2
    (tmp_path / "b.conllu").write_text(PETS)
    assert sentgen("ingest", "b.conllu", "--corpus", "c").code == 0
    assert sentgen("db", "check").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("corpora", "show", "nope"),
        ("corpora", "verify", "nope"),
        ("corpora", "remove", "nope", "--yes"),
        ("ngrams", "the *", "--corpus", "nope"),
        ("kwic", "dog", "--corpus", "nope"),
        ("models", "build", "m", "--corpus", "nope"),
    ],
)
def test_unknown_corpus(filled: Sentgen, arguments: tuple[str, ...]) -> None:
    """The names that there are are told."""
    refused(filled(*arguments), "nope", "pets")


@pytest.mark.parametrize(
    "arguments",
    [
        ("models", "show", "nope"),
        ("models", "remove", "nope"),
        ("models", "export", "nope", "--arpa", "x.arpa"),
        ("score", "-m", "nope", "a"),
        ("score", "-m", "pets@7", "a"),
        ("regenerate", "-m", "nope", "a"),
        ("evaluate", "regeneration", "--model", "nope", "--test", "pets.conllu", "--algorithms", "lmo"),
    ],
)
def test_unknown_model(filled: Sentgen, arguments: tuple[str, ...]) -> None:
    """The models that there are are told, and no file is left."""
    refused(filled(*arguments), "no model", "pets@1")

    assert not Path("x.arpa").exists()


def test_bad_arpa_file(filled: Sentgen) -> None:
    """A file that is no ARPA file leaves no model."""
    Path("bad.arpa").write_text("hello\n")

    refused(filled("models", "import-arpa", "bad", "bad.arpa"), "bad.arpa")
    assert "bad" not in filled("models", "list").out


def test_bags_that_cannot_be_read(filled: Sentgen) -> None:
    """A bag with half a bracket is named by its line."""
    Path("bags.txt").write_text("a b\n\n[c")
    refused(
        filled("regenerate", "-m", "pets", "--input", "bags.txt"), "bags.txt:3: a bracket is never closed"
    )
    refused(filled("regenerate", "-m", "pets", "a [b"), "a bracket is never closed")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nosuchcommand",),
        ("ingest",),
        ("ingest", "pets.conllu"),
        ("ingest", "pets.conllu", "--corpus", " "),
        ("ingest", "pets.conllu", "--corpus", "c", "--nosuch"),
        ("ingest", "pets.conllu", "--corpus", "c", "--order", "9"),
        ("ingest", "pets.conllu", "--corpus", "c", "--order", "two"),
        ("ingest", "pets.conllu", "--corpus", "c", "--format", "wpd"),
        ("ingest", "pets.conllu", "--corpus", "c", "--on-error", "cry"),
        ("ingest", "pets.conllu", "--corpus", "c", "--memory-limit", "lots"),
        ("models", "build", "m", "--corpus", "pets", "--order", "6"),
        ("regenerate", "-m", "pets", "a", "--units", "letters"),
        ("sql",),
    ],
)
def test_usage_errors(sentgen: Sentgen, pets: Path, store: Path, arguments: tuple[str, ...]) -> None:
    """A wrong option exits with 2 before anything is made."""
    told = sentgen(*arguments)

    assert told.code == 2
    assert told.out == ""
    assert "Usage:" in told.err
    assert not store.exists()


@pytest.mark.parametrize("arguments", [*READING, *WRITING[1:]])
def test_no_store(sentgen: Sentgen, store: Path, arguments: tuple[str, ...]) -> None:
    """Nothing but ingestion makes a store."""
    refused(sentgen(*arguments), str(store), "no store here; make one with: sentgen ingest")

    assert not store.exists()


@pytest.mark.parametrize("arguments", [*READING, *WRITING])
def test_folder_in_place_of_a_store(
    sentgen: Sentgen, pets: Path, store: Path, arguments: tuple[str, ...]
) -> None:
    """--db names a folder."""
    store.mkdir()

    refused(sentgen(*arguments), "this is a folder; --db names a file")
    assert list(store.iterdir()) == []


@pytest.mark.parametrize("arguments", [*READING, *WRITING])
def test_corrupt_store(sentgen: Sentgen, pets: Path, store: Path, arguments: tuple[str, ...]) -> None:
    """A file that is no store is not touched."""
    store.write_bytes(b"this is no store\n" * 1000)

    refused(sentgen(*arguments), "not a sentgen store, or damaged")
    assert store.read_bytes() == b"this is no store\n" * 1000


def test_locked_store(filled: Sentgen, holder: Callable[[bool], None]) -> None:
    """A writer elsewhere shuts out everybody."""
    holder(False)

    for arguments in (READING[0], READING[4], *WRITING):
        refused(filled(*arguments), "the store is in use by another process, ")


def test_readers_go_together(filled: Sentgen, holder: Callable[[bool], None]) -> None:
    """A reader elsewhere shuts out writers only."""
    holder(True)

    assert filled("corpora", "list").code == 0
    refused(filled(*WRITING[0]), "the store is in use by another process")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder(sentgen: Sentgen, pets: Path, tmp_path: Path) -> None:
    """No right to make the store."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)

    told = sentgen("ingest", pets, "--corpus", "c", "--db", closed / "new.duckdb")

    refused(told, "permission denied")


def test_folder_that_cannot_be_made(sentgen: Sentgen, pets: Path) -> None:
    """A file stands where the folder of the store should be."""
    told = sentgen("ingest", pets, "--corpus", "c", "--db", pets / "new.duckdb")

    refused(told, "pets.conllu")


def test_output_that_cannot_be_written(filled: Sentgen) -> None:
    """A folder that is not there is named."""
    refused(filled("freq", "--parquet", "none/o.parquet"), "none/o.parquet")
    refused(filled("models", "export", "pets", "--arpa", "none/o.arpa"), "none/o.arpa")


def test_full_disk(filled: Sentgen, tmp_path: Path) -> None:
    """Files that may not grow stand for a full disk: nothing is stored, and the same command works later."""
    many = (PETS.replace("dog", f"dog{i}").replace("chased", f"chased{i * 7919}") for i in range(200))
    (tmp_path / "many.conllu").write_text("".join(many))

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**18, before[1]))
    try:
        told = filled("ingest", "many.conllu", "--corpus", "many")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    refused(told, "the disk is full; nothing of this step was stored. Free space and run it again")
    assert "many" not in filled("corpora", "list").out
    assert filled("db", "check").code == 0
    assert filled("ingest", "many.conllu", "--corpus", "many").code == 0


def test_query_that_takes_too_long(filled: Sentgen, store: Path) -> None:
    """`--timeout` ends the query, and does not touch one that is quick."""
    endless = "select count(*) from range(100000000) a, range(1000) b where a.range * b.range % 7 = 3"

    refused(
        outside("sql", endless, "--timeout", "0.5", store=store),
        "the query took longer than 0.5 s; simplify it, or raise --timeout",
    )
    assert filled("sql", "select 1 as one", "--timeout", "60").code == 0


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("seconds", [0.05, 1.0])
def test_interrupted_ingestion(sentgen: Sentgen, store: Path, tmp_path: Path, seconds: float) -> None:
    """Ctrl-C in mid-ingest: one line, 130, nothing half written; and the store can be used."""
    many = "".join(PETS.replace("dog", f"dog{i}") for i in range(10_000))
    (tmp_path / "many.conllu").write_text(many)
    words = command("ingest", "many.conllu", "--corpus", "many", "--db", store)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    while not store.exists() and process.poll() is None:
        time.sleep(0.02)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()

    assert (process.returncode, out, err) == (130, "", "sentgen: interrupted; what was finished is kept\n")
    (tmp_path / "many.conllu").write_text(PETS)
    told = sentgen("ingest", "many.conllu", "--corpus", "many")
    assert told.out.splitlines()[3] == "sentences       2"
    assert sentgen("db", "check").code == 0
    assert not Path(f"{store}.runs").exists()


@pytest.mark.parametrize(
    "arguments",
    [("corpora", "show"), ("ngrams",), ("deps",), ("kwic",), ("sql",), ("align", "model")],
)
def test_arguments_that_are_not_utf8(filled: Sentgen, arguments: tuple[str, ...]) -> None:
    """The shell hands bytes on as they are typed; one line says so."""
    refused(filled(*arguments, "caf\udce9"), "UTF-8")


def test_closed_pipe(filled: Sentgen, store: Path) -> None:
    """`sentgen ... | head` ends in silence."""
    words = " ".join(command("freq", "--limit", "0", "--csv", "--db", store))
    # Little output goes out when the command ends, unless its standard output has no buffer.
    for buffered in ("", "1"):
        environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
        done = subprocess.run(
            f"{words} | true", shell=True, capture_output=True, text=True, check=False, env=environment
        )

        assert (done.stdout, done.stderr) == ("", "")


def test_launcher(sentgen: Sentgen) -> None:
    """`python cli.py` is `sentgen`."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120"}
    helps = [
        subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout
        for words in (
            command("--help"),
            [
                command()[0],
                "-c",
                "import sys; sys.argv[0] = 'cli.py'; from sentgen.cli import main; main()",
                "-h",
            ],
        )
    ]

    assert helps[0] == helps[1]
    assert "ingest" in helps[0]
    assert (ROOT / "cli.py").exists()


def test_a_free_threaded_python_is_refused() -> None:
    """In one line: DuckDB has no build for it."""
    code = "import sys; sys.version += ' free-threading build'; from sentgen.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("sentgen: this is a free-threaded Python")
    assert done.stderr.count("\n") == 1

    code = "import sys; sys.version += ' free-threading build'; import sentgen; sentgen.open"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert done.stderr.splitlines()[-1].startswith("ImportError: this is a free-threaded Python")


@pytest.mark.parametrize("seconds", ["inf", "1e300"])
def test_no_clock_waits_for_ever(sentgen: Sentgen, seconds: str) -> None:
    """It was a traceback of the clock."""
    told = sentgen("sql", "select 1", "--timeout", seconds)

    assert (told.code, told.out) == (1, "")
    assert "give fewer, or no limit" in told.err
