"""`sentgen.open`: a store, a lake or a snapshot."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from sentgen.api.database import Database
from sentgen.api.door import StoreSession, translated
from sentgen.errors import NotFoundError
from sentgen.schema.lakes.places import lake_at
from sentgen.sizes import parse_size


def open(  # as sqlite_utils, gzip and others call it
    path: str | PathLike[str],
    *,
    create: bool = False,
    read_only: bool = False,
    memory_limit: int | str | None = None,
    desk: str | PathLike[str] | None = None,
) -> Database:
    """Open a store.

    A lake, a snapshot and a folder of snapshots, of which the newest is taken, are only read. While nothing
    is written, other processes can read the store, too.

    Args:
        path: the DuckDB file; or a lake: a folder with a manifest, or a URL; or a snapshot.
        create: make a new store if there is none.
        read_only: do not write, so that several processes can have it open.
        memory_limit: for this process, in bytes or such as ``"2GB"``. Default: a quarter of the machine's.
        desk: the file of the line sets. Default: ``study.desk`` beside ``study.duckdb``.

    Raises:
        NotFoundError: there is no store.
        InputError: the options exclude each other, or the limit is no size.
        StoreError: it cannot be opened: in use, damaged, or of another version.
    """
    with translated():
        place = Path(fspath(path))
        memory = parse_size(memory_limit) if isinstance(memory_limit, str) else memory_limit
        if not create and not place.exists() and not lake_at(place):
            make = f"sentgen.open({str(place)!r}, create=True)"
            raise NotFoundError(f"{place}: no store here; make one with: {make}")
        session = StoreSession(place, create=create, read_only=read_only, memory=memory)
        return Database(session, None if desk is None else Path(fspath(desk)))
