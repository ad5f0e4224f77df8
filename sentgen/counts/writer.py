"""Store sentences and their counts: rows are drafted first, then written in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, func, insert, select

from sentgen.arrays import Bools, Ints, Longs, compiled
from sentgen.case_folding import fold
from sentgen.corpus.base_np import (
    NOT_LAST,
    base_np_numbers,
    function_head_positions,
    relation_codes,
    unit_heads,
    upos_codes,
)
from sentgen.corpus.line_blocks import LineBlock
from sentgen.corpus.sentence import ABSENT, Sentence
from sentgen.corpus.sources import TextLayout
from sentgen.corpus.token_columns import NO_NP, TokenColumns, positions_of
from sentgen.corpus.treebank_blocks import TreebankBlock
from sentgen.counts.draft import Draft
from sentgen.counts.ngrams import NgramCounter, NgramCounts, wrap
from sentgen.counts.settings import CountedCorpus
from sentgen.counts.strings import StoredStrings
from sentgen.counts.treebank_rows import Placed, RegionRows, rows_of
from sentgen.schema.counting import count_pairs, count_trees
from sentgen.schema.engine import arrow_reader, raw
from sentgen.schema.store import append, next_id, now, scalar
from sentgen.schema.tables import corpus as tables
from sentgen.schema.tables.corpus import BOS, EOS
from sentgen.schema.tables.corpus import sentence as sentence_table
from sentgen.schema.tables.counts import ATTRIBUTES, segment

#: Bytes of memory for sorting a token: its number and its word.
BYTES_PER_TOKEN = 12
#: Rows to read and write at a time.
_ROWS = 1 << 20

_APPEND = """
insert into occurrence by name
select {segment} as segment_id, '{attribute}' as attribute, word_id, token
from _rows
"""


@compiled
def _place(ids: Ints, first_word: int, ends: Longs, token: int, tokens: Longs) -> None:
    """Put the number of each token, from ``token`` on, behind those of its word, as in a counting sort.

    Args:
        ids: words of the tokens.
        first_word: first word of the range; tokens of words outside of the range are skipped.
        ends: for each word of the range, the index for its next token, which is changed.
        token: number of the first token.
        tokens: the sorted numbers; indices beyond it are skipped.
    """
    for i in range(ids.size):
        word = ids[i] - first_word
        if 0 <= word < ends.size:
            index = ends[word]
            if 0 <= index < tokens.size:
                tokens[index] = token + i
            ends[word] = index + 1


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the tokens of stored sentences with consecutive ids.

    Attributes:
        first, last: ids of the first and the last sentence.
        first_token: number of the first token.
    """

    connection: Connection
    name: str
    first: int
    last: int
    first_token: int

    def parts(self) -> Iterator[tuple[int, Ints]]:
        """Yield the words of the tokens in parts, -1 for null, with the number of the first token of each."""
        at = self.first_token
        # Without `order by`: rows come in the order in which they were appended, that of the text.
        query = f"""
            select coalesce({self.name}, -1) as word
            from token
            where sentence_id between {self.first} and {self.last}
        """
        for batch in arrow_reader(raw(self.connection), query, rows=_ROWS):
            words = batch.column("word").to_numpy()
            yield at, words
            at += words.size


def _sorted(column: _Column, most: int) -> Iterator[tuple[Ints, Longs]]:
    """Yield the words and numbers of tokens, sorted by both, in blocks."""
    counts = np.zeros(0, np.int64)
    for _, words in column.parts():
        summed = np.bincount(words + 1, minlength=counts.size)  # index 0 is for null
        summed[: counts.size] += counts
        counts = summed
    counts = counts[1:]
    for first, last, skipped in _ranges(counts, most):
        sizes = counts[first:last]
        tokens = np.empty(min(int(sizes.sum()) - skipped, most), np.int64)
        ends = np.cumsum(sizes) - sizes - skipped
        for token, words in column.parts():
            _place(words, first, ends, token, tokens)
        words = np.repeat(np.arange(first, last, dtype=np.int32), np.minimum(sizes, most))[: tokens.size]
        for start in range(0, tokens.size, _ROWS):
            yield words[start : start + _ROWS], tokens[start : start + _ROWS]


def _ranges(counts: Longs, most: int) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of words with at most ``most`` tokens, first and behind the last, and tokens to skip.

    A word with more tokens has several ranges of its own; each skips the tokens of those before it.
    """
    ends = np.cumsum(counts)
    first = done = 0
    while first < counts.size:
        last = max(int(np.searchsorted(ends, done + most, "right")), first + 1)
        total = int(ends[last - 1]) - done
        for skipped in range(0, total, most):
            yield first, last, skipped
        first, done = last, done + total


#: The layout that CoNLL-U files usually have.
USUAL = TextLayout()
#: Sentences are buffered until they have so many tokens.
FLUSH_TOKENS = 100_000
#: Columns whose values are classified for the trees.
_CODES = {"upos_id": upos_codes, "deprel_id": relation_codes}


def _underscores(tokens: TokenColumns, absent: Bools) -> Bools:
    """Return a mask of words `_` whose lemma is `_`, not missing, as others of the sentence have lemmas."""
    starts = np.cumsum(tokens.lengths, dtype=np.int64) - tokens.lengths
    lemmatized = np.repeat(np.logical_or.reduceat(~absent, starts), tokens.lengths)
    forms = tokens.strings["forms"]
    assert forms is not None
    literal: Bools = lemmatized & absent & forms.equals(ABSENT)
    return literal


@dataclass(slots=True)
class SourceTally:
    """Numbers of a source so far.

    ``name`` is shown to users, and is the name of its document unless the source names documents. ``layout``
    is that of its text, from which an export can write the same text.
    """

    id: int
    name: str
    sentences: int = 0
    tokens: int = 0
    rejected: int = 0
    cyclic: int = 0
    empty_nodes: int = 0
    layout: TextLayout = USUAL


@dataclass(slots=True)
class _Document:
    name: str
    source_id: int
    first: int
    sentences: int = 0


class Writer:
    """Drafts sentences and counts them; `write` stores all of them as one segment.

    Args:
        connection: connection for look-ups of words, tags and the next ids, while sentences are added.
        counter: an empty counter of n-grams; the draft uses its folder for temporary files, too.
    """

    def __init__(self, connection: Connection, corpus: CountedCorpus, counter: NgramCounter) -> None:
        self.corpus = corpus
        self.sentences = self.tokens = 0
        self._draft, self._counter = Draft(counter.folder), counter
        self._words = StoredStrings(connection, tables.word, "form", self._draft.append)
        self._tags = StoredStrings(connection, tables.tag, "name", self._draft.append)
        self._first_sentence = next_id(connection, tables.sentence)
        tokens_end = func.max(sentence_table.c.first_token + sentence_table.c.length)
        self._first_token = scalar(connection, select(tokens_end)) or 1
        self._first_document = next_id(connection, tables.document)
        self._trees = False
        #: Columns of buffered sentences, and the sentences behind these that are not joined to columns yet.
        self._parts: list[TokenColumns] = []
        self._own: list[Sentence] = []
        #: Line numbers of buffered sentences, and, by id, the sentences with more than columns.
        self._lines: list[Longs] = []
        self._told: dict[int, Sentence] = {}
        #: Number of buffered sentences by document; and, by first sentence, the documents that begin there.
        self._of_documents: Counter[int] = Counter()
        self._begun: dict[int, int] = {}
        self._pending = self._pending_tokens = 0
        self._documents: list[_Document] = []
        self._regions = RegionRows()

    def start_source(self, source: SourceTally) -> int:
        """Begin a source and its document; return the id of the document."""
        self._regions.end_source()
        self._source = source
        self._documents.append(_Document(source.name, source.id, 0))
        return self._last_document

    def drop_source(self) -> None:
        """Drop the document of the last source, which has no sentence."""
        self._documents.pop()

    @property
    def _last_document(self) -> int:
        return self._first_document + len(self._documents) - 1

    def add(self, text: Sentence | LineBlock | TreebankBlock) -> None:
        """Add a sentence, or a block of sentences; both store the same rows."""
        if isinstance(text, LineBlock):
            self._add_lines(text)
        elif isinstance(text, TreebankBlock):
            self._add_block(text)
        else:
            self._add_sentence(text)

    def _add_sentence(self, sentence: Sentence) -> None:
        self._place(sentence, len(sentence.forms))
        self._own.append(sentence)
        self._lines.append(np.array([sentence.line], np.int64))
        if self._pending_tokens >= FLUSH_TOKENS:
            self.flush()

    def _add_block(self, block: TreebankBlock) -> None:
        """Add sentences whose columns are joined already."""
        self._join()
        first = self._next_sentence
        self._place_all(block)
        self._regions.add_block(first, block.columns.lengths, block.marks, block.spans)
        self._parts.append(block.columns.without_empty())
        self._lines.append(block.lines)
        if self._pending_tokens >= FLUSH_TOKENS:
            self.flush()

    def _place_all(self, block: TreebankBlock) -> None:
        """Assign ids and documents to the sentences of a block, in their order."""
        at, lengths = 0, block.columns.lengths
        for number in [*sorted(block.sentences), lengths.size]:
            if at < number:
                self._pass_by(lengths[at:number])
            if number < lengths.size:
                self._place(block.sentences[number], int(lengths[number]))
            at = number + 1

    def _pass_by(self, lengths: Ints) -> None:
        """Assign ids and the current document to sentences without regions or metadata."""
        first, size = self._next_sentence, lengths.size
        self._documents[-1].sentences += size
        self._regions.pass_by(first, first + size - 1, int(lengths[-1]))
        self._take(size, int(lengths.sum()))

    def _take(self, sentences: int, tokens: int) -> None:
        self._of_documents[self._last_document] += sentences
        self._pending += sentences
        self._pending_tokens += tokens

    @property
    def _next_sentence(self) -> int:
        return self._first_sentence + self.sentences + self._pending

    def _join(self) -> None:
        """Join single sentences to columns, behind the columns before them."""
        if self._own:
            self._parts.append(TokenColumns.join(self._own))
            self._own = []

    def _place(self, sentence: Sentence, length: int) -> None:
        """Assign an id and a document to a sentence of ``length`` tokens."""
        if sentence.document is not None:
            if not self._documents[-1].sentences:
                # Every source begins with a document of its name, which is dropped if it names another.
                self._documents.pop()
            self._documents.append(_Document(sentence.document, self._source.id, 0))
        document, number = self._documents[-1], self._next_sentence
        first = not document.sentences
        if first:
            document.first = number
            self._begun[number] = self._last_document
        document.sentences += 1
        self._regions.add(number, length, sentence, first=first)
        self._source.empty_nodes += len(sentence.empty_nodes)
        self._told[number] = sentence
        self._take(1, length)

    def _add_lines(self, block: LineBlock) -> None:
        """Add lines of tokenized text, one sentence each: the fast way for large plain corpora."""
        self.flush()
        numbers, lengths = self._words.vocabulary.encode_lines(
            # Decoded for lower-casing, as not all letters are ASCII.
            fold(block.text.decode()).encode() if self.corpus.lowercase else block.text
        )
        # Blank lines are no sentences, but count in line numbers.
        lines = np.flatnonzero(lengths) + block.first_line
        lengths = lengths[lengths > 0]
        if not lengths.size:
            return
        document = self._documents[-1]
        if not document.sentences:
            document.first = self._first_sentence + self.sentences
        document.sentences += int(lengths.size)
        ids = self._first_sentence + self.sentences + np.arange(lengths.size, dtype=np.int64)
        self._append_sentences(
            {"id": ids, "length": lengths, "line": lines},
            np.full(lengths.size, self._last_document, np.int32),
        )
        self._append_tokens({}, self._words.resolve(numbers), lengths, ids)

    def flush(self) -> None:
        """Draft the buffered sentences."""
        if not self._pending:
            return
        self._join()
        columns, sentences = TokenColumns.concatenate(self._parts), self._told
        lengths, forms = columns.lengths, columns.strings["forms"]
        assert forms is not None
        ids = self._first_sentence + self.sentences + np.arange(lengths.size, dtype=np.int64)
        documents = np.repeat(
            np.array([*self._of_documents], np.int32), np.array([*self._of_documents.values()], np.int64)
        )
        self._append_sentences(
            {
                "id": ids,
                "length": lengths,
                "line": np.concatenate(self._lines),
                "sent_id": self._texts_of(ids, lambda sentence: sentence.sent_id),
                "text": self._texts_of(ids, lambda sentence: sentence.text),
                "metadata": self._texts_of(ids, lambda sentence: "\n".join(sentence.metadata)),
            },
            documents,
        )
        words = self._words.encode_column(forms, lowercase=self.corpus.lowercase)
        self._append_tokens(self._annotation(columns), words, lengths, ids)
        self._append_multiwords()
        placed = Placed(self.corpus.id, ids, columns, sentences, self._begun)
        for table, rows in placed.tables(self._tags.encode):
            self._draft.append(table, rows)
        self._append_regions()
        self._parts, self._lines, self._told, self._begun = [], [], {}, {}
        self._of_documents.clear()
        self._pending = self._pending_tokens = 0

    def _texts_of(self, ids: Longs, what: Callable[[Sentence], str]) -> pa.Array:
        """Return a text of each buffered sentence, null for sentences that have columns only."""
        texts = {number: text for number, waiting in self._told.items() if (text := what(waiting))}
        if not texts:
            return pa.nulls(ids.size, pa.string())
        return pa.array([texts.get(number) for number in ids.tolist()], pa.string())

    def _append_regions(self) -> None:
        """Draft the regions that have ended."""
        ended = self._regions
        for table, rows in (("region", ended.regions), ("region_meta", ended.attributes)):
            if rows:
                self._draft.append(table, rows_of(self.corpus.id, table, rows))
                rows.clear()
        ended.begun.clear()

    def _append_sentences(self, columns: dict[str, object], documents: Ints) -> None:
        lengths = np.asarray(columns["length"])
        rows = {
            "corpus_id": np.full(documents.size, self.corpus.id, np.int32),
            "document_id": documents,
            "first_token": self._first_token + self.tokens + np.cumsum(lengths, dtype=np.int64) - lengths,
        }
        self._draft.append("sentence", pa.table(rows | columns))

    def _append_tokens(self, columns: dict[str, pa.Array], words: Ints, lengths: Ints, ids: Longs) -> None:
        rows = {
            "corpus_id": np.full(words.size, self.corpus.id, np.int32),
            "sentence_id": np.repeat(ids, lengths),
            "position": positions_of(lengths),
            "word_id": words,
        }
        self._draft.append("token", pa.table(rows | columns))
        self._counter.add(wrap(words, lengths, BOS, EOS))
        self.sentences += int(lengths.size)
        self.tokens += int(words.size)
        self._source.sentences += int(lengths.size)
        self._source.tokens += int(words.size)

    def _annotation(self, tokens: TokenColumns) -> dict[str, pa.Array]:
        """Return the columns of `token` for the annotation that the sentences have."""
        columns: dict[str, pa.Array] = {}
        strings = (
            ("lemma_id", self._words, "lemmas"),
            ("upos_id", self._tags, "upos"),
            ("xpos_id", self._tags, "xpos"),
            ("feats_id", self._tags, "feats"),
            ("deprel_id", self._tags, "deprels"),
        )
        classes: dict[str, Ints] = {}
        for name, store, column in strings:
            if (filled := tokens.strings[column]) is None:
                continue
            # `_` becomes null in the column, but gets an id all the same, as `encode_column` has no nulls.
            absent = filled.equals(ABSENT)
            if column == "lemmas" and absent.any():
                absent &= ~_underscores(tokens, absent)
            ids = store.encode_column(filled, lowercase=self.corpus.lowercase and name == "lemma_id")
            columns[name] = pa.array(ids, mask=absent if absent.any() else None)
            if name in _CODES:
                classes[name] = _CODES[name](filled.values.strings)[filled.codes]
        if tokens.space_after is not None:
            columns["space_after"] = tokens.space_after
        return columns | self._tree_columns(tokens, classes.get("upos_id"), classes.get("deprel_id"))

    def _tree_columns(
        self, tokens: TokenColumns, upos: Ints | None, relations: Ints | None
    ) -> dict[str, pa.Array]:
        heads, nps, lengths = tokens.heads, tokens.nps, tokens.lengths
        # Base noun phrases that the source marks take precedence over those found by rule.
        if heads is not None and upos is not None and relations is not None and tokens.unmarked.any():
            base_nps = base_np_numbers(upos, relations, heads, lengths)
            nps = np.where(np.repeat(tokens.unmarked, lengths), base_nps, NO_NP if nps is None else nps)
        columns: dict[str, pa.Array] = {}
        if nps is not None:
            columns["np"] = pa.array(nps, mask=nps < 0)
        if heads is None:
            return columns
        self._trees = True
        columns["head"] = pa.array(heads, mask=heads < 0)
        if self.corpus.function_heads and relations is not None:
            # Only for units: `head`, set above, keeps the tree of the source.
            heads = function_head_positions(relations, heads, lengths)
        units, trees = unit_heads(heads, nps if nps is not None else np.zeros_like(heads), lengths)
        self._source.cyclic += int((~trees).sum())
        columns["unit_head"] = pa.array(units, mask=units == NOT_LAST)
        return columns

    def _append_multiwords(self) -> None:
        rows = [
            (number, first, last, fold(form) if self.corpus.lowercase else form)
            for number, waiting in self._told.items()
            for first, last, form in waiting.multiwords
        ]
        if rows:
            self._draft.append("multiword", rows_of(self.corpus.id, "multiword", rows))

    def write(self, connection: Connection) -> None:
        """Store the drafted rows, the documents, and all counts as one segment, if there are any."""
        self._regions.end_source()
        self._append_regions()
        self._draft.write(connection)
        if self._documents:
            append(connection, "document", self._document_rows())
        if not self.sentences:
            return
        number = next_id(connection, segment)
        for block in self._counter.results():
            append_ngrams(connection, number, block)
        last = self._first_sentence + self.sentences - 1
        self._append_occurrences(connection, number, last)
        if self._trees:
            count_trees(connection, number, self.corpus.id, self._first_sentence, last)
            count_pairs(connection, number)
        row = {
            "id": number,
            "corpus_id": self.corpus.id,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "created_at": now(exact=True),
        }
        connection.execute(insert(segment), row)

    def _append_occurrences(self, connection: Connection, segment_id: int, last: int) -> None:
        """Store the occurrences of the words and lemmas of the sentences up to ``last``, sorted by word.

        Linear in the tokens. If they do not fit into memory, they are read once for each part that does: the
        tokens of a range of words, or a part of those of a very frequent word.
        """
        most = max(self._counter.memory // BYTES_PER_TOKEN, _ROWS)
        for attribute, name in ATTRIBUTES.items():
            column = _Column(connection, name, self._first_sentence, last, self._first_token)
            for words, tokens in _sorted(column, most):
                _rows = pa.table({"word_id": words, "token": tokens})  # DuckDB finds the variable by its name
                raw(connection).execute(_APPEND.format(segment=segment_id, attribute=attribute))

    def _document_rows(self) -> pa.Table:
        documents = self._documents
        numbers = range(self._first_document, self._first_document + len(documents))
        return pa.table(
            {
                "id": pa.array(numbers, pa.int32()),
                "corpus_id": pa.array([self.corpus.id] * len(documents), pa.int32()),
                "source_id": pa.array([document.source_id for document in documents], pa.int32()),
                "name": pa.array([document.name for document in documents], pa.string()),
                "first_sentence": pa.array(
                    [document.first or self._first_sentence for document in documents], pa.int64()
                ),
                "sentences": pa.array([document.sentences for document in documents], pa.int64()),
            }
        )

    def close(self) -> None:
        """Remove temporary files."""
        self._draft.close()
        self._counter.close()


def append_ngrams(connection: Connection, segment_id: int, block: Sequence[NgramCounts]) -> None:
    """Append a block of n-grams, by order from 1, to their tables."""
    for order, counted in enumerate(block, 1):
        if counted.counts.size:
            words = {f"w{i}": counted.words[i - 1] for i in range(1, order + 1)}
            _rows = pa.table(words | {"count": counted.counts})  # DuckDB finds the variable by its name
            raw(connection).execute(
                f"insert into ngram_{order} by name select {segment_id} as segment_id, * from _rows"
            )
