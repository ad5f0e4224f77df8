"""What the front and a worker say to each other, over two pipes.

A message is a JSON object and a body of bytes: four bytes with the length of the object, eight with that of
the body, then both. Neither side ever unpickles anything.
"""

from __future__ import annotations

import asyncio
import json
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

_LENGTHS = struct.Struct(">IQ")
#: No answer is longer; a worker that says so is broken.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Message:
    """One message, either way."""

    head: dict[str, Any]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a worker is told when it starts, as an object on its command line."""

    kind: str
    store: str
    memory: int
    file: int
    rows: int
    cells: int
    bytes: int
    items: int
    words: int
    parser: str | None = None
    warm_up: bool = False
    align_words: int = 20_000
    align_cells: int = 20_000_000


def pack(message: Message) -> bytes:
    """Return the bytes of a message."""
    # As json.loads decodes bytes: half of a surrogate pair arrives as it is, and is refused there.
    head = json.dumps(message.head, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return _LENGTHS.pack(len(head), len(message.body)) + head + message.body


async def receive(reader: asyncio.StreamReader) -> Message:
    """Read a message in the front.

    Raises:
        asyncio.IncompleteReadError: the worker has gone.
    """
    head, body = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
    # Read as it stands, a wrong length would have the front ask for so much memory.
    if head + body > _MOST_BYTES:
        raise asyncio.IncompleteReadError(b"", None)
    return Message(json.loads(await reader.readexactly(head)), await reader.readexactly(body))


def read(stream: BinaryIO) -> Message | None:
    """Read a message in a worker; None at the end of the stream."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head, body = _LENGTHS.unpack(lengths)
    return Message(json.loads(stream.read(head)), stream.read(body))
