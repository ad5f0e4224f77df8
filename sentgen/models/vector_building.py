"""Build vectors: count, weigh, decompose, and store.

Words are counted with their contexts: the words around them, and the words that they depend on or govern. The
tokens are read in blocks of whole sentences; the pairs of a block are sorted, counted and merged with those
of the blocks before. O(pairs log block); memory grows with the number of different pairs.

Words and their contexts are weighed by PPMI, whose truncated SVD gives the vectors, as Levy, Goldberg and
Dagan 2015 do, "Improving distributional similarity with lessons learned from word embeddings":
context-distribution smoothing (section 3.2), shifted PPMI, and singular values to a power.

Other processes may read the store until the rows are written, which is one transaction: a build that fails
or is interrupted leaves no trace.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, insert, select

from sentgen.arrays import Ints, Longs, compiled
from sentgen.case_folding import fold_sql
from sentgen.errors import InputError, ModelError, StoreError, spell
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.models.request import WhereOption
from sentgen.models.vectors import Singles, SpaceInfo
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.engine import COUNTING_SHARE, DATABASE_SHARE
from sentgen.schema.store import append, next_id, now
from sentgen.schema.tables.corpus import RESERVED_WORDS
from sentgen.schema.tables.models import vector_space

if TYPE_CHECKING:
    import pyarrow as pa


class _SentenceBlock(NamedTuple):
    """Whole sentences: for each token its word (-1 for none), its sentence and its position.

    ``heads`` is 0 for a root and -1 for a token without a tree, ``relations`` the id of the relation to it.
    """

    words: Ints
    sentences: Longs
    positions: Ints
    heads: Ints
    relations: Ints


@compiled
def _window_pairs(block: _SentenceBlock, window: int, width: int, out: Longs) -> int:
    """Write the pairs of words at most ``window`` tokens apart in a sentence, both ways; return how many.

    A pair is ``word * width + context``; the context is a word. Words without a number count as tokens
    between others.
    """
    size, words = 0, block.words
    for i in range(len(words)):
        if words[i] < 0:
            continue
        for j in range(i + 1, min(i + window + 1, len(words))):
            if block.sentences[j] != block.sentences[i]:
                break
            if words[j] >= 0:
                out[size] = words[i] * width + words[j]
                out[size + 1] = words[j] * width + words[i]
                size += 2
    return size


@compiled
def _dependency_pairs(block: _SentenceBlock, vocabulary: int, width: int, out: Longs) -> int:
    """Write the pairs of heads and modifiers, in both directions; return how many.

    The context is the relation, with its direction, and the other word (Levy & Goldberg 2014).
    """
    size, words = 0, block.words
    for i in range(len(words)):
        head = i - block.positions[i] + block.heads[i]
        if block.heads[i] <= 0 or words[i] < 0 or head >= len(words) or head < 0:
            continue
        if block.sentences[head] != block.sentences[i] or words[head] < 0:
            continue
        # Contexts below the size of the vocabulary are words of a window; contexts of relations follow.
        below = 1 + 2 * block.relations[i]
        out[size] = words[head] * width + below * vocabulary + words[i]
        out[size + 1] = words[i] * width + (below + 1) * vocabulary + words[head]
        size += 2
    return size


@compiled
def _merged(keys: Longs, counts: Longs, others: Longs, more: Longs, out: Longs, sums: Longs) -> int:
    """Merge two sorted lists of distinct keys, and add their counts; return the number of keys."""
    size, i, j = 0, 0, 0
    while i < len(keys) or j < len(others):
        if j == len(others) or (i < len(keys) and keys[i] < others[j]):
            out[size], sums[size] = keys[i], counts[i]
            i += 1
        elif i == len(keys) or others[j] < keys[i]:
            out[size], sums[size] = others[j], more[j]
            j += 1
        else:
            out[size], sums[size] = keys[i], counts[i] + more[j]
            i += 1
            j += 1
        size += 1
    return size


#: Tokens of a block, to within a sentence.
_BLOCK_TOKENS = 1_000_000
#: Bytes in all arrays for each different pair: during merging, and during weighting.
_BYTES_OF_PAIR = 48
_WORDS = """\
select {form} as form, sum(t.count)::bigint as count
from (
  select word_id, count(*) as count
  from token{where}
  group by word_id
) t
join word w on w.id = t.word_id
where w.id >= {reserved}
group by all
having sum(t.count) >= $least
order by sum(t.count) desc, form
limit $most"""
_IDS = """\
select w.id, v.rank - 1 as number
from word w
join (
  select unnest($forms::varchar[]) as form, unnest(range(1, len($forms::varchar[]) + 1)) as rank
) v on {form} = v.form
where w.id >= {reserved}"""
_SIZES = "select id, length from sentence{where}\norder by id"
_TOKENS = """\
select word_id, sentence_id, position, coalesce(head, -1) as head, coalesce(deprel_id, -1) as deprel_id
from token{where}
order by sentence_id, position"""


@dataclass(frozen=True, slots=True, eq=False)
class VectorWords:
    """The words that get vectors, the most frequent first.

    Attributes:
        forms: the forms, in lower case.
        counts: frequency of each form.
        numbers: index in ``forms`` of each word id of the store, -1 for none.
    """

    forms: Sequence[str]
    counts: Longs
    numbers: Ints

    @classmethod
    def find(cls, connection: Connection, selection: Selection, least: int, most: int) -> VectorWords:
        """Return the most frequent words of some corpora in lower case; of equals, the first by its letters.

        Raises:
            ModelError: there are no words.
        """
        bindings = Bindings(least=least, most=most)
        text = _WORDS.format(
            where=where(selection.of_tokens(bindings), "  "),
            form=fold_sql("w.form"),
            reserved=len(RESERVED_WORDS),
        )
        rows = Statement(text, bindings).run(connection)
        forms = rows["form"].to_pylist()
        if not forms:
            often = f" that occur {least} times or more" if least > 1 else ""
            raise ModelError(f"no words{often} in these corpora; ingest more, or lower {spell('min_count')}")
        ids = Statement(
            _IDS.format(form=fold_sql("w.form"), reserved=len(RESERVED_WORDS)), {"forms": forms}
        ).run(connection)
        numbers = np.full(1 + max(ids["id"].to_pylist()), -1, np.int32)
        numbers[ids["id"].to_numpy()] = ids["number"].to_numpy()
        return cls(forms, rows["count"].to_numpy().astype(np.int64), numbers)


@dataclass(frozen=True, slots=True, eq=False)
class ContextCounts:
    """The frequencies of pairs of a word and a context, sorted by word and context, each pair once.

    Attributes:
        rows: number of the word.
        columns: number of the context, dense from 0 on.
        counts: frequency of the pair.
        shape: number of words and of contexts.
        tokens: number of tokens that were read.
    """

    rows: Ints
    columns: Ints
    counts: Longs
    shape: tuple[int, int]
    tokens: int

    @classmethod
    def count(
        cls,
        connection: Connection,
        selection: Selection,
        words: VectorWords,
        *,
        window: int,
        dependencies: bool,
        memory: int,
    ) -> ContextCounts:
        """Count words with their contexts.

        Args:
            words: words that count, as words and as contexts.
            window: words on each side that are contexts; 0 for none.
            dependencies: whether relations with the word at their other end are contexts.
            memory: bytes that the pairs may take.

        Raises:
            ModelError: no word has a context.
            StoreError: the pairs take more memory.
        """
        relations = _relations(connection, selection) if dependencies else np.empty(0, np.int32)
        vocabulary = len(words.forms)
        width = vocabulary * (1 + 2 * (int(relations.max(initial=-1)) + 1))
        keys, counts, tokens = np.empty(0, np.int64), np.empty(0, np.int64), 0
        for block in _read_blocks(connection, selection, words.numbers):
            tokens += len(block.words)
            some = np.empty(2 * len(block.words) * (window + dependencies), np.int64)
            size = _window_pairs(block, window, width, some)
            if dependencies:
                within = block._replace(relations=relations[block.relations])
                size += _dependency_pairs(within, vocabulary, width, some[size:])
            keys, counts = _added(keys, counts, some[:size])
            if len(keys) * _BYTES_OF_PAIR > memory:
                raise StoreError(
                    f"more than {len(keys):,} pairs of words do not fit into memory; lower"
                    f" {spell('words')} or {spell('window')},"
                    f" or raise {spell('memory_limit')}"
                )
        if not len(keys):
            raise ModelError(
                "no word stands with another one in these corpora; take others, or"
                f" {spell('contexts')} window"
            )
        contexts = keys % width
        there = np.zeros(width, np.bool_)
        there[contexts] = True
        numbers = np.cumsum(there, dtype=np.int32) - 1
        shape = vocabulary, int(numbers[-1]) + 1
        return cls((keys // width).astype(np.int32), numbers[contexts], counts, shape, tokens)

    def ppmi(self, *, smoothing: float, shift: float) -> tuple[npt.NDArray[np.bool_], Singles]:
        """Return which cells of the PPMI matrix are positive, and their values.

        A cell is log(#(w, c) N / (#(w) #(c)^smoothing)) - log(shift), with N the sum of all #(c)^smoothing,
        and 0 where that is less.
        """
        words = np.bincount(self.rows, self.counts, self.shape[0])
        contexts = np.bincount(self.columns, self.counts, self.shape[1]) ** smoothing
        logs = np.log(self.counts)
        logs += np.log(contexts.sum() / shift)
        logs -= np.log(words, where=words > 0, out=np.zeros_like(words))[self.rows]
        logs -= np.log(contexts)[self.columns]
        positive = logs > 0
        return positive, logs[positive].astype(np.float32)

    def decomposed(
        self, *, dimensions: int, smoothing: float, shift: float, power: float, seed: int
    ) -> Singles:
        """Return a vector a word, of length 1: U S^power of the truncated SVD U S V' of PPMI.

        A word that has no positive cell has zeros. Of the two signs that a dimension may have, its largest
        number is positive, so that the same cells and seed give the same vectors.

        Raises:
            ModelError: there are not more words and contexts than dimensions.
        """
        if dimensions >= min(self.shape):
            raise ModelError(
                f"too few words for {dimensions} dimensions, {min(self.shape)}, or too few contexts;"
                f" lower {spell('dimensions')} or {spell('min_count')}, or ingest more"
            )
        with _one_thread():
            from scipy.sparse import csr_array
            from scipy.sparse.linalg import svds
        positive, values = self.ppmi(smoothing=smoothing, shift=shift)
        starts = np.searchsorted(self.rows[positive], np.arange(self.shape[0] + 1))
        matrix = csr_array((values, self.columns[positive], starts), shape=self.shape)
        start = np.random.default_rng(seed).standard_normal(min(self.shape)).astype(np.float32)
        left, singular, _ = svds(matrix, k=dimensions, v0=start, return_singular_vectors="u")
        order = np.argsort(-singular, kind="stable")
        vectors = left[:, order] * np.maximum(singular[order], 0) ** power
        largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(dimensions)]
        vectors *= np.where(largest < 0, -1, 1)
        lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
        return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def _relations(connection: Connection, selection: Selection) -> Ints:
    """Return a number for each relation of some corpora, from 0, by its id; the last one stands for none."""
    bindings = Bindings()
    text = f"select distinct deprel_id as id from token{where(selection.of_tokens(bindings))} order by id"
    ids = [one for one in Statement(text, bindings).run(connection)["id"].to_pylist() if one is not None]
    numbers = np.full(2 + max(ids, default=-1), len(ids), np.int32)
    numbers[ids] = np.arange(len(ids))
    return numbers


def _read_blocks(connection: Connection, selection: Selection, numbers: Ints) -> Iterator[_SentenceBlock]:
    """Yield the tokens of some corpora in whole sentences, in the order of their ids."""
    bindings = Bindings()
    sizes = _SIZES.format(where=where(selection.of_sentences(bindings)))
    sentences = Statement(sizes, bindings).run(connection)
    ids, ends = sentences["id"].to_numpy(), np.cumsum(sentences["length"].to_numpy(), dtype=np.int64)
    # The last sentence of each block: the one that its last token is in.
    most = int(ends[-1]) if len(ends) else 0
    cuts = np.unique(np.searchsorted(ends, np.arange(_BLOCK_TOKENS, most + _BLOCK_TOKENS, _BLOCK_TOKENS)))
    first = 0
    for cut in np.minimum(cuts, len(ids) - 1).tolist():
        bindings = Bindings(first=int(ids[first]), last=int(ids[cut]))
        conditions = ["sentence_id between $first and $last", *selection.of_tokens(bindings)]
        table = Statement(_TOKENS.format(where=where(conditions)), bindings).run(connection)
        columns = [table[name].to_numpy() for name in table.column_names]
        for column in columns:
            # Those of several batches can be written to: kernels would be compiled for them as well.
            column.flags.writeable = False
        known = columns[0] < len(numbers)
        words = np.where(known, numbers[np.where(known, columns[0], 0)], np.int32(-1))
        yield _SentenceBlock(words, *columns[1:])
        first = cut + 1


def _added(keys: Longs, counts: Longs, some: Longs) -> tuple[Longs, Longs]:
    """Return the counts with those of some more keys, in any order."""
    others, more = np.unique(some, return_counts=True)
    out, sums = (np.empty(len(keys) + len(others), np.int64) for _ in range(2))
    size = _merged(keys, counts, others, more, out, sums)
    # Copied: a view would keep room for what fell together.
    return out[:size].copy(), sums[:size].copy()


Contexts = Literal["window", "dependencies", "both"]
#: Rows that are handed to DuckDB at once.
_ROWS = 10_000
#: What the libraries of BLAS that come with scipy read when they are loaded.
_THREADS = "OPENBLAS_NUM_THREADS"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRequest:
    """Vectors of the words of some corpora.

    Raises:
        InputError: the name is blank.
    """

    name: Annotated[str, Option("Name of the vectors.", argument=True, metavar="NAME")]
    corpus: Annotated[
        list[str],
        Option("Corpora to count.", shell="Corpus to count; may be repeated.", metavar="NAME", given=True),
    ]
    dimensions: Annotated[int, Option("Numbers of each vector.", least=1, most=2000)] = 200
    contexts: Annotated[
        Contexts,
        Option("Contexts: words around, relations with the word at their other end, or both."),
    ] = "window"
    window: Annotated[int, Option("Words on each side that are contexts.", least=1, most=100)] = 2
    min_count: Annotated[int, Option("Words that are rarer have no vector.", least=1)] = 10
    words: Annotated[int, Option("Number of words with vectors, the most frequent ones.", least=2)] = 50_000
    smoothing: Annotated[
        float, Option("Power of the counts of contexts in PPMI (0.75: Levy et al. 2015).", least=0, most=1)
    ] = 0.75
    shift: Annotated[float, Option("Take the logarithm of this from PPMI.", least=1)] = 1.0
    power: Annotated[
        float, Option("Power of the singular values that dimensions are multiplied by.", least=0, most=1)
    ] = 0.5
    where: WhereOption = None
    seed: Annotated[int, Option("Seed of the decomposition.", least=0, most=2**31 - 1)] = 1

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("a blank is no name for vectors; give them another one")

    def build(self, store: Store, progress: Callable[[str], None] | None = None) -> SpaceInfo:
        """Build the vectors.

        Args:
            store: the store, open for writing.
            progress: called with one line a step.

        Raises:
            InputError: the name is taken, or the condition cannot be read.
            NotFoundError: there is no such corpus.
            ModelError: the corpora are too small.
            StoreError: the counts do not fit into memory.
        """
        report = progress or (lambda _: None)
        with store.connect() as connection:
            _check_name(connection, self.name)
        store.downgrade_to_read(unless_small=True)
        with store.connect() as connection:
            words, cells = self._counted(connection, store, report)
        report(f"decomposing {quantity(len(cells.rows), 'pair')}")
        vectors = cells.decomposed(
            dimensions=self.dimensions,
            smoothing=self.smoothing,
            shift=self.shift,
            power=self.power,
            seed=self.seed,
        )
        report("writing the vectors")
        with store.begin() as connection:
            _check_name(connection, self.name)  # others may have built meanwhile
            return self._write(connection, words, cells, vectors)

    @property
    def _window(self) -> int:
        return 0 if self.contexts == "dependencies" else self.window

    def _counted(
        self, connection: Connection, store: Store, report: Callable[[str], None]
    ) -> tuple[VectorWords, ContextCounts]:
        report("counting words with their company")
        selection = Selection.named(connection, self.corpus, condition=self.where)
        words = VectorWords.find(connection, selection, self.min_count, self.words)
        cells = ContextCounts.count(
            connection,
            selection,
            words,
            window=self._window,
            dependencies=self.contexts != "window",
            memory=int(store.memory_limit * COUNTING_SHARE / DATABASE_SHARE),
        )
        return words, cells

    def _write(
        self, connection: Connection, words: VectorWords, cells: ContextCounts, vectors: Singles
    ) -> SpaceInfo:
        space = next_id(connection, vector_space)
        # A word without any positive cell has zeros, which are near nothing.
        known = np.flatnonzero(vectors.any(axis=1))
        for first in range(0, len(known), _ROWS):
            some = known[first : first + _ROWS]
            append(connection, "word_vector", _rows(space, words, vectors, some))
        settings = ("name", "contexts", "dimensions", "min_count", "smoothing", "shift", "power", "seed")
        row = {name: getattr(self, name) for name in settings}
        row |= {"id": space, "corpora": "\n".join(dict.fromkeys(self.corpus)), "reach": self._window}
        row |= {"tokens": cells.tokens, "words": len(known), "cells": len(cells.rows), "created_at": now()}
        connection.execute(insert(vector_space), row)
        return SpaceInfo.find(connection, self.name)


def _rows(space: int, words: VectorWords, vectors: Singles, some: np.ndarray) -> pa.Table:
    import pyarrow as pa

    numbers = pa.array(vectors[some].ravel())
    offsets = pa.array(np.arange(0, len(numbers) + 1, vectors.shape[1], dtype=np.int32))
    return pa.table(
        {
            "space_id": pa.array(np.full(len(some), space, np.int32)),
            "rank": pa.array((some + 1).astype(np.int32)),
            "form": pa.array([words.forms[number] for number in some.tolist()], pa.string()),
            "count": pa.array(words.counts[some]),
            "components": pa.ListArray.from_arrays(offsets, numbers),
        }
    )


def _check_name(connection: Connection, name: str) -> None:
    if connection.execute(select(vector_space.c.id).where(vector_space.c.name == name)).first():
        raise InputError(f"there are vectors {name!r}; take another name, or: sentgen vectors remove {name}")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have the BLAS of scipy take one thread, if it is loaded within; numpy has another one.

    The products of the decomposition are small: beside other processes, two threads took six times the CPU
    time of one, as they wait for each other.

    Where scipy is loaded already, as in a notebook, it keeps its threads, and the vectors are the same:
    nothing in scipy sets them then, and threadpoolctl, which could, is no dependency. Who minds the time
    starts Python with that variable set.
    """
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[_THREADS]
        if before is not None:
            os.environ[_THREADS] = before
