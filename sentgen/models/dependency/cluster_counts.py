"""The counts of clusters of related sentences: words, bigrams, dependencies, and ordered pairs of words.

A cluster is a document of a corpus: a few sentences about the same event. Its counts are small and dense, and
are read for a batch of clusters from the token table, in a number of queries independent of the batch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sentgen.arrays import Longs
from sentgen.case_folding import fold_sql
from sentgen.counts import corpora
from sentgen.errors import InputError, ModelError, NotFoundError, spell
from sentgen.models.base import sql
from sentgen.options import TRAIN
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow, raw

MAX_WORDS = 2_000
#: Clusters that are looked up together.
BATCH = 50

_FILE = "cluster_counts.sql"
#: Columns of the token table, word or tag, for the first and the second token of a pair.
# Ordered as `cluster_model` backs off: words, one tag, both tags.
_LEVELS = (("w", "w"), ("t", "w"), ("w", "t"), ("t", "t"))


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Counts of pairs of tokens of one sentence, ``a`` before ``b``; row a, column b, words or tags.

    ``together`` counts the pairs, ``to_right`` those in which b governs a (the head is to the right), and
    ``to_left`` those in which a governs b. With Adj of the papers, whose rows are heads,
    ``to_right[a, b]`` is Adj_right[b, a] and ``to_left[a, b]`` is Adj_left[a, b].
    """

    together: Longs
    to_right: Longs
    to_left: Longs


@dataclass(frozen=True, slots=True)
class CountedTree:
    """A sentence as word numbers, with the index of each word's head, -1 for none, and its relation to it."""

    words: Longs
    heads: Longs
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterCounts:
    """The counts of one cluster of n different words, sorted by form.

    Attributes:
        name: name of the document.
        words: (n,) forms of the words.
        tags: (n,) most frequent tag of each word; of equally frequent tags the first by name, `_` if none.
        tag_of: (n,) number of that tag.
        count: (n,) tokens of each word.
        most: (n,) the highest number of tokens of the word in one sentence.
        found_in: (n,) number of sentences that have the word.
        sentences: number of sentences.
        parsed: whether any token has a head.
        bigrams: (n + 1, n + 1); row n is the start, column n the end of the sentence.
        pairs: counts of pairs of words.
        backed_off: counts of pairs of tags with words, words with tags, and tags with tags; empty unless the
            reading has ``tags``.
        trees: the sentences; empty unless the reading has ``trees``.
    """

    name: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    tag_of: Longs
    count: Longs
    most: Longs
    found_in: Longs
    sentences: int
    parsed: bool
    bigrams: Longs
    pairs: PairCounts
    backed_off: tuple[PairCounts, ...] = ()
    trees: tuple[CountedTree, ...] = ()

    def require_trees(self) -> None:
        """Refuse a cluster that was not parsed.

        Raises:
            ModelError: none of its tokens has a head.
        """
        if not self.parsed:
            raise ModelError(
                f"cluster {self.name!r} has no dependency trees; parse it with {spell('parser')} PARSER"
                f" ({TRAIN}), give CoNLL-U, or choose {spell('algorithm')} bigram"
            )

    @classmethod
    def of_corpus(
        cls,
        store: Store,
        corpus: str,
        clusters: Sequence[tuple[int, str]],
        reading: TokenReading | None = None,
    ) -> list[ClusterCounts]:
        """Return the counts of some clusters of a corpus, a batch of about `BATCH`, in ten queries at most.

        Args:
            clusters: ids and names of documents, from `cluster_names`.
            reading: the tokens to count, and the counts to make.

        Raises:
            InputError: a cluster has more than `MAX_WORDS` different words, or none.
        """
        if not clusters:
            return []
        with store.connect() as connection:
            first = str(corpora.find(connection, corpus).tags)
            return _count(connection, clusters, first, reading or TokenReading())


@dataclass(frozen=True, slots=True)
class TokenReading:
    """Which tokens of a corpus are counted, and which counts are made.

    Without ``punctuation``, the modifiers of a comma are attached to its head; a token is punctuation by its
    tag or, without a tag, if it has neither letter nor digit. ``tags`` adds the counts to back off to,
    ``trees`` the sentences.
    """

    punctuation: bool = True
    lowercase: bool = False
    tags: bool = False
    trees: bool = False


def cluster_names(
    store: Store, corpus: str, *, names: Sequence[str] | None = None, sources: Sequence[str] | None = None
) -> list[tuple[int, str]]:
    """Return ids and names of the clusters of a corpus, in the order in which they were ingested.

    Args:
        names: only documents of these names.
        sources: only documents from sources with these SHA-256.

    Raises:
        NotFoundError: there is no such corpus, or no document of a name.
    """
    with store.connect() as connection:
        values = {
            "corpus": corpora.find(connection, corpus).id,
            "names": list(names) if names is not None else None,
            "sources": list(sources) if sources is not None else None,
        }
        rows = raw(connection).execute(sql.statements(_FILE)["documents"], values).fetchall()
    clusters = [(int(number), str(name)) for number, name in rows]
    missing = sorted(set(names or ()) - {name for _, name in clusters})
    if missing:
        raise NotFoundError(
            f"no document {missing[0]!r} in corpus {corpus!r}; list them with: "
            f"sentgen sql \"select document from v_documents where corpus = '{corpus}'\""
        )
    return clusters


def document_frequencies(
    store: Store, corpus: str, words: Collection[str], *, lowercase: bool = False
) -> tuple[dict[str, int], int]:
    """Return the number of clusters of a corpus that have each word, and the number of clusters."""
    with store.connect() as connection:
        number = int(str(corpora.find(connection, corpus).id))
        query = sql.statements(_FILE)["document_frequencies"].format(form=_form(lowercase))
        duck = raw(connection)
        rows = duck.execute(query, {"corpus": number, "words": sorted(words)}).fetchall()
        total = duck.execute(sql.statements(_FILE)["document_count"], {"corpus": number}).fetchall()
    return {str(form): int(count) for form, count in rows}, int(total[0][0])


def _form(lowercase: bool) -> str:
    return fold_sql("w.form") if lowercase else "w.form"


def _count(
    connection: Connection, batch: Sequence[tuple[int, str]], first: str, reading: TokenReading
) -> list[ClusterCounts]:
    """Run the queries for one batch, and divide their rows by cluster."""
    sql.run(
        connection,
        _FILE,
        "tokens",
        form=_form(reading.lowercase),
        first=first,
        second="upos" if first == "xpos" else "xpos",
        punctuation=str(reading.punctuation).lower(),
        # Ids from the store: no text of a user is written into the query.
        documents=", ".join(str(number) for number, _ in batch),
    )
    try:
        words = _by_document(connection, "words")
        for number, name in batch:
            _check_size(name, len(words[number]["w"]) if number in words else 0)
        sentences = _by_document(connection, "sentences")
        bigrams = _by_document(connection, "bigrams")
        levels = _LEVELS if reading.tags else _LEVELS[:1]
        pairs = {level: _by_document(connection, "pairs", of_a=level[0], of_b=level[1]) for level in levels}
        trees = _by_document(connection, "trees") if reading.trees else {}
    finally:
        sql.run(connection, _FILE, "drop")
    return [
        _cluster(
            name,
            words[number],
            sentences[number],
            bigrams[number],
            {level: of_level.get(number) for level, of_level in pairs.items()},
            tuple(_trees(trees[number])) if reading.trees else (),
        )
        for number, name in batch
    ]


Columns = dict[str, npt.NDArray[Any]]


def _by_document(connection: Connection, statement: str, **values: object) -> dict[int, Columns]:
    """Run a statement whose first column is the document, and return the other columns of each document."""
    query = sql.statements(_FILE)[statement].format(**values)
    table = fetch_arrow(connection, query).sort_by("document_id")
    documents, *others = table.column_names
    numbers = table[documents].to_numpy()
    columns = {name: table[name].to_numpy() for name in others}
    # Ids of documents are positive, so that the first row always begins a document.
    cuts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    return {
        int(numbers[begin]): {name: column[begin:end] for name, column in columns.items()}
        for begin, end in pairwise([*cuts, len(numbers)])
    }


def _check_size(name: str, words: int) -> None:
    """Refuse a cluster without words, or with too many of them."""
    if not words:
        raise InputError(f"cluster {name!r} has no words; leave it out, or keep punctuation")
    if words > MAX_WORDS:
        raise InputError(
            f"cluster {name!r} has {words:,} different words, and {MAX_WORDS:,} are the limit; a cluster is a"
            " few sentences about one event: split it into documents"
        )


def _cluster(
    name: str,
    words: Columns,
    sentences: Columns,
    bigrams: Columns,
    pairs: dict[tuple[str, str], Columns | None],
    trees: tuple[CountedTree, ...],
) -> ClusterCounts:
    """Put the counts of one cluster into dense tables."""
    # Sorting by document need not keep the order within one.
    order = np.argsort(words["w"])
    words = {key: column[order] for key, column in words.items()}
    n = len(words["w"])
    sizes = {"w": n, "t": int(sentences["tags"][0])}
    counted = [_pairs(columns, (sizes[a], sizes[b])) for (a, b), columns in pairs.items()]
    table = np.zeros((n + 1, n + 1), np.int64)
    table[bigrams["a"], bigrams["b"]] = bigrams["count"]  # -1, start or end, is the last row or column
    return ClusterCounts(
        name=name,
        words=tuple(words["form"].tolist()),
        tags=tuple(words["tag"].tolist()),
        tag_of=words["t"].astype(np.int64),
        count=words["count"].astype(np.int64),
        most=words["most"].astype(np.int64),
        found_in=words["sentences"].astype(np.int64),
        sentences=int(sentences["sentences"][0]),
        parsed=bool(sentences["heads"][0]),
        bigrams=table,
        pairs=counted[0],
        backed_off=tuple(counted[1:]),
        trees=trees,
    )


def _trees(tokens: Columns) -> Iterator[CountedTree]:
    """Yield the parsed sentences of one cluster."""
    # Sorting by document need not keep the order within one.
    order = np.lexsort((tokens["position"], tokens["sentence_id"]))
    tokens = {key: column[order] for key, column in tokens.items()}
    cuts = np.flatnonzero(np.diff(tokens["sentence_id"], prepend=-1)).tolist()
    for begin, end in pairwise([*cuts, len(order)]):
        # Heads are positions in the sentence, which have gaps where punctuation was left out.
        index_of = {int(position): i for i, position in enumerate(tokens["position"][begin:end])}
        heads = [index_of.get(head, -1) for head in tokens["head"][begin:end].tolist()]
        yield CountedTree(
            tokens["w"][begin:end].astype(np.int64),
            np.array(heads, np.int64),
            tuple(tokens["relation"][begin:end].tolist()),
        )


def _pairs(pairs: Columns | None, shape: tuple[int, int]) -> PairCounts:
    """Return the pair counts of one level; a cluster of one-word sentences has no pairs."""
    tables = PairCounts(*(np.zeros(shape, np.int64) for _ in range(3)))
    if pairs is not None:
        cells = pairs["a"], pairs["b"]
        tables.together[cells] = pairs["together"]
        tables.to_right[cells] = pairs["to_right"]
        tables.to_left[cells] = pairs["to_left"]
    return tables
