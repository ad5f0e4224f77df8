"""Choose among the best sentences of a cluster by a language model of other texts, or a scorer of a plug-in.

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
from sentgen.models.plugin_scorers import scorer_for
from sentgen.models.scorer import Scorer
from sentgen.schema import Store

#: Sentences of each length to choose from.
CANDIDATES = 20
# Of 0.15 to 1 on 40 clusters of translations, the one whose sentences are most fluent (docs/generate.md).
WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Reranker:
    """What chooses among sentences; ``weight`` is its own, from 0 to 1."""

    scorer: Scorer
    weight: float = WEIGHT

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise InputError(f"rerank-weight {self.weight} is not from 0 to 1")

    @classmethod
    def named(cls, store: Store, name: str | None, weight: float) -> Reranker | None:
        """Return a model of the store, or a scorer, by its name; ``None`` asks for none.

        Raises:
            InputError: the weight is out of range, or see `scorer_for` for this and other errors.
        """
        return None if name is None else cls(scorer_for(store, name), weight)

    def scores(self, sentences: Iterable[tuple[Sequence[str], float]], *, lowercase: bool) -> list[float]:
        """Return what sentences are compared by, natural logarithms.

        Args:
            sentences: the words of each, and its log-probability by the cluster.
            lowercase: whether the words were lower-cased, so that none gets a capital for being the first.
        """
        given = list(sentences)
        shown = [words if lowercase else capitalized(words) for words, _ in given]
        return [
            (1 - self.weight) * logp + self.weight * own
            for (_, logp), own in zip(given, self.scorer.score(shown), strict=True)
        ]
