"""The trees of corpora, held in memory as far as they fit, else read anew for each batch.

The dependency model of a batch needs co-occurrences of its words. No table can hold those of all words (they
grow with the square of the sentence length), so that all sentences are walked. Twelve bytes a token do for
that; the trees of recent corpora are kept, least recently used first out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import duckdb
import numpy as np
import pyarrow as pa

from sentgen.models.dependency.tree_counts import Trees, places_of_heads
from sentgen.schema import Store
from sentgen.schema.engine import arrow_reader, registered

Layer = Literal["word", "unit"]

_BLOCK_ROWS = 100_000
_MAX_NAMES = 500_000
_COLUMNS = {
    "sentence_id": pa.int64(),
    "position": pa.int32(),
    "word_id": pa.int32(),
    "tag_id": pa.int32(),
    "head": pa.int32(),
}
#: The column of a table that holds its names.
_NAMES = {"word": "form", "tag": "name"}
_IDS = "select {column}, min(id) from {table} where {column} in (select name from _names) group by all"
_STATES = """
select c.id, c.tags, c.lowercase, c.function_heads,
  coalesce(sum(hash(s.sha256, s.format, s.reader_version, s.sentences, s.tokens)), 0)::varchar as content
from corpus c
left join source s on s.corpus_id = c.id
where c.id in (select unnest($1::integer[]))
group by all
order by c.id
"""
_NODES = """
select sentence_id, position, word_id, coalesce({tag}_id, {other_tag}_id, 1) as tag_id, {head} as head
from token
where corpus_id = $1 and {head} is not null
order by sentence_id, position
"""


class CorpusState(NamedTuple):
    """A corpus with all that its trees come from; another state means other trees, whatever the id."""

    id: int
    tags: str
    lowercase: bool
    function_heads: bool
    content: str


def states_of(duck: duckdb.DuckDBPyConnection, corpora: Sequence[int]) -> list[CorpusState]:
    """Return the states of those corpora that exist, by id, each once."""
    return [CorpusState(*row) for row in duck.execute(_STATES, [list(corpora)]).fetchall()]


def read_trees(duck: duckdb.DuckDBPyConnection, corpus: CorpusState, layer: Layer) -> Iterator[Trees]:
    """Read the trees of a corpus in blocks of whole sentences, with the tags that its counts use."""
    query = _NODES.format(
        tag=corpus.tags,
        other_tag="xpos" if corpus.tags == "upos" else "upos",
        head="head" if layer == "word" else "unit_head",
    )
    rest = pa.table({name: pa.array([], kind) for name, kind in _COLUMNS.items()})
    for batch in arrow_reader(duck, query, [corpus.id], rows=_BLOCK_ROWS):
        rows = pa.concat_tables([rest, pa.Table.from_batches([batch]).cast(rest.schema)])
        sentences = rows["sentence_id"].to_numpy()
        # The last sentence may go on in the next block.
        complete = int(np.searchsorted(sentences, sentences[-1])) if len(sentences) else 0
        rest = rows.slice(complete)
        yield from _trees(rows.slice(0, complete))
    yield from _trees(rest)


def _trees(rows: pa.Table) -> Iterator[Trees]:
    """Yield the trees of whole sentences, if there are any."""
    if rows.num_rows:
        sentences, positions, words, tags, heads = (rows[name].to_numpy() for name in _COLUMNS)
        # Ids are never negative: both ends are cuts.
        starts = np.flatnonzero(np.diff(sentences, prepend=-1, append=-1)).astype(np.int64)
        yield Trees(words, tags, places_of_heads(positions, heads, starts), starts)


class TreeCache:
    """The trees of recent corpora, bounded in bytes, and the ids of the names looked up so far.

    Neither goes stale: other trees come under another key, ids never change their meaning, and of names that
    the store did not know nothing is kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._blocks: OrderedDict[tuple[CorpusState, Layer], tuple[Trees, ...]] = OrderedDict()
        self._ids: dict[str, dict[str, int]] = {"word": {}, "tag": {}}
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """Return the memory that the trees take."""
        return sum(map(_size, self._blocks.values()))

    def trees(
        self, duck: duckdb.DuckDBPyConnection, corpora: Sequence[CorpusState], layer: Layer
    ) -> Iterator[Trees]:
        """Yield the trees of some corpora in blocks; what is not held takes a query a corpus."""
        for corpus in corpora:
            with self._lock:
                held = self._blocks.get((corpus, layer))
                if held is not None:
                    self._blocks.move_to_end((corpus, layer))
            # Outside of the lock: whoever gets a tree may take long over it.
            yield from self._read(duck, corpus, layer) if held is None else held

    def _read(self, duck: duckdb.DuckDBPyConnection, corpus: CorpusState, layer: Layer) -> Iterator[Trees]:
        """Yield the trees of a corpus as they come, and keep them if they fit."""
        kept: list[Trees] = []
        size = 0
        for block in read_trees(duck, corpus, layer):
            yield block
            size += _size([block])
            if size <= self.limit:
                kept.append(block)
            else:
                # All or nothing: a part of a corpus would be taken for the whole.
                kept.clear()
        if size <= self.limit:
            with self._lock:
                self._blocks[corpus, layer] = tuple(kept)
                while self.bytes > self.limit:
                    self._blocks.popitem(last=False)

    def ids(
        self, duck: duckdb.DuckDBPyConnection, table: Literal["word", "tag"], names: Set[str]
    ) -> dict[str, int]:
        """Return the ids of those names that the store knows; a query if some were not looked up before."""
        with self._lock:
            if len(self._ids[table]) > _MAX_NAMES:
                self._ids[table].clear()
            known = self._ids[table]
            found = {name: known[name] for name in names if name in known}
        missing = sorted(name for name in names if name not in found)
        if missing:
            with registered(duck, _names=pa.table({"name": pa.array(missing, pa.string())})):
                new = dict(duck.execute(_IDS.format(table=table, column=_NAMES[table])).fetchall())
            with self._lock:
                known.update(new)
            found |= new
        return found


def _size(blocks: Iterable[Trees]) -> int:
    return sum(column.nbytes for block in blocks for column in block)


_caches: WeakKeyDictionary[Store, TreeCache] = WeakKeyDictionary()


def cache_of(store: Store) -> TreeCache:
    """Return the cache of an open store: an eighth of its memory limit, at most 256 MB."""
    return _caches.setdefault(store, TreeCache(min(2**28, store.memory_limit // 8)))
