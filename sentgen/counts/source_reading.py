"""How a source is read: in which format, and whether as sentences or in blocks of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sentgen.corpus import line_blocks, treebank_blocks
from sentgen.corpus.formats import UnrecognizedError, detect, reader_named
from sentgen.corpus.line_blocks import LineBlock
from sentgen.corpus.parsers import CachedParser, read_parsed
from sentgen.corpus.reader import Reader
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader, Source
from sentgen.corpus.treebank_blocks import TreebankBlock
from sentgen.counts.settings import Settings
from sentgen.errors import Rejection

#: What lies beside a corpus in its folder and is no part of it, unless the user names it.
_ABOUT = re.compile(
    r"(readme|licen[cs]e|copying|copyright|notice|changes|changelog|contributing|authors|citation)(?![a-z])",
    re.IGNORECASE,
)
#: Formats that are read in blocks, and what reads them so.
_BLOCKS: dict[str, Callable[[LineReader], Iterator[LineBlock | TreebankBlock | Sentence | Rejection]]] = {
    "conllu": treebank_blocks.read_blocks,
    "lines": line_blocks.read_blocks,
}


def choose_reader(source: Source, settings: Settings) -> Reader | str:
    """Return the reader of a source, or why it is passed over: it only lies beside a corpus.

    Args:
        source: the source.
        settings: with the name of its format, if it is known, and its language.

    Raises:
        UnrecognizedError: the user named the source, and its format cannot be told.
    """
    if not source.explicit and _ABOUT.match(source.base_name):
        return "is about the corpus, by its name"
    try:
        return reader_named(settings.format or detect(source)).of(settings.language)
    except UnrecognizedError as error:
        if source.explicit:
            raise
        return error.message


def read_source(
    lines: LineReader, reader: Reader, parser: CachedParser | None
) -> Iterator[LineBlock | TreebankBlock | Sentence | Rejection]:
    """Yield the sentences of a source, in blocks where its format is read so, and what is refused."""
    if parser is not None:
        return read_parsed(reader, parser, lines, path=lines.source.name)
    if reader.name in _BLOCKS:
        return _BLOCKS[reader.name](lines)
    return reader.read(iter(lines), path=lines.source.name)
