"""Choose among the best sentences of a cluster by a language model of other texts.

A cluster is a few sentences: what it knows of the order of words is little, and of two sentences with
supported arguments it cannot tell which one people would write. So the search gives its best `CANDIDATES` of
each length, and the best of these is chosen by

    (1 - weight) * log p(sentence, by the cluster) + weight * log p(sentence, by the model)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sentgen.errors import InputError
from sentgen.generation.clusters.casing import capitalized
from sentgen.models import registry
from sentgen.models.building.symbols import require_words
from sentgen.models.scoring import score_sentences
from sentgen.models.submodel import ModelLike
from sentgen.output.logarithms import natural
from sentgen.schema import Store

#: Sentences of each length to choose from.
CANDIDATES = 20
# Of 0.15 to 1 on 40 clusters of translations, the one whose sentences are most fluent (docs/clusters.md).
WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Reranker:
    """A model in a store that chooses among sentences; ``weight`` is its own, from 0 to 1."""

    store: Store
    model: ModelLike
    weight: float = WEIGHT

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise InputError(f"rerank-weight {self.weight} is not from 0 to 1")
        require_words(self.model.name, self.model.symbols)

    @classmethod
    def named(cls, store: Store, name: str | None, weight: float) -> Reranker | None:
        """Return a model of the store by its name; ``None`` asks for none.

        Raises:
            NotFoundError: there is no such model.
            InputError: the weight is out of range, or the model has no words.
        """
        return None if name is None else cls(store, registry.find(store, name), weight)

    def scores(self, sentences: Iterable[tuple[Sequence[str], float]], *, lowercase: bool) -> list[float]:
        """Return what sentences are compared by, natural logarithms.

        Args:
            sentences: the words of each, and its log-probability by the cluster.
            lowercase: whether the words were lower-cased, so that none gets a capital for being the first.
        """
        given = list(sentences)
        shown = [words if lowercase else capitalized(words) for words, _ in given]
        found = score_sentences(self.store, self.model, shown)
        return [
            (1 - self.weight) * logp + self.weight * natural(one.log10)
            for (_, logp), one in zip(given, found, strict=True)
        ]
