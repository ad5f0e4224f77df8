"""Files that are no store: what they are, said before DuckDB opens them.

DuckDB goes by the content and the name: it looks for an extension for SQLite on the network, and takes CSV,
JSON and Parquet for views of an empty database in memory, into which one can write, and all is lost.
"""

from __future__ import annotations

import codecs
import stat
from pathlib import Path

from sentgen.errors import DamagedError, StoreError
from sentgen.schema.engine import explain

_HEAD = 4096
_STORE = "choose another --db"
_INGEST = "sentgen ingest reads such files into a store, which --db names"
_DESK = "give the store that it belongs to with --db, and the desk with --desk"
#: Where a mark stands, the mark, what has it, and what to do; the first that fits.
_MARKS = (
    (68, b"sgds", "a desk of line sets", _DESK),
    (0, b"SQLite format 3\0", "a SQLite database", _STORE),
    (0, b"PAR1", "a Parquet file", "a lake of such files is named by its folder"),
    (0, b"PK\x03\x04", "a ZIP archive, or a document that is one", _INGEST),
    (257, b"ustar", "a TAR archive", _INGEST),
    (0, b"\x1f\x8b", "a file compressed with gzip", "decompress it if it is a store"),
    (0, b"BZh", "a file compressed with bzip2", "decompress it if it is a store"),
    (0, b"\xfd7zXZ\0", "a file compressed with xz", "decompress it if it is a store"),
    (0, b"\x28\xb5\x2f\xfd", "a file compressed with zstd", "decompress it if it is a store"),
    (0, b"%PDF-", "a PDF", _INGEST),
)


def require_database(path: Path) -> None:
    """Refuse what is there and is no file of DuckDB; an empty one and what cannot be read are left to it.

    Raises:
        StoreError: with what it is, where that can be told.
        DamagedError: it may have been a store.
    """
    try:
        if path.is_dir():
            raise explain(path, IsADirectoryError())
        if not stat.S_ISREG(path.stat().st_mode):
            return
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return
    if not head or head[8:12] == b"DUCK":
        return
    for place, mark, what, cure in _MARKS:
        if head[place:].startswith(mark):
            raise StoreError(f"{path}: {what}, and not a sentgen store; {cure}")
    if _is_text(head):
        raise DamagedError(f"{path}: a text file: not a sentgen store, or damaged; {_INGEST}")
    raise DamagedError(f"{path}: not a sentgen store, or damaged; restore a backup, or choose another --db")


def _is_text(head: bytes) -> bool:
    """Say whether bytes are text of UTF-8, perhaps cut in the middle of a character."""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return False
    return not any(character < " " and character not in "\t\n\r\f\v" for character in text)
