"""Models laid out for look-ups by n-gram: in memory, or beside the store in files where they are larger.

The n-grams of a text are spread over a model in the store: all rows with the same anchors have to be read,
which for a hundred sentences is most of the model. So a model that is queried often is laid out once. The
file has all n-grams and words that scoring needs, is mapped by each process that opens the store afterwards,
and is removed with the model; it can always be made again.

N-grams are records of 32 bytes, found by their words, and words are found by their letters. A record has the
words of its n-gram, five of 25 bits, its log-probability and its back-off weight. The first records are the
unigrams, each at the id of its word. They are followed by the longer n-grams in an ordered open-addressing
hash table: between the home of an n-gram and its own record there are only greater n-grams (Amble and Knuth
1974), so that the search for a missing one stops at the first smaller n-gram. Records do not refer to each
other: they can be written in any order, and mapped from a file.

For a bag, each n-gram is extended by each word of the bag, since a few words have few n-grams.
"""

from __future__ import annotations

import logging
import mmap
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import duckdb
import numpy as np

from sentgen.arrays import Bits, Bytes, Floats, Ints, Longs, compiled
from sentgen.errors import StoreError
from sentgen.models.base.registry import DYNAMIC, STUPID_BACKOFF, ModelInfo, laid_out_file
from sentgen.models.ngrams.ngram_cache import NGRAM, CachedNgrams, StoredNgrams
from sentgen.models.ngrams.ngram_table import MISSING_UNK, NEVER
from sentgen.schema import Store, folders
from sentgen.schema.connections import cursor
from sentgen.schema.engine import arrow_reader, one_number
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS, UNK
from sentgen.system import files

logger = logging.getLogger(__name__)

#: The first number of a file: its version, which reads as another number in the other byte order.
_FORMAT = 1
#: N-grams that are looked up for a token of a text, about; a text that needs as many as the model has is
#: large.
_NGRAMS_A_TOKEN = 150
#: A model of at most this many bytes is laid out in memory, in a second or less.
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

#: Bytes of a record.
_WIDTH = 32
#: Word ids are smaller than this, so that five of them fit into a record.
MOST_WORDS = (1 << 25) - 1
#: Records of the hash table for each n-gram in it.
_RECORDS_PER_NGRAM = 1.5
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0xD6E8FEB86659FD93))
#: N-grams whose records are prefetched before the first is read, since memory serves many requests at once.
_AHEAD = 64


@dataclass(frozen=True, slots=True, eq=False)
class _LaidOut:
    """A laid-out model: its words and n-grams."""

    records: _NgramRecords
    vocabulary: _ModelWords

    def known(self, forms: Sequence[str]) -> Ints:
        """Return the id of each form, that of <unk> where the model has no unigram."""
        return self.vocabulary.numbers(forms)

    def ids(self, forms: Sequence[str]) -> dict[str, int]:
        """Return the ids of those forms that have unigrams."""
        known = self.known(forms).tolist()
        return {form: number for form, number in zip(forms, known, strict=True) if number != UNK}


class _Plan(NamedTuple):
    """The sizes of the parts of a model: words, bytes of the words, records of unigrams, and all records."""

    words: int
    pool: int
    unigrams: int
    records: int

    @property
    def begin(self) -> int:
        """Return the offset of the records, aligned to a cache line."""
        return -(-(8 * (2 + len(self) + self.words) + 4 * self.words + self.pool) // 64) * 64

    @property
    def size(self) -> int:
        return self.begin + self.records * _WIDTH

    @property
    def head(self) -> Longs:
        """Return the header of a file of these sizes."""
        return np.array([_FORMAT, *self], np.int64)

    def views(self, buffer: Any) -> _LaidOut:
        """Return the model in a buffer, which is memory or a mapped file, without a copy."""
        ends = self.head.nbytes
        ids = ends + 8 * (self.words + 1)
        vocabulary = _ModelWords(
            np.frombuffer(buffer, np.uint8, self.pool, ids + 4 * self.words),
            np.frombuffer(buffer, np.int64, self.words + 1, ends),
            np.frombuffer(buffer, np.int32, self.words, ids),
        )
        cells = 4 * self.records
        return _LaidOut(
            _NgramRecords(
                np.frombuffer(buffer, np.uint64, cells, self.begin).reshape(-1, 4),
                np.frombuffer(buffer, np.float64, cells, self.begin).reshape(-1, 4),
                self.unigrams,
            ),
            vocabulary,
        )


class _ModelUse:
    """How much a model was queried since its store was opened; and the model, once it is laid out.

    Args:
        store: the store with the model.
        model: the model, which never changes.
    """

    def __init__(self, store: Store, model: ModelInfo) -> None:
        self._path, self._memory = laid_out_file(store, model), store.memory_limit
        self._read, self._ngrams = 0, -1
        # Models with other smoothing have no n-grams of their own.
        self._can_lay_out = model.smoothing not in (STUPID_BACKOFF, DYNAMIC)
        self.laid_out = _mapped(self._path, self._memory) if self._can_lay_out else None

    def has_read(self, ngrams: int) -> None:
        """Note how many n-grams were read from the store because the model was not laid out."""
        self._read += ngrams

    def expect(self, store: Store, model: ModelInfo, tokens: int = 0, *, least: int = 0) -> None:
        """Lay the model out if that takes less time than reading the store.

        Args:
            store: the store with the model.
            model: the model.
            tokens: number of tokens of a text that is to be looked up.
            least: number of n-grams that must be read first, however few the model has.
        """
        wanted = self._read + tokens * _NGRAMS_A_TOKEN
        if self.laid_out or not self._can_lay_out or wanted <= least:
            return
        with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
            if self._ngrams < 0:
                self._ngrams = one_number(duck, _COUNT, [model.id])
            if wanted >= self._ngrams:
                self._can_lay_out = False  # tried once only
                # Another process may have laid the model out in the meantime.
                self.laid_out = _mapped(self._path, self._memory) or self._lay_out(duck, model)

    def _lay_out(self, duck: duckdb.DuckDBPyConnection, model: ModelInfo) -> _LaidOut | None:
        words = duck.execute(_WORDS, [model.id]).fetchall()
        vocabulary = _vocabulary_of([row for row in words if row[0] not in RESERVED_WORDS])
        longer, greatest = duck.execute(_SIZES, [model.id]).fetchall()[0]
        sizes = _records_of_words(greatest), _records_for(greatest, longer)
        plan = _Plan(len(vocabulary.ids), len(vocabulary.pool), *sizes)
        if plan.size > self._memory or greatest > MOST_WORDS:
            return None
        if plan.size <= _IN_MEMORY or not self._path:
            memory = np.zeros(plan.size, np.uint8)
            _write(duck, model, plan.views(memory), vocabulary)
            memory.flags.writeable = False  # as mapped files are, so that kernels are compiled for one type
            return plan.views(memory)
        label = model.label
        try:
            return _write_file(
                self._path, plan, label, lambda laid_out: _write(duck, model, laid_out, vocabulary)
            )
        except (OSError, StoreError) as error:  # no room, no right, or something in the way
            logger.warning("%s is not laid out for look-ups, but read as before: %s", label, error)
            return None


# Weak keys: the entries of a store are dropped with the store.
_uses: WeakKeyDictionary[Store, dict[tuple[int, int], _ModelUse]] = WeakKeyDictionary()


def use_of(store: Store, model: ModelInfo) -> _ModelUse:
    """Return the use of a model of an open store."""
    models = _uses.setdefault(store, {})
    key = model.id, model.version
    return models.get(key) or models.setdefault(key, _ModelUse(store, model))


def _mapped(path: Path | None, most: int) -> _LaidOut | None:
    """Return the model in a file; None if the file is missing, incomplete or must not be mapped."""
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
        files.lock(file.fileno())  # an unlocked draft is one of a process that was killed
        files.take_room(file.fileno(), plan.size)
        logger.warning("%s is laid out for look-ups, once: %s", label, size)
        with mmap.mmap(file.fileno(), plan.size) as mapping:
            mapping[: plan.head.nbytes] = plan.head.tobytes()
            laid_out = plan.views(mapping)
            write(laid_out)
            del laid_out  # a mapping with views cannot be unmapped
            mapping.flush()  # before the file is renamed, in case of a power cut
        files.replace(draft, path)
    return _mapped(path, plan.size)


def _write(
    duck: duckdb.DuckDBPyConnection, model: ModelInfo, laid_out: _LaidOut, vocabulary: _ModelWords
) -> None:
    """Write the words and n-grams of a model into an empty layout."""
    words = laid_out.vocabulary
    words.pool[:], words.ends[:], words.ids[:] = vocabulary
    laid_out.records.clear()
    for batch in arrow_reader(duck, _NGRAMS, [model.id], rows=_ROWS):
        _put(laid_out.records, StoredNgrams.of_batch(batch))


class _NgramRecords(NamedTuple):
    """The records, as two views of the same bytes.

    The prefix of each n-gram is an n-gram, too, as building and importing ensure.
    """

    words: Bits  # (R, 4) the first two columns: words as `_packed` packs them, 0 of what the model has not
    values: Floats  # (R, 4) the last two: log-probability, NaN of words without unigram, and back-off weight
    unigrams: int  # records of unigrams

    def clear(self) -> None:
        """Make records of zeros those of a model without n-grams."""
        self.values[: self.unigrams, 2] = np.nan
        self.values[UNK, 2], self.values[BOS, 2] = MISSING_UNK, NEVER

    def of_bags(self, order: int, bags: Sequence[Sequence[int]], everywhere: Iterable[int]) -> CachedNgrams:
        """Return the n-grams that lie within one bag, each once, as the store sorts them.

        Args:
            order: order of the model.
            bags: the word ids of each bag.
            everywhere: word ids that count as members of every bag, and of one bag if there is none.
        """
        always = set(everywhere)
        parts = []
        for bag in bags or [()]:
            words = np.array(sorted(always.union(bag)), np.int32)
            parts.append(CachedNgrams(*_ngrams_of_bag(self, order, words[words < self.unigrams])))
        rows = CachedNgrams.joined(parts, order)
        rows = rows.where(np.lexsort((*rows.words.T[::-1], rows.lengths, rows.words.max(axis=1))))
        is_first = np.ones(len(rows.logp), np.bool_)
        is_first[1:] = (rows.words[1:] != rows.words[:-1]).any(axis=1)
        return rows.where(is_first)


class _ModelWords(NamedTuple):
    """The words of a model, sorted by their bytes."""

    pool: Bytes  # the words, concatenated
    ends: Longs  # (W + 1,) end of each word in the pool, from index 1 on
    ids: Ints  # (W,) ids of the words

    def numbers(self, forms: Sequence[str]) -> Ints:
        """Return the id of each form, that of <unk> for forms that are not in the vocabulary."""
        coded = [form.encode(errors="surrogatepass") for form in forms]  # whatever is asked for
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
        return _searched(self, np.frombuffer(b"".join(coded), np.uint8), ends)


def _records_for(greatest: int, longer: int) -> int:
    """Return how many records a model takes, from its greatest word id and its number of longer n-grams."""
    return _records_of_words(greatest) + 2 * int(longer * _RECORDS_PER_NGRAM / 2 + _AHEAD)


def _records_of_words(greatest: int) -> int:
    """Return how many records the unigrams take: an even number, as two records fill a cache line."""
    return greatest // 2 * 2 + 2


@compiled
def _packed(first: np.uint64, second: np.uint64, position: int, word: int) -> tuple[np.uint64, np.uint64]:
    """Add the word at a position, from 0, to the packed words before it; id + 1, since 0 is an id, too."""
    code = np.uint64(word + 1)
    if position < 2:
        return first | code << np.uint64(25 * position), second
    if position == 2:
        return first | code << np.uint64(50), code >> np.uint64(14)
    return first, second | code << np.uint64(11 + 25 * (position - 3))


@compiled
def _home_of(records: _NgramRecords, first: np.uint64, second: np.uint64) -> int:
    """Return the home of an n-gram of two or more words: the first record of a cache line."""
    code = first * _FACTORS[0] ^ (second + _FACTORS[0]) * _FACTORS[1]
    code = (code ^ code >> np.uint64(32)) * _FACTORS[2]
    lines = np.uint64((len(records.words) - records.unigrams) // 2)
    return int(records.unigrams + 2 * np.int64((code >> np.uint64(32)) * lines >> np.uint64(32)))


@compiled
def _behind(records: _NgramRecords, at: int, first: np.uint64, second: np.uint64) -> int:
    """Return the first record from ``at`` on, cyclically, whose n-gram is not greater than this one."""
    words, last = records.words, len(records.words) - 1
    while words[at, 0] > first or (words[at, 0] == first and words[at, 1] > second):
        at = at + 1 if at < last else records.unigrams
    return at


@compiled
def _put(records: _NgramRecords, stored: StoredNgrams) -> None:
    """Add n-grams, none of which the records have yet."""
    size = len(stored.lengths)
    homes, codes = np.empty(size, np.int64), np.empty((size, 2), np.uint64)
    for i in range(size):
        length = stored.lengths[i]
        first, second = _packed(np.uint64(0), np.uint64(0), 0, stored.w1[i])
        if length > 1:
            first, second = _packed(first, second, 1, stored.w2[i])
        if length > 2:
            first, second = _packed(first, second, 2, stored.w3[i])
        if length > 3:
            first, second = _packed(first, second, 3, stored.w4[i])
        if length > 4:
            first, second = _packed(first, second, 4, stored.w5[i])
        codes[i, 0], codes[i, 1] = first, second
        homes[i] = _home_of(records, first, second) if length > 1 else stored.w1[i]
    for i in range(size):
        _insert(records, homes[i], codes[i, 0], codes[i, 1], stored.logp[i], stored.backoff[i])


@compiled
def _insert(
    records: _NgramRecords, at: int, first: np.uint64, second: np.uint64, logp: float, backoff: float
) -> None:
    """Insert an n-gram in place of the first smaller one, which is then inserted further on likewise."""
    words, values = records.words, records.values
    while True:
        at = _behind(records, at, first, second)
        other = words[at, 0], words[at, 1], values[at, 2], values[at, 3]
        words[at, 0], words[at, 1], values[at, 2], values[at, 3] = first, second, logp, backoff
        if other[0] == 0:
            return
        first, second, logp, backoff = other


@compiled
def score_stream(records: _NgramRecords, order: int, stream: Ints) -> tuple[Floats, Ints]:
    """Return log p of each word of a text after those before it, and the length of the n-gram that has it.

    Sentences begin with <s>, which gets no probability. All n-grams of a length are looked up before longer
    ones, as in `score_text`, which sums the same numbers in the same order.
    """
    size = len(stream)
    logp, lengths = np.empty(size), np.ones(size, np.int32)
    # For the n-gram that ends at each token, and the one longer by a word: whether the model has it, its
    # back-off weight, and its packed words.
    there, longer = np.ones(size, np.bool_), np.zeros(size, np.bool_)
    weight, its_weight = np.empty(size), np.zeros(size)
    words, its_words = np.empty((size, 2), np.uint64), np.zeros((size, 2), np.uint64)
    for i in range(size):
        word = stream[i]
        known = word if word < records.unigrams and not np.isnan(records.values[word, 2]) else UNK
        logp[i], weight[i] = records.values[known, 2], records.values[known, 3]
        words[i, 0], words[i, 1] = _packed(np.uint64(0), np.uint64(0), 0, word)
    homes, ahead = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.uint64)
    for n in range(2, order + 1):
        for begin in range(0, size, _AHEAD):
            end = min(begin + _AHEAD, size)
            for i in range(begin, end):
                homes[i - begin] = -1
                if stream[i] != BOS and there[i - 1]:
                    first, second = _packed(words[i - 1, 0], words[i - 1, 1], n - 1, stream[i])
                    home = _home_of(records, first, second)
                    its_words[i, 0], its_words[i, 1], homes[i - begin] = first, second, home
                    ahead[i - begin] = records.words[home, 0]
            for i in range(begin, end):
                longer[i] = False
                if homes[i - begin] < 0:
                    continue
                first, second, at = its_words[i, 0], its_words[i, 1], homes[i - begin]
                if ahead[i - begin] >= first:
                    at = _behind(records, at, first, second)
                    longer[i] = records.words[at, 0] == first and records.words[at, 1] == second
                if longer[i]:
                    logp[i], lengths[i] = records.values[at, 2], n
                    its_weight[i] = records.values[at, 3]
                else:
                    logp[i] += weight[i - 1]
        there, longer = longer, there
        weight, its_weight = its_weight, weight
        words, its_words = its_words, words
    return logp, lengths


def _vocabulary_of(words: Sequence[tuple[str, int]]) -> _ModelWords:
    """Return the vocabulary of some words and their ids."""
    coded = sorted((form.encode(), number) for form, number in words)
    ends = np.cumsum([0, *(len(form) for form, _ in coded)], dtype=np.int64)
    pool = np.frombuffer(b"".join(form for form, _ in coded), np.uint8)
    return _ModelWords(pool, ends, np.array([number for _, number in coded], np.int32))


@compiled
def _searched(vocabulary: _ModelWords, text: Bytes, ends: Longs) -> Ints:
    ids = np.full(len(ends) - 1, UNK, np.int32)
    for form in range(len(ids)):
        low, high = 0, len(vocabulary.ids)
        while low < high:
            middle = (low + high) // 2
            order = _compared(vocabulary.pool, vocabulary.ends, middle, text, ends, form)
            if order == 0:
                ids[form] = vocabulary.ids[middle]
                break
            if order < 0:
                low = middle + 1
            else:
                high = middle
    return ids


@compiled
def _compared(pool: Bytes, ends: Longs, word: int, text: Bytes, text_ends: Longs, other: int) -> int:
    """Return a number below 0 where a word comes before another one, 0 if it is the same."""
    begin, size = ends[word], ends[word + 1] - ends[word]
    its_begin, its_size = text_ends[other], text_ends[other + 1] - text_ends[other]
    for i in range(min(size, its_size)):
        if pool[begin + i] != text[its_begin + i]:
            return -1 if pool[begin + i] < text[its_begin + i] else 1
    return int(size - its_size)


@compiled
def _ngrams_of_bag(records: _NgramRecords, order: int, words: Ints) -> tuple[Ints, Floats, Floats]:
    """Return all n-grams of some words, the shorter ones first."""
    grams, codes, values = (
        np.full((256, order), -1, np.int32),
        np.empty((256, 2), np.uint64),
        np.empty((256, 2)),
    )
    size = 0
    for word in words:
        if records.words[word, 0] != 0:
            grams, codes, values = _with_room(grams, codes, values, size)
            grams[size, 0] = word
            _copy(records, word, codes, values, size)
            size += 1
    begin, followers = 0, grams[:size, 0][grams[:size, 0] != BOS]
    homes, ahead = np.empty(len(followers), np.int64), np.empty(len(followers), np.uint64)
    for n in range(1, order):
        end = size
        for gram in range(begin, end):
            if grams[gram, n - 1] == EOS:
                continue
            # All are prefetched before the first is read, since memory serves many requests at once.
            for j in range(len(followers)):
                homes[j] = _home_of(records, *_packed(codes[gram, 0], codes[gram, 1], n, followers[j]))
                ahead[j] = records.words[homes[j], 0]
            for j in range(len(followers)):
                first, second = _packed(codes[gram, 0], codes[gram, 1], n, followers[j])
                if ahead[j] < first:
                    continue
                at = _behind(records, homes[j], first, second)
                if records.words[at, 0] == first and records.words[at, 1] == second:
                    grams, codes, values = _with_room(grams, codes, values, size)
                    grams[size, :n], grams[size, n] = grams[gram, :n], followers[j]
                    _copy(records, at, codes, values, size)
                    size += 1
        begin = end
    return grams[:size].copy(), values[:size, 0].copy(), values[:size, 1].copy()


@compiled
def _copy(records: _NgramRecords, at: int, codes: Bits, values: Floats, to: int) -> None:
    codes[to, 0], codes[to, 1] = records.words[at, 0], records.words[at, 1]
    values[to, 0], values[to, 1] = records.values[at, 2], records.values[at, 3]


@compiled
def _with_room(grams: Ints, codes: Bits, values: Floats, size: int) -> tuple[Ints, Bits, Floats]:
    """Return the arrays with room for one n-gram more."""
    if size < len(grams):
        return grams, codes, values
    more = np.full_like(grams, -1)
    return (
        np.concatenate((grams, more)),
        np.concatenate((codes, np.empty_like(codes))),
        np.concatenate((values, np.empty_like(values))),
    )
