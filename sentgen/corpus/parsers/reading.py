"""Read a source of any format through a parser: what has no tree gets one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sentgen.corpus.parsers.parser import Parser
from sentgen.corpus.readers._columns import finished, in_documents
from sentgen.corpus.reading import Item
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.validation import LIMITS, InputLimits
from sentgen.errors import InputError, Rejection

#: Texts and characters that a parser gets at once.
BATCH_TEXTS = 2_000
BATCH_CHARACTERS = 200_000
#: Characters of a sentence that are looked for in its text, to tell its line.
_PREFIX = 50

_COLUMNS = ("lemmas", "upos", "xpos", "feats", "heads", "deprels")


def read_parsed(
    items: Iterable[Item], parser: Parser, *, path: str, limits: InputLimits = LIMITS
) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of what a source holds, with the parser's annotation where it has no heads.

    Raw text is split and tokenized by the parser. Tokens of the source stay as they are, and so do the
    columns that it has; sentences with heads are not parsed. All sentences pass the checks.

    Raises:
        InputError: the parser is `gold` and a sentence has no heads.
    """
    for batch in _batches(items):
        try:
            yield from in_documents(_parsed(batch, parser, path, limits))
        except InputError as error:
            line = next(item.line for item in batch if _needs_parse(item))
            raise InputError(error.message, path=path, line=line) from error


def _batches(found: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in found:
        batch.append(item)
        if isinstance(item, RawText):
            size += len(item.text)
        elif isinstance(item, Sentence):
            size += sum(map(len, item.forms))
        if len(batch) >= BATCH_TEXTS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _needs_parse(item: Item) -> bool:
    return isinstance(item, RawText) or (isinstance(item, Sentence) and item.heads is None)


def _parsed(
    batch: list[Item], parser: Parser, path: str, limits: InputLimits
) -> Iterator[tuple[Item, list[Sentence | Rejection]]]:
    """Yield each item with the sentences that came of it."""
    # The whole batch goes to the parser at once; the items take their results in turn.
    texts = _parsed_texts([item for item in batch if isinstance(item, RawText)], parser)
    trees = parser.parse_tokenized(
        [item.forms for item in batch if isinstance(item, Sentence) and item.heads is None]
    )
    for item in batch:
        if isinstance(item, RawText):
            yield item, [finished(sentence, path, limits) for sentence in next(texts)]
        elif isinstance(item, Sentence) and item.heads is None:
            yield item, [finished(_filled(item, next(trees)), path, limits)]
        else:
            yield item, [item]


def _parsed_texts(raw: list[RawText], parser: Parser) -> Iterator[list[Sentence]]:
    """Yield the sentences of each text, with their lines; a text that is one sentence gets one tree."""
    found = list(parser.parse([text.text for text in raw]))
    split = [text.whole and len(sentences) > 1 for text, sentences in zip(raw, found, strict=True)]
    again = parser.parse_tokenized([_forms(found[i]) for i in range(len(raw)) if split[i]])
    for text, sentences, is_split in zip(raw, found, split, strict=True):
        if is_split:
            sentences = [_as_one(sentences, next(again), text)]
        elif text.whole and not sentences:
            sentences = [Sentence([])]  # for a check to refuse
        offset = 0
        for sentence in sentences:
            # `find` gives -1 where the parser changed the text: the sentence stays where the last one ended.
            offset = max(offset, text.text.find(sentence.text[:_PREFIX], offset))
            sentence.line = text.line_at(offset)
            offset += len(sentence.text)
        yield sentences


def _forms(sentences: list[Sentence]) -> list[str]:
    return [form for sentence in sentences for form in sentence.forms]


def _as_one(sentences: list[Sentence], tree: Sentence, text: RawText) -> Sentence:
    """Return sentences as one that has another tree."""
    spaces = [space for sentence in sentences for space in sentence.space_after or []]
    multiwords = []
    start = 0
    for sentence in sentences:
        multiwords += [(start + first, start + last, form) for first, last, form in sentence.multiwords]
        start += len(sentence.forms)
    return replace(tree, text=text.text, space_after=spaces or None, multiwords=multiwords)


def _filled(sentence: Sentence, parsed: Sentence) -> Sentence:
    """Give a sentence the columns that it does not have."""
    for name in _COLUMNS:
        if getattr(sentence, name) is None:
            setattr(sentence, name, getattr(parsed, name))
    return sentence
