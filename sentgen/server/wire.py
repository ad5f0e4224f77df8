"""What the front and a worker say to each other, over two pipes.

A message is its head as JSON and its body: four bytes with the length of the head, eight with that of the
body, then both. Neither side ever unpickles anything.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from pydantic import TypeAdapter
from pydantic_core import to_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")
_LENGTHS = struct.Struct(">IQ")
#: No answer is longer; a worker that says so is broken.
_MOST_BYTES = 1 << 30


class Format(StrEnum):
    """How an answer is written."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    ARROW = "arrow"
    XLSX = "xlsx"


MEDIA_TYPES = {
    Format.JSON: "application/json",
    Format.JSONL: "application/jsonl",
    Format.CSV: "text/csv",
    Format.TSV: "text/tab-separated-values",
    Format.PARQUET: "application/vnd.apache.parquet",
    Format.ARROW: "application/vnd.apache.arrow.stream",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


@dataclass(frozen=True, slots=True)
class Call:
    """What the front asks of a worker; the body is the declaration of what is asked, as JSON.

    The address of the client, or its name, is told where it matters who asks: where there are line sets.
    ``citation`` is what JSON and a workbook are to say of how to cite the answer.
    """

    operation: str
    body: bytes
    form: Format = Format.JSON
    escape_formulas: bool = False
    citation: str = ""
    client: str = ""


#: Asks a worker whether its database answers.
PING = Call("", b"")


@dataclass(frozen=True, slots=True)
class Reply:
    """A message of a worker, with a status of HTTP: an answer, a problem, or its state.

    Attributes:
        status: 102 when it has begun with a request; before the first one 200, or 503 if it cannot start.
        body: body of the answer, of the problem, or of the reason why the worker cannot start.
        media_type: media type of the body.
        rows: number of rows in the answer.
        truncated: whether there are more.
        seconds: seconds of work.
        retire: whether the worker should be replaced: memory that ran short may be left in pieces, and a
            database that broke answers nothing more.
        lookups: numbers of look-ups in models and trees, by kind: those found in the cache, those fetched.
        snapshot: the snapshot that was asked, which the front fills in.
        of_labels: whether labels of lines were looked up, which change while the snapshot does not.
    """

    status: int
    body: bytes = b""
    media_type: str = ""
    rows: int = 0
    truncated: bool = False
    seconds: float = 0.0
    retire: bool = False
    lookups: dict[str, tuple[int, int]] = field(default_factory=dict)
    snapshot: str = ""
    of_labels: bool = False


def encode(value: DataclassInstance) -> bytes:
    """Return a dataclass as JSON, with what Python adds to its numbers."""
    return to_json(value, inf_nan_mode="constants")


def decode(text: str | bytes, kind: type[Value]) -> Value:
    """Return the dataclass that was encoded.

    Raises:
        ValueError: the text is of another dataclass, or of none.
    """
    value: Value = _adapter(kind).validate_json(text)
    return value


# Making one takes a millisecond or two, of which no message should lose any.
_adapter = cache(TypeAdapter[Any])
for _kind in (Call, Reply):
    _adapter(_kind)


def pack(message: Call | Reply) -> bytes:
    """Return the bytes of a message."""
    head = encode(replace(message, body=b""))
    return _LENGTHS.pack(len(head), len(message.body)) + head + message.body


async def receive(reader: asyncio.StreamReader) -> Reply:
    """Read a message of a worker.

    Raises:
        ConnectionError: the worker has gone, or its message cannot be read.
    """
    try:
        head, body = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
        # Unchecked, a wrong length would let the front allocate that much memory.
        if head + body > _MOST_BYTES:
            raise ValueError("no answer is as long")
        reply = decode(await reader.readexactly(head), Reply)
        return replace(reply, body=await reader.readexactly(body))
    except (asyncio.IncompleteReadError, ValueError) as error:
        raise ConnectionError("the worker has gone") from error


def read(stream: BinaryIO) -> Call | None:
    """Read a call in a worker; None at the end of the stream."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head, body = _LENGTHS.unpack(lengths)
    return replace(decode(stream.read(head), Call), body=stream.read(body))
