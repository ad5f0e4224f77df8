"""The attacked server, with checks that nothing was changed and no secret was sent."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import Server, kind_of, serving, until, workers_of

from sentgen.schema import snapshots

#: What nobody may see: it stands in a file beside the snapshot and in the environment of the server.
CANARY = "canary-7f3a9c"
#: A server that is asked for too much, or by too many, says so; only a 500 is a mistake.
BUSY = frozenset({429, 503, 504})


@dataclass
class Fort:
    """The server that is attacked, and what must stay as it is."""

    server: Server
    store: Path
    digest: str = ""
    written: tuple[int, ...] = ()
    files: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.digest, self.written, self.files = self._digest(), self._written(), self._left_behind()

    @property
    def client(self) -> httpx.Client:
        """A client of the server."""
        return self.server.client

    @property
    def folder(self) -> Path:
        """The folder of the snapshot and of the secret file."""
        return self.store.parent

    def sql(self, query: str) -> httpx.Response:
        """Send a query that may take too long, once there is a worker that can take it."""
        return self.request("POST", "/v1/sql", json={"sql": query}, busy={429})

    def ask(self, query: str, *parameters: object, **query_string: str) -> httpx.Response:
        """Send a query that takes no time."""
        body = {"sql": query, "parameters": list(parameters)}
        return self.request("POST", "/v1/sql", json=body, params=query_string)

    def request(self, method: str, path: str, *, busy: Set[int] = BUSY, **options: Any) -> httpx.Response:
        """Send a request again and again while the server, or its machine, is too busy to answer."""
        answers: list[httpx.Response] = []

        def answered() -> bool:
            answers.append(self.client.request(method, path, **options))
            return answers[-1].status_code not in busy

        until(answered)
        return answers[-1]

    def check(self) -> None:
        """Assert that the next request is answered, and that the store was not written to."""
        assert self.ask("select 6 * 7 as answer").json()["rows"] == [{"answer": 42}]
        assert self._written() == self.written
        assert self.server.process.poll() is None

    def check_all(self) -> None:
        """Assert also that it has the same bytes, that no file was made, and that look-ups are answered."""
        self.check()
        assert self.request("GET", "/v1/corpora").json()["rows"][0]["corpus"] == "relief"
        assert self._digest() == self.digest
        assert self._left_behind() == self.files

    def _digest(self) -> str:
        return hashlib.sha256(self.store.read_bytes()).hexdigest()

    def _written(self) -> tuple[int, ...]:
        """What changes whenever somebody writes to the store; nobody can set the time of the change."""
        status = self.store.stat()
        return status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns

    def _left_behind(self) -> list[str]:
        """The files beside the snapshot, where the server runs, and where its SQL workers run."""
        places = [self.folder, self.server.log.parent]
        for worker in workers_of(self.server):
            try:
                if kind_of(worker) == "sql":
                    places.append(Path(os.readlink(f"/proc/{worker}/cwd")))
            except (OSError, IndexError, ValueError):
                continue  # it has just ended, or has not yet begun
        return sorted(str(path.relative_to(place)) for place in places for path in place.rglob("*"))


@contextmanager
def fortified(demo: Path, folders: pytest.TempPathFactory, *limits: object) -> Iterator[Fort]:
    """Serve a snapshot with something to steal beside it until the attacks are over."""
    folder, here = folders.mktemp("fort"), folders.mktemp("attacked")
    store = snapshots.publish(demo, folder).snapshot.path
    (folder / "canary.txt").write_text(CANARY)
    options = ["--snapshots", folder, "--workers", 1, "--no-warm-up", "--timeout", 30]
    options += ["--worker-memory", "1GB", "--max-rows", 1000, "--desk", here / "class.desk", *limits]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANARY", CANARY)
        with serving(here, *options) as server:
            fort = Fort(server, store)
            yield fort
            fort.check_all()


def require_problem(response: httpx.Response, *statuses: int) -> dict[str, Any]:
    """Return the problem that a response tells, after a look at what it must not tell."""
    require_clean(response)
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert response.status_code == problem["status"] in statuses, problem
    assert "\n" not in problem["detail"]
    assert len(problem["detail"]) < 2_500
    return problem


def require_clean(response: httpx.Response) -> None:
    """Assert that a response tells nothing that it must not, has its headers, and is no mistake."""
    assert response.status_code != 500, response.text
    assert CANARY not in response.text
    assert "root:x:0:0" not in response.text
    assert "Traceback" not in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert not {"set-cookie", "access-control-allow-origin", "server"} & set(response.headers)
