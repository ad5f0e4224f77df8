"""Shards: sources in pieces that workers read, cut between sentences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from sentgen.corpus.encodings import UTF_8, UTF_16_MARKS
from sentgen.corpus.line_blocks import LineBlock, read_blocks
from sentgen.corpus.reader import Reader
from sentgen.corpus.reading import read_source
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import BLOCK_BYTES, LineReader, Source
from sentgen.errors import InputError, Rejection

#: Where a sentence ends, by format. Sources in other formats, encodings, and compressed ones, are not cut.
_ENDS = {"lines": re.compile(rb"\n"), "conllu": re.compile(rb"\n\r?\n"), "conllx": re.compile(rb"\n\r?\n")}
#: Bytes before a block in which the end of a sentence may begin.
_OVERLAP = 2


@dataclass(frozen=True, slots=True)
class SourcePart:
    """Whole sentences of a source: its bytes from ``start`` to ``end``, from its line ``first_line`` on.

    ``end`` is -1 for a source that is read as a whole; ``bytes`` are those after decompression.
    """

    source: int
    name: str
    path: str
    compression: str
    member: str
    start: int
    end: int
    first_line: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Shard:
    """What one task reads."""

    number: int
    format: str
    pieces: tuple[SourcePart, ...]

    @property
    def bytes(self) -> int:
        """Bytes of text."""
        return sum(piece.bytes for piece in self.pieces)

    @classmethod
    def from_json(cls, values: dict[str, object]) -> Shard:
        """Return a shard from what JSON keeps of it."""
        pieces: Iterable[dict[str, object]] = values["pieces"]  # type: ignore[assignment]
        return cls(values["number"], values["format"], tuple(SourcePart(**piece) for piece in pieces))  # type: ignore[arg-type]


def survey(source: Source, form: str, number: int, most: int) -> dict[str, object]:
    """Return the hash of a source, and its pieces of about so many bytes each."""
    end = None if source.compression or source.encoding != UTF_8 else _ENDS.get(form)
    digest, pieces = hashlib.sha256(), list[SourcePart]()
    at = start = 0
    line = first_line = 1
    tail = b""
    whole = SourcePart(number, source.name, source.path, source.compression, source.member, 0, -1, 1, 0)
    for block in source.open().blocks(BLOCK_BYTES):
        digest.update(block)
        if at == 0 and block.startswith(UTF_16_MARKS):
            end = None
        seen = 0
        while end is not None and at + len(block) - start >= most:
            # What ends with the block before is looked for in it, too.
            found = end.search(tail + block, max(0, seen + len(tail) - _OVERLAP, start + most - at))
            if found is None:
                break
            cut = found.end() - len(tail)
            if cut <= seen:
                break
            line += block.count(b"\n", seen, cut)
            stop = at + cut
            pieces.append(replace(whole, start=start, end=stop, first_line=first_line, bytes=stop - start))
            start, first_line, seen = stop, line, cut
        line += block.count(b"\n", seen)
        at += len(block)
        tail = block[-_OVERLAP:]
    if at > start:
        last = replace(whole, start=start, end=at if end else -1, first_line=first_line, bytes=at - start)
        pieces.append(last)
    return {"sha256": digest.hexdigest(), "bytes": at, "pieces": [asdict(piece) for piece in pieces]}


def pack(pieces: Sequence[tuple[str, SourcePart]], most: int) -> list[Shard]:
    """Put pieces of one format that follow each other together, to about so many bytes."""
    shards: list[Shard] = []
    waiting: list[SourcePart] = []
    form = ""

    def close() -> None:
        if waiting:
            shards.append(Shard(len(shards), form, tuple(waiting)))
            waiting.clear()

    for name, piece in pieces:
        if name != form or sum(one.bytes for one in waiting) + piece.bytes > most:
            close()
        form = name
        waiting.append(piece)
    close()
    return shards


class PieceReader(LineReader):
    """The lines of a piece; they are told by their number in the source."""

    def __init__(self, piece: SourcePart, encoding: str = UTF_8) -> None:
        place = (piece.name, piece.path, piece.bytes, piece.compression, piece.member)
        super().__init__(Source(*place, encoding=encoding))
        self.piece, self.lines_read = piece, piece.first_line - 1

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the bytes of the piece."""
        if self.piece.end < 0:
            yield from super().blocks(size)
            return
        left = self.piece.end - self.piece.start
        try:
            with open(self.piece.path, "rb") as file:
                file.seek(self.piece.start)
                while left:
                    block = file.read(min(size, left))
                    if not block:
                        raise InputError("is shorter than it was; run it again", path=self.piece.name)
                    left -= len(block)
                    yield block
        except OSError as error:
            raise InputError(f"cannot read this file: {error.strerror}", path=self.piece.name) from error

    def without_bom(self, block: bytes) -> bytes:
        """Return the first block without its byte order mark, which stands at the beginning of a source."""
        return block if self.piece.start else super().without_bom(block)


def read_piece(
    piece: SourcePart, reader: Reader, encoding: str = UTF_8
) -> Iterator[LineBlock | Sentence | Rejection]:
    """Yield what a piece holds, with the lines of its source."""
    lines = PieceReader(piece, encoding)
    if reader.name == "lines":
        yield from read_blocks(lines)
        return
    for found in read_source(reader, lines):
        yield replace(found, line=found.line + piece.first_line - 1)
