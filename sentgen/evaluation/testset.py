"""Test sets: sentences from any file that the corpus readers read."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from sentgen.corpus.formats import READERS, detect
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import Source, expand
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
    read = 0
    for source in expand([path]):
        for found in _sentences(source, form):
            read += 1
            yield found
    if not read:
        raise InputError("holds no sentence to test with", path=path)


def _sentences(source: Source, form: str | None) -> Iterator[Sentence]:
    if form is not None and form not in READERS:
        raise InputError(f"no format {form!r}; there are: {', '.join(sorted(READERS))}")
    reader = READERS[form or detect(source)]
    for found in reader.read(source.lines(), path=source.name):
        if isinstance(found, Rejection):
            logger.warning("left out: %s", found.as_error())
        else:
            yield found
