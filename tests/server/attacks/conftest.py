"""A server under attack, with something to steal beside it; whatever is tried, it must go on unharmed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fort import CANARY, Fort
from serving import serving

from sentgen.schema import snapshots


@pytest.fixture(scope="session")
def attacked(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    """A server with short deadlines."""
    folder = tmp_path_factory.mktemp("fort")
    store = snapshots.publish(demo, folder).snapshot.path
    (folder / "canary.txt").write_text(CANARY)
    options = ["--snapshots", folder, "--workers", 1, "--no-warm-up", "--sql-timeout", 0.5, "--timeout", 30]
    limits = ["--worker-memory", "1GB", "--max-rows", 1000]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANARY", CANARY)
        folder = tmp_path_factory.mktemp("attacked")
        with serving(folder, *options, *limits, "--desk", folder / "class.desk") as server:
            fort = Fort(server, store)
            yield fort
            fort.check_all()


@pytest.fixture
def fort(attacked: Fort) -> Iterator[Fort]:
    """The same; after each attack it must go on."""
    yield attacked
    attacked.check()
