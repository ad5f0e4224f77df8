"""Counting on a cluster from the command line: two processes, a script for Slurm, and refusals."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Sentgen

from sentgen.cli import cluster as command
from sentgen.counts.cluster.stages import Inline
from sentgen.demo import TREEBANK


class Here(Inline):
    """An engine that runs tasks in this process, with an address of a dashboard."""

    dashboard = "http://127.0.0.1:1"


@pytest.fixture(params=[pytest.param("processes", marks=pytest.mark.nightly), "here"])
def local(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `--local` starts: processes, and by day nothing."""

    @contextmanager
    def here(**_: object) -> Iterator[Here]:
        yield Here()

    if request.param == "here":
        monkeypatch.setattr("sentgen.cli.cluster.cluster", here)


@pytest.mark.slow
@pytest.mark.usefixtures("local")
def test_count_status_and_remove(sentgen: Sentgen, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    first = sentgen("cluster", "count", TREEBANK, "--to", lake, "--corpus", "relief", "--local", 2)
    assert first.code == 0, first.err
    assert re.search(r"^sentences +149$", first.out, re.MULTILINE)
    assert re.search(r"^disk: about .* while it counts, .* free$", first.err, re.MULTILINE)
    assert "dashboard: http://127.0.0.1:" in first.err
    again = sentgen("cluster", "count", TREEBANK, "--to", lake, "--corpus", "relief", "--local", 1)
    assert re.search(r"^sources +0 \(1 unchanged\)$", again.out, re.MULTILINE)
    shown = json.loads(sentgen("cluster", "status", lake, "--json").out)
    assert {row["name"] for row in shown if row["what"] == "corpus"} == {"relief"}
    assert {"ngram_5", "dependency_event", "argument_count"} <= {row["name"] for row in shown}
    with_store = sentgen("ingest", TREEBANK, "--corpus", "relief")
    assert with_store.code == 0
    for question in (["ngrams", "the *", "--limit", 0], ["deps", "said", "--limit", 0], ["args", "said"]):
        words = [*question, "--csv"]
        rows = sorted(sentgen(*words).out.splitlines())
        assert len(rows) > 2
        assert sorted(sentgen(*words, "--db", lake).out.splitlines()) == rows
    assert sentgen("cluster", "remove", "relief", "--from", lake).out.startswith(
        "removed relief: 149 sentences"
    )


@pytest.mark.nightly
@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("talks.csv", "id,body,year\n1,The dog barks. It is.,1990\n2,The cat sleeps.,1991\n", ["--text", "body", "--id", "id"]),
        ("a.vert", "<doc>\n<s>\nDT\tThe\nNN\tdog\n</s>\n</doc>\n", ["--columns", "pos,word"]),
    ],
)  # fmt: skip
def test_settings_of_readers(
    sentgen: Sentgen, tmp_path: Path, name: str, content: str, options: list[str]
) -> None:
    """Tables and vertical files are counted as they are ingested."""
    (tmp_path / name).write_text(content)
    counted = sentgen("cluster", "count", name, *options, "--to", "lake", "--corpus", "t", "--local", 1)
    assert counted.code == 0, counted.err
    assert sentgen("ingest", name, *options, "--corpus", "t").code == 0
    asked = ["ngrams", "* *", "--limit", 0, "--csv"]
    expected = sentgen(*asked).out
    assert sentgen(*asked, "--db", tmp_path / "lake").out == expected
    assert "The,dog" in expected


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.usefixtures("local")
def test_models_of_a_lake(sentgen: Sentgen, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert sentgen("ingest", TREEBANK, "--corpus", "relief").code == 0
    assert sentgen("models", "build", "kn", "--corpus", "relief", "--order", 3).code == 0
    assert sentgen("cluster", "count", TREEBANK, "--to", lake, "--corpus", "relief", "--local", 1).code == 0
    words = ("kn", "--in", lake, "--corpus", "relief", "--order", 3)
    told = sentgen("cluster", "models", *words, "--local", 1)
    assert told.code == 0, told.err
    assert re.search(r"^model +kn@1$", told.out, re.MULTILINE)
    assert re.search(r"^disk: about .* while it builds, .* free$", told.err, re.MULTILINE)
    for question in (["models", "show", "kn"], ["score", "--model", "kn", "Aid trucks arrived ."]):
        rows = [line for line in sentgen(*question, "--csv").out.splitlines() if "created_at" not in line]
        here = sentgen(*question, "--csv", "--db", lake).out.splitlines()
        assert [line for line in here if "created_at" not in line] == rows
        assert len(rows) > 1
    arpa = tmp_path / "kn.arpa"
    assert sentgen("models", "export", "kn", "--arpa", arpa, "--db", lake).code == 0
    assert arpa.read_text().startswith("\\data\\\nngram 1=")
    snapshot = sentgen("publish", "--to", tmp_path / "snapshots", "--db", lake).out.strip()
    assert sentgen("db", "check", "--quick", "--db", lake).code == 0
    question = ("regenerate", "--model", "kn", "-a", "beam", "trucks arrived aid", "--csv", "--db")
    assert sentgen(*question, snapshot).out == sentgen(*question, lake).out
    assert (
        "sentgen cluster models more --in"
        in sentgen("models", "build", "more", "--corpus", "relief", "--db", lake).err
    )
    assert sentgen("cluster", "remove", "--model", "kn", "--from", lake).out == "removed kn@1\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no lake here"),
        (["--smoothing", "katz"], "katz is not built in a lake; choose kneser-ney or stupid-backoff"),
        (["--unknown", "tag"], "counted from the text, which a lake may not have"),
        (["--min-count", "2,1"], "give counts from 1 that do not fall"),
        (["--min-count", "x"], "is no list of numbers"),
        (["--local", "1", "--scheduler", "tcp://a:1"], "exclude each other"),
    ],
)
def test_refusals_of_models(sentgen: Sentgen, tmp_path: Path, words: list[str], message: str) -> None:
    answer = sentgen("cluster", "models", "m", "--in", tmp_path / "lake", "--corpus", "c", *words)
    assert answer.code != 0
    assert message in " ".join(answer.err.replace("│", " ").split())
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count", "x", "--local", "1", "--scheduler", "tcp://a:1"], "exclude each other"),
        (["count", "x", "--on-error", "collect"], "take raise or skip"),
        (["count", "x", "--format", "nothing"], "no format 'nothing'"),
    ],
)
def test_refusals_of_count(sentgen: Sentgen, tmp_path: Path, words: list[str], message: str) -> None:
    answer = sentgen("cluster", *words, "--to", tmp_path / "lake", "--corpus", "c")
    assert answer.code != 0
    assert message in " ".join(answer.err.replace("│", " ").split())
    assert not (tmp_path / "lake").exists()


def test_refusals_of_the_others(sentgen: Sentgen, tmp_path: Path) -> None:
    assert "no lake here" in sentgen("cluster", "status", tmp_path).err
    assert "no corpus 'c'; there are: none" in sentgen("cluster", "remove", "c", "--from", tmp_path).err
    assert "no unfinished count" in sentgen("cluster", "remove", "--unfinished", "--from", tmp_path).err
    assert sentgen("cluster", "remove", "--from", tmp_path).code == 2
    assert sentgen("cluster", "script", "x", "--to", "lake", "--corpus", "c").code == 2
    assert "give a shared folder with --work" in sentgen("cluster", "status", "memory://lake").err


def test_the_folder_that_is_given_for_work_is_not_ours(
    sentgen: Sentgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--work DIR` works in a folder in DIR; what is in DIR stays, also where a count fails."""

    @contextmanager
    def inline(**_: Any) -> Iterator[Any]:
        yield SimpleNamespace(workers=1, dashboard="", run=Inline().run)

    monkeypatch.setattr(command, "cluster", inline)
    mine = {tmp_path / "mine" / name for name in ("notes.txt", "job.json", "read/000000.json")}
    (tmp_path / "mine" / "read").mkdir(parents=True)
    for path in mine:
        path.write_text("mine")
    (tmp_path / "text.lines").write_text("the cat saw the dog .\n")
    (tmp_path / "bad.lines").write_text("<s> here\n")
    words = ("--to", tmp_path / "lake", "--corpus", "c", "--local", 1, "--work", tmp_path / "mine")
    failed = sentgen("cluster", "count", tmp_path / "bad.lines", *words)
    dropped = sentgen("cluster", "remove", "--unfinished", "--from", tmp_path / "lake", *words[-2:])
    done = sentgen("cluster", "count", tmp_path / "text.lines", *words)
    removed = sentgen("cluster", "remove", "c", "--from", tmp_path / "lake", *words[-2:])

    assert [answer.code for answer in (failed, dropped, done, removed)] == [1, 0, 0, 0]
    assert {path for path in (tmp_path / "mine").rglob("*") if path.is_file()} == mine


def test_a_script_for_slurm_is_valid_shell(sentgen: Sentgen, tmp_path: Path) -> None:
    script = sentgen(
        "cluster", "script", "--slurm", "it's text", "--to", tmp_path / "a lake", "--corpus", "c c"
    ).out
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "#SBATCH --ntasks=16\n" in script
    assert "srun dask worker --scheduler-file" in script


@pytest.mark.slow
@pytest.mark.nightly
def test_the_script_counts_where_srun_starts_workers(sentgen: Sentgen, tmp_path: Path) -> None:
    """A stand-in for srun starts two workers here; the programs are those of this installation."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "srun").write_text('#!/bin/bash\ntrap \'kill $(jobs -p)\' TERM\n"$@" &\n"$@" &\nwait\n')
    (programs / "srun").chmod(0o755)
    lake = tmp_path / "lake"
    script = sentgen("cluster", "script", "--slurm", TREEBANK, "--to", lake, "--corpus", "relief").out
    (tmp_path / "job.sh").write_text(script)
    paths = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    # Files, not pipes: a worker that ends a moment later would hold them open.
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        code = subprocess.run(
            ["bash", str(tmp_path / "job.sh")],
            env=os.environ | {"PATH": paths, "SLURM_JOB_ID": "7"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            timeout=60,
            check=False,
        ).returncode
    assert code == 0, (tmp_path / "err").read_text()
    assert re.search(r"^tokens +\d", (tmp_path / "out").read_text(), re.MULTILINE)
    assert {path.name for path in tmp_path.iterdir()} == {"bin", "err", "job.sh", "lake", "out"}
