"""Memory, children, limits and signals, in Linux; and what other systems do instead, forced or played."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from sentgen.system import processes

#: How a process of Python begins that takes itself for one of another system.
AS = "import os, psutil, signal, subprocess, sys, time\nfrom sentgen.system import processes\nsys.platform = sys.argv[1]\n"
SYSTEMS = pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])


def python(platform: str, code: str) -> subprocess.Popen[str]:
    """Start such a process."""
    return subprocess.Popen(
        [sys.executable, "-c", AS + code, platform],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def has_ended(process: int, seconds: float = 10) -> bool:
    """Whether a process ends in time."""
    ends = time.monotonic() + seconds
    while psutil.pid_exists(process) and psutil.Process(process).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def test_memory_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel tells it, and as psutil does."""
    found = processes.machine_memory()
    monkeypatch.setattr(sys, "platform", "win32")
    assert processes.machine_memory() == pytest.approx(found, rel=0.01)


@SYSTEMS
def test_memory_of_this_process(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    """It grows by what is taken."""
    monkeypatch.setattr(sys, "platform", platform)
    before = processes.resident_memory()
    taken = b"1" * 50_000_000
    assert 40_000_000 < processes.resident_memory() - before < 100_000_000
    del taken


def test_memory_that_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody counts on there being little of it in use."""

    def missing(*_: str, **__: str) -> None:
        raise FileNotFoundError

    monkeypatch.setitem(vars(processes), "open", missing)
    assert processes.resident_memory() == math.inf


@SYSTEMS
def test_children_end(platform: str) -> None:
    """Those that were started; a process that has none has nothing to do."""
    code = """
processes.end_children()
children = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
processes.end_children()
print(*(child.wait() for child in children))
"""
    said, errors = python(platform, code).communicate(timeout=20)
    assert (said, errors) == ("-9 -9\n", "")


def test_children_that_have_ended_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no error."""
    monkeypatch.setattr(processes, "_child_processes", lambda: iter([2**22 + 1]))
    processes.end_children()


def test_ctrl_c_of_a_terminal_does_not_reach_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in a session, or in Windows a group, of its own."""
    with subprocess.Popen(["sleep", "60"], **processes.apart()) as child:
        assert os.getsid(child.pid) == child.pid
        child.kill()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 512, raising=False)
    assert processes.apart() == {"creationflags": 512}


def test_limits_of_linux() -> None:
    """The kernel refuses what is beyond them."""
    code = """
import resource
processes.confine(memory=400_000_000, file=1000)
print([resource.getrlimit(one)[1] for one in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)])
try:
    bytearray(500_000_000)
except MemoryError:
    print("refused")
"""
    said, errors = python("linux", code).communicate(timeout=20)
    assert (said, errors) == ("[400000000, 1000, 0]\nrefused\n", "")


def test_memory_where_the_system_does_not_limit_it() -> None:
    """It is looked at: a process that takes more ends, and one that does not goes on."""
    code = """
processes._BETWEEN_LOOKS = 0.05
processes.confine(memory=200_000_000, file=0)
time.sleep(0.3)
print("goes on", flush=True)
taken = b"1" * 300_000_000
time.sleep(20)
"""
    process = python("win32", code)
    said, _ = process.communicate(timeout=15)
    assert (said, process.returncode) == ("goes on\n", 1)


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_a_worker_ends_with_its_parent(platform: str) -> None:
    """However that ends."""
    child = "processes._BETWEEN_LOOKS = 0.05; processes.confine(memory=10**9, file=0); print(os.getpid(), flush=True); time.sleep(60)"
    code = f"subprocess.Popen([sys.executable, '-c', {AS + child!r}, sys.argv[1]]); time.sleep(60)"
    with python(platform, code) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert not has_ended(worker, 0.2)
        parent.kill()
    assert has_ended(worker)


def test_what_cannot_be_limited_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {}
    for platform in ("linux", "darwin", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        said[platform] = processes.limits_missing()
    assert said["linux"] == ""
    assert said["darwin"].startswith("this system cannot limit the memory of workers; their memory is")
    assert "nor what they write" in said["win32"]


def test_who_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "processes.give_way(); print(os.nice(0))"
    assert python("linux", code).communicate(timeout=20)[0] == f"{min(os.nice(0) + 5, 19)}\n"
    given: list[int] = []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(psutil, "BELOW_NORMAL_PRIORITY_CLASS", 16384, raising=False)
    monkeypatch.setattr(psutil.Process, "nice", lambda _, value: given.append(value))
    processes.give_way()
    assert given == [16384]


def test_a_child_of_fork_does_what_it_was_told() -> None:
    code = """
done = []
processes.after_fork(lambda: done.append(os.getpid()))
if not (child := os.fork()):
    os._exit(done == [os.getpid()])
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), done)
"""
    assert python("linux", code).communicate(timeout=20) == ("1 []\n", "")
    assert python("win32", code).communicate(timeout=20) == ("0 []\n", ""), "there is no fork"


def test_signals_can_be_read() -> None:
    """As soon as they have come, whatever the main thread does."""
    code = """
signal.signal(signal.SIGINT, lambda *_: None)
read = processes.signal_pipe()
os.kill(os.getpid(), signal.SIGINT)
print(os.read(read, 10))
"""
    assert python("linux", code).communicate(timeout=20) == ("b'\\x02'\n", "")


@pytest.mark.parametrize(
    ("platform", "number"),
    [
        ("linux", signal.SIGINT),
        ("linux", signal.SIGTERM),
        ("win32", signal.SIGINT),
        ("win32", signal.SIGUSR1),
    ],
)
def test_a_loop_hears_that_it_is_to_end(
    monkeypatch: pytest.MonkeyPatch, platform: str, number: signal.Signals
) -> None:
    """By Ctrl-C and by what ends a service: SIGTERM, or in Windows SIGBREAK, here played by another one."""
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)

    async def told() -> None:
        ended = asyncio.Event()
        with pytest.MonkeyPatch.context() as elsewhere:
            elsewhere.setattr(sys, "platform", platform)
            processes.on_request_to_end(asyncio.get_running_loop(), ended.set)
        os.kill(os.getpid(), number)
        await asyncio.wait_for(ended.wait(), 5)

    kept = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)}
    try:
        asyncio.run(told())
    finally:
        for one, handler in kept.items():
            signal.signal(one, handler)
