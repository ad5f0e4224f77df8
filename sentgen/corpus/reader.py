"""What a reader is: a format, how it is told from others, how it is read, and what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from sentgen.corpus.sentence import RawText, Sentence
from sentgen.errors import InputError, Rejection

#: The language of raw text for which nothing else is said.
ENGLISH = "en"
#: Two or three letters of ISO 639.
_LANGUAGE = re.compile(r"[a-z]{2,3}")


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

    def of(self, language: str) -> Reader:
        """Return the reader of raw text in a language; a format that has tokens knows none."""
        if self.read_raw is None or language == ENGLISH:
            return self
        # A format with raw text takes its language as well.
        read: Callable[..., Iterator[Sentence | Rejection]] = self.read
        return replace(self, read=partial(read, language=language), version=f"{self.version}-{language}")


def check_language(code: str) -> None:
    """Refuse what is no code of a language.

    Raises:
        InputError: it is not two or three small letters.
    """
    if not _LANGUAGE.fullmatch(code):
        raise InputError(f"no language {code!r}; give a code of ISO 639, such as en, fr, zh or ar")
