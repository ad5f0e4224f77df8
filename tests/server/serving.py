"""A server as a process of its own, for tests."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from sentgen.server import wire
from sentgen.server.operations import operations
from sentgen.server.operations.operation import Context
from sentgen.server.parameters import read
from sentgen.server.wire import Call, Format, Reply
from sentgen.server.worker import answer

ROOT = Path(__file__).parents[2]
#: Seconds that anything may take before a test gives up; never how long it should take.
PATIENCE = 240.0
#: Two sentences with trees: the example of the API.
CLUSTER = str(operations()["generate"].example["file"])
#: A key sentence, and one with a phrase that can be added to it.
RELATED = str(operations()["fuse"].example["related"])


@dataclass
class Server:
    """A running `sentgen serve`, with a client of it."""

    process: subprocess.Popen[str]
    client: httpx.Client
    log: Path

    @property
    def address(self) -> str:
        """The address of the server."""
        return str(self.client.base_url)

    def events(self, name: str = "") -> list[dict[str, Any]]:
        """Events that the server has logged, or those of one log."""
        lines = self.log.read_text().splitlines()
        return [event for event in map(json.loads, lines) if not name or event["log"] == name]

    def pools(self, metric: str = "idle") -> dict[str, int]:
        """The state of the pools, from the metrics."""
        lines = self.client.get("/metrics").text.splitlines()
        found = (line for line in lines if line.startswith(f"sentgen_pool_{metric}{{"))
        return {line.split('"')[1]: int(line.rsplit(" ", 1)[1]) for line in found}

    def stop(self, number: int = 15) -> int:
        """Send a signal to the server, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def call(operation: str, form: str = "json", **parameters: object) -> Call:
    """The message that the front sends to a worker."""
    return replace(read(operations()[operation], parameters), form=Format(form))


def declaration(operation: str, **parameters: object) -> Any:
    """The request that a worker reads from the message."""
    return wire.decode(call(operation, **parameters).body, operations()[operation].declaration)


def ask(context: Context, operation: str, form: str = "json", **parameters: object) -> Reply:
    """Ask a worker in this process as the front does."""
    return answer(context, call(operation, form, **parameters))


@contextmanager
def serving(
    folder: Path, *options: object, headers: dict[str, str] | None = None, program: Path = ROOT / "cli.py"
) -> Iterator[Server]:
    """Run a server on a free port until the test is done; then it ends by a signal, and its workers with it."""
    workers: set[int] = set()
    log = folder / "log.jsonl"
    command = [sys.executable, str(program), "serve", "--port", "0", *map(str, options)]
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder)
    try:
        line = _first_line(process)
        assert line.startswith("serving at "), log.read_text()
        address = line.removeprefix("serving at ").strip()
        with httpx.Client(base_url=address, timeout=PATIENCE, headers=headers) as client:
            yield (server := Server(process, client, log))
            workers = workers_of(server)
    finally:
        if process.poll() is None:
            process.terminate()
            assert process.wait(PATIENCE) == 0
        if process.stdout:
            process.stdout.close()
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def _first_line(process: subprocess.Popen[str]) -> str:
    lines: queue.Queue[str] = queue.Queue()
    assert process.stdout is not None
    threading.Thread(target=lambda: lines.put(process.stdout.readline()), daemon=True).start()  # type: ignore[union-attr]
    return lines.get(timeout=PATIENCE)


def until(true: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def workers_of(server: Server) -> set[int]:
    """The process numbers of the workers that a server has now."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = _fields(status)
            if int(fields[1]) == server.process.pid and fields[0] != "Z":
                found.add(int(status.parent.name))
        except (OSError, IndexError):
            continue
    return found


def kind_of(worker: int) -> str:
    """The kind of a worker; ``None`` while it is still a copy of the front, or if it has just ended."""
    try:
        words = Path(f"/proc/{worker}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return str(json.loads(words[-2])["kind"]) if b"sentgen.server" in words else ""


def worker_of(server: Server, kind: str) -> int:
    """The number of one worker of a kind, once there is one: another test may just have killed the last."""
    found = set[int]()

    def started() -> bool:
        found.update(worker for worker in workers_of(server) if kind_of(worker) == kind)
        return bool(found)

    until(started)
    return found.pop()


def works(process: int) -> Callable[[], bool]:
    """Return a function that says whether a process has computed for a while since this call."""
    began = _computed(process)
    return lambda: _computed(process) > began + 0.2


def _computed(process: int) -> float:
    """The processor time of a process, in seconds."""
    fields = _fields(Path(f"/proc/{process}/stat"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _fields(status: Path) -> list[str]:
    """The fields of the status of a process, from its state on: its name may have blanks."""
    return status.read_text().rsplit(")", 1)[1].split()
