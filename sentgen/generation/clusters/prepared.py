"""Clusters with their counts and probabilities, looked up a batch at a time, ready for a search.

The few sentences of a cluster may back off to a treebank. Wan et al. 2005 name corpus-based dependency
statistics as future work, without a formula. Here it is that of Wan et al. 2007
(`sentgen.models.dependency.dependencies`), itself backed off to tags:

    p(isHeadRight(a, b)) = prob(b, a, left)     b governs a, which is on its left
    p(isHeadLeft(a, b))  = prob(a, b, right)    a governs b, which is on its right

Its denominator counts pairs of the sentences in both orders, that of a cluster only pairs with a before b.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentgen.arrays import Bools, Floats, Ints
from sentgen.case_folding import fold
from sentgen.counts import corpora
from sentgen.errors import InputError, spell
from sentgen.generation.clusters.depviterbi import UNLIMITED, PathReader
from sentgen.generation.clusters.settings import DocumentFrequencies, GenerationSettings, emission
from sentgen.models.base.registry import ModelInfo
from sentgen.models.dependency.cluster_counts import (
    BATCH,
    ClusterCounts,
    TokenReading,
    cluster_names,
    document_frequencies,
)
from sentgen.models.dependency.cluster_model import ClusterModel, HeadSides, Smoothing
from sentgen.models.dependency.dependencies import LEFT, RIGHT, TaggedWord, prefetch_dependencies
from sentgen.models.dependency.tagging import known_tags, most_frequent_tags, named_treebanks, tag_set
from sentgen.models.dependency.tree_counts import Layer
from sentgen.models.submodel import lowercases, prefetch
from sentgen.schema import Store


@dataclass(frozen=True, slots=True)
class MixedModel:
    """A model in a store whose bigrams are mixed into those of the clusters; the clusters have ``weight``."""

    store: Store
    model: ModelInfo
    weight: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise InputError(f"lm-weight {self.weight} is not from 0 to 1")
        self.model.symbols.require_words(self.model.name)


@dataclass(frozen=True, slots=True)
class PreparedCluster:
    """A cluster with its probabilities; ``lookup`` is the seconds of looking them up."""

    settings: GenerationSettings
    counts: ClusterCounts
    model: ClusterModel
    emission: Floats
    lookup: float

    @property
    def weight(self) -> float:
        """Return the weight of the dependencies in the average."""
        return self.settings.weight if self.settings.algorithm == "depviterbi" else 0.0

    @property
    def allowed(self) -> Bools | None:
        """Return (n + 1, n + 1) which word may follow which; all if ``None``."""
        return self.counts.bigrams > 0 if self.settings.transitions == "seen" else None

    @property
    def limit(self) -> Ints:
        """Return (n,) how often each word may be used."""
        if self.settings.reuse == "free":
            return np.full(len(self.counts.words), UNLIMITED, np.int32)
        often = self.counts.count if self.settings.reuse == "none" else self.counts.most
        return often.astype(np.int32)

    def reader(self) -> PathReader:
        """Return the reader of the paths of the cluster."""
        return PathReader(
            self.model,
            weight=self.weight,
            emission=self.emission,
            nearness=self.settings.nearness,
        )

    @classmethod
    def of_corpus(
        cls,
        store: Store,
        corpus: str,
        clusters: Sequence[tuple[int, str]] | None,
        settings: GenerationSettings,
        lm: MixedModel | None = None,
        dependencies: CorpusDependencies | None = None,
    ) -> Iterator[PreparedCluster]:
        """Look up clusters, all of a corpus if ``None``; each batch when it is needed.

        Raises:
            NotFoundError: there is no such corpus.
            InputError: ``dependencies`` would not be used, or a cluster has too many words, or none.
            ModelError: the algorithm needs trees, and a cluster has none.
        """
        if dependencies is not None and (settings.algorithm == "bigram" or settings.arguments == "supported"):
            subject = "bigrams" if settings.algorithm == "bigram" else "supported arguments"
            raise InputError(
                f"{subject} use no dependencies of other corpora; leave {spell('dependencies')} out"
            )
        chosen = cluster_names(store, corpus) if clusters is None else clusters
        return (
            prepared
            for begin in range(0, len(chosen), BATCH)
            for prepared in _prepare(store, corpus, chosen[begin : begin + BATCH], settings, lm, dependencies)
        )


def _prepare(
    store: Store,
    corpus: str,
    clusters: Sequence[tuple[int, str]],
    settings: GenerationSettings,
    lm: MixedModel | None,
    dependencies: CorpusDependencies | None,
) -> Iterator[PreparedCluster]:
    """Look up a batch of clusters."""
    started = time.perf_counter()
    reading = TokenReading(
        settings.punctuation,
        settings.lowercase,
        tags=settings.smoothing == "collins",
        # The lengths of sentences are always needed.
        trees=True,
    )
    counted = ClusterCounts.of_corpus(store, corpus, clusters, reading)
    if settings.algorithm == "depviterbi":
        for counts in counted:
            counts.require_trees()
    models = cluster_models(counted, settings.smoothing, lm, dependencies)
    frequencies = None
    if settings.salience == "tfidf":
        words = {word for counts in counted for word in counts.words}
        frequencies = DocumentFrequencies(
            *document_frequencies(store, corpus, words, lowercase=settings.lowercase)
        )
    lookup = (time.perf_counter() - started) / len(clusters)
    for counts, model in zip(counted, models, strict=True):
        logp = emission(counts, settings.salience, frequencies)
        yield PreparedCluster(settings, counts, model, logp, lookup)


def cluster_models(
    counted: Sequence[ClusterCounts],
    smoothing: Smoothing = "none",
    lm: MixedModel | None = None,
    dependencies: CorpusDependencies | None = None,
) -> list[ClusterModel]:
    """Return the models of some clusters, mixed with a language model and treebanks."""
    corpus_sides = [None] * len(counted) if dependencies is None else dependencies.of(counted)
    models = [
        ClusterModel.estimate(counts, smoothing=smoothing, corpus=corpus)
        for counts, corpus in zip(counted, corpus_sides, strict=True)
    ]
    return models if lm is None else _mixed(models, lm)


def _mixed(models: Sequence[ClusterModel], lm: MixedModel) -> list[ClusterModel]:
    """Interpolate the bigrams of clusters with those of a language model, looked up at once."""
    lower = lowercases(lm.store, lm.model)
    bags = [[fold(word) if lower else word for word in model.words] for model in models]
    # If unknown words are classed by tag, their classes are fetched, too.
    tags = {tag for model in models for tag in model.tags}
    submodel = prefetch(lm.store, lm.model, bags, tags=tags, order=2)
    mixed = []
    for model, bag in zip(models, bags, strict=True):
        big = submodel.table.bigram_matrix(submodel.encode(bag, model.tags))
        mixed.append(replace(model, bigrams=lm.weight * model.bigrams + (1 - lm.weight) * big))
    return mixed


_LAYER: Layer = "word"
#: Replaces zero before logarithms; probabilities up to it become zero again.
_ZERO = 1e-300


@dataclass(frozen=True, slots=True)
class CorpusDependencies:
    """Treebanks of a store, by their names.

    Raises:
        NotFoundError: there is no corpus of a name.
        ModelError: a corpus has no trees, or they have tags of different kinds.
    """

    store: Store
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        tag_set(self.store, self.numbers)

    @classmethod
    def named(cls, store: Store, names: Sequence[str]) -> CorpusDependencies | None:
        """Return the dependencies of the corpora of some names; none if no names are given."""
        return cls(store, tuple(names)) if names else None

    @property
    def numbers(self) -> list[int]:
        """Return the ids of the corpora."""
        return named_treebanks(self.store, self.names, _LAYER)

    def of(self, clusters: Sequence[ClusterCounts]) -> list[HeadSides]:
        """Return the probabilities for the words of some clusters.

        A word has its tag in the cluster or, if the corpora do not have that tag, its most frequent tag
        there.
        """
        numbers = self.numbers
        words = list(self._tagged(numbers, clusters))
        probabilities = prefetch_dependencies(self.store, numbers, _LAYER, words, floor=_ZERO)
        sides = []
        for of_cluster in probabilities:
            prob = np.exp(of_cluster.prob[1:])  # without the root
            prob[prob <= 2 * _ZERO] = 0.0
            sides.append(HeadSides(np.ascontiguousarray(prob[..., LEFT].T), prob[..., RIGHT]))
        return sides

    def _tagged(
        self, numbers: Sequence[int], clusters: Sequence[ClusterCounts]
    ) -> Iterator[list[TaggedWord]]:
        with self.store.connect() as connection:
            lower = all(corpora.find(connection, name).lowercase for name in self.names)
        forms = [[fold(word) if lower else word for word in cluster.words] for cluster in clusters]
        known = known_tags(self.store, numbers, _LAYER)
        strange = {
            word
            for cluster_forms, cluster in zip(forms, clusters, strict=True)
            for word, tag in zip(cluster_forms, cluster.tags, strict=True)
            if tag not in known
        }
        usual = most_frequent_tags(self.store, numbers, _LAYER, strange)
        for cluster_forms, cluster in zip(forms, clusters, strict=True):
            yield [
                (word, tag if tag in known else usual[word])
                for word, tag in zip(cluster_forms, cluster.tags, strict=True)
            ]
