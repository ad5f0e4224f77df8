"""The server by the rules of Windows: no limits of the system, no fork, and what workers have open stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import windows_rules
from serving import ROOT, serving, until, workers_of

from sentgen.demo import TREEBANK
from sentgen.server.operations import operations


@pytest.mark.nightly
@pytest.mark.slow
def test_a_newer_snapshot_takes_over(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of worker answers; the old snapshot goes once no worker has it open."""
    for name, value in windows_rules.environment(tmp_path / "rules").items():
        monkeypatch.setenv(name, value)
    store = tmp_path / "store.duckdb"
    store.write_bytes(demo.read_bytes())

    def run(*words: object) -> str:
        command = [sys.executable, str(ROOT / "cli.py"), *map(str, words)]
        env = os.environ | {"SENTGEN_DB": str(store)}
        done = subprocess.run(command, capture_output=True, env=env, check=False)
        assert done.returncode == 0, done.stderr
        return (done.stdout + done.stderr).decode("cp1252")

    publish = ("publish", "--to", tmp_path / "to", "--keep", 1)
    run(*publish)
    with serving(tmp_path, "--snapshots", tmp_path / "to", "--no-warm-up", "--workers", 1) as server:
        old = server.client.get("/healthz").json()["snapshot"]
        answers = (
            server.client.get("/v1/ngrams", params={"pattern": "the *"}),
            server.client.post("/v1/sql", json={"sql": "select 1"}),
            server.client.post("/v1/align", json=operations()["align"].example),
        )
        assert [answer.status_code for answer in answers] == [200, 200, 200]
        run("ingest", TREEBANK, "--corpus", "other")
        assert old not in run(*publish)
        until(lambda: server.client.get("/healthz").json()["snapshot"] != old)
        until(lambda: len(workers_of(server)) == 3)  # the old ones have ended
        assert f"removed {old}" in run(*publish)
        assert server.client.get("/v1/corpora").json()["rows"]
        assert server.events("sentgen.server.running")[0]["level"] == "warning"
