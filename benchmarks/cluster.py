"""N tokens counted by two workers into a lake, against the embedded store in the same run.

With ``--lake`` the store is left out: for a billion tokens. Interrupted, it goes on where it was when it is
started again; with more than 60 GB on the disk it stops.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from harness import OUT, SENTGEN, fresh, megabytes, novels, resampled, show

WORKERS, LIMIT = 2, "2GB"
#: Bytes of a lake and of what lies between that no run may exceed.
_DISK = 60 * 10**9
#: The novels have 14 million tokens; more are made of their sentences.
_NOVELS = 10_000_000


@dataclass(frozen=True)
class Together:
    """What a command took with all processes that it started; memory is their peak sum, shared pages once."""

    cpu: float
    wall: float
    peak: int
    files: int
    output: str


def together(command: Sequence[str], folder: Path) -> Together:
    """Run a command, and look at its processes and at the bytes in a folder ten times a second."""
    began, peak, most = time.monotonic(), 0, 0
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        peak = max(peak, sum(_memory(process) for process in _family(child.pid)))
        most = max(most, bytes_of(folder))
        if most > _DISK:
            child.kill()
            sys.exit(f"more than {_DISK:,} bytes in {folder}")
        time.sleep(0.1)
    assert child.stdout is not None
    output = child.stdout.read()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    # Workers are waited for, so that their time is in that of the client.
    return Together(used.ru_utime + used.ru_stime, time.monotonic() - began, peak, most, output)


def _family(process: int) -> Iterator[int]:
    yield process
    for found in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(child) for child in found.read_text().split()]
        except OSError:
            continue
        for child in children:
            yield from _family(child)


def _memory(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def bytes_of(folder: Path) -> int:
    """Return the bytes of the files below a folder."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def main(tokens: int, *, lake_only: bool) -> None:
    text = novels(tokens) if tokens <= _NOVELS else resampled(tokens)
    lake = OUT / f"cluster-{tokens}.lake"
    options = ["--format", "lines", "--memory-limit", LIMIT, "--corpus", "c"]
    rows: list[tuple[object, ...]] = []
    if not lake_only:
        shutil.rmtree(lake, ignore_errors=True)
        store = fresh("cluster")
        command = [SENTGEN, "ingest", str(text), "--db", str(store), *options]
        embedded = together(command, store.parent / "nothing")
        rows.append(_row("embedded store", embedded, store.stat().st_size, ""))
    counted = together(
        [SENTGEN, "cluster", "count", str(text), "--to", str(lake), "--local", str(WORKERS), *options], lake
    )
    ratio = "" if lake_only else f"{counted.cpu / embedded.cpu:.2f}"
    rows.append(_row(f"lake, {WORKERS} workers", counted, bytes_of(lake), ratio))
    for stage, seconds in re.findall(r"^  (\w+) +([\d.]+)$", counted.output, re.MULTILINE):
        rows.append((f"  {stage}", "", float(seconds), "", "", ""))
    show(
        f"{tokens:,} tokens of plain lines, orders 1 to 5, limit {LIMIT} each",
        ("what", "CPU s", "wall s", "peak MB together", "MB on disk", "CPU ratio"),
        rows,
    )
    size = text.stat().st_size
    print(
        f"bytes for a byte of text: while counting {counted.files / size:.2f}, lake {bytes_of(lake) / size:.2f}"
    )
    if lake_only:
        print(f"n-grams of orders 1 to 5: {' '.join(f'{rows:,}' for rows, _ in _sums(lake))}")
    else:
        print(f"n-grams of orders 1 to 5, store and lake: {_same(store, lake)}")
    print(f"load when it ended: {os.getloadavg()[0]:.1f}")


def _row(name: str, used: Together, size: int, ratio: str) -> tuple[object, ...]:
    return name, used.cpu, used.wall, megabytes(used.peak), megabytes(size), ratio


def _sums(lake: Path) -> list[tuple[int, int]]:
    """Return the rows and the sum of the counts of each order."""
    query = "select count(*), sum(count)::bigint from read_parquet('{}/ngram_{}/*.parquet')"
    with duckdb.connect() as duck:
        return [duck.execute(query.format(lake, order)).fetchall()[0] for order in range(1, 6)]


def _same(store: Path, lake: Path) -> str:
    """Return the rows of each order, which have to be as many and to sum to the same."""
    found = []
    with duckdb.connect(str(store), read_only=True) as duck:
        for order, there in enumerate(_sums(lake), 1):
            here = duck.execute(f"select count(*), sum(count)::bigint from ngram_{order}").fetchone()
            if here != there:
                sys.exit(f"order {order}: {here} in the store, {there} in the lake")
            found.append(f"{there[0]:,}")
    return " ".join(found)


if __name__ == "__main__":
    numbers = [argument for argument in sys.argv[1:] if argument.isdigit()]
    main(int(numbers[0]) if numbers else 1_000_000, lake_only="--lake" in sys.argv)
