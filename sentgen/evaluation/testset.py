"""Test sets: sentences from any file that the corpus readers read."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from sentgen.corpus.paths import expand
from sentgen.corpus.reading import sentences_of
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, Rejection

logger = logging.getLogger(__name__)


def read_test_set(path: str, *, form: str | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a file, folder or archive; what a check refuses is logged and left out.

    Args:
        path: anything that `sentgen ingest` takes.
        form: name of the format; detected if ``None``.

    Raises:
        InputError: there is no such file, its format cannot be told, or it holds no sentence.
    """
    # A flag, since the sentences are not held.
    none = True
    for sentence in sentences_of(expand([path]), form=form, rejected=_warn):
        none = False
        yield sentence
    if none:
        raise InputError("holds no sentence to test with", path=path)


def _warn(rejection: Rejection) -> None:
    logger.warning("left out: %s", rejection.as_error())
