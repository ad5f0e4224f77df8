"""Declarations of readers: the name of a format, its detection, its settings, and its reading function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from sentgen.corpus.encodings import codec_of
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import LineReader, Source
from sentgen.errors import InputError, Rejection

#: The default language of raw text.
ENGLISH = "en"


#: The items of a source, in its order.
Item = Sentence | Rejection | RawText


class _Read(Protocol):
    """A function that reads lines, and yields sentences, rejections and raw texts."""

    def __call__(self, lines: Iterator[str], *, path: str) -> Iterator[Item]: ...


#: The same for a file that does not consist of lines: it is seekable and not compressed. ``path`` and the
#: settings are passed by name.
ReadFile = Callable[..., Iterator[Item]]


def _no_lines(lines: Iterator[str], *, path: str, **settings: object) -> Iterator[Item]:
    """Refuse lines: the format is read from its file."""
    raise InputError("this format is read from a file of its own; name the file", path=path)


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: ``version`` changes when its output does; ``extensions`` are those that identify the format.

    ``fits`` returns whether the first lines, none of them blank, are in the format.
    A format that may have raw text also has ``read_raw``, which does not tokenize it, for a parser with its
    own tokenizer, and may be the same function; or ``read_file`` instead of both.
    ``begins`` are first bytes that no other format has.
    ``settings`` are the settings of its reader, by name; ``needed`` are options that the command line
    requires, and ``extra`` is the extra of the package that must be installed.
    With ``lone_returns``, a carriage return alone is a line end.
    With ``trees``, a source is the same with or without a parser. A file in a ``distinct`` format cannot be
    mistaken for bags of words.
    """

    name: str
    version: str
    read: _Read = _no_lines
    description: str = ""
    extensions: tuple[str, ...] = ()
    fits: Callable[[list[str]], bool] | None = None
    read_raw: _Read | None = None
    trees: bool = False
    distinct: bool = False
    read_file: ReadFile | None = None
    begins: tuple[bytes, ...] = ()
    settings: tuple[str, ...] = ()
    needed: str = ""
    extra: str = ""
    lone_returns: bool = False
    #: The language of raw text.
    language: str = ENGLISH

    def with_settings(self, given: Mapping[str, object]) -> Reader:
        """Return the reader with those of some settings that it has; they become a part of its version."""
        raw = self.read_raw is not None or self.read_file is not None
        takes = {*self.settings, "encoding", *(["language"] if raw else [])}
        settings = sorted((name, value) for name, value in given.items() if name in takes)
        # By what a name means, which has changed for some.
        settings = [(name, codec_of(str(value)) if name == "encoding" else value) for name, value in settings]
        if not settings:
            return self
        own: dict[str, Any] = {name: value for name, value in settings if name in self.settings}
        tokenizes = self.read_raw is not None and self.read_raw is not self.read
        language: dict[str, Any] = {
            name: value for name, value in settings if name == "language" and tokenizes
        }
        return replace(
            self,
            version=self.version
            + "".join(f"-{value}" if name == "language" else f"-{name}={value}" for name, value in settings),
            # Readers that tokenize raw text themselves get the language as well.
            read=partial(self.read, **own, **language),
            read_raw=self.read_raw and partial(self.read_raw, **own),
            read_file=self.read_file and partial(self.read_file, **own),
            language=str(given.get("language", ENGLISH)),
        )

    def lines(self, lines: LineReader) -> LineReader:
        """Return the lines of a source for its reader; in plain text, a form feed is a blank."""
        lines.lone_returns = self.lone_returns
        lines.controls_are_blanks = self.read_raw is not None
        return lines

    def items(self, lines: LineReader) -> Iterator[Item]:
        """Yield the items of a source; raw text is not tokenized, for a parser with its own tokenizer."""
        name = lines.source.name
        if self.read_file is None:
            yield from (self.read_raw or self.read)(iter(self.lines(lines)), path=name)
            return
        begins = True
        with lines.file() as file:
            for item in self.read_file(file, path=name):
                if begins and not isinstance(item, Rejection):
                    # A file that names no document is one document.
                    item, begins = replace(item, document=item.document or lines.source.short_name), False
                yield item

    def digest(self, source: Source) -> str:
        """Return the hash of a source; invalid lines are refused before any sentence is read."""
        if self.read_file is not None:
            return source.sha256()
        return self.lines(source.open()).checked_sha256()
