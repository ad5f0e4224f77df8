"""Processes of a local cluster that are killed with SIGKILL: a resumed build ends with the same bytes."""

from __future__ import annotations

import random
import shutil
import signal
from pathlib import Path

import pytest
from cluster_machines import CLIENT, files, kill_one, run_here, run_to_the_end, running

from sentgen.counts.cluster import job
from sentgen.counts.cluster.job import Job, TaskSizes
from sentgen.counts.cluster.stages import Inline
from sentgen.counts.settings import Settings
from sentgen.schema.durability import write_lock
from sentgen.schema.places import Place


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of forty thousand words, a few hundred different ones."""
    rng, folder = random.Random(5), tmp_path_factory.mktemp("kills")
    lines = (" ".join(f"w{int(rng.paretovariate(0.6)) % 997}" for _ in range(10)) for _ in range(4_000))
    (folder / "text.lines").write_text("\n".join(lines))
    lake, sizes = folder / "lake", TaskSizes(range=10_000)
    settings = Settings(corpus="c")
    Job(Place(lake), lake / "_work", Inline(), 1 << 29, settings, sizes=sizes).run(
        [str(folder / "text.lines")]
    )
    return lake


@pytest.fixture(scope="module")
def whole(counted: Path) -> tuple[dict[str, bytes], int]:
    """The lake with its model, and the number of tasks."""
    lake = shutil.copytree(counted, counted.parent / "whole")
    tasks = run_here(lake, "--model")
    assert len(list((lake / "model_ngram").iterdir())) > 1
    return files(lake), tasks


def round_of(number: int, counted: Path, whole: tuple[dict[str, bytes], int], folder: Path) -> None:
    """Kill one process at a random moment, then build to the end and compare; the first time in this process."""
    lake = shutil.copytree(counted, folder / f"lake-{number}")
    victim = kill_one(number, folder, lake, "--model", whole[1])
    # All files that the manifest names are always there.
    list(job.status(Place(lake), lake / "_work"))
    # If the build was finished, another one would build the next version.
    if (lake / "_work").exists() or not (lake / "model").exists():
        (run_to_the_end if number else run_here)(lake, "--model")
    assert files(lake) == whole[0], f"{victim} killed in round {number}"


@pytest.fixture
def killed(counted: Path, whole: tuple[dict[str, bytes], int], tmp_path: Path) -> Path:
    """A lake whose model was half made when the process was killed."""
    lake = shutil.copytree(counted, tmp_path / "lake")
    with running(CLIENT, lake, "--model", f"-{whole[1] // 2}") as client:
        client.communicate(timeout=120)
    assert client.returncode == -signal.SIGKILL
    return Path(lake)


def test_a_process_that_is_killed_changes_nothing(whole: tuple[dict[str, bytes], int], killed: Path) -> None:
    run_here(killed, "--model")
    assert files(killed) == whole[0]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("number", range(1))
def test_a_killed_process_of_a_cluster_changes_nothing(
    number: int, counted: Path, whole: tuple[dict[str, bytes], int], tmp_path: Path
) -> None:
    round_of(number, counted, whole, tmp_path)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 51))
def test_fifty_killed_processes_change_nothing(
    number: int, counted: Path, whole: tuple[dict[str, bytes], int], tmp_path: Path
) -> None:
    round_of(number, counted, whole, tmp_path)


@pytest.mark.slow
def test_a_second_client_is_refused(counted: Path, tmp_path: Path) -> None:
    lake = shutil.copytree(counted, tmp_path / "lake")
    before, lock = files(lake), write_lock.WriteLock.take(lake)
    try:
        with running(CLIENT, lake, "--model", "-1") as client:
            _, told = client.communicate(timeout=60)
    finally:
        lock.release()
    assert client.returncode == 1
    assert "in use by another process" in told
    assert len(told.splitlines()) == 1
    assert files(lake) == before
