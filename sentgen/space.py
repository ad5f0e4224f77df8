"""Room for large arrays: memory as far as it goes, then the disk."""

from __future__ import annotations

import mmap
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sentgen.system.files import leave_memory, take_room
from sentgen.system.processes import resident_memory


class Space:
    """Room for arrays: memory up to a limit in bytes, then files without names, which go with the process.

    Pages of files stay in memory until the process takes ``most`` bytes.
    """

    def __init__(self, limit: int, folder: Path, *, most: int = 0) -> None:
        self.limit, self.used, self.folder, self.most = limit, 0, folder, most
        self._files: list[mmap.mmap] = []

    def array(self, size: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array of zeros."""
        taken = size * np.dtype(kind).itemsize
        if not taken or self.used + taken <= self.limit:
            self.used += taken
            return np.zeros(size, kind)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            take_room(file.fileno(), taken)  # a full disk is told now, not by a signal later
            self._files.append(mmap.mmap(file.fileno(), taken))
        return np.frombuffer(self._files[-1], kind)

    @property
    def spilled(self) -> bool:
        """Whether there are arrays in files."""
        return bool(self._files)

    def relax(self) -> None:
        """Give pages of files back to the system if there is little memory left; what was written stays."""
        if self._files and resident_memory() >= self.most:
            for file in self._files:
                leave_memory(file)
