"""Where a count runs, and the job script that starts it on Slurm."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sentgen.errors import InputError, spell
from sentgen.options import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Where tasks run; without either, in a process for every core of this machine."""

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
    """What a job script asks Slurm for."""

    workers: Annotated[int, Option("Workers, a core each.", least=1, metavar="N")] = 16
    memory: Annotated[str, Option("Memory of each worker.", metavar="SIZE")] = "2GB"
    time: Annotated[str, Option("Limit of the job, as Slurm reads it.", metavar="TIME")] = "24:00:00"
    partition: Annotated[str | None, Option("Partition of the job.", metavar="NAME")] = None


#: A scheduler and a client on the first node, workers wherever Slurm puts them; all share the lake's folder.
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


def slurm_script(slurm: Slurm, paths: Sequence[str], to: str, corpus: str, size: int) -> str:
    """Return a job script that counts with workers that `srun` starts.

    Args:
        slurm: what it asks for.
        paths: what is counted.
        to: the lake; a local folder.
        corpus: name of the corpus.
        size: bytes of memory of each worker.

    Raises:
        InputError: a value would break out of its line.
    """
    for value in (*paths, to, corpus, slurm.time, slurm.partition or ""):
        if "\n" in value:
            raise InputError("a line feed in a job script; rename it")
    # A quarter more for Slurm: it kills what goes beyond, and the page cache of files may count.
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
        slurm.memory,
    ]
    return _SCRIPT.format(
        name=shlex.quote(f"sentgen-{corpus}"),
        workers=slurm.workers,
        megabytes=megabytes,
        time=slurm.time,
        partition=f"#SBATCH --partition={slurm.partition}\n" if slurm.partition else "",
        scheduler=shlex.quote(f"{to.rstrip('/')}.scheduler"),
        count=shlex.join(count),
    )
