"""Clusters of related sentences to generate from: read from files, or found in a treebank."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from sentgen.arrays import Floats, Longs, sparse_rows, unit_rows
from sentgen.corpus.base_np import function_heads
from sentgen.corpus.parsers import Parser
from sentgen.corpus.paths import expand
from sentgen.corpus.readers.conllu import conllu_text
from sentgen.corpus.reading import sentences_of
from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.check.verb_arguments import arguments, tags_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Sentences of a derived cluster: the papers have about four.
SIZE = 4
#: Tokens of a sentence in a derived cluster.
_SHORTEST, _LONGEST = 8, 40
#: Least number of different content words: with fewer, a single common word would make sentences similar.
CONTENT = 5
#: Sentences with a higher similarity count as versions of each other, and are not put together.
_ALIKE = 0.8

Heads = Literal["own", "function"]

_CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM", "NN", "VB", "JJ", "RB", "CD")
_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Cluster:
    """Sentences about one event, with trees."""

    name: str
    sentences: tuple[Sentence, ...]

    @staticmethod
    def all_in(path: str, *, parser: Parser | None = None, form: str | None = None) -> Iterator[Cluster]:
        """Yield the clusters of a file, folder or archive: a document each, or a source without documents.

        Args:
            path: anything that `sentgen ingest` takes.
            parser: parser for sentences without heads.
            form: name of the format; detected if ``None``.

        Raises:
            InputError: a sentence is broken, or has no tree and there is no parser.
        """
        for source in expand([path]):
            name, sentences = source.name, list[Sentence]()
            for sentence in sentences_of([source], parser=parser, form=form, trees=True):
                # A source that names no documents is one cluster.
                if sentence.document is not None and sentences:
                    yield Cluster(name, tuple(sentences))
                    sentences = []
                name = name if sentence.document is None else sentence.document
                sentences.append(sentence)
            if sentences:
                yield Cluster(name, tuple(sentences))


@dataclass(frozen=True, slots=True)
class ClusterSet:
    """Clusters to generate from, and the heads to learn from.

    Attributes:
        clusters: the clusters, with trees.
        source: origin of the clusters, for the record.
        heads: heads of the trees that a search learns from: their `own`, or `function` words over what they
            mark, as in the parser of the paper; what the strings are compared with stays as it is.
    """

    clusters: Sequence[Cluster]
    source: str = ""
    heads: Heads = "own"

    def learned(self) -> list[Sequence[Sentence]]:
        """Return the sentences of the clusters with the trees that the search learns from."""
        if self.heads == "own":
            return [cluster.sentences for cluster in self.clusters]
        return [
            [
                replace(sentence, heads=function_heads(sentence)) if sentence.deprels else sentence
                for sentence in cluster.sentences
            ]
            for cluster in self.clusters
        ]

    @property
    def sha256(self) -> str:
        """Return the hash of the content of the clusters."""
        text = "".join(conllu_text(sentence) for cluster in self.clusters for sentence in cluster.sentences)
        return hashlib.sha256(text.encode()).hexdigest()


def reparsed(clusters: Sequence[Cluster], parser: Parser) -> list[Cluster]:
    """Return clusters with the same tokens and the annotation of a parser instead of their own."""
    forms = [sentence.forms for cluster in clusters for sentence in cluster.sentences]
    parsed = parser.parse_tokenized(forms)
    return [
        replace(cluster, sentences=tuple(next(parsed) for _ in cluster.sentences)) for cluster in clusters
    ]


def similar_clusters(
    sentences: Sequence[Sentence],
    count: int,
    *,
    size: int = SIZE,
    alike: float = _ALIKE,
    content: int = CONTENT,
) -> list[Cluster]:
    """Make clusters of similar sentences from a treebank.

    The similarity of two sentences is the cosine of their vectors of content words, with the weight ln(N / n)
    for a word in n of N sentences. Content words are lower-cased lemmas of nouns, verbs, adjectives, adverbs
    and numbers. Only sentences of `_SHORTEST` to `_LONGEST` tokens with a verb argument take part. A cluster
    is a sentence with the ``size`` - 1 most similar others that are not more similar to it than ``alike``.
    Clusters that share a sentence exclude each other: the cluster with the higher mean similarity is taken
    first. Ties go to the first in the corpus. Quadratic in the sentences, a block at a time.
    """
    eligible = [
        sentence
        for sentence in sentences
        if _SHORTEST <= len(sentence.forms) <= _LONGEST
        and arguments(sentence)
        and len(_content(sentence)) >= content
    ]
    if len(eligible) < size:
        return []
    vectors = _vectors(eligible)
    nearest, similarity = _nearest(vectors, size - 1, alike)
    taken: set[int] = set()
    clusters: list[Cluster] = []
    # Greedy, the tightest clusters first; a stable sort leaves ties in the order of the corpus.
    for seed in np.argsort(-similarity.mean(axis=1), kind="stable").tolist():
        members = [seed, *nearest[seed].tolist()]
        # Too few other sentences share a word with the sentence.
        if similarity[seed].min() <= 0 or not taken.isdisjoint(members):
            continue
        taken.update(members)
        name = eligible[seed].sent_id or str(seed + 1)
        clusters.append(Cluster(name, tuple(eligible[member] for member in members)))
        if len(clusters) == count:
            break
    return clusters


def _vectors(sentences: Sequence[Sentence]) -> csr_array:
    """Return (sentences, words) unit vectors of idf weights."""
    # Sorted: sums of floats depend on the order, which for a set depends on the process.
    bags = [sorted(_content(sentence)) for sentence in sentences]
    column = {word: i for i, word in enumerate(sorted({word for bag in bags for word in bag}))}
    found_in = np.zeros(len(column))
    for bag in bags:
        found_in[[column[word] for word in bag]] += 1
    # 0 for a word in every sentence, which says nothing about similarity.
    idf = np.log(len(sentences) / found_in)
    return unit_rows(
        sparse_rows([{column[word]: idf[column[word]] for word in bag} for bag in bags], len(column))
    )


def _content(sentence: Sentence) -> set[str]:
    lemmas = sentence.lemmas or sentence.forms
    words = zip(sentence.forms, lemmas, tags_of(sentence), strict=True)
    return {
        (form if lemma in ("", "_") else lemma).lower()
        for form, lemma, tag in words
        if tag in _CONTENT or tag[:2] in _CONTENT
    }


def _nearest(vectors: csr_array, count: int, alike: float) -> tuple[Longs, Floats]:
    """Return (sentences, count) numbers of the most similar other sentences, and their similarities."""
    size = vectors.shape[0]
    nearest = np.empty((size, count), np.int64)
    similarity = np.empty((size, count))
    for begin in range(0, size, _ROWS):
        block = (vectors[begin : begin + _ROWS] @ vectors.T).toarray()
        rows = np.arange(len(block))
        # A sentence is not its own neighbor.
        block[rows, rows + begin] = -1
        # A version of a sentence would give the search its answer.
        block[block > alike] = -1
        best = np.argsort(-block, axis=1, kind="stable")[:, :count]
        nearest[begin : begin + len(block)] = best
        similarity[begin : begin + len(block)] = np.take_along_axis(block, best, axis=1)
    return nearest, similarity
