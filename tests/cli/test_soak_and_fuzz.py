"""The two benchmarks that look for faults, for some seconds each; they run for an hour now and then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.slow


def run(name: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--folder", str(folder), *options]
    environment = {**os.environ, "COLUMNS": "120"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.nightly
def test_kills(tmp_path: Path) -> None:
    """Ingestion killed at random moments leaves whole transactions, and is then completed."""
    new = "ingest text, new store"
    kills = 5
    done = run(
        "soak", tmp_path, "--kills", str(kills), "--only", "kill", "--tokens", "12000", "--commands", new
    )

    records = [json.loads(line) for line in (tmp_path / "rounds.jsonl").read_text().splitlines()]
    assert [record["faults"] for record in records if record["faults"]] == []
    assert done.returncode == 0, done.stderr
    assert sum(event["code"] == -9 for record in records for event in record["events"]) >= kills


def test_what_does_not_belong_to_a_store_is_a_fault(tmp_path: Path) -> None:
    """The soak can fail: a store that something was added to is in none of the states of the command."""
    code = """
import sys
from pathlib import Path
import duckdb
from durability.commands import Course
from durability.digests import digest_of

path = Path(sys.argv[1])
with duckdb.connect(str(path)) as duck:
    duck.execute("create table a as select range as x, range / 7 as y from range(1000)")
course = Course([digest_of(path, read_only=True)], [], [], 1.0, (0, 0))
assert course.state_of(digest_of(path, read_only=False)) == 0
for change in ("insert into a values (1, 2)", "delete from a where x = 1", "update a set y = y + 0.001"):
    with duckdb.connect(str(path)) as duck:
        duck.execute(change)
    assert course.state_of(digest_of(path, read_only=True)) is None
    course = Course([digest_of(path, read_only=True)], [], [], 1.0, (0, 0))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "benchmarks")}
    command = [sys.executable, "-c", code, str(tmp_path / "a.duckdb")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    assert done.returncode == 0, done.stderr


@pytest.mark.nightly
def test_mutants(tmp_path: Path) -> None:
    """Readers, searches and commands refuse what they cannot read, in one line and in time."""
    number = 500
    done = run("fuzz", tmp_path, "--inputs", str(number), "--seed", "12")

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{number} mutants of seed 12" in done.stdout
