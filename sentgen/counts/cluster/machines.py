"""Run the tasks of a count on a Dask cluster, which no other module imports; write job scripts for Slurm."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

from sentgen.counts.cluster.stages import ClusterTask
from sentgen.errors import InputError, StoreError, spell
from sentgen.extras import needs
from sentgen.options import Option

#: A scheduler and a client on the first node, and workers where Slurm puts them; all share the lake's folder.
_SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --ntasks={workers}
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu={megabytes}M
#SBATCH --time={time}
#SBATCH --requeue
{partition}# Killed or out of time, submit it again: it goes on where it was.
set -euo pipefail

# Where the scheduler is: in a file that all nodes see.
scheduler={scheduler}.$SLURM_JOB_ID.json
rm -f "$scheduler"
dask scheduler --scheduler-file "$scheduler" --port 0 --no-dashboard &
srun dask worker --scheduler-file "$scheduler" \\
    --nthreads 1 --memory-limit 0 --no-dashboard --local-directory "${{TMPDIR:-/tmp}}" &
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -f "$scheduler"' EXIT

{count} --scheduler "$scheduler"
"""

#: How often the worker of a task may die before the task fails.
_DEATHS = 10
#: Seconds to look for a scheduler, and to wait for one that was lost.
_PATIENCE = "20s"
_AGAIN = "run the command again, and it goes on where it was"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Where tasks run; by default, in a process for every core of this machine."""

    local: Annotated[int | None, Option("Number of local workers.", least=1, metavar="N")] = None
    scheduler: Annotated[
        str | None,
        Option("Address of a Dask scheduler, or the JSON file that it wrote.", metavar="ADDRESS"),
    ] = None
    work: Annotated[
        str | None,
        Option(
            "Shared folder, in which _work is made for what lies between; the lake if not given.",
            metavar="FOLDER",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.local is not None and self.scheduler is not None:
            raise InputError(
                f"{spell('local')} and {spell('scheduler')} exclude each other; give one of them"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Slurm:
    """The resources that a job script requests from Slurm."""

    workers: Annotated[int, Option("Workers, a core each.", least=1, metavar="N")] = 16
    memory: Annotated[str, Option("Memory of each worker.", metavar="SIZE")] = "2GB"
    time: Annotated[str, Option("Limit of the job, as Slurm reads it.", metavar="TIME")] = "24:00:00"
    partition: Annotated[str | None, Option("Partition of the job.", metavar="NAME")] = None

    def script(self, paths: Sequence[str], to: str, corpus: str, size: int) -> str:
        """Return a job script that counts with workers that `srun` starts.

        Args:
            to: the lake, a local folder.
            size: bytes of memory of each worker.

        Raises:
            InputError: a value would break out of its line.
        """
        for value in (*paths, to, corpus, self.time, self.partition or ""):
            if "\n" in value:
                raise InputError("a line feed in a job script; rename it")
        # A quarter more, as Slurm kills jobs beyond their memory, and may count the page cache of files.
        megabytes = size * 5 // 4 >> 20
        count = [
            "sentgen",
            "cluster",
            "count",
            *paths,
            "--to",
            to,
            "--corpus",
            corpus,
            "--memory-limit",
            self.memory,
        ]
        return _SCRIPT.format(
            name=shlex.quote(f"sentgen-{corpus}"),
            workers=self.workers,
            megabytes=megabytes,
            time=self.time,
            partition=f"#SBATCH --partition={self.partition}\n" if self.partition else "",
            scheduler=shlex.quote(f"{to.rstrip('/')}.scheduler"),
            count=shlex.join(count),
        )


class DaskEngine:
    """Runs tasks on the workers of a client of Dask."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def workers(self) -> int:
        """The current number of workers."""
        return len(self._client.nthreads())

    @property
    def dashboard(self) -> str:
        """The address of the page on which Dask shows the workers."""
        link = str(self._client.dashboard_link or "")
        return link if not link or find_spec("bokeh") else f"{link} (pages with: pip install bokeh)"

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number and the result of each task, as they end."""
        distributed = import_module("distributed")
        lost = (distributed.CancelledError, distributed.comm.CommClosedError, TimeoutError)
        futures: dict[Any, int] = {}
        try:
            for number, task in enumerate(tasks):
                # Not pure: else Dask would return the old failure when a task is tried again.
                futures[self._client.submit(task, pure=False)] = number
            for future in distributed.as_completed(list(futures)):
                yield futures[future], future.result()
        except distributed.KilledWorker as error:
            raise StoreError(
                f"a task lost its worker {_DEATHS} times; the workers may lack memory: give them "
                f"more, or a lower {spell('memory_limit')}, and {_AGAIN}"
            ) from error
        except lost as error:
            raise StoreError(f"the scheduler of the cluster is gone; start it, and {_AGAIN}") from error
        finally:
            for future in futures:
                future.release()


@contextmanager
def cluster(*, local: int | None, scheduler: str | None) -> Iterator[DaskEngine]:
    """Connect to the cluster of a scheduler, or start one of processes on this machine.

    Args:
        scheduler: address of a scheduler, such as ``tcp://node1:8786``, or a file that it wrote.

    Raises:
        InputError: Dask is not installed, or there is no scheduler at the address.
    """
    with needs("cluster", "Dask"):
        dask, distributed = import_module("dask"), import_module("distributed")
    # Workers that end are reported in one line, if at all, so that these loggers, each with a level of its
    # own, are silenced.
    for name in ("asyncio", "tornado.application", *logging.root.manager.loggerDict):
        if name.startswith(("asyncio", "tornado", "distributed")):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    config = {
        "distributed.scheduler.allowed-failures": _DEATHS,
        "distributed.comm.timeouts.connect": _PATIENCE,
    }
    with dask.config.set(config):
        if scheduler is not None:
            try:
                client = (
                    distributed.Client(scheduler_file=scheduler)
                    if scheduler.endswith(".json")
                    else distributed.Client(scheduler)
                )
            except (OSError, ValueError, TimeoutError) as error:
                raise InputError(f"no scheduler at {scheduler}; start one with: dask scheduler") from error
            with client:
                yield DaskEngine(client)
            return
        processes = distributed.LocalCluster(
            n_workers=local or 1,
            threads_per_worker=1,
            # No limit by Dask: tasks bound their memory themselves.
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
        with processes, distributed.Client(processes) as client:
            yield DaskEngine(client)
