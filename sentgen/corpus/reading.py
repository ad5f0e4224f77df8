"""What a source holds, read as its format wants it: line by line, or as a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers import text
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import LineReader, Source
from sentgen.errors import Rejection

Item = Sentence | Rejection | RawText


def read_items(reader: Reader, lines: LineReader) -> Iterator[Item]:
    """Yield what a source holds; raw text stays raw, for a parser with a tokenizer of its own."""
    name = lines.source.name
    if reader.read_file is None:
        yield from (reader.read_raw or reader.read)(iter(_taken(reader, lines)), path=name)
        return
    begins = True
    with lines.file() as file:
        for item in reader.read_file(file, path=name):
            if begins and not isinstance(item, Rejection):
                # A file that names no document is one.
                item, begins = replace(item, document=item.document or lines.source.short_name), False
            yield item


def read_source(reader: Reader, lines: LineReader) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a source."""
    if reader.read_file is None:
        return reader.read(iter(_taken(reader, lines)), path=lines.source.name)
    return text.in_sentences(
        read_items(reader, lines),
        path=lines.source.name,
        limits=lines.limits,
        language=reader.language,
    )


def digest_of(reader: Reader, source: Source) -> str:
    """Return the hash of a source, having refused what its lines may not have: before any of them is read."""
    if reader.read_file is not None:
        return source.sha256()
    return _taken(reader, source.open()).checked_sha256()


def _taken(reader: Reader, lines: LineReader) -> LineReader:
    """Return the lines of a source as its reader takes them; a form feed is a blank of plain text."""
    lines.lone_returns = reader.lone_returns
    lines.controls_are_blanks = reader.read_raw is not None
    return lines
