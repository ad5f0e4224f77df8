"""The pairs of a corpus, read from the store in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, Row, select

from sentgen.alignment.pairs.alignment import Pair
from sentgen.corpus.sentence import Sentence
from sentgen.counts import corpora
from sentgen.counts.settings import PAIRS
from sentgen.errors import InputError, NotFoundError
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow, fetch_rows, raw
from sentgen.schema.tables.alignment import pair as table

BATCH = 200
#: Most words of a batch, unless a single pair has more; a word takes about 100 bytes.
BATCH_WORDS = 1_000_000


def stored_pairs(store: Store, corpus: str, *, keys: Sequence[str] = ()) -> Iterator[Pair]:
    """Yield the pairs of a corpus, all or those with some names, in the order in which they were stored.

    Raises:
        NotFoundError: there is no such corpus or pair.
        InputError: the corpus holds no pairs.
    """
    for pairs in pair_batches(store, corpus, keys=keys):
        yield from (pair for _, pair in pairs)


def pair_batches(
    store: Store, corpus: str, *, batch: int = BATCH, keys: Sequence[str] = ()
) -> Iterator[list[tuple[int, Pair]]]:
    """Yield the pairs of `stored_pairs` in batches, each pair with its number."""
    with store.connect() as connection:
        batches = list(batches_of(connection, pair_numbers(connection, corpus, keys), most=batch))
    for numbers in batches:
        with store.connect() as connection:
            yield _read(connection, numbers)


def batches_of(connection: Connection, numbers: Sequence[int], *, most: int) -> Iterator[list[int]]:
    """Yield the numbers of pairs in batches of at most ``most`` pairs and at most ``BATCH_WORDS`` words."""
    # The memory of a batch depends on words, not on pairs, which may be sentences or books.
    query = "select id, document_words + abstract_words from pair where id in (select unnest(?::integer[]))"
    words = dict(raw(connection).execute(query, [list(numbers)]).fetchall())
    held: list[int] = []
    size = 0
    for number in numbers:
        if held and (len(held) == most or size + words[number] > BATCH_WORDS):
            yield held
            held, size = [], 0
        held.append(number)
        size += words[number]
    if held:
        yield held


def pair_numbers(connection: Connection, corpus: str, keys: Sequence[str] = ()) -> list[int]:
    """Return the numbers of the pairs of a corpus, all or those with some names."""
    row = pair_corpus(connection, corpus)
    columns = table.c
    query = select(columns.id, columns.name).where(columns.corpus_id == row.id).order_by(columns.id)
    if not keys:
        return [number for number, _ in connection.execute(query)]
    numbers = {name: number for number, name in connection.execute(query.where(columns.name.in_(keys)))}
    missing = [key for key in keys if key not in numbers]
    if missing:
        raise NotFoundError(f"no pair {missing[0]!r} in {corpus!r} (sentgen pairs list {corpus})")
    return sorted(numbers.values())


def pair_corpus(connection: Connection, name: str) -> Row[tuple[object, ...]]:
    """Return the row of a corpus of pairs, or raise an error."""
    row = corpora.find(connection, name)
    if row.kind != PAIRS:
        raise InputError(f"the corpus {name!r} holds no pairs; add some with: sentgen pairs ingest")
    return row


def list_pairs(store: Store, corpus: str | None = None, *, statistics: bool = False, limit: int = 0) -> Rows:
    """Return the corpora of pairs with their sizes, or the pairs of one.

    With ``statistics``, the figures of each corpus, or of this corpus, instead (view `v_pair_statistics`);
    ``limit`` is the number of rows, 0 for all.

    Raises:
        NotFoundError: there is no such corpus.
        InputError: the corpus holds no pairs.
    """
    with store.connect() as connection:
        if corpus is not None:
            pair_corpus(connection, corpus)
        given: list[object] = [] if corpus is None else [corpus]
        if statistics:
            query = f"""
                select *
                from v_pair_statistics
                {"" if corpus is None else "where corpus = ?"}
                order by corpus, side = 'both', side = 'abstracts'
            """
        elif corpus is None:
            given = [PAIRS]
            query = """
                select
                    c.corpus,
                    count(p.id) as pairs,
                    coalesce(sum(p.document_words), 0)::bigint as document_words,
                    coalesce(sum(p.abstract_words), 0)::bigint as abstract_words,
                    c.licence
                from v_corpora c
                left join v_pairs p on p.corpus = c.corpus
                where c.kind = ?
                group by c.corpus, c.licence
                order by c.corpus
            """
        else:
            query = """
                select name, document_sentences, document_words, abstract_sentences, abstract_words, source
                from v_pairs
                where corpus = ?
                order by id
            """
        return fetch_rows(connection, f"{query} limit {limit}" if limit else query, given)


def pairs_hash(connection: Connection, corpus_id: int) -> str:
    """Return a hash of all pairs of a corpus, whatever their order."""
    digests = connection.scalars(select(table.c.sha256).where(table.c.corpus_id == corpus_id))
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()


def _read(connection: Connection, numbers: Sequence[int]) -> list[tuple[int, Pair]]:
    query = """
        select id, name, document_id, abstract_id
        from pair
        where id in (select unnest(?::integer[]))
        order by id
    """
    rows = raw(connection).execute(query, [list(numbers)]).fetchall()
    documents = [text for *_, document, abstract in rows for text in (document, abstract)]
    texts = {
        text: [Sentence(words) for words in sentences]
        for text, sentences in document_sentences(connection, documents).items()
    }
    return [
        (number, Pair.of_sentences(name, texts.get(document, []), texts.get(abstract, [])))
        for number, name, document, abstract in rows
        if document in texts or abstract in texts
    ]


def document_sentences(connection: Connection, numbers: Sequence[int]) -> dict[int, list[list[str]]]:
    """Return the words of the sentences of some documents by their numbers, of those that have words."""
    # With the range of sentence ids DuckDB skips most of `token`; with the join alone it would read all.
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
    sentences: dict[int, list[list[str]]] = {}
    rows = fetch_arrow(connection, query, [list(numbers)])
    for document, words in zip(rows["document_id"].to_pylist(), rows["words"].to_pylist(), strict=True):
        sentences.setdefault(document, []).append(words)
    return sentences
