"""What commands take that hold their texts as a whole, told before they read them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from sentgen.schema.store import default_memory_limit

#: Bytes of memory for a byte of CoNLL-U: 243 MB for the 28.4 MB of UD English EWT train, read twice.
_PER_BYTE = 9


def tell_size(paths: Iterable[str]) -> None:
    """Say in one line what holding these files takes, if that is more than a quarter of the machine's memory.

    Standard input is not counted, nor what packed files unpack to.
    """
    files = [file for path in map(Path, paths) for file in (path.rglob("*") if path.is_dir() else [path])]
    size = sum(file.stat().st_size for file in files if file.is_file())
    if size * _PER_BYTE > default_memory_limit():
        megabytes, needed = size / 1e6, size * _PER_BYTE / 1e9
        told = f"holds {megabytes:,.0f} MB of text as a whole, in about {needed:.1f} GB of memory"
        print(f"sentgen: {told}", file=sys.stderr, flush=True)
