"""The request to order bags, and the plan that is made from it, once, with a store.

Reranking chooses among the best sentences of a bag by models and scorers that see whole sentences:

    score(sentence) = the algorithm's score + w1 log p1(sentence) + w2 log p2(sentence) ...

over the names of `--rerank`, and the scorers among `--features`, which cannot be used within a search, since
they score whole sentences only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast

from sentgen.errors import InputError
from sentgen.generation.algorithms import ALGORITHMS, SETTINGS, read_system
from sentgen.generation.bags.bag import Unit, UnitKind
from sentgen.generation.bags.bag_reader import TagKind
from sentgen.generation.bags.problem import (
    SEARCH_PANEL,
    Algorithm,
    NgramSettings,
    Paper,
    RerankSettings,
    SearchSettings,
    Weights,
)
from sentgen.generation.ngrams.features import FeatureModel, FeatureSettings
from sentgen.generation.trees.factors import FACTORS, FactorSettings, found_weights
from sentgen.models.base import registry
from sentgen.models.base.registry import ModelInfo, list_models, matching
from sentgen.models.dependency.tagging import has_trees, tag_set, treebanks_of
from sentgen.models.dependency.tree_counts import Layer
from sentgen.models.request import LOWERCASE
from sentgen.models.scorer import Scorer, Sentences, scorer_for, scorer_named
from sentgen.models.submodel import lowercases
from sentgen.options import Changes, Option
from sentgen.output.wording import quantity
from sentgen.schema import Store

#: Sentences of a bag to rerank: the best of 50 is 15 BLEU above the first (docs/plugins.md).
CANDIDATES = 50

#: Models and scorers that rerank, with their weights.
Rerankers = Sequence[tuple[Scorer, float]]


def _rerankers_of(store: Store, settings: SearchSettings) -> tuple[SearchSettings, Rerankers]:
    """Return settings with all scorers moved to the rerankers, and the rerankers with their weights.

    Raises:
        InputError: a scorer is named twice.
        SentgenError: as `scorer_for` raises it.
    """
    features = settings.of(FeatureSettings).features.named
    models = list_models(store) if features else []
    scorers = [
        feature for feature in features if not matching(models, feature[0]) and scorer_named(feature[0])
    ]
    named = [*scorers, *settings.of(RerankSettings).rerank.named]
    names = [name for name, _ in named]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{twice} is a feature and reranks as well; name it once")
    if scorers:
        stored = Weights.rounded(feature for feature in features if feature not in scorers)
        settings = settings.having(FeatureSettings(stored), RerankSettings(Weights.rounded(named)))
    return settings, [(scorer_for(store, name), weight) for name, weight in named]


def scores_of(rerankers: Rerankers, sentences: Sentences) -> list[list[float]]:
    """Return the scores of all rerankers for each sentence: a list a sentence."""
    # An empty sentence is the only one of its bag, so that scorers need not accept it.
    filled = [sentence for sentence in sentences if sentence]
    by_scorer = [iter(scorer.score(filled)) for scorer, _ in rerankers]
    return [[next(scores) if sentence else 0.0 for scores in by_scorer] for sentence in sentences]


#: Default algorithms if the corpora of the model have trees, and if not.
_AUTOMATIC, WITH_TREES, _WITHOUT = "auto", "joint", "beam"
#: The fields of a search that `regenerate` and experiments share.
SHARED = ("as_published", "changes", "dependencies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The request of a search; fields have the names of the command line.

    The algorithm may have settings behind its name (see `read_system`). ``changes`` are settings that differ
    from the defaults. ``units`` are also the units of the trees.
    """

    algorithm: Annotated[
        str,
        Option(
            f"One of: {', '.join(ALGORITHMS)}; auto is {WITH_TREES} where there are trees, else {_WITHOUT}.",
            short="-a",
            metavar="NAME",
        ),
    ] = _AUTOMATIC
    as_published: Annotated[
        Paper | None, Option("Take every literal reading of a paper.", panel=SEARCH_PANEL)
    ] = None
    changes: Annotated[Mapping[str, object], Changes(SETTINGS.values())] = field(default_factory=dict)
    dependencies: Annotated[
        list[str] | None,
        Option(
            "Treebanks to take dependencies from. Default: the model's corpora.",
            shell="Treebank to take dependencies from; may be repeated. Default: the model's corpora.",
            metavar="CORPUS",
            panel=SEARCH_PANEL,
            api={"max_length": 100},
        ),
    ] = None
    units: Annotated[
        UnitKind,
        Option("Keep base noun phrases whole, or break them up.", closed=True, metavar="np|word"),
    ] = "np"
    lowercase: Annotated[bool | None, Option(LOWERCASE, off="--keep-case")] = None
    seed: Annotated[int, Option("Seed of the shuffle that breaks ties.", least=0, api={"lt": 2**31})] = 1
    nbest: Annotated[int, Option("Sentences to give for each bag, at most.", least=1, api={"le": 100})] = 1

    def plan(self, store: Store, model: ModelInfo | str) -> SearchPlan:
        """Make the plan of a search with a model, which may be given by its name.

        Raises:
            InputError: the algorithm is unknown, or a setting is invalid.
            NotFoundError: there is no model or corpus of a name.
            ModelError: the model is not over words, or the algorithm needs trees, and the corpora have none.
            PluginError: the algorithm, or a scorer, is from a plug-in, and cannot be used.
        """
        if isinstance(model, str):
            model = registry.find(store, model)
        model.symbols.require_words(model.name)
        # The trees must have the same units, or the counts would have none of them.
        layer: Layer = "word" if self.units == "word" else "unit"
        name = self.algorithm
        if name == _AUTOMATIC:
            name = WITH_TREES if self.dependencies or has_trees(store, model, layer) else _WITHOUT
        algorithm, chosen, given = read_system(name, self.as_published, self.changes)
        if self.nbest < 1:
            raise InputError(f"{self.nbest} sentences a bag is too few; give 1 or more")
        settings, rerankers = _rerankers_of(store, found_weights(store, model, algorithm, chosen, given))
        treebank = None
        if algorithm.trees:
            treebank = Treebank(tuple(treebanks_of(store, model, self.dependencies or None, layer)), layer)
        lowercase = lowercases(store, model) if self.lowercase is None else self.lowercase
        features = settings.of(FeatureSettings).models(store, lowercase)
        # With treebanks of other models, and in a lake, no companions can be built.
        alone = not (any(feature.needs_tags for feature in features) or self.dependencies or store.lake)
        wanted = algorithm.trees and chosen.of(FeatureSettings).automatic
        words = algorithm.words or self.units == "word"
        keep = "choose another algorithm" if algorithm.words else "keep the phrases whole (units np)"
        return SearchPlan(
            model=model,
            algorithm=algorithm,
            settings=settings,
            treebank=treebank,
            features=features,
            rerankers=rerankers,
            words=words,
            lowercase=lowercase,
            seed=self.seed,
            nbest=self.nbest,
            hints=(
                *([_ALONE.format(model=model.name, algorithm=algorithm.name)] if wanted and alone else []),
                *([_BRACKETS.format(model=model.name, keep=keep)] if words and model.brackets else []),
            ),
        )


@dataclass(frozen=True, slots=True)
class Treebank:
    """The dependency counts of some corpora, over base noun phrases or over words."""

    corpora: tuple[int, ...]
    layer: Layer = "unit"


#: Hint for a model without companions, as BLEU is about 1 higher with them (docs/ordering.md).
_ALONE = "{model} has no companions, with which {algorithm} is better: sentgen models build --companions"
#: Said of a model that expects what is not there: 14 for 20 points of BLEU.
_BRACKETS = (
    "{model} counts the brackets of base noun phrases, and words that are put in order one by one have none,"
    " which makes the order worse: {keep}, or build a model without brackets"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """All that a search needs besides the bags; nothing is left to look up, and no default is open.

    ``treebank`` is set for algorithms that make trees, ``features`` are further models (their weights are
    among the settings), ``rerankers`` choose among the best sentences; ``words``: whether phrases are split
    into words; ``parts``: whether sentences get the parts of their scores. ``hints`` are ways to improve the
    search.
    """

    model: ModelInfo
    algorithm: Algorithm
    settings: SearchSettings
    treebank: Treebank | None = None
    features: tuple[FeatureModel, ...] = ()
    rerankers: Rerankers = ()
    words: bool = False
    lowercase: bool = False
    seed: int = 1
    nbest: int = 1
    parts: bool = False
    hints: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """Return n of the n-grams that are looked up."""
        return self.settings.of(NgramSettings).order

    def tags(self, store: Store) -> TagKind | None:
        """Return the kind of tags of the dependency counts, if there are any."""
        return cast(TagKind, tag_set(store, self.treebank.corpora)) if self.treebank else None

    def check_bags(self, bags: Sequence[Sequence[Unit]]) -> None:
        """Refuse bags that are too large for the algorithm, or lack tags that features need.

        Raises:
            InputError: a bag is too large or lacks tags; with its number.
        """
        for number, bag in enumerate(bags, 1):
            size = sum(len(unit.words) for unit in bag) if self.words else len(bag)
            if size > self.algorithm.max_units:
                raise InputError(
                    f"bag {number} has {quantity(size, 'unit')}, and {self.algorithm.name} takes at most"
                    f" {self.algorithm.max_units}; split it, or keep phrases together in brackets"
                )
        # With trees, words without tags get their most frequent tags.
        if self.treebank:
            return
        tagged = next((feature.model for feature in self.features if feature.needs_tags), None)
        untagged = next((i for i, bag in enumerate(bags, 1) if not all(unit.tags for unit in bag)), None)
        if tagged is not None and untagged is not None:
            raise InputError(
                f"bag {untagged} has words without tags, which {tagged.name}, a model over"
                f" {tagged.symbols.over}, needs; write each word as word/TAG"
            )

    def part_weights(self) -> dict[str, float]:
        """Return the weights of parts and rerankers; an algorithm with its own score has one part."""
        by_name: dict[str, float] = {}
        if FeatureSettings in self.algorithm.groups:
            named = self.settings.of(FeatureSettings).features.named
            by_name = dict(zip(self.model_labels(), [1.0, *(weight for _, weight in named)], strict=True))
        if FactorSettings in self.algorithm.groups:
            weights = self.settings.of(FactorSettings).weights
            by_name |= {name: weights.get(name, 0.0) for name in FACTORS}
        return by_name | {scorer.name: weight for scorer, weight in self.rerankers}

    def model_labels(self) -> list[str]:
        """Return the labels of the models of a search, that of the words first."""
        return [model.label for model in (self.model, *(feature.model for feature in self.features))]
