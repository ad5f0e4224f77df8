"""Sentences with trees from any source: its own, or those of a parser."""

from __future__ import annotations

from collections.abc import Iterator

from sentgen.corpus.formats import READERS, detect
from sentgen.corpus.parsers.parser import Parser
from sentgen.corpus.parsers.reading import read_parsed
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import Source, expand
from sentgen.errors import InputError, Rejection


def read_trees(path: str, *, parser: Parser | None = None, form: str | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a file, folder, archive or standard input, every one with a tree.

    Args:
        path: anything that `sentgen ingest` takes.
        parser: for sentences without heads.
        form: name of the format; detected if ``None``.

    Raises:
        InputError: a sentence is broken, or has no tree and there is no parser.
    """
    for source in expand([path]):
        yield from source_trees(source, parser=parser, form=form)


def source_trees(
    source: Source, *, parser: Parser | None = None, form: str | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of one source, every one with a tree; see `read_trees`."""
    if form is not None and form not in READERS:
        raise InputError(f"no format {form!r}; there are: {', '.join(sorted(READERS))}")
    reader = READERS[form or detect(source)]
    lines = source.lines()
    if parser is None:
        found = reader.read(lines, path=source.name)
    else:
        found = read_parsed(reader, parser, lines, path=source.name)
    for sentence in found:
        if isinstance(sentence, Rejection):
            raise sentence.as_error()
        if sentence.heads is None:
            raise InputError(
                "no tree here; give --parser, such as udpipe:FILE", path=source.name, line=sentence.line
            )
        yield sentence
