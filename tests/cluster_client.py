"""A client with many small tasks: `python cluster_client.py LAKE (TEXT | --model) (N | ADDRESS | -N)`.

It works with N processes, with the cluster at an address, or by itself, killed after N tasks.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sentgen.counts.cluster.job import Job, TaskSizes
from sentgen.counts.cluster.stages import ClusterTask, Engine, Inline
from sentgen.counts.settings import Settings
from sentgen.errors import SentgenError
from sentgen.models.building.recipe import Recipe
from sentgen.models.cluster.job import ModelJob
from sentgen.models.cluster.job import ModelTaskSizes as ModelSizes
from sentgen.schema.places import Place

SIZES = TaskSizes(shard=20_000, most=1 << 20, words=100_000, range=10_000)
MODEL_SIZES = ModelSizes(rows=30_000, most=1 << 20, file=30_000)


def work(lake: Path, text: str, engine: Engine) -> None:
    """Count the text, or build a model of what was counted."""
    folder = lake / "_work"
    if text == "--model":
        settings = Recipe.checked(4, "kneser-ney", None, "word", False)
        ModelJob(Place(lake), folder, engine, 1 << 30, sizes=MODEL_SIZES).run("m", ["c"], settings)
    else:
        Job(Place(lake), folder, engine, 1 << 30, Settings(corpus="c"), sizes=SIZES).run([text])


class KilledAfter(Inline):
    """Runs tasks in this process, which is killed after so many."""

    def __init__(self, tasks: int) -> None:
        self.left = tasks

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, dict[str, Any]]]:
        for done in super().run(tasks):
            yield done
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def main(lake: str, text: str, where: str) -> None:
    """Do it on a cluster, or alone."""
    if where.startswith("-"):
        work(Path(lake), text, KilledAfter(-int(where)))
        return
    # Takes longer to import than all else.
    from sentgen.counts.cluster.machines import cluster

    local = int(where) if where.isdigit() else None
    with cluster(local=local, scheduler=None if local else where) as engine:
        print("connected", flush=True)
        work(Path(lake), text, engine)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except SentgenError as error:
        sys.exit(str(error))
