"""The write-ahead log of a store: where its last whole transaction ends, and what a crash left behind that.

DuckDB before 2.0 keeps rows of a transaction whose log was cut short by a crash (`duckdb_faults`): large
appends are in the file already, the log only points at them, and replay attaches them before it knows whether
the transaction was committed. Our commits write no log. One is still written where two transactions are open
at once, by DuckDB's own tools, and was by older versions of sentgen; so what follows the last whole
transaction is cut off before DuckDB sees it.

The log begins with a record that names its version. In version 2, each other one is its size, a checksum (8
bytes each, little-endian) and so many bytes that begin with the type. Types 100 and 99 end what came before:
the end of a transaction, and of a checkpoint.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

from sentgen.errors import StoreError
from sentgen.schema.durability.block_journal import alone
from sentgen.schema.durability.duckdb_faults import TORN_LOGS_COME_BACK

_FIRST = b"\x64\x00\x62\x65\x00\x02\xff\xff"  # field 100: type 98, version; field 101: 2; end
_HEADER = struct.Struct("<QQ2sB")  # size, checksum, field 100, type
_TYPE = b"\x64\x00"
_ENDS = (99, 100)

_IN_USE = "in use"
#: Run as a process of its own, which ends with a reason if it cannot.
_CUT = f"""
import os, sys
from sentgen.system.files import open_alone
store, log, length = sys.argv[1], sys.argv[2], int(sys.argv[3])
if open_alone(store, writable=True) is None:
    sys.exit("{_IN_USE}")
if not length:
    os.remove(log)
    sys.exit()
with open(log, "rb+") as file:
    file.truncate(length)
    os.fsync(file.fileno())
"""


def log_of(path: Path) -> Path:
    """Return where DuckDB keeps the log of a store."""
    return path.with_name(f"{path.name}.wal")


def whole_length(log: Path) -> int:
    """Return the length up to the end of its last whole transaction, all of it if it is no such log."""
    size = log.stat().st_size
    with log.open("rb") as file:
        first = file.read(len(_FIRST))
        if first != _FIRST:
            return 0 if _FIRST.startswith(first) else size
        return _last_end(file, size)


def _last_end(file: BinaryIO, size: int) -> int:
    place, last = len(_FIRST), 0  # without a whole transaction, DuckDB would keep the log for good
    while place + _HEADER.size <= size:
        file.seek(place)
        length, _, field, kind = _HEADER.unpack(file.read(_HEADER.size))
        # Size and checksum are not part of the size.
        place += 16 + length
        # Another version of the format, or the end is missing: nothing behind can be told.
        if field != _TYPE or place > size:
            break
        if kind in _ENDS:
            last = place
    return last


def drop_torn_tail(path: Path) -> None:
    """Cut off what a crash left of a transaction in the log of a store, unless a process is writing it.

    Raises:
        StoreError: it has to be cut off, but the log cannot be written.
    """
    log = log_of(path)
    if not (TORN_LOGS_COME_BACK and log.exists()):
        return
    length = whole_length(log)
    if length == log.stat().st_size:
        return
    if not (os.access(path, os.W_OK) and os.access(log, os.W_OK)):
        raise StoreError(
            f"{path}: a crash left a transaction half written in {log.name};"
            " open the store once where it can be written, with: sentgen db check"
        )
    reason = alone(_CUT, str(path), str(log), str(length))
    if reason not in ("", _IN_USE):  # if it is in use, DuckDB will say so
        raise StoreError(f"{log}: a transaction that a crash left half written cannot be cut off: {reason}")
