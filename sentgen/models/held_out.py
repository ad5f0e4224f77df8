"""Sentences that models are asked about: those of a file in any format, or of a corpus of the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sentgen.corpus.paths import expand
from sentgen.corpus.reading import sentences_of
from sentgen.errors import InputError, ModelError
from sentgen.lookups.question.selection import select_corpora
from sentgen.models.base.registry import ModelInfo
from sentgen.models.stored_text import stored_sentences
from sentgen.schema import Store


def held_out(
    store: Store, models: Sequence[ModelInfo], *, file: str | None, corpus: str | None, form: str | None
) -> Iterator[Sequence[str]]:
    """Yield the words of each sentence of a file or a corpus.

    Raises:
        InputError: there is no such file, or it holds no sentence.
        NotFoundError: there is no such corpus.
        ModelError: the models have brackets or symbols, which text has not.
    """
    for model in models:
        if model.brackets or not model.symbols.are_words:
            kind = f"over {model.symbols.over}" if not model.brackets else "with brackets"
            raise ModelError(f"{model.label} is a model {kind}, which no text has; take models over words")
    found = _of_corpus(store, corpus) if corpus else _of_file(str(file), form)
    none = True
    for forms in found:
        none = False
        yield forms
    if none:
        raise InputError("holds no sentence", path=corpus or str(file))


def _of_file(path: str, form: str | None) -> Iterator[Sequence[str]]:
    return (one.forms for one in sentences_of(expand([path]), form=form))


def _of_corpus(store: Store, name: str) -> Iterator[Sequence[str]]:
    with store.connect() as connection:
        chosen = select_corpora(connection, [name], sentences=True)
    return (words for _, words in stored_sentences(store, chosen))


def _name_of(file: str | None, corpus: str | None) -> str:
    """Return what a text is called."""
    return corpus or Path(str(file)).name


def of_training(models: Sequence[ModelInfo], corpus: str | None) -> list[str]:
    """Return the models that were built from all of a corpus."""
    return [model.label for model in models if corpus in model.corpora and not model.condition]
