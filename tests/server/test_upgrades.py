"""A new version of sentgen takes over from an old one, as docs/department.md says, and no request is lost."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import next_revision
import pytest
from next_revision import NEWEST, NEXT
from serving import PATIENCE, ROOT, Server, serving, until
from test_behind_proxy import BASE, _free_port, _listens, _nginx
from test_users import token_of, write_users

from sentgen.schema import snapshots

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("nginx"), reason="no nginx"),
]
#: SQL that takes long, and ends.
LONG = "select count(*) as n from range(400000000) t(x) where hash(x) % 7 = 1"


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """The folder of a sentgen that has one more revision than this one."""
    package = tmp_path / "sentgen-2" / "sentgen"
    for source, to in (("sentgen", ""), ("schema", "schema"), ("migrations", "migrations")):
        shutil.copytree(ROOT / source, package / to, dirs_exist_ok=True)
    shutil.rmtree(package / "migrations")
    next_revision.write(package / "migrations")
    migrate = package / "schema" / "migrate.py"
    text = migrate.read_text()
    migrate.write_text(text.replace(f'REVISIONS = ("{NEWEST}",)', f'REVISIONS = ("{NEWEST}", "{NEXT}")'))
    shutil.copy(ROOT / "cli.py", package.parent)
    return package.parent


def commands() -> list[list[str]]:
    """The commands that the page gives."""
    page = (ROOT / "docs" / "department.md").read_text()
    (block,) = re.findall(r"```text\n(/opt/sentgen/.*?)```", page, re.DOTALL)
    return [shlex.split(line) for line in block.replace("\\\n", " ").strip().splitlines()]


@contextmanager
def proxy(command: list[str], port: int) -> Iterator[None]:
    """Run nginx."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until(lambda: _listens(port))
        yield
    finally:
        process.terminate()
        process.wait(10)


def quiet(server: Server) -> bool:
    """Whether a server has had no request for two seconds: its proxy sends it none any more."""
    before = len(server.events("sentgen.access"))
    time.sleep(2)
    return len(server.events("sentgen.access")) == before


def ask_until(enough: threading.Event, address: str, seen: Counter[tuple[int, str]]) -> None:
    """Ask all the time, and count statuses with the corpus that was answered."""
    # One connection each: when nginx closes those that are idle, a client cannot know.
    headers = {**token_of("boss"), "Host": "localhost", "Connection": "close"}
    with httpx.Client(base_url=address, timeout=PATIENCE, headers=headers) as client:
        while not enough.is_set():
            answer = client.get(f"{BASE}/v1/corpora")
            corpus = answer.json()["rows"][0]["corpus"] if answer.status_code == 200 else answer.text
            seen[answer.status_code, corpus] += 1
            time.sleep(0.02)


def test_a_new_version_takes_over(
    demo: Path, tmp_path: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind nginx, by the commands of the page; a request of some seconds that had begun is answered."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(demo, "corpora.duckdb")
    snapshots.publish(Path("corpora.duckdb"), Path("snapshots"))
    users = write_users(tmp_path / "users.toml", boss="all")
    programs = {"/opt/sentgen/bin/sentgen": ROOT / "cli.py", "/opt/sentgen-2/bin/sentgen": new / "cli.py"}
    *before, (_, _, _, folder, *options) = commands()
    # The port is any that is free, and each server runs in a folder of its own.
    options = [{"users.toml": str(users), "corpora.example.org": "localhost"}.get(o, o) for o in options[:-2]]
    options += ["--workers", "1", "--no-warm-up", "--sql-timeout", "100"]
    boss, port, seen = token_of("boss"), _free_port(), Counter[tuple[int, str]]()
    enough = threading.Event()
    address, long = f"http://127.0.0.1:{port}", {"url": f"{BASE}/v1/sql", "json": {"sql": LONG}}
    with (
        serving(tmp_path, "--snapshots", "snapshots", *options, headers=boss) as old,
        proxy(_nginx(tmp_path, port, old.address.rstrip("/")), port),
        httpx.Client(base_url=address, timeout=PATIENCE, headers={**boss, "Host": "localhost"}) as client,
        ThreadPoolExecutor(5) as pool,
        ExitStack() as last,
    ):
        last.callback(enough.set)  # before the pool waits for them
        asking = [pool.submit(ask_until, enough, address, seen) for _ in range(4)]
        until(lambda: seen[200, "relief"])
        monkeypatch.setenv("PYTHONPATH", str(new))  # for the workers of the new one
        for program, *words in before:
            subprocess.run([sys.executable, programs[program], *words], check=True, capture_output=True)
        (tmp_path / "new").mkdir()
        served = tmp_path / folder
        with serving(tmp_path / "new", "--snapshots", served, *options, program=new / "cli.py") as server:
            begun = pool.submit(client.post, **long)
            until(lambda: old.pools()["sql"] == 0)
            reload = [*_nginx(tmp_path, port, server.address.rstrip("/")), "-s", "reload"]
            subprocess.run(reload, check=True, stderr=subprocess.DEVNULL)
            until(lambda: seen[200, "renamed relief"])
            until(lambda: quiet(old))
            assert old.stop() == 0
            assert begun.result().json()["rows"][0]["n"] > 0
            after = seen.total()
            until(lambda: seen.total() > after + 20)
            enough.set()
            for asked in asking:
                asked.result()

    assert set(seen) == {(200, "relief"), (200, "renamed relief")}
