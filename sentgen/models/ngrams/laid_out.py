"""Models laid out for look-ups by n-gram: in memory, or beside the store in files where they are larger.

What a text asks for lies all over a model in the store: all that shares an anchor with it has to be read, for
a hundred sentences most of it. So a model that is asked much is laid out, once. A file has all that scoring
asks for, is mapped by whoever opens the store after that, and goes with the model; nothing is lost with it.
"""

from __future__ import annotations

import logging
import mmap
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import duckdb
import numpy as np

from sentgen.arrays import Ints, Longs
from sentgen.errors import StoreError
from sentgen.models.base.registry import DYNAMIC, STUPID_BACKOFF, ModelLike, laid_out_file
from sentgen.models.ngrams.ngram_cache import NGRAM, stored_ngrams
from sentgen.models.ngrams.ngram_records import (
    MOST_WORDS,
    WIDTH,
    ModelWords,
    NgramRecords,
    put,
    records_for,
    records_of_words,
    vocabulary_of,
)
from sentgen.schema import Store, folders
from sentgen.schema.connections import cursor
from sentgen.schema.engine import arrow_reader, one_number
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import RESERVED_WORDS, UNK
from sentgen.system import files

logger = logging.getLogger(__name__)

#: What a file begins with: its version, which is another number in the other order of bytes.
_FORMAT = 1
#: N-grams that a token of a text may ask for: a text that asks for as many as the model has is large.
_NGRAMS_A_TOKEN = 150
#: Bytes up to which a model is laid out in memory, in a second or less.
_IN_MEMORY = 32 * 2**20
#: Share of the free disk that a file may take.
_OF_DISK = 0.25
_ROWS = 60_000
_COUNT = "select count(*) from model_ngram where model_id = ?"
_SIZES = "select count(*) filter (n > 1), coalesce(max(anchor), 0) from model_ngram where model_id = ?"
_WORDS = """
select form, min(id)
from word
group by form
having min(id) in (select w1 from model_ngram where model_id = ? and n = 1)"""
_NGRAMS = f"select {NGRAM} from model_ngram where model_id = ?"


@dataclass(frozen=True, slots=True, eq=False)
class _LaidOut:
    """A model that is laid out."""

    records: NgramRecords
    vocabulary: ModelWords

    def known(self, forms: Sequence[str]) -> Ints:
        """Return the id of each form, that of <unk> where the model has no unigram."""
        return self.vocabulary.numbers(forms)

    def ids(self, forms: Sequence[str]) -> dict[str, int]:
        """Return the ids of the forms of which it has unigrams."""
        known = self.known(forms).tolist()
        return {form: number for form, number in zip(forms, known, strict=True) if number != UNK}


class _Plan(NamedTuple):
    """How large the parts of a model are: words, bytes of these, records of unigrams and all records."""

    words: int
    pool: int
    unigrams: int
    records: int

    @property
    def begin(self) -> int:
        """Return where the records begin, at a line of memory."""
        return -(-(8 * (2 + len(self) + self.words) + 4 * self.words + self.pool) // 64) * 64

    @property
    def size(self) -> int:
        return self.begin + self.records * WIDTH

    @property
    def head(self) -> Longs:
        """Return what a file of these sizes begins with."""
        return np.array([_FORMAT, *self], np.int64)

    def views(self, buffer: Any) -> _LaidOut:
        """Return a model as it lies in memory, or in a mapped file."""
        ends = self.head.nbytes
        ids = ends + 8 * (self.words + 1)
        vocabulary = ModelWords(
            np.frombuffer(buffer, np.uint8, self.pool, ids + 4 * self.words),
            np.frombuffer(buffer, np.int64, self.words + 1, ends),
            np.frombuffer(buffer, np.int32, self.words, ids),
        )
        cells = 4 * self.records
        return _LaidOut(
            NgramRecords(
                np.frombuffer(buffer, np.uint64, cells, self.begin).reshape(-1, 4),
                np.frombuffer(buffer, np.float64, cells, self.begin).reshape(-1, 4),
                self.unigrams,
            ),
            vocabulary,
        )


class ModelUse:
    """What was asked of a model since its store was opened; and the model, once it is laid out.

    Args:
        store: where the model lives.
        model: the model, which never changes.
    """

    def __init__(self, store: Store, model: ModelLike) -> None:
        self._path, self._room = laid_out_file(store, model), store.memory_limit
        self._read, self._ngrams = 0, -1
        # The others have no n-grams of their own.
        self._may_be = model.smoothing not in (STUPID_BACKOFF, DYNAMIC)
        self.laid_out = _mapped(self._path, self._room) if self._may_be else None

    def has_read(self, ngrams: int) -> None:
        """Note how many n-grams were read, for want of a model that is laid out."""
        self._read += ngrams

    def expect(self, store: Store, model: ModelLike, tokens: int = 0, *, least: int = 0) -> None:
        """Lay the model out if that is worth it.

        Args:
            store, model: as above.
            tokens: of a text that is to be looked up.
            least: n-grams that are read before it is worth it, however few the model has.
        """
        wanted = self._read + tokens * _NGRAMS_A_TOKEN
        if self.laid_out or not self._may_be or wanted <= least:
            return
        with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
            if self._ngrams < 0:
                self._ngrams = one_number(duck, _COUNT, [model.id])
            if wanted >= self._ngrams:
                self._may_be = False  # once, whatever comes of it
                # Another process may have done it meanwhile.
                self.laid_out = _mapped(self._path, self._room) or self._lay_out(duck, model)

    def _lay_out(self, duck: duckdb.DuckDBPyConnection, model: ModelLike) -> _LaidOut | None:
        words = duck.execute(_WORDS, [model.id]).fetchall()
        vocabulary = vocabulary_of([row for row in words if row[0] not in RESERVED_WORDS])
        longer, greatest = duck.execute(_SIZES, [model.id]).fetchall()[0]
        sizes = records_of_words(greatest), records_for(greatest, longer)
        plan = _Plan(len(vocabulary.ids), len(vocabulary.pool), *sizes)
        if plan.size > self._room or greatest > MOST_WORDS:
            return None
        if plan.size <= _IN_MEMORY or not self._path:
            memory = np.zeros(plan.size, np.uint8)
            _write(duck, model, plan.views(memory), vocabulary)
            memory.flags.writeable = False  # as what is mapped: kernels are compiled for one of both
            return plan.views(memory)
        label = f"{model.name}@{model.version}"
        try:
            return _write_file(
                self._path, plan, label, lambda laid_out: _write(duck, model, laid_out, vocabulary)
            )
        except (OSError, StoreError) as error:  # no room, no right, or something in the way
            logger.warning("%s is not laid out for look-ups, but read as before: %s", label, error)
            return None


# Weak: a closed store that nobody has any more takes along what was asked of it.
_uses: WeakKeyDictionary[Store, dict[tuple[int, int], ModelUse]] = WeakKeyDictionary()


def use_of(store: Store, model: ModelLike) -> ModelUse:
    """Return what was asked of a model of an open store."""
    models = _uses.setdefault(store, {})
    key = model.id, model.version
    return models.get(key) or models.setdefault(key, ModelUse(store, model))


def _mapped(path: Path | None, most: int) -> _LaidOut | None:
    """Return the model that is laid out in a file, if it is there whole and may be mapped."""
    if path is None:
        return None
    with suppress(OSError, ValueError), path.open("rb") as file:
        if os.fstat(file.fileno()).st_size <= most:
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            version, *sizes = np.frombuffer(mapping, np.int64, 1 + len(_Plan._fields)).tolist()
            plan = _Plan(*sizes)
            if version == _FORMAT and plan.size == len(mapping):
                return plan.views(mapping)
    return None


def _write_file(path: Path, plan: _Plan, label: str, write: Callable[[_LaidOut], None]) -> _LaidOut | None:
    folders.make(path.parent, lasting=True)
    size = f"{plan.size >> 20:,} MB in {path.parent}"
    if plan.size > shutil.disk_usage(path.parent).free * _OF_DISK:
        raise StoreError(f"{size} are too much of what the disk has left; free space")
    with folders.draft(path.parent) as (file, draft):
        files.lock(file.fileno())  # else it was left by somebody who was killed
        files.take_room(file.fileno(), plan.size)
        logger.warning("%s is laid out for look-ups, once: %s", label, size)
        with mmap.mmap(file.fileno(), plan.size) as mapping:
            mapping[: plan.head.nbytes] = plan.head.tobytes()
            laid_out = plan.views(mapping)
            write(laid_out)
            del laid_out  # what is looked at cannot be unmapped
            mapping.flush()  # before it has its name, for power cuts
        files.replace(draft, path)
    return _mapped(path, plan.size)


def _write(
    duck: duckdb.DuckDBPyConnection, model: ModelLike, laid_out: _LaidOut, vocabulary: ModelWords
) -> None:
    """Write the words and n-grams of a model into an empty place."""
    words = laid_out.vocabulary
    words.pool[:], words.ends[:], words.ids[:] = vocabulary
    laid_out.records.clear()
    for batch in arrow_reader(duck, _NGRAMS, [model.id], rows=_ROWS):
        put(laid_out.records, stored_ngrams(batch))
