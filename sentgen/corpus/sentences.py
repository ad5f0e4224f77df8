"""The sentences of sources in any format, with a parser or without."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

from sentgen.corpus.formats import (
    MARKUP_WARNING,
    check_format,
    detect,
    reader_named,
    takes_tags_for_words,
)
from sentgen.corpus.parsers.parser import Parser
from sentgen.corpus.parsers.reading import read_parsed
from sentgen.corpus.paths import expand
from sentgen.corpus.reading import read_items, read_source
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import Source
from sentgen.errors import InputError, Rejection

logger = logging.getLogger(__name__)


def sentences_of(
    sources: Iterable[Source],
    *,
    form: str | None = None,
    parser: Parser | None = None,
    trees: bool = False,
    treeless: Callable[[InputError], None] | None = None,
    rejected: Callable[[Rejection], None] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of sources, as `sentgen ingest` reads them.

    Args:
        sources: see `sentgen.corpus.sources.expand`.
        form: name of the format; detected if ``None``.
        parser: for sentences without heads.
        trees: refuse sentences that have no heads, and get none.
        treeless: told of every such sentence, which is then yielded; without it, the first one is an error.
        rejected: told of every sentence that fails a check; without it, the first one is an error.

    Raises:
        InputError: there is no such format, a source cannot be read, or a sentence is broken.
        PluginError: the format is that of a plug-in, which fails.
    """
    check_format(form)
    for source in sources:
        reader = reader_named(form or detect(source))
        if takes_tags_for_words(reader, source):
            logger.warning("warning: %s: %s", source.name, MARKUP_WARNING)
        lines = source.open()
        if parser is None:
            results = read_source(reader, lines)
        else:
            results = read_parsed(read_items(reader, lines), parser, path=source.name)
        for result in results:
            if isinstance(result, Rejection):
                if rejected is None:
                    raise result.as_error()
                rejected(result)
            elif trees and result.heads is None:
                message = "no tree here; give CoNLL-U with trees, or --parser, such as udpipe:FILE"
                error = InputError(message, path=source.name, line=result.line)
                if treeless is None:
                    raise error
                treeless(error)
                yield result
            else:
                yield result


def read_trees(
    path: str,
    *,
    parser: Parser | None = None,
    form: str | None = None,
    treeless: Callable[[InputError], None] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a file, folder, archive or standard input, every one with a tree.

    ``treeless`` is told of those without one, which are yielded then, as by `sentences_of`.
    """
    yield from sentences_of(expand([path]), form=form, parser=parser, trees=True, treeless=treeless)
