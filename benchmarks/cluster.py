"""N tokens counted by two workers into a lake, against the embedded store in the same run."""

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
        most = max(most, _bytes(folder))
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


def _bytes(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def main(tokens: int) -> None:
    text = novels(tokens) if tokens <= _NOVELS else resampled(tokens)
    store, lake = fresh("cluster"), OUT / "cluster.lake"
    shutil.rmtree(lake, ignore_errors=True)
    options = ["--format", "lines", "--memory-limit", LIMIT, "--corpus", "c"]
    embedded = together(
        [SENTGEN, "ingest", str(text), "--db", str(store), *options], store.parent / "nothing"
    )
    counted = together(
        [SENTGEN, "cluster", "count", str(text), "--to", str(lake), "--local", str(WORKERS), *options], lake
    )
    same = _rows(store, lake)
    size = text.stat().st_size
    rows = [
        (
            "embedded store",
            embedded.cpu,
            embedded.wall,
            megabytes(embedded.peak),
            megabytes(store.stat().st_size),
            "",
        ),
        (
            f"lake, {WORKERS} workers",
            counted.cpu,
            counted.wall,
            megabytes(counted.peak),
            megabytes(_bytes(lake)),
            f"{counted.cpu / embedded.cpu:.2f}",
        ),
    ]
    for stage, seconds in re.findall(r"^  (\w+) +([\d.]+)$", counted.output, re.MULTILINE):
        rows.append((f"  {stage}", "", float(seconds), "", "", ""))
    show(
        f"{tokens:,} tokens of plain lines, orders 1 to 5, limit {LIMIT} each",
        ("what", "CPU s", "wall s", "peak MB together", "MB on disk", "CPU ratio"),
        rows,
    )
    print(
        f"bytes for a byte of text: while counting {counted.files / size:.2f}, lake {_bytes(lake) / size:.2f}"
    )
    print(f"n-grams of orders 1 to 5, store and lake: {same}")
    print(f"load when it ended: {os.getloadavg()[0]:.1f}")


def _rows(store: Path, lake: Path) -> str:
    """Return the rows of each order, which have to be as many and to sum to the same."""
    found = []
    with duckdb.connect(str(store), read_only=True) as duck:
        for order in range(1, 6):
            query = "select count(*), sum(count) from {}"
            here = duck.execute(query.format(f"ngram_{order}")).fetchone()
            there = duck.execute(query.format(f"read_parquet('{lake}/ngram_{order}/*.parquet')")).fetchone()
            if here != there:
                sys.exit(f"order {order}: {here} in the store, {there} in the lake")
            found.append(f"{here[0]:,}")
    return " ".join(found)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
