"""A server under attack, with something to steal beside it; whatever is tried, it must go on unharmed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from fort import Fort, fortified


@pytest.fixture(scope="session")
def attacked(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    """A server with short deadlines."""
    with fortified(demo, tmp_path_factory, "--sql-timeout", 0.5) as fort:
        yield fort


@pytest.fixture
def fort(attacked: Fort) -> Iterator[Fort]:
    """The same; after each attack it must go on."""
    yield attacked
    attacked.check()


@pytest.fixture(scope="module")
def listening() -> Iterator[str]:
    """The address of somebody who waits to be asked by the server that is attacked, and is not."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield "http://{}:{}".format(*sock.getsockname())
        sock.setblocking(False)
        with pytest.raises(BlockingIOError):
            sock.accept()
