"""What a reader is: a format, how it is told from others, how it is read, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from sentgen.corpus.encodings import codec_of
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import LineReader, Source
from sentgen.errors import InputError, Rejection

#: The language of raw text for which nothing else is said.
ENGLISH = "en"


#: What a source holds, in its order.
Item = Sentence | Rejection | RawText


class _Read(Protocol):
    """What a reader does: lines in, sentences and rejections out, and raw text where it has any."""

    def __call__(self, lines: Iterator[str], *, path: str) -> Iterator[Item]: ...


#: The same of a file that is no lines of text: it may be sought in, and is not compressed. It takes
#: ``path`` and its settings by name.
ReadFile = Callable[..., Iterator[Item]]


def _no_lines(lines: Iterator[str], *, path: str, **settings: object) -> Iterator[Item]:
    """Refuse lines: the format is read from its file."""
    raise InputError("this format is read from a file of its own; name the file", path=path)


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: ``version`` changes when its output does; ``extensions`` are those that mean this format.

    ``fits`` says of the first lines, none of them blank, whether they are in the format.
    A format that may hold raw text has ``read_raw`` too, which leaves it raw for a parser with a tokenizer of
    its own, and may be the same; or ``read_file`` instead of both.
    ``begins`` are first bytes that no other format has.
    ``settings`` are those that its reader takes, by name; ``needed`` is what the command line cannot do
    without, and ``extra`` the extra that it needs.
    In its lines, a carriage return alone is a line end where ``lone_returns`` says so.
    What a parser adds to one of ``trees`` does not make another source of it. No bag of words can be mistaken
    for a ``distinct`` one.
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
    #: That of raw text.
    language: str = ENGLISH

    def with_settings(self, given: Mapping[str, object]) -> Reader:
        """Return the reader with what it takes of some settings, which are part of its version then."""
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
            # What tokenizes its raw text itself takes its language as well.
            read=partial(self.read, **own, **language),
            read_raw=self.read_raw and partial(self.read_raw, **own),
            read_file=self.read_file and partial(self.read_file, **own),
            language=str(given.get("language", ENGLISH)),
        )

    def lines(self, lines: LineReader) -> LineReader:
        """Return the lines of a source as its reader takes them; a form feed is a blank of plain text."""
        lines.lone_returns = self.lone_returns
        lines.controls_are_blanks = self.read_raw is not None
        return lines

    def items(self, lines: LineReader) -> Iterator[Item]:
        """Yield what a source holds; raw text stays raw, for a parser with a tokenizer of its own."""
        name = lines.source.name
        if self.read_file is None:
            yield from (self.read_raw or self.read)(iter(self.lines(lines)), path=name)
            return
        begins = True
        with lines.file() as file:
            for item in self.read_file(file, path=name):
                if begins and not isinstance(item, Rejection):
                    # A file that names no document is one.
                    item, begins = replace(item, document=item.document or lines.source.short_name), False
                yield item

    def digest(self, source: Source) -> str:
        """Return the hash of a source, having refused what its lines may not have before any is read."""
        if self.read_file is not None:
            return source.sha256()
        return self.lines(source.open()).checked_sha256()
