"""Messages between the front and a worker, over two pipes.

A message has a head in JSON and a body: four bytes with the length of the head, eight with that of the body,
then both. Neither side ever unpickles anything.
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
#: Most bytes of an answer; a worker that announces more is broken.
_MOST_BYTES = 1 << 30


class Format(StrEnum):
    """Format of an answer."""

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
    """A request from the front to a worker; the body is the request of the operation, as JSON.

    The address or the name of the client is set only for line sets, where it matters who asks.
    ``citation`` is the citation of the answer, for files in JSON and workbooks.
    """

    operation: str
    body: bytes
    form: Format = Format.JSON
    escape_formulas: bool = False
    citation: str = ""
    client: str = ""


#: The request whether the database of a worker answers.
PING = Call("", b"")


@dataclass(frozen=True, slots=True)
class Reply:
    """A message from a worker, with an HTTP status: an answer, a problem, or its state.

    Attributes:
        status: 102 when the worker has begun a request; before the first one 200, or 503 if it cannot start.
        body: the answer, the problem, or the reason why it cannot start.
        media_type: media type of the body.
        rows: number of rows in the answer.
        truncated: whether there are more rows.
        seconds: duration of the work.
        retire: whether the worker should be replaced, as its memory may be fragmented after it ran short, or
            its database is broken.
        lookups: look-ups in models and trees by kind: how many were found in the cache, and how many fetched.
        snapshot: name of the snapshot that was asked; the front sets it.
        of_labels: whether the answer depends on labels of lines, which change while the snapshot does not.
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
    """Return a dataclass as JSON, with `NaN` and `Infinity` as numbers."""
    return to_json(value, inf_nan_mode="constants")


def decode(text: str | bytes, kind: type[Value]) -> Value:
    """Return the dataclass that was encoded.

    Raises:
        ValueError: the text does not encode this dataclass.
    """
    value: Value = _adapter(kind).validate_json(text)
    return value


# Cached, as to make an adapter takes a millisecond or two.
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
        ConnectionError: the worker has ended, or the message cannot be read.
    """
    try:
        head, body = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
        # Checked first, as the front would allocate as much memory as a wrong length says.
        if head + body > _MOST_BYTES:
            raise ValueError("no answer is as long")
        reply = decode(await reader.readexactly(head), Reply)
        return replace(reply, body=await reader.readexactly(body))
    except (asyncio.IncompleteReadError, ValueError) as error:
        raise ConnectionError("the worker has gone") from error


def read(stream: BinaryIO) -> Call | None:
    """Read a request, in a worker; ``None`` at the end of the stream."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head, body = _LENGTHS.unpack(lengths)
    return replace(decode(stream.read(head), Call), body=stream.read(body))
