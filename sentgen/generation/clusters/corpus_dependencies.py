"""Dependencies of a treebank for words of clusters: what the few sentences of a cluster back off to.

Wan et al. 2005 name corpus-based dependency statistics as what comes next, and no formula. Here it is that of
Wan et al. 2007 (`sentgen.models.dependency.dependencies`), itself backed off to tags:

    p(isHeadRight(a, b)) = prob(b, a, left)     b governs a, which is on its left
    p(isHeadLeft(a, b))  = prob(a, b, right)    a governs b, which is on its right

Its denominator counts the sentences' pairs of both orders, that of a cluster only those with a before b.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.case_folding import fold
from sentgen.counts import corpora
from sentgen.models.dependency.dependencies import LEFT, RIGHT, TaggedWord, prefetch_dependencies
from sentgen.models.dependency.tagging import known_tags, most_frequent_tags, named_treebanks, tag_set
from sentgen.models.dependency.tree_counts import Layer
from sentgen.models.related.cluster_counts import ClusterCounts
from sentgen.models.related.cluster_model import HeadSides
from sentgen.schema import Store

_LAYER: Layer = "word"
#: Stands for zero where logarithms are taken; what is not above it is zero again.
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
        """Return those of corpora by their names; none asks for none."""
        return cls(store, tuple(names)) if names else None

    @property
    def numbers(self) -> list[int]:
        """Return the ids of the corpora."""
        return named_treebanks(self.store, self.names, _LAYER)

    def of(self, clusters: Sequence[ClusterCounts]) -> list[HeadSides]:
        """Return the probabilities for the words of some clusters.

        A word has the tag that it has in its cluster, or where the corpora do not have that tag, the one
        that the word has most often there.
        """
        numbers = self.numbers
        words = list(self._tagged(numbers, clusters))
        found = prefetch_dependencies(self.store, numbers, _LAYER, words, floor=_ZERO)
        sides = []
        for one in found:
            prob = np.exp(one.prob[1:])  # without the root
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
            for of, cluster in zip(forms, clusters, strict=True)
            for word, tag in zip(of, cluster.tags, strict=True)
            if tag not in known
        }
        usual = most_frequent_tags(self.store, numbers, _LAYER, strange)
        for of, cluster in zip(forms, clusters, strict=True):
            yield [
                (word, tag if tag in known else usual[word])
                for word, tag in zip(of, cluster.tags, strict=True)
            ]
