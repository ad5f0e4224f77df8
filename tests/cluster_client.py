"""A client that counts with many small tasks: `python cluster_client.py LAKE TEXT (N | ADDRESS)`."""

from __future__ import annotations

import sys
from pathlib import Path

from sentgen.counts.cluster.dask_engine import cluster
from sentgen.counts.cluster.job import Job, Sizes
from sentgen.counts.settings import Settings
from sentgen.errors import SentgenError
from sentgen.schema.lakes.places import Place

SIZES = Sizes(shard=20_000, most=1 << 20, words=100_000, range=10_000)


def main(lake: str, text: str, where: str) -> None:
    """Count the text."""
    local = int(where) if where.isdigit() else None
    with cluster(local=local, scheduler=None if local else where) as engine:
        print("connected", flush=True)
        Job(Place(lake), Path(lake) / "_work", Settings(corpus="c"), engine, 1 << 30, sizes=SIZES).run([text])


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except SentgenError as error:
        sys.exit(str(error))
