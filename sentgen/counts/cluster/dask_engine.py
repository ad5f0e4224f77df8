"""Tasks on a Dask cluster: the only module that knows Dask."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sentgen.counts.cluster.stages import ClusterTask
from sentgen.errors import InputError, StoreError, spell
from sentgen.extras import needs

#: How often the worker of a task may die before the task is to blame.
_DEATHS = 10
#: Seconds to look for a scheduler, and to wait for one that was lost.
_PATIENCE = "20s"
_AGAIN = "run the command again, and it goes on where it was"


class DaskEngine:
    """Runs tasks on the workers of a client of Dask."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def workers(self) -> int:
        """How many workers there are now."""
        return len(self._client.nthreads())

    @property
    def dashboard(self) -> str:
        """The address of the page that shows what the workers do."""
        link = str(self._client.dashboard_link or "")
        return link if not link or find_spec("bokeh") else f"{link} (pages with: pip install bokeh)"

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number of each task and what it returned, as they end."""
        distributed = import_module("distributed")
        lost = (distributed.CancelledError, distributed.comm.CommClosedError, TimeoutError)
        futures: dict[Any, int] = {}
        try:
            for number, task in enumerate(tasks):
                # Not pure: a task that failed is another one when it is tried again.
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
    """Open a cluster: that of a scheduler, or one of processes on this machine.

    Args:
        local: number of processes.
        scheduler: address of a scheduler, such as ``tcp://node1:8786``, or a file that it wrote.

    Raises:
        InputError: Dask is not installed, or there is no scheduler at the address.
    """
    with needs("cluster", "Dask"):
        dask, distributed = import_module("dask"), import_module("distributed")
    # What they say of processes that come and go is told in one line, if at all; each has a level of its own.
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
            # Tasks keep within their memory by themselves, and what is in files needs no copy.
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
        with processes, distributed.Client(processes) as client:
            yield DaskEngine(client)
