"""Add rows to small tables of a lake, such as those of a model that reads counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sentgen.schema.lakes.files import write_file
from sentgen.schema.lakes.layout import Manifest, file_schema, read_manifest, write_manifest
from sentgen.schema.lakes.places import Place


def add(place: Place, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Manifest:
    """Write a file more for each table, then a manifest that names it, and return that.

    Whoever has the lake open goes on with what was there. Of two who add at the same time, one is lost.

    Args:
        place: the lake.
        rows: table to its new rows, which come after those that are there.
    """
    tables = dict(read_manifest(place).tables)
    for name, new in rows.items():
        there = tuple(tables.get(name, ()))
        batches = pa.Table.from_pylist(list(new), file_schema(name)).to_batches()
        tables[name] = (*there, write_file(place, name, len(there), batches))
    manifest = Manifest(tables)
    write_manifest(place, manifest)
    return manifest
