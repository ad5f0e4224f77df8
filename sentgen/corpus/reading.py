"""Reads the sentences of sources in any format, and can parse those without a tree.

A source is read line by line or as a file, depending on its format.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import compress
from typing import TypeGuard

from sentgen.corpus.formats import (
    MARKUP_WARNING,
    check_format,
    detect,
    reader_named,
    takes_tags_for_words,
)
from sentgen.corpus.parsers import Parser
from sentgen.corpus.paths import expand
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers import text
from sentgen.corpus.readers._columns import finish_sentence, in_documents
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import LineReader, Source
from sentgen.errors import InputError, Rejection, spell
from sentgen.options import TRAIN


def read_source(reader: Reader, lines: LineReader) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a source."""
    name = lines.source.name
    if reader.read_file is None:
        items = reader.read(iter(reader.lines(lines)), path=name)
    else:
        items = reader.items(lines)
    return text.in_sentences(items, path=name, language=reader.language)


#: Most texts, and characters of these, that a parser gets at once.
_BATCH_TEXTS = 2_000
_BATCH_CHARACTERS = 200_000
#: Number of first characters by which a sentence is found in its text, to know its line.
_PREFIX = 50

_COLUMNS = ("lemmas", "upos", "xpos", "feats", "heads", "deprels")


def read_parsed(items: Iterable[Item], parser: Parser, *, path: str) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of the items of a source, with the parser's annotation where they have no heads.

    Raw text is split and tokenized by the parser. Tokens of the source stay as they are, and so do the
    columns that it has; sentences with heads are not parsed. All sentences pass the checks.

    Raises:
        InputError: the parser is `gold` and a sentence has no heads.
    """
    for batch in _batches(items):
        try:
            yield from in_documents(_parse_batch(batch, parser, path))
        except InputError as error:
            line = next(item.line for item in batch if isinstance(item, RawText) or _lacks_heads(item))
            raise InputError(error.message, path=path, line=line) from error


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        if isinstance(item, RawText):
            size += len(item.text)
        elif isinstance(item, Sentence):
            size += sum(map(len, item.forms))
        if len(batch) >= _BATCH_TEXTS or size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _lacks_heads(item: Item) -> TypeGuard[Sentence]:
    return isinstance(item, Sentence) and item.heads is None


def _parse_batch(
    batch: list[Item], parser: Parser, path: str
) -> Iterator[tuple[Item, list[Sentence | Rejection]]]:
    # The whole batch goes to the parser at once; the items take their results in turn.
    texts = _parse_texts([item for item in batch if isinstance(item, RawText)], parser)
    trees = parser.parse_tokenized([item.forms for item in batch if _lacks_heads(item)])
    for item in batch:
        if isinstance(item, RawText):
            yield item, [finish_sentence(sentence, path) for sentence in next(texts)]
        elif _lacks_heads(item):
            yield item, [finish_sentence(_fill_columns(item, next(trees)), path)]
        else:
            yield item, [item]


def _parse_texts(raw_texts: list[RawText], parser: Parser) -> Iterator[list[Sentence]]:
    """Yield the sentences of each text, with their lines; a text that is one sentence gets one tree."""
    parsed = list(parser.parse([raw_text.text for raw_text in raw_texts]))
    split = [
        raw_text.whole and len(sentences) > 1 for raw_text, sentences in zip(raw_texts, parsed, strict=True)
    ]
    joined = ([form for sentence in sentences for form in sentence.forms] for sentences in parsed)
    again = parser.parse_tokenized(list(compress(joined, split)))
    for raw_text, sentences, is_split in zip(raw_texts, parsed, split, strict=True):
        if is_split:
            sentences = [_as_one(sentences, next(again), raw_text)]
        elif raw_text.whole and not sentences:
            sentences = [Sentence([])]  # which a check refuses
        offset = 0
        for sentence in sentences:
            # `find` returns -1 if the parser changed the text: then the offset is that of the last sentence.
            offset = max(offset, raw_text.text.find(sentence.text[:_PREFIX], offset))
            sentence.line = raw_text.line_at(offset)
            offset += len(sentence.text)
        yield sentences


def _as_one(sentences: list[Sentence], tree: Sentence, text: RawText) -> Sentence:
    """Join the sentences of a text to one, with the columns and the tree of ``tree``."""
    spaces = [space for sentence in sentences for space in sentence.space_after or []]
    multiwords = []
    start = 0
    for sentence in sentences:
        multiwords += [(start + first, start + last, form) for first, last, form in sentence.multiwords]
        start += len(sentence.forms)
    return replace(tree, text=text.text, space_after=spaces or None, multiwords=multiwords)


def _fill_columns(sentence: Sentence, parsed: Sentence) -> Sentence:
    for name in _COLUMNS:
        if getattr(sentence, name) is None:
            setattr(sentence, name, getattr(parsed, name))
    return sentence


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
        sources: see `sentgen.corpus.paths.expand`.
        form: name of the format; detected if ``None``.
        parser: the parser for sentences without heads.
        trees: refuse sentences that have no heads, and get none from a parser.
        treeless: called with an error for every such sentence, which is then yielded; without it, the first
            such sentence raises the error.
        rejected: called for every sentence that fails a check; without it, the first one raises an error.

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
            results = read_parsed(reader.items(lines), parser, path=source.name)
        for result in results:
            if isinstance(result, Rejection):
                if rejected is None:
                    raise result.as_error()
                rejected(result)
                continue
            if trees and result.heads is None:
                message = f"no tree here; give CoNLL-U with trees, or {spell('parser')} PARSER ({TRAIN})"
                error = InputError(message, path=source.name, line=result.line)
                if treeless is None:
                    raise error
                treeless(error)
            yield result


def read_trees(
    path: str,
    *,
    parser: Parser | None = None,
    form: str | None = None,
    treeless: Callable[[InputError], None] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a file, folder, archive or standard input, every one with a tree.

    ``treeless`` is called for sentences without a tree, which are then yielded, as in `sentences_of`.
    """
    yield from sentences_of(expand([path]), form=form, parser=parser, trees=True, treeless=treeless)
