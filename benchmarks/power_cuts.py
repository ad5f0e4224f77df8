"""Cut the power between any two syncs of a command's commits, and open what the disk may hold then.

A course of commands makes a store, adds to it and removes from it, and strace writes down what it writes. From that,
the states of the disk at each sync are made: writes and names that were not synced are lost, reordered and torn at
pages of 4 KiB. Each is opened as every command does, twice, and must hold what it held after the last commit that had
ended, or after the one that was under way, whole; or be refused with what to do.

    python benchmarks/power_cuts.py

The exit code is 1 if a state was anything else; such are kept in benchmarks/out/power-cuts. Needs strace (Linux).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
from durability.digests import Digest, digest, digest_of
from durability.disk import TRACED, Disk, Files
from harness import OUT, show

from sentgen.cli import build
from sentgen.errors import SentgenError
from sentgen.schema import Store
from sentgen.schema.engine import DuckDialect, duck_of

STORE, DIGESTS = "store.duckdb", "digests"
_STORED = "select count(*) from duckdb_databases() where path = ?"
BEFORE, AFTER, REFUSED = "as before the commit", "as after it", "refused with what to do"
LOST, HALF, RAISED = "an ended commit lost", "neither", "a traceback"


def main() -> int:
    """Make the course, and open every state."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=3000, help="of the larger text; a few words each")
    parser.add_argument("--seed", type=int, default=1, help="of which pages and writes are lost")
    parser.add_argument("--folder", type=Path, default=OUT / "power-cuts", help="where to work")
    parser.add_argument("--perform", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder: Path = options.folder.resolve()
    if options.perform:
        perform(folder)
        return 0
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    counts = run(folder, sentences=options.sentences, seed=options.seed)
    rows = [[kind, counts[kind]] for kind in (BEFORE, AFTER, REFUSED, LOST, HALF, RAISED)]
    seconds = time.monotonic() - began
    show(f"states of the disk, DuckDB {duckdb.__version__}, {seconds:.0f} s", ["", "states"], rows)
    return int(counts.total() > sum(counts[kind] for kind in (BEFORE, AFTER, REFUSED)))


def perform(folder: Path) -> None:
    """Run the commands, and write down what the store holds after each commit."""
    dialect: Any = DuckDialect
    store, commit = folder / "disk" / STORE, dialect.do_commit
    told = os.open(store.with_name(DIGESTS), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def do_commit(self: DuckDialect, connection: Any) -> None:
        commit(self, connection)
        duck = duck_of(connection)
        if duck.execute(_STORED, [str(store)]).fetchall() == [(1,)]:
            os.write(told, json.dumps(digest(duck)).encode() + b"\n")

    dialect.do_commit = do_commit
    program = build()
    for command in (
        ["ingest", str(folder / "large.txt"), "--corpus", "large"],
        ["ingest", str(folder / "small.txt"), "--corpus", "small"],
        ["corpora", "remove", "large", "--yes"],
    ):
        program([*command, "--db", str(store)], standalone_mode=False)


def run(folder: Path, *, sentences: int, seed: int) -> Counter[str]:
    """Trace the commands in a folder, and count what the states of the disk hold."""
    disk, trace, command = folder / "disk", folder / "trace", [sys.executable, __file__, "--perform"]
    disk.mkdir(parents=True)
    drawn = random.Random(seed)
    for name, count in (("large", sentences), ("small", 30)):
        lines = (" ".join(f"w{drawn.randrange(5000)}" for _ in range(8)) for _ in range(count))
        (folder / f"{name}.txt").write_text("".join(f"{line} .\n" for line in lines))
    with Store(disk / STORE, create=True):
        pass
    digests = [digest_of(disk / STORE, read_only=True)]
    played = Disk(disk, seed)
    traced = [*TRACED, "-o", str(trace), *command, "--folder", str(folder)]
    subprocess.run(traced, check=True, stdout=subprocess.DEVNULL)
    digests += map(json.loads, (disk / DIGESTS).read_text().splitlines())
    counts = _opened(played, trace, digests, folder)
    # A call that the model does not know would show here.
    if played.now() != {
        str(path.relative_to(disk)): path.read_bytes() for path in disk.rglob("*") if path.is_file()
    }:
        raise SystemExit("the trace does not lead to the files that are there")
    return counts


def _opened(played: Disk, trace: Path, digests: list[Digest], folder: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    seen: set[bytes] = set()
    ended = 0
    with trace.open() as file:
        # What is not synced is the most just before a sync, and at the end.
        for line in chain(file, ["sync()"]):
            for state in played.states() if "sync(" in line else ():
                store = {name: data for name, data in sorted(state.items()) if name != DIGESTS}
                key = hashlib.sha256(pickle.dumps((ended, store))).digest()
                if key in seen:
                    continue
                seen.add(key)
                counts[kind := _kind(store, digests, ended, folder / "opened")] += 1
                if kind in (LOST, HALF, RAISED):
                    _keep(store, folder / "faults" / f"{counts.total()} {kind} after {ended}")
            played.play(line)
            ended += _is_digest(line)
    return counts


def _is_digest(line: str) -> bool:
    return " write(" in line and "".join(f"\\x{byte:02x}" for byte in f"/{DIGESTS}".encode()) + ">" in line


def _keep(store: Files, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in store.items():
        path = folder / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(data)


def _kind(store: Files, digests: list[Digest], ended: int, folder: Path) -> str:
    """Open a state of the disk twice, for writing and for reading, and say what it holds."""
    shutil.rmtree(folder, ignore_errors=True)
    _keep(store, folder)
    try:
        with Store(folder / STORE):
            pass
        found = digest_of(folder / STORE, read_only=True)
    except SentgenError as error:
        print(error)
        return REFUSED
    except Exception as error:
        print(repr(error))
        return RAISED
    if found in digests[ended : ended + 2]:
        return BEFORE if found == digests[ended] else AFTER
    return LOST if found in digests else HALF


if __name__ == "__main__":
    sys.exit(main())
