"""The tokens of a store as arrays: columns of ids, in blocks of whole sentences or documents.

A token has a number that never changes, and the numbers of the tokens of a document are consecutive. A block
has consecutive numbers, so that the next token is the next element of an array. Blocks of a store that nobody
can change are cached in a part of its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.lookups.base.cache import ArrayCache
from sentgen.lookups.base.statement import Bindings, where
from sentgen.schema.engine import MEMORY_LIMIT, arrow_table, connection_cache, raw

if TYPE_CHECKING:
    import pyarrow as pa

    from sentgen.lookups.base.selection import Selection

#: Tokens of a block: its columns take some megabytes, more than the rest of a question.
SIZE = 1 << 20
#: From one token in this many on, all sentences of a block are computed, instead of a search for each token.
_MANY = 16
#: The column that is 1 for tokens that no space follows.
UNSPACED = "unspaced"
#: The number in place of a missing value.
NONE = -1

Array: TypeAlias = npt.NDArray[Any]

_BLOCKS = """\
select min(id) as low, max(id) as high, min(first_token) as first, max(first_token + length) as behind
from sentence
where length > 0
group by first_token // $size
order by first"""
_BLOCKS_OF_DOCUMENTS = """\
select min(low) as low, max(high) as high, min(first) as first, max(behind) as behind
from (
  select min(id) as low, max(id) as high, min(first_token) as first, max(first_token + length) as behind
  from sentence
  where length > 0
  group by document_id
)
group by first // $size
order by first"""
_SENTENCES = """\
select id, first_token, length, document_id
from sentence
where id between $low and $high and length > 0
order by first_token"""
_COLUMN = "select {column} as value from token where sentence_id {part}{order}"
_MULTIWORDS = """\
select s.first_token + m."first" - 1 as first, s.first_token + m."last" - 1 as last
from multiword as m
join sentence as s on s.id = m.sentence_id
where {condition}
order by first, last"""
_MULTIWORDS_OF_BLOCK = """\
select s.first_token + m."first" - 1 as first, s.first_token + m."last" - 1 as last, m.form
from multiword as m
join sentence as s on s.id = m.sentence_id
where m.sentence_id between $low and $high and s.length > 0
order by first, last"""
_POSITIONS = "select position from token where sentence_id between $low and $high"
_IN_ORDER = "\norder by sentence_id, position"
#: Occurrences that are held in memory at once: some ten megabytes.
_MOST_OCCURRENCES = 1 << 22
_TOKENS = """\
select token
from occurrence
where attribute = '{attribute}' and word_id in ({words})
limit {most}"""
_TOKENS_OF_EACH = """\
select word_id, token
from occurrence
where attribute = 'word' and word_id in (select unnest($words))
order by word_id, token"""


class Tokens:
    """Reads the tokens of a store.

    Args:
        across: whether blocks have whole documents, as hits may cross the ends of sentences.

    Attributes:
        limit: limit of the memory of the store in bytes, if there is one.
        capacity: bytes that blocks may take, and as many that matches may take.
    """

    def __init__(self, connection: Connection, *, across: bool = False) -> None:
        self.connection, self.across = connection, across
        limit = connection.get_execution_options().get(MEMORY_LIMIT)
        self.limit = int(limit) if limit else None
        self.cache = ArrayCache.of_store(connection)
        self.capacity = self.cache.capacity

    def blocks(self) -> list[Block]:
        """Return all blocks, in the order of the store."""
        known = connection_cache(self.connection)
        key = (Tokens, self.across, SIZE)
        bounds: list[tuple[int, int, int, int]] | None = known.get(key)
        if bounds is None:
            text = _BLOCKS_OF_DOCUMENTS if self.across else _BLOCKS
            bounds = raw(self.connection).execute(text, {"size": SIZE}).fetchall()
            known[key] = bounds
        return [Block(self, low, high, first, behind - first) for low, high, first, behind in bounds]

    def array(self, text: str, parameters: dict[str, object]) -> list[Array]:
        """Return the columns of a query, which are never null."""
        table = arrow_table(raw(self.connection), text, parameters)
        return [column.to_numpy() for column in table.columns]

    def multiwords(self, condition: str, bindings: Bindings) -> tuple[Longs, Longs]:
        """Return the numbers of the first and last tokens of multiword tokens ``m`` that meet a condition."""
        first, last = self.array(_MULTIWORDS.format(condition=condition), bindings)
        return first, last

    def ever_unspaced(self, tokens: Sequence[Longs]) -> bool:
        """Return whether some sequence of tokens occurs in a sentence without spaces between its tokens.

        ``tokens`` are, for each token of the sequence, the numbers of all of its candidates.
        """
        for block in self.blocks():
            low, high = np.searchsorted(tokens[0], [block.first, block.first + block.size])
            at = np.stack([one[low:high] for one in tokens]) - block.first
            before = at[:-1, at[-1] < block.size]
            if before.size:
                is_joined = (block.column(UNSPACED)[before] == 1) & ~block.begins()[before + 1]
                if is_joined.all(axis=0).any():
                    return True
        return False

    def occurrences(self, attribute: str, words: Ints | Longs) -> Longs | None:
        """Return the numbers of the tokens that have one of some words, ascending; None if they are too many.

        Words are ids of forms or of lemmas, by the ``attribute`` that the table `occurrence` has.
        """
        key = (_TOKENS, attribute, tuple(words.tolist()))
        tokens: Longs | None = self.cache.find(key)
        if tokens is None:
            # Joining with rows is faster than many values in the text of a statement.
            values = str(words[0]) if len(words) == 1 else "select unnest($words)"
            text = _TOKENS.format(attribute=attribute, words=values, most=_MOST_OCCURRENCES + 1)
            (rows,) = self.array(text, {} if len(words) == 1 else {"words": words.tolist()})
            if len(rows) > _MOST_OCCURRENCES:
                return None
            tokens = self.cache.add(key, np.sort(rows, kind="stable"))
        return tokens

    def occurrences_of_each(self, words: Iterable[int]) -> dict[int, Longs]:
        """Return the token numbers of each of some forms, ascending; unknown ones are read at once."""
        # The keys under which `occurrences` caches single words.
        keys = {word: (_TOKENS, "word", (word,)) for word in words}
        tokens: dict[int, Longs] = {word: self.cache.find(key) for word, key in keys.items()}
        if unknown := [word for word, known in tokens.items() if known is None]:
            words_of, every = self.array(_TOKENS_OF_EACH, {"words": unknown})
            bounds = zip(
                *(np.searchsorted(words_of, unknown, side) for side in ("left", "right")), strict=True
            )
            for word, (begin, end) in zip(unknown, bounds, strict=True):
                tokens[word] = self.cache.add(keys[word], every[begin:end].copy())
        return tokens


@dataclass(slots=True)
class Block:
    """A run of token numbers; the number of a token that was removed is in the block, but in no sentence.

    Methods take and return places: indices in the arrays of the block.

    Args:
        tokens: the tokens of the store, by which the block is read.
        low, high: ids of the first and last sentence.
        first: number of the first token.
        size: number of token numbers in the block.
    """

    tokens: Tokens
    low: int
    high: int
    first: int
    size: int

    def numbers(self, at: Longs) -> Longs:
        """Return the numbers of the tokens at some places."""
        return at + self.first

    def find(self, numbers: Longs) -> Longs:
        """Return the places of those tokens that are in this block; numbers are ascending."""
        low, high = np.searchsorted(numbers, [self.first, self.first + self.size])
        return numbers[low:high] - self.first

    def sentences(self) -> Array:
        """Return the id, first place, length and document id of each sentence: an array (4, sentences)."""

        def read() -> Array:
            bounds = {"low": self.low, "high": self.high}
            rows = np.stack([one.astype(np.int64) for one in self.tokens.array(_SENTENCES, dict(bounds))])
            rows[1] -= self.first
            return rows

        return self._cached("sentence", read)

    def sentence_of(self, at: Longs) -> Longs:
        """Return the index in `sentences` of the sentence of each token."""
        begins = self.sentences()[1]
        if len(at) * _MANY > self.size:
            # One pass over all tokens takes less than so many searches.
            lengths = np.diff(begins, prepend=0, append=self.size)
            every: Longs = np.repeat(np.arange(-1, len(begins)), lengths)
            return every[at]
        rows: Longs = np.searchsorted(begins, at, "right") - 1
        return rows

    def begins(self) -> Bools:
        """Return which tokens begin a sentence; numbers in no sentence count as such, too."""
        return self._cached("begins", lambda: self._begins(self.sentences()[1]))

    def unit_begins(self) -> Bools:
        """Return the tokens before which hits must end: the first ones of sentences, or of documents."""
        if not self.tokens.across:
            return self.begins()
        return self._cached("unit_begins", lambda: self._begins(self.units()))

    def missing_tokens(self) -> Bools | None:
        """Return which numbers have no token; None if all have one."""

        def find() -> Bools:
            # An empty array stands for no missing tokens, so that this result is cached, too.
            return self._mark_missing() if int(self.sentences()[2].sum()) < self.size else np.zeros(0, bool)

        missing: Bools = self._cached("missing", find)
        return missing if len(missing) else None

    def spots(self, at: Longs) -> pa.Table:
        """Return a table of tokens: index in ``at``, id of the sentence, and position in it."""
        import pyarrow as pa

        ids, begins, *_ = self.sentences()
        rows = self.sentence_of(at)
        return pa.table(
            {
                "n": np.arange(len(at)),
                "sentence_id": ids[rows],
                "position": (at - begins[rows] + 1).astype(np.int32),
            }
        )

    def _begins(self, at: Longs) -> Bools:
        begins = self._mark_missing()
        begins[at] = True
        return begins

    def _mark_missing(self) -> Bools:
        _, begins, lengths, _ = self.sentences()
        edges = np.zeros(self.size + 1, np.int8)
        edges[begins] += 1
        edges[begins + lengths] -= 1
        missing: Bools = np.cumsum(edges[:-1], dtype=np.int8) == 0
        return missing

    def cut(self, first: Longs, last: Longs) -> tuple[Longs, Longs]:
        """Return ranges of numbers cut to this block, as places, without those that lie outside."""
        first, last = np.maximum(first - self.first, 0), np.minimum(last - self.first, self.size - 1)
        some = first <= last
        return first[some], last[some]

    def column(self, name: str) -> Ints:
        """Return a column of `token`, `NONE` where a token has no value."""
        return self._cached(name, lambda: self._read(name))

    def is_cached(self, name: str) -> bool:
        """Return whether a column is in the cache."""
        return self.tokens.cache.find(self._key(name)) is not None

    def multiwords(self) -> pa.Table:
        """Return a table of the multiword tokens: ``first`` and ``last`` token number, and ``form``."""
        duck, bounds = raw(self.tokens.connection), {"low": self.low, "high": self.high}
        return self.tokens.cache.get(
            self._key("multiword"), lambda: arrow_table(duck, _MULTIWORDS_OF_BLOCK, bounds)
        )

    def _read_unspaced(self) -> Ints:
        """Return 1 for tokens that no space follows, as all tokens of a multiword token but the last."""
        unspaced: Ints = (self.column("space_after") == 0).astype(np.int8)
        first, last, _ = self.multiwords().columns
        first, last = self.cut(first.to_numpy(), last.to_numpy())
        unspaced[places(first, last - first)] = 0
        return unspaced

    def _read(self, name: str) -> Ints:
        if name == UNSPACED:
            return self._read_unspaced()
        _, begins, lengths, _ = self.sentences()
        order = "" if self._in_order(begins, lengths) else _IN_ORDER
        text = _COLUMN.format(column=_value(name), part="between $low and $high", order=order)
        (values,) = self.tokens.array(text, {"low": self.low, "high": self.high})
        if len(values) == self.size:
            return values
        column = np.full(self.size, NONE, values.dtype)
        column[places(begins, lengths)] = values
        return column

    def _in_order(self, begins: Longs, lengths: Longs) -> bool:
        """Return whether the tokens are stored in the order of sentences and positions."""
        known = connection_cache(self.tokens.connection)
        key = (Block, self.low, self.high)
        if key not in known:
            (positions,) = self.tokens.array(_POSITIONS, {"low": self.low, "high": self.high})
            wanted = places(begins, lengths) - np.repeat(begins, lengths) + 1
            known[key] = np.array_equal(positions, wanted)
        return bool(known[key])

    def _key(self, name: str) -> object:
        return (self.tokens.across, self.low, self.high, name)

    def _cached(self, name: str, read: Callable[[], Array]) -> Array:
        return self.tokens.cache.get(self._key(name), read)

    def selected_tokens(self, selection: Selection) -> Bools | None:
        """Return which tokens are in the sentences of a selection; None if all are."""
        bindings = Bindings(low=self.low, high=self.high)
        conditions = selection.of_sentences(bindings, "s")
        missing = self.missing_tokens()
        if not conditions:
            return None if missing is None else ~missing
        text = f"select s.id from sentence as s{where(['s.id between $low and $high', *conditions])}"
        (selected,) = self.tokens.array(text, bindings)
        ids, begins, lengths, _ = self.sentences()
        some = np.isin(ids, selected, kind="sort")
        if some.all() and missing is None:
            return None
        chosen = np.zeros(self.size, bool)
        chosen[places(begins[some], lengths[some])] = True
        return chosen

    def bounds(self) -> tuple[Longs, Longs]:
        """Return the first and the last tokens of sentences, or of documents with ``across``."""
        _, begins, lengths, documents = self.sentences()
        ends = begins + lengths - 1
        if self.tokens.across:
            rows = np.flatnonzero(np.diff(documents, prepend=-1))
            begins, ends = begins[rows], ends[np.append(rows[1:], len(ends)) - 1]
        return begins, ends

    def units(self) -> Longs:
        """Return the first tokens of the units that bound hits: sentences, or documents with ``across``."""
        begins: Longs = self.bounds()[0] if self.tokens.across else self.sentences()[1]
        return begins

    def unit_ends(self, at: Longs) -> tuple[Longs, Longs]:
        """Return the first and the last token of the unit of each token."""
        if not self.tokens.across:
            # To read the bounds of all sentences pays only for many tokens.
            _, begins, lengths, _ = self.sentences()
            rows = self.sentence_of(at)
            first: Longs = begins[rows]
            return first, first + lengths[rows] - 1
        begins, ends = self.bounds()
        unit = np.searchsorted(begins, at, "right") - 1
        return begins[unit], ends[unit]

    def units_of(self, at: Longs) -> Longs:
        """Return the indices of the units that contain some tokens, which must be ascending."""
        rows = np.searchsorted(self.units(), at, "right") - 1
        units: Longs = rows[np.append(True, rows[1:] != rows[:-1])[: len(rows)]]
        return units

    def some(self, rows: Longs, most: int) -> Iterator[Part]:
        """Yield some units, given by their indices, as blocks of about ``most`` tokens at most."""
        begins, ends = self.bounds()
        # Numbers of tokens that were removed behind a unit are not among its tokens.
        lengths = ends - begins + 1
        before = np.cumsum(lengths[rows]) - lengths[rows]
        for part in np.split(rows, np.flatnonzero(np.diff(before // max(most, 1))) + 1):
            if len(part):
                yield Part(self, places(begins[part], lengths[part]))


class Part(Block):
    """Some sentences, or documents, of a block, as a block of their own."""

    __slots__ = ("_columns", "_index", "_whole")

    def __init__(self, whole: Block, index: Longs) -> None:
        super().__init__(whole.tokens, whole.low, whole.high, whole.first, len(index))
        self._whole, self._index = whole, index
        self._columns: dict[str, Array] = {}

    def numbers(self, at: Longs) -> Longs:
        return self._index[at] + self.first

    def find(self, numbers: Longs) -> Longs:
        wanted = self._whole.find(numbers)
        at = np.searchsorted(self._index, wanted)
        at = at[at < self.size]
        rows: Longs = at[self._index[at] == wanted[: len(at)]]
        return rows

    def sentences(self) -> Array:
        def read() -> Array:
            whole = self._whole.sentences()
            at = np.searchsorted(self._index, whole[1])
            there = at < self.size
            there[there] = self._index[at[there]] == whole[1][there]
            some: Array = whole[:, there].copy()
            some[1] = at[there]
            return some

        return self._cached("sentence", read)

    def cut(self, first: Longs, last: Longs) -> tuple[Longs, Longs]:
        first = np.searchsorted(self._index, first - self.first)
        last = np.searchsorted(self._index, last - self.first, "right") - 1
        some = first <= last
        return first[some], last[some]

    def unit_begins(self) -> Bools:
        return self._cached("unit_begins", lambda: self._whole.unit_begins()[self._index])

    def missing_tokens(self) -> None:
        """Return None, as every number of the part has a token."""
        return

    def _read(self, name: str) -> Ints:
        return self._whole.column(name)[self._index]

    def _cached(self, name: str, read: Callable[[], Array]) -> Array:
        if name not in self._columns:
            self._columns[name] = read()
        return self._columns[name]


def places(begins: Longs, lengths: Longs) -> Longs:
    """Return all places of some ranges, given their first places and lengths.

    >>> places(np.array([2, 9]), np.array([3, 1])).tolist()
    [2, 3, 4, 9]
    """
    behind = np.cumsum(lengths)
    shifts = np.repeat(begins - behind + lengths, lengths)
    ranges: Longs = shifts + np.arange(len(shifts))
    return ranges


def _value(column: str) -> str:
    """Return the SQL for a column with `NONE` in place of null."""
    if column == "space_after":
        return "coalesce(space_after, true)::tinyint"
    if column in ("word_id", "position"):
        return column
    return f"coalesce({column}, {NONE})"
