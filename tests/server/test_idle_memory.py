"""What a server that nobody asks holds in memory: docs/figures/measurements.csv has the figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from serving import kind_of, serving, until, workers_of

from sentgen.server.operations import KINDS

#: What a server does that was given no desk.
_USUAL = [kind for kind in KINDS if kind != "desk"]

#: Heavy, and for few requests: who needs one imports it then.
_LATER = (
    *("matplotlib", "numba", "pandas", "pyarrow.compute", "pyarrow.parquet", "scipy"),
    "sqlalchemy.dialects.postgresql",
)


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="tells what is resident")
def test_an_idle_server_is_one_small_worker_of_each_kind(published: Path, tmp_path: Path) -> None:
    """However many there may be; 594 MB are resident (2026-11-25), where two of each kind took 1,497."""
    with serving(tmp_path, "--snapshots", published, "--no-warm-up", "--workers", 8) as server:
        until(lambda: server.pools() == dict.fromkeys(_USUAL, 1))
        workers = workers_of(server)
        resident = sum(map(_resident, (server.process.pid, *workers)))

        assert sorted(map(kind_of, workers)) == sorted(_USUAL)
        assert resident < 680


def _resident(process: int) -> float:
    """The megabytes of a process that are in memory."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return int(text.split("\nRss:")[1].split()[0]) / 1024


@pytest.mark.parametrize("process", ["sentgen.server.app", "sentgen.server.worker"])
def test_what_is_for_few_requests_is_imported_for_them(process: str) -> None:
    """Each process would hold it from its start."""
    code = (
        "import json, sys, importlib; from sentgen.server.operations import operations;"
        f"importlib.import_module({process!r}); operations(); print(json.dumps(list(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert [name for name in _LATER if name in json.loads(told)] == []
