"""A client with many small tasks: `python cluster_client.py LAKE (TEXT | --model) (N | ADDRESS)`."""

from __future__ import annotations

import sys
from pathlib import Path

from sentgen.counts.cluster.dask_engine import cluster
from sentgen.counts.cluster.engine import Engine
from sentgen.counts.cluster.job import Job, TaskSizes
from sentgen.counts.settings import Settings
from sentgen.errors import SentgenError
from sentgen.models.building.recipe import recipe
from sentgen.models.cluster.job import ModelJob
from sentgen.models.cluster.plan import ModelTaskSizes as ModelSizes
from sentgen.schema.lakes.places import Place

SIZES = TaskSizes(shard=20_000, most=1 << 20, words=100_000, range=10_000)
MODEL_SIZES = ModelSizes(rows=30_000, most=1 << 20, file=30_000)


def work(lake: Path, text: str, engine: Engine) -> None:
    """Count the text, or build a model of what was counted."""
    folder = lake / "_work"
    if text == "--model":
        settings = recipe(4, "kneser-ney", None, "word", False)
        ModelJob(Place(lake), folder, engine, 1 << 30, sizes=MODEL_SIZES).run("m", ["c"], settings)
    else:
        Job(Place(lake), folder, engine, 1 << 30, Settings(corpus="c"), sizes=SIZES).run([text])


def main(lake: str, text: str, where: str) -> None:
    """Do it on a cluster."""
    local = int(where) if where.isdigit() else None
    with cluster(local=local, scheduler=None if local else where) as engine:
        print("connected", flush=True)
        work(Path(lake), text, engine)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except SentgenError as error:
        sys.exit(str(error))
