"""An extractor learnt from the alignments of a store, and the sentences that it chooses from documents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection

from sentgen.alignment.extractor import Extractor, Words, best, features, learn
from sentgen.alignment.stored.application import found_rows
from sentgen.alignment.stored.stored_pairs import BATCH
from sentgen.counts import corpora
from sentgen.counts.settings import PAIRS
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow, raw

#: How many sentences are chosen from a document if it is not said.
SIZE = 3


def sources(store: Store, corpus: str, name: str | None) -> dict[str, set[int]]:
    """Return for each aligned pair the sentences of its document, from 0, from which abstract sentences come.

    The source of an abstract sentence is that of most of its words, of equals the first one.

    Raises:
        NotFoundError: there is no such corpus or model, or the one has not been applied to the other.
    """
    found: dict[str, set[int]] = {}
    rows = found_rows(store, corpus, name, sentences=True).select(["pair", "source", "rank"])
    for pair, source, rank in zip(*rows.to_pydict().values(), strict=True):
        of = found.setdefault(pair, set())
        if source is not None and rank == 1:
            of.add(source - 1)
    return found


def learn_extractor(store: Store, corpus: str, name: str | None) -> Extractor:
    """Learn from the pairs of a corpus that a model, the priors if there is no name, has aligned.

    Raises:
        NotFoundError: there is no such corpus or model, or the one has not been applied to the other.
        InputError: all sentences of the documents are sources, or none is.
    """
    chosen = sources(store, corpus, name)
    rows, labels = [], []
    for pair, sentences in documents(store, corpus):
        if pair in chosen:
            rows.append(features(sentences))
            labels.append(np.isin(np.arange(len(sentences)), list(chosen[pair])))
    return learn(np.concatenate(rows), np.concatenate(labels))


def extracts(
    store: Store, extractor: Extractor, corpus: str, *, size: int = SIZE, limit: int = 0
) -> pa.Table:
    """Return the sentences of each document, in its order, from which an abstract would most likely come.

    Args:
        store: where the documents are.
        extractor: that chooses.
        corpus: of pairs, whose documents are read, or any other one.
        size: sentences of a document, all if it has fewer.
        limit: rows; 0 for all.

    Raises:
        NotFoundError: there is no such corpus.
    """
    names = ("document", "sentence", "probability", "text")
    found: list[tuple[str, int, float, str]] = []
    for name, sentences in documents(store, corpus):
        chances = extractor.probabilities(sentences)
        found += [(name, n + 1, float(chances[n]), " ".join(sentences[n])) for n in best(chances, size)]
        if limit and len(found) >= limit:
            break
    rows = found[:limit] if limit else found
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})


def documents(store: Store, corpus: str) -> Iterator[tuple[str, list[Words]]]:
    """Yield the documents of a corpus with their sentences; of pairs, under their names, the documents only.

    Raises:
        NotFoundError: there is no such corpus.
    """
    with store.connect() as connection:
        of = corpora.find(connection, corpus)
        column, table = ("document_id", "pair") if of.kind == PAIRS else ("id", "document")
        query = f"select {column}, name from {table} where corpus_id = ? order by id"
        listed = raw(connection).execute(query, [of.id]).fetchall()
    for begin in range(0, len(listed), BATCH):
        batch = listed[begin : begin + BATCH]
        with store.connect() as connection:
            texts = _sentences(connection, [number for number, _ in batch])
        yield from ((name, texts[number]) for number, name in batch if number in texts)


def _sentences(connection: Connection, numbers: list[int]) -> dict[int, list[Words]]:
    """Return the sentences of some documents."""
    query = """
        with wanted as (
            select s.document_id, s.id
            from sentence s
            where s.document_id in (select unnest(?::integer[]))
        )
        select s.document_id, s.id, list(w.form order by t.position) as words
        from wanted s
        join token t on t.sentence_id = s.id
        join word w on w.id = t.word_id
        where t.sentence_id between (select min(id) from wanted) and (select max(id) from wanted)
        group by s.document_id, s.id
        order by s.id
    """
    found: dict[int, list[Words]] = {}
    rows = fetch_arrow(connection, query, [numbers])
    for document, words in zip(rows["document_id"].to_pylist(), rows["words"].to_pylist(), strict=True):
        found.setdefault(document, []).append(words)
    return found
