"""What a source holds, read as its format wants it: line by line, or as a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers import text
from sentgen.corpus.readers._columns import in_documents
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import LineReader
from sentgen.errors import Rejection

Item = Sentence | Rejection | RawText


def read_items(reader: Reader, lines: LineReader) -> Iterator[Item]:
    """Yield what a source holds; raw text stays raw, for a parser with a tokenizer of its own."""
    name = lines.source.name
    if reader.read_file is None:
        yield from (reader.read_raw or reader.read)(iter(lines), path=name)
        return
    with lines.file() as file:
        yield from reader.read_file(file, path=name)


def read_source(reader: Reader, lines: LineReader) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a source."""
    if reader.read_file is None:
        return reader.read(iter(lines), path=lines.source.name)
    return in_documents((item, _tokenised(item, reader, lines)) for item in read_items(reader, lines))


def _tokenised(item: Item, reader: Reader, lines: LineReader) -> Iterable[Sentence | Rejection]:
    if not isinstance(item, RawText):
        return (item,)
    return text.tokenised(item, path=lines.source.name, limits=lines.limits, language=reader.language)
