"""Snapshots of some corpora alone, made of what is published, for those who may see no others."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Collection

from sentgen import temporary
from sentgen.errors import StoreError
from sentgen.schema.manifests import Snapshot, newest


class Excerpts:
    """Makes the snapshot of some corpora of each snapshot; the process that speaks HTTP opens neither."""

    def __init__(self, corpora: Collection[str]) -> None:
        self._corpora = sorted(corpora)
        self._folder = temporary.folder_of_process("sentgen-excerpt-")

    async def of(self, snapshot: Snapshot) -> Snapshot:
        """Return the excerpt of a snapshot.

        Raises:
            StoreError: it cannot be made.
        """
        names = snapshot.named(self._corpora)
        if not names:
            raise StoreError(f"{snapshot.name} has none of: {', '.join(self._corpora)}")
        folder = self._folder / "snapshots"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "sentgen", "publish", "--keep", "2"),
            *("--db", snapshot.path.resolve(), "--to", folder),
            *(f"--corpus={name}" for name in names),
            stdout=PIPE,
            stderr=PIPE,
        )
        _, errors = await process.communicate()
        if process.returncode:
            raise StoreError(errors.decode("utf-8", "replace").strip())
        return await asyncio.to_thread(newest, folder)

    def remove(self) -> None:
        """Remove what was made."""
        temporary.remove_held(str(self._folder))
