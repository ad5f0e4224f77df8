"""Files between the stages of a count: written aside and renamed, so that none is ever seen half made."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from sentgen.temporary import aside

#: Compressed, as they cross the network: sorted rows shrink to a third.
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def write_json(path: Path, value: object) -> None:
    """Write a value that JSON knows."""
    with aside(path) as draft:
        draft.write_text(json.dumps(value, sort_keys=True), "utf-8")


def read_json(path: Path) -> Any:
    """Return such a value, or ``None`` if there is no such file."""
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None


def write_batches(
    path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, compressed: bool = True
) -> list[int]:
    """Write batches that are read by their number; return the rows of each."""
    rows = []
    with (
        aside(path) as draft,
        pa.OSFile(str(draft), "wb") as file,
        pa.ipc.new_file(file, schema, options=_OPTIONS if compressed else None) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
            rows.append(batch.num_rows)
    return rows


@contextmanager
def opened(path: Path | str) -> Iterator[pa.RecordBatchFileReader]:
    """Open such a file: a batch is in memory when it is asked for, and not the others."""
    # Not mapped: its pages would count as ours.
    with pa.OSFile(os.fspath(path), "rb") as file:
        yield pa.ipc.open_file(file)


def read_batch(path: Path | str, number: int) -> pa.RecordBatch:
    """Return one batch."""
    with opened(path) as reader:
        return reader.get_batch(number)


def read_batches(path: Path | str, numbers: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield batches, all of them if no numbers are given."""
    with opened(path) as reader:
        for number in range(reader.num_record_batches) if numbers is None else numbers:
            yield reader.get_batch(number)
