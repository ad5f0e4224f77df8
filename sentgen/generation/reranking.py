"""Choose among the best sentences of a bag by models and scorers that see whole sentences.

    score(sentence) = the algorithm's score + w1 log p1(sentence) + w2 log p2(sentence) ...

over what `--rerank` names, and the scorers among `--features`, which cannot be asked within a search: what
they say of the beginning of a sentence is not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.errors import InputError
from sentgen.generation.bags.problem import RerankSettings, SearchSettings, rounded_weights
from sentgen.generation.ngrams.features import FeatureSettings
from sentgen.models.base.registry import list_models, matching
from sentgen.models.plugin_scorers import scorer_for, scorer_named
from sentgen.models.scorer import Scorer, Sentences
from sentgen.schema import Store

#: Sentences of a bag to choose from: of 50 the best one is 15 BLEU above the first (docs/plugins.md).
CANDIDATES = 50

#: What reranks, and what it weighs.
Rerankers = Sequence[tuple[Scorer, float]]


def rerankers_of(store: Store, settings: SearchSettings) -> tuple[SearchSettings, Rerankers]:
    """Return settings whose scorers stand where all that reranks does, and these with their weights.

    Raises:
        InputError: one is there twice, or see `scorer_for` for this and other errors.
    """
    features = settings.of(FeatureSettings).features.named
    models = list_models(store) if features else []
    scorers = [one for one in features if not matching(models, one[0]) and scorer_named(one[0])]
    named = [*scorers, *settings.of(RerankSettings).rerank.named]
    names = [name for name, _ in named]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{twice} is a feature and reranks as well; name it once")
    if scorers:
        stored = rounded_weights(one for one in features if one not in scorers)
        settings = settings.having(FeatureSettings(stored), RerankSettings(rounded_weights(named)))
    return settings, [(scorer_for(store, name), weight) for name, weight in named]


def scores_of(rerankers: Rerankers, sentences: Sentences) -> list[list[float]]:
    """Return what each of those that rerank says of each sentence: a list a sentence."""
    # An empty sentence is the only one of its bag; that it has no words is nothing that a scorer has to know.
    asked = [one for one in sentences if one]
    found = [iter(scorer.score(asked)) for scorer, _ in rerankers]
    return [[next(scores) if one else 0.0 for scores in found] for one in sentences]


def weighted_sum(rerankers: Rerankers, scores: Sequence[float]) -> float:
    """Return what the scores of a sentence add to that of the algorithm."""
    return sum(weight * score for (_, weight), score in zip(rerankers, scores, strict=True))
