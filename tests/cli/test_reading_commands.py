"""Commands that only read share the store with other readers and need no right to write; all others are refused.

Each command of the program is in exactly one of three lists; a new one fails a test until it is put into one.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import full_store
import pytest
from typer.main import get_command

from sentgen.cli import build
from sentgen.errors import StoreError
from sentgen.schema import Store
from sentgen.schema.engine import raw
from sentgen.schema.migrate import REVISIONS
from sentgen.server import running, tools

#: Command lines that only read; ``{folder}`` is where the files lie that the store was made from, ``{to}`` an
#: empty one. `publish` and `serve` copy the store.
READERS = (
    "ngrams 'the *'",
    "deps dog",
    "args chase",
    "kwic dog",
    "match 'pattern {{ X [] }}'",
    "freq",
    "collocations dog",
    "sketch dog",
    "thesaurus dog",
    "keyness pets --against clusters",
    "cite",
    "lines new pets dog --desk {to}/new.desk",
    "lines list dogs --desk {folder}/pets.desk",
    "saved list",
    "saved run dogs",
    "sql 'select * from v_corpora'",
    "schema",
    "score --model kn 'the dog'",
    "regenerate --model kn -a lmo 'dog the chased'",
    "generate --corpus clusters --lengths 5",
    "fuse 1 --with {folder}/clusters.conllu --model kn",
    "publish --to {to}",
    "serve",
    "mcp",
    "corpora list",
    "corpora show pets",
    "corpora verify pets",
    "corpora export pets",
    "corpora metadata notes {folder}/about.csv --key name --dry-run",
    "corpora remove pets --dry-run",
    "subcorpora list",
    "subcorpora show short",
    "parser list",
    "parser forget udpipe --dry-run",
    "pairs list",
    "pairs show pairs",
    "models list",
    "models show kn",
    "models remove kn --dry-run",
    "models compare kn,kn@1 --corpus pets",
    "models export kn --arpa {to}/kn.arpa",
    "vectors list",
    "vectors near dog",
    "align text --document {folder}/notes.txt --abstract {folder}/notes.txt --model aligner",
    "align model aligner",
    "align models",
    "align remove aligner --dry-run",
    "align figures --pairs pairs --model aligner",
    "align export --pairs pairs --model aligner",
    "align extract --pairs pairs --of notes --model aligner",
    "db info",
    "db check",
    "db backup --to {to}/backups --quick",
    "cluster export --to {to}/lake",
)
#: Command lines that write: the evaluations keep what they find in the store.
WRITERS = (
    "demo",
    "ingest {folder}/notes.txt --corpus more",
    "corpora metadata notes {folder}/about.csv --key name",
    "corpora remove pets --yes",
    "corpora sync notes --yes",
    "subcorpora define long --where 'length > 5'",
    "subcorpora remove short",
    "parser forget udpipe",
    "pairs ingest {folder}/pairs.jsonl --corpus more",
    "saved add more kwic dog",
    "saved remove dogs",
    "models build more --corpus pets",
    "models apply kn --corpus pets",
    "models mix more --of kn,kn@1",
    "models prune more --of kn --entropy 1e-8",
    "models remove kn",
    "vectors build more --corpus pets --dimensions 2 --min-count 1",
    "vectors remove company",
    "models import-arpa more {folder}/notes.txt",
    "align train --pairs pairs --model more",
    "align tune more --gold {to}/gold --iterations 2",
    "align apply --pairs pairs --model aligner",
    "align remove aligner",
    "generate {folder}/pets.conllu --corpus more",
    "evaluate regeneration --model kn --test {folder}/pets.conllu",
    "evaluate generation --clusters {folder}/pets.conllu --parser udpipe:{model}",
    "evaluate fusion --clusters {folder}/related.jsonl --parser udpipe:{model} --systems key,central",
    "evaluate compare 1",
    "evaluate alignment --gold {to}/gold --format pharaoh --systems lcs",
    "evaluate extraction --pairs pairs --of held --model aligner --size 1",
    "tune {folder}/pets.conllu --model kn",
    "reproduce wan2009 --ptb {to}",
    "db compact",
    "db repair",
    "db upgrade",
    "db restore {to} --yes",
)
#: Commands that open no store, and one that needs a larger treebank than that of these tests.
WITHOUT = (
    "parser train",
    *("check", "db path", "parser run", "token"),
    *("formats", "algorithms", "aligners", "scorers", "evaluate judgments"),
    *(f"lines {name}" for name in ("label", "undo", "report", "import", "remove")),  # of desks
    *(
        "cluster count",
        "cluster models",
        "cluster status",
        "cluster remove",
        "cluster script",
    ),  # of lakes, not of stores
)


@cache
def commands() -> frozenset[str]:
    """Return all commands of the program."""
    found: set[str] = set()
    groups: list[tuple[str, Any]] = [("", get_command(build()))]
    while groups:
        prefix, group = groups.pop()
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                groups.append((f"{prefix}{name} ", command))
            else:
                found.add(f"{prefix}{name}")
    return frozenset(found)


def named(line: str) -> str:
    """Return the command of a command line."""
    words = line.split()
    return next(name for name in (" ".join(words[:2]), words[0]) if name in commands())


def write_files(to: Path) -> None:
    """Write what the command lines of `WRITERS` take from ``{to}``, so far as they read it before the store."""
    (to / "gold").write_text("a b ||| b ||| 1-0\n")
    for name in ("wsj_0100.mrg", "wsj_0180.mrg", "store.duckdb"):
        (to / name).write_text("")
    about = {"made_at": "", "store": "", "files": {"store.duckdb": ""}, "corpora": [], "models": []}
    (to / "backup.json").write_text(json.dumps({**about, "versions": {"schema": REVISIONS[-1]}}))


@pytest.fixture(scope="module")
def read_only(full: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store that another process reads all the time, in a folder that only root may write to."""
    folder = tmp_path_factory.mktemp("read-only")
    path = folder / "store.duckdb"
    shutil.copy(full, path)
    path.chmod(0o444)
    folder.chmod(0o555)
    script = (
        "import sys, duckdb; held = duckdb.connect(sys.argv[1], read_only=True);"
        "print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        yield path
        reader.communicate()
    folder.chmod(0o755)


def test_every_command_is_known_to_read_or_to_write() -> None:
    """A command that is new, or gone, is in no list."""
    dry = [line for line in READERS if "--dry-run" in line]
    listed = sorted([*(named(line) for line in (*READERS, *WRITERS) if line not in dry), *WITHOUT])

    assert sorted({*listed}) == sorted(commands())
    assert [name for name in listed if listed.count(name) > 1] == ["generate", "generate"]
    assert {named(line) for line in dry} <= {named(line) for line in WRITERS}


@pytest.mark.nightly(by_day=8)
@pytest.mark.parametrize("line", READERS)
def test_readers_read(
    read_only: Path, full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """They run beside another reader, and leave the folder as it was."""
    monkeypatch.setattr(running, "serve", lambda *_, **__: None)
    monkeypatch.setattr(tools, "speak", lambda *_, **__: None)
    before = read_only.stat()

    full_store.run(*shlex.split(line.format(folder=full.parent, to=tmp_path)), "--db", read_only)

    assert [path.name for path in read_only.parent.iterdir()] == [read_only.name]
    assert (read_only.stat().st_mtime_ns, read_only.stat().st_size) == (before.st_mtime_ns, before.st_size)


@pytest.mark.nightly(by_day=12)
@pytest.mark.parametrize("line", WRITERS)
def test_writers_are_refused_beside_a_reader(
    read_only: Path, full: Path, tmp_path: Path, tiny_model: Path, line: str
) -> None:
    """So that the test above would see a reader that opened the store for writing."""
    write_files(tmp_path)

    with pytest.raises(StoreError, match="in use by another process"):
        full_store.run(
            *shlex.split(line.format(folder=full.parent, to=tmp_path, model=tiny_model)), "--db", read_only
        )


def test_readers_spill_elsewhere(full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that needs more memory than it may have, on a store in a folder that cannot be written to."""
    shutil.copy(full, tmp_path / "store.duckdb")
    spilled = tmp_path / "temporary"
    spilled.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spilled))
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)

    with (
        Store(tmp_path / "store.duckdb", read_only=True, memory_limit=2**25, threads=1) as store,
        store.connect() as connection,
    ):
        query = "select count(*) from (select range as n, hash(range) as h from range(3_000_000) order by h)"
        raw(connection).execute(f"create temp table sorted as {query.replace('count(*)', '*')}")
        (folder,) = spilled.iterdir()
        assert list(folder.iterdir())

    assert {path.name for path in tmp_path.iterdir()} == {"store.duckdb", "temporary"}


def test_each_reader_spills_into_its_own_folder(full: Path, tmp_path: Path) -> None:
    """Two processes that spill into one read each other's blocks; a writer removes what a killed one left."""
    path = Path(shutil.copy(full, tmp_path / "store.duckdb"))
    left = tmp_path / "store.duckdb.tmp-99999999"
    left.mkdir()
    (left / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"spilled")
    for read_only, folder in ((True, f"store.duckdb.tmp-{os.getpid()}"), (False, "store.duckdb.tmp")):
        assert left.exists()
        with Store(path, read_only=read_only, threads=1) as store, store.connect() as connection:
            found = raw(connection).execute("select current_setting('temp_directory')").fetchall()
        assert found == [(str(tmp_path / folder),)]

    assert not left.exists()
