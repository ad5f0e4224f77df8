"""What a reader is: a format, how it is told from others, how it is read, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from sentgen.corpus.sentence import RawText, Sentence
from sentgen.errors import Rejection


class Read(Protocol):
    """What a reader does: lines in, sentences and rejections out."""

    def __call__(self, lines: Iterator[str], *, path: str) -> Iterator[Sentence | Rejection]: ...


class ReadRaw(Protocol):
    """The same where raw text stays raw, for a parser with a tokenizer of its own."""

    def __call__(self, lines: Iterator[str], *, path: str) -> Iterator[Sentence | Rejection | RawText]: ...


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: ``version`` changes when its output does; ``extensions`` are those that mean this format.

    ``fits`` says of the first lines, none of them blank, whether they are in the format.
    A format that may hold raw text has ``read_raw`` too. What a parser adds to one of ``trees`` does not make
    another source of it. No bag of words can be mistaken for a ``distinct`` one.
    """

    name: str
    version: str
    read: Read
    description: str
    extensions: tuple[str, ...] = ()
    fits: Callable[[list[str]], bool] | None = None
    read_raw: ReadRaw | None = None
    trees: bool = False
    distinct: bool = False
