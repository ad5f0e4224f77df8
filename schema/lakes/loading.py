"""Make a store of a lake, and compare a lake with what was written."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sentgen.errors import DamagedError
from sentgen.schema.base import metadata
from sentgen.schema.engine import raw, translated_errors
from sentgen.schema.lakes.layout import LakeFile, Manifest, read_manifest
from sentgen.schema.lakes.opening import rows_of
from sentgen.schema.lakes.places import Place
from sentgen.schema.store import Store


def load(lake: Place, path: Path, *, memory_limit: int | None = None) -> None:
    """Make a new store that holds what a lake holds.

    Raises:
        DamagedError: a file of the lake is not what was written.
        StoreError: the store cannot be written.
    """
    manifest = read_manifest(lake)
    for table in manifest.tables:
        if wrong := changed_files(lake, manifest, table):
            raise DamagedError(
                f"{lake.path(wrong[0].path)}: changed since it was written; "
                "copy the lake again, or make it again"
            )
    # With one thread, rows keep their order (`sentgen.schema.store.one_thread`).
    with (
        Store(path, create=True, memory_limit=memory_limit, threads=1) as store,
        store.connect() as connection,
    ):
        connection.rollback()
        duck = raw(connection)
        if lake.files is not None:
            duck.register_filesystem(lake.files)
        for reserved in ("word", "tag"):  # a transaction each: a key cannot go and come in one
            duck.execute(f"delete from {reserved}")
        for name in metadata.tables:
            duck.execute(f"insert into {name} by name {rows_of(lake, manifest, name)}")
        duck.execute("checkpoint")


def changed_files(lake: Place, manifest: Manifest, table: str) -> list[LakeFile]:
    """Return the files of a table that are not what was written; reads all of them."""
    wrong = []
    for file in manifest.tables.get(table, ()):
        with translated_errors(Path(lake.path(file.path))), lake.open(file.path) as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != file.sha256:  # type: ignore[arg-type]
                wrong.append(file)
    return wrong
