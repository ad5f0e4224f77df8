"""Extraction of the document sentences for an abstract by logistic regression, trained on aligned pairs.

Daumé and Marcu 2004 close with this use of alignments: an extractor learns to choose sentences from which
abstracts come. The features of a sentence (`FEATURES`) are computed from the document alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.stored.application import found_rows
from sentgen.alignment.stored.stored_pairs import BATCH, document_sentences
from sentgen.alignment.words.word_classes import FUNCTION_WORDS, stem
from sentgen.arrays import Bools, Floats, sparse_rows, unit_rows
from sentgen.counts import corpora
from sentgen.counts.settings import PAIRS
from sentgen.errors import InputError
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import raw

Words = Sequence[str]
#: The features of a sentence. Content words are stems of words that are not function words or marks.
FEATURES = {
    "first": "whether it is the first one",
    "position": "log(number), from 1",
    "share": "how much of the document stands before it, 0 to 1",
    "length": "log(1 + content words)",
    "frequency": "mean log(count in the document) of its content words",
    "likeness": "cosine of the content words of sentence and document",
    "beginning": "cosine of the content words of sentence and first sentence",
    "numbers": "share of its words that have a digit",
    "sentences": "log(sentences of the document)",
}
LIKENESS = list(FEATURES).index("likeness")
#: Strength of the normal prior (L2) of the weights of standardized features.
_RIDGE = 1.0
_STEPS = 50
#: Default number of sentences that are chosen from a document.
SIZE = 3


@dataclass(frozen=True, slots=True)
class Extractor:
    """A logistic regression of standardized features; ``weights`` begin with the intercept."""

    means: Floats
    scales: Floats
    weights: Floats

    def probabilities(self, sentences: Sequence[Words]) -> Floats:
        """Return for each sentence of a document the probability that an abstract sentence comes from it."""
        rows = (Extractor.features(sentences) - self.means) / self.scales
        return _logistic(rows @ self.weights[1:] + self.weights[0])

    @staticmethod
    def features(sentences: Sequence[Words]) -> Floats:
        """Return the `FEATURES` of each sentence, (n, 9) float64."""
        content = [Counter(map(stem, filter(_says_something, words))) for words in sentences]
        whole = sum(content, Counter[str]())
        columns = {word: n for n, word in enumerate(whole)}
        counts = [{columns[word]: float(count) for word, count in counts_of.items()} for counts_of in content]
        vectors = unit_rows(sparse_rows(counts, len(columns)))
        together = {columns[word]: float(count) for word, count in whole.items()}
        document = unit_rows(sparse_rows([together], len(columns)))
        first, like = ((row @ vectors.T).toarray()[0] for row in (vectors[:1], document))
        number = len(sentences)
        places = np.arange(number)
        columns_of = (
            places == 0,
            np.log1p(places),
            places / number,
            np.log1p([counts_of.total() for counts_of in content]),
            [_mean(np.log(whole[word]) for word in counts_of.elements()) for counts_of in content],
            like,
            first,
            [_mean(any(map(str.isdigit, word)) for word in words) for words in sentences],
            np.full(number, np.log(number)),
        )
        return np.column_stack([np.asarray(column, np.float64) for column in columns_of])

    @staticmethod
    def learn(rows: Floats, chosen: Bools) -> Extractor:
        """Return the logistic regression of features, (n, k), on whether sentences are chosen, (n,).

        Newton's method (iteratively reweighted least squares) on the likelihood times a normal prior of the
        weights of standardized features, except the intercept. O(n k^2) a step.

        Raises:
            InputError: all sentences are chosen, or none is.
        """
        if not 0 < chosen.sum() < len(chosen):
            raise InputError(
                f"{chosen.sum():,} of {quantity(len(chosen), 'sentence')} of these documents are sources of"
                " abstracts: there is nothing to learn; align pairs whose documents say more than their"
                " abstracts"
            )
        means, scales = rows.mean(axis=0), rows.std(axis=0)
        scales[scales < 1e-12] = 1.0  # a constant feature, which becomes 0
        matrix = np.column_stack([np.ones(len(rows)), (rows - means) / scales])
        prior = np.diag([0.0, *[_RIDGE] * rows.shape[1]])
        weights = np.zeros(matrix.shape[1])
        for _ in range(_STEPS):
            given = _logistic(matrix @ weights)
            gradient = matrix.T @ (chosen - given) - prior @ weights
            curvature = (matrix * (given * (1 - given))[:, None]).T @ matrix + prior
            step = np.linalg.solve(curvature, gradient)
            weights = weights + step
            if np.abs(step).max() < 1e-9:
                break
        return Extractor(means, scales, weights)

    @staticmethod
    def of_pairs(store: Store, corpus: str, name: str | None) -> Extractor:
        """Train on the pairs of a corpus that a model has aligned; without a name, the priors.

        Raises:
            NotFoundError: there is no such corpus or model, or the one has not been applied to the other.
            InputError: all sentences of the documents are sources, or none is.
        """
        chosen = sources(store, corpus, name)
        rows, labels = [], []
        for pair, sentences in _documents(store, corpus):
            if pair in chosen:
                rows.append(Extractor.features(sentences))
                labels.append(np.isin(np.arange(len(sentences)), list(chosen[pair])))
        return Extractor.learn(np.concatenate(rows), np.concatenate(labels))

    def extracts(self, store: Store, corpus: str, *, size: int = SIZE, limit: int = 0) -> Rows:
        """Return the sentences of each document, in its order, from which an abstract would most likely come.

        Of a document there are ``size``, or all if it has fewer; ``limit`` is the number of rows, 0 for all.
        Of a corpus of pairs, the documents are read.

        Raises:
            NotFoundError: there is no such corpus.
        """
        names = ("document", "sentence", "probability", "text")
        chosen: list[tuple[str, int, float, str]] = []
        for name, sentences in _documents(store, corpus):
            chances = self.probabilities(sentences)
            chosen += [(name, n + 1, float(chances[n]), " ".join(sentences[n])) for n in best(chances, size)]
            if limit and len(chosen) >= limit:
                break
        return Rows(names, chosen[:limit] if limit else chosen)


def best(scores: Floats, size: int) -> tuple[int, ...]:
    """Return the offsets of the sentences with the highest scores, ascending; of equals the first ones.

    >>> best(np.array([0.1, 0.5, 0.5, 0.9]), 2)
    (1, 3)
    """
    return tuple(sorted(np.argsort(-scores, kind="stable")[:size].tolist()))


def _says_something(word: str) -> bool:
    return word.lower() not in FUNCTION_WORDS and any(map(str.isalnum, word))


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given) if given else 0.0


def _logistic(values: Floats) -> Floats:
    # The logistic function without overflow for either sign.
    return np.asarray(0.5 * (1 + np.tanh(0.5 * values)), np.float64)


def sources(store: Store, corpus: str, name: str | None) -> dict[str, set[int]]:
    """Return for each aligned pair the document sentences, from 0, that are sources of abstract sentences.

    The source of an abstract sentence is that of most of its words; ties go to the first.

    Raises:
        NotFoundError: there is no such corpus or model, or the one has not been applied to the other.
    """
    chosen: dict[str, set[int]] = {}
    rows = found_rows(store, corpus, name, sentences=True).select(["pair", "source", "rank"])
    for pair, source, rank in rows:
        sentences = chosen.setdefault(pair, set())
        if source is not None and rank == 1:
            sentences.add(source - 1)
    return chosen


def _documents(store: Store, corpus: str) -> Iterator[tuple[str, Sequence[Words]]]:
    """Yield name and sentences of the documents of a corpus; of pairs, their names and documents.

    Raises:
        NotFoundError: there is no such corpus.
    """
    with store.connect() as connection:
        row = corpora.find(connection, corpus)
        column, table = ("document_id", "pair") if row.kind == PAIRS else ("id", "document")
        query = f"select {column}, name from {table} where corpus_id = ? order by id"
        listed = raw(connection).execute(query, [row.id]).fetchall()
    for begin in range(0, len(listed), BATCH):
        batch = listed[begin : begin + BATCH]
        with store.connect() as connection:
            texts = document_sentences(connection, [number for number, _ in batch])
        yield from ((name, texts[number]) for number, name in batch if number in texts)
