"""Kill processes of a local cluster with SIGKILL: a count that is resumed ends with the same bytes."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest
from cluster_machines import CLIENT, children, files, kill_one, run_here, run_to_the_end, running

from sentgen.counts.cluster import job
from sentgen.schema.durability import write_lock
from sentgen.schema.places import Place


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of twenty thousand words, of which a few hundred differ."""
    rng = random.Random(5)
    path = tmp_path_factory.mktemp("kills") / "text.lines"
    lines = (" ".join(f"w{int(rng.paretovariate(0.6)) % 997}" for _ in range(10)) for _ in range(4_000))
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def whole(text: Path) -> tuple[dict[str, bytes], int]:
    """The files of the text's lake, and the number of tasks that made it."""
    lake = text.parent / "whole"
    tasks = run_here(lake, text)
    return files(lake), tasks


def round_of(number: int, text: Path, whole: tuple[dict[str, bytes], int], folder: Path) -> None:
    """Kill one process at a random moment, then count to the end and compare; the first time in this process."""
    lake = folder / f"lake-{number}"
    victim = kill_one(number, folder, lake, text, whole[1])
    if (lake / "manifest.json").exists():  # then all files that it lists exist, whenever the kill came
        list(job.status(Place(lake), lake / "_work"))
    (run_to_the_end if number else run_here)(lake, text)
    assert files(lake) == whole[0], f"{victim} killed in round {number}"


def test_a_process_that_is_killed_changes_nothing(
    text: Path, whole: tuple[dict[str, bytes], int], tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    with running(CLIENT, lake, text, f"-{whole[1] // 2}") as client:
        client.communicate(timeout=120)
    assert client.returncode == -signal.SIGKILL
    run_here(lake, text)
    assert files(lake) == whole[0]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("number", range(1))
def test_a_killed_process_of_a_cluster_changes_nothing(
    number: int, text: Path, whole: tuple[dict[str, bytes], int], tmp_path: Path
) -> None:
    round_of(number, text, whole, tmp_path)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 51))
def test_fifty_killed_processes_change_nothing(
    number: int, text: Path, whole: tuple[dict[str, bytes], int], tmp_path: Path
) -> None:
    round_of(number, text, whole, tmp_path)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_killed_worker_of_a_local_cluster_is_replaced(
    text: Path, whole: tuple[dict[str, bytes], int], tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    with running(CLIENT, lake, text, 2) as client:
        assert client.stdout is not None
        client.stdout.readline()
        command = "spawn_main"  # the others look after semaphores
        workers = [pid for pid in children(client.pid) if command in Path(f"/proc/{pid}/cmdline").read_text()]
        os.kill(workers[0], signal.SIGKILL)
        _, told = client.communicate(timeout=120)
        assert (client.returncode, told) == (0, "")
    assert files(lake) == whole[0]


@pytest.mark.slow
def test_a_second_client_is_refused(text: Path, tmp_path: Path) -> None:
    lock = write_lock.WriteLock.take(tmp_path / "lake")
    try:
        with running(CLIENT, tmp_path / "lake", text, "-1") as client:
            _, told = client.communicate(timeout=60)
    finally:
        lock.release()
    assert client.returncode == 1
    assert f"in use by another process, {lock._holder.command} (process {os.getpid()})" in told
    assert len(told.splitlines()) == 1
    assert not (tmp_path / "lake").exists()
