"""The pairs of a corpus as integers, streamed from the store as often as EM wants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sentgen.alignment.budget import PairSizes
from sentgen.alignment.phrase_hmm.rewriting.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.rewriting.parameters import forms_of_stems
from sentgen.alignment.stored.stored_pairs import batches_of, pair_corpus, pair_numbers, pairs_hash
from sentgen.arrays import Ints
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

BATCH = 500
#: Words of a document times those of an abstract from which on a pair is large.
LARGE = 1 << 20
#: Words up to which the pairs are kept in memory: 8 bytes each.
KEPT = 10_000_000


class StoredIds:
    """The pairs of a corpus, in words that are numbered in the order of the alphabet.

    The numbers do not depend on the order in which the pairs were stored.
    """

    def __init__(self, store: Store, corpus: str, *, fold: bool) -> None:
        self.store = store
        with store.connect() as connection:
            self.corpus_id = int(pair_corpus(connection, corpus).id)
            self.numbers = pair_numbers(connection, corpus)
            self._batches = list(batches_of(connection, self.numbers, most=BATCH))
            self.hash = pairs_hash(connection, self.corpus_id)
            query = """
                select id, form
                from word
                where id in (select distinct word_id from token where corpus_id = ?)
            """
            rows = fetch_arrow(connection, query, [self.corpus_id])
        forms = [form.lower() if fold else form for form in rows["form"].to_pylist()]
        self.lexicon = Lexicon(sorted(set(forms)), fold=fold)
        words = rows["id"].to_numpy()
        self._number = np.zeros(int(words.max(initial=0)) + 1, np.int32)
        self._number[words] = self.lexicon.ids(forms)
        self.stem_of = self.lexicon.stem_of
        self._kept: list[PairIds] | None = None
        self._look_through()

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.numbers)

    def _look_through(self) -> None:
        """Learn which words each side has, and keep the pairs if they are not many."""
        self.in_documents = np.zeros(len(self.lexicon), np.bool_)
        self.in_abstracts = np.zeros(len(self.lexicon), np.bool_)
        #: Sizes of large pairs, in both directions.
        self.large: list[PairSizes] = []
        kept: list[PairIds] = []
        words = 0
        for pair in self.stream():
            self.in_documents[pair.document] = True
            self.in_abstracts[pair.abstract] = True
            if len(pair.document) * len(pair.abstract) >= LARGE:
                self.large += (pair.sizes(), pair.exchanged().sizes())
            words += len(pair.document) + len(pair.abstract)
            if words <= KEPT:
                kept.append(pair)
            else:
                # Too many: those kept so far go, too.
                kept = []
        self._kept = kept if words <= KEPT else None

    def stream(self, *, exchanged: bool = False) -> Iterator[PairIds]:
        """Yield the pairs, or the pairs with document and abstract exchanged."""
        for pair in self._pairs() if self._kept is None else self._kept:
            yield pair.exchanged() if exchanged else pair

    def _pairs(self) -> Iterator[PairIds]:
        for numbers in self._batches:
            yield from self._batch(numbers)

    def _batch(self, numbers: Sequence[int]) -> Iterator[PairIds]:
        wanted = "select unnest(?::integer[]) as id"
        texts_query = f"""
            select p.document_id, p.abstract_id
            from pair p
            semi join ({wanted}) using (id)
            order by p.id
        """
        # The range of sentence ids lets DuckDB pass over most of `token`; a join alone would read all of it.
        words_query = f"""
            with texts as (
                select unnest([document_id, abstract_id]) as id
                from pair
                semi join ({wanted}) using (id)
            ),
            sentences as (
                select s.id, s.document_id
                from sentence s
                semi join texts on texts.id = s.document_id
            )
            select s.document_id, t.word_id
            from token t
            join sentences s on s.id = t.sentence_id
            where t.sentence_id between (select min(id) from sentences) and (select max(id) from sentences)
            order by t.sentence_id, t.position
        """
        with self.store.connect() as connection:
            texts = fetch_arrow(connection, texts_query, [list(numbers)])
            words = fetch_arrow(connection, words_query, [list(numbers)])
        ids = self._number[words["word_id"].to_numpy()]
        bounds = _bounds(words["document_id"])
        columns = (texts[name].to_pylist() for name in ("document_id", "abstract_id"))
        for document, abstract in zip(*columns, strict=True):
            yield self._pair(ids[slice(*bounds[document])], ids[slice(*bounds[abstract])])

    def _pair(self, document: Ints, abstract: Ints) -> PairIds:
        return PairIds(document, abstract, self.stem_of[document], self.stem_of[abstract])

    def forms(self, *, exchanged: bool = False) -> Ints:
        """Return how many words of the abstracts (documents, if exchanged) have each stem, at least 1."""
        words = np.flatnonzero(self.in_documents if exchanged else self.in_abstracts).astype(np.int32)
        return forms_of_stems(words, self.stem_of)


def _bounds(documents: pa.ChunkedArray) -> dict[int, tuple[int, int]]:
    """Return where the words of each document begin and end; they stand together."""
    of = documents.to_numpy()
    firsts = np.flatnonzero(np.append(True, of[1:] != of[:-1])) if len(of) else np.empty(0, np.int64)
    ends = [*firsts[1:].tolist(), len(of)]
    return {int(of[first]): (int(first), end) for first, end in zip(firsts, ends, strict=True)}
