"""Sentences to score: lines of tokens, or raw text that is split as that of a model's corpora was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import select

from sentgen.corpus.reader import ENGLISH
from sentgen.corpus.readers import jsonl, text
from sentgen.corpus.readers.lines import split_tokens
from sentgen.errors import Rejection
from sentgen.models.base.registry import ModelLike
from sentgen.schema import Store
from sentgen.schema.tables.corpus import source
from sentgen.schema.tables.models import model_corpus

#: What the version of a reader says of the language of raw text, if it is not English.
_LANGUAGE = re.compile(r"\d+-([a-z]{2,3})\b")


def words_of(
    store: Store, model: ModelLike, lines: Iterable[str], *, tokenize: bool = False, path: str = "-"
) -> Iterator[Sequence[str]]:
    """Yield the words of sentences, one a line; or of raw text in the language of the model's corpora.

    Args:
        store: where the model lives.
        model: the model.
        lines: the text.
        tokenize: whether it is raw.
        path: what it is called in errors.

    Raises:
        InputError: a sentence of raw text is too long.
    """
    if not tokenize:
        yield from map(split_tokens, lines)
        return
    for found in text.read(lines, path=path, language=_language_of(store, model)):
        if isinstance(found, Rejection):
            raise found.as_error()
        yield found.forms


def _language_of(store: Store, model: ModelLike) -> str:
    """Return the language in which raw text of the model's corpora was read; English if there is none."""
    raw = select(source.c.reader_version).where(
        source.c.format.in_([text.READER.name, jsonl.READER.name]),
        source.c.corpus_id.in_(select(model_corpus.c.corpus_id).where(model_corpus.c.model_id == model.id)),
    )
    with store.connect() as connection:
        versions = connection.execute(raw.distinct()).scalars().all()
    found = {match[1] if (match := _LANGUAGE.match(version)) else ENGLISH for version in versions}
    return found.pop() if len(found) == 1 else ENGLISH
