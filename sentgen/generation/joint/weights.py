"""Which weights a search has where none were given: those that were learnt for its model, else defaults."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated

from sentgen.errors import InputError, NotFoundError
from sentgen.generation.bags.problem import Algorithm, SearchSettings, Setting, rounded_weights
from sentgen.generation.joint.factors import BESIDE_TEXT, FactorSettings
from sentgen.generation.ngrams.features import AUTO, FeatureSettings, companion_weights, companions
from sentgen.models.base.registry import ModelLike, list_models
from sentgen.models.building.companions import TEXT
from sentgen.models.plugin_scorers import scorer_named
from sentgen.models.weights import LearntWeights, learnt_weights
from sentgen.schema import Store

#: Names the weights that are there without learning, and those that were learnt last.
DEFAULT, LEARNT = "default", "learnt"


@dataclass(frozen=True, slots=True)
class WeightSettings:
    """Which weights hold where `--features` and `--factors` give none."""

    weights: Annotated[
        str,
        Setting(
            f"Weights: {LEARNT} for those that `sentgen tune` learnt last, if it did, their version, or"
            f" {DEFAULT}.",
            metavar=f"{LEARNT}|{DEFAULT}|N",
            api={"max_length": 20},
        ),
    ] = LEARNT

    def __post_init__(self) -> None:
        if self.weights not in (LEARNT, DEFAULT) and not self.weights.isdecimal():
            raise InputError(f"weights {self.weights!r} are not {LEARNT}, {DEFAULT} or a version")

    @property
    def version(self) -> int | None:
        """Return the version that was asked for by its number."""
        return int(self.weights) if self.weights.isdecimal() else None


def found_weights(
    store: Store, model: ModelLike, algorithm: Algorithm, settings: SearchSettings, given: Collection[str]
) -> SearchSettings:
    """Return settings with the weights that go with a model: what was learnt for it, else defaults.

    Args:
        store: where the model lives.
        model: that of the words.
        algorithm: that the settings are for.
        settings: as they were asked for.
        given: the names of those that were asked for, which stay.

    Raises:
        NotFoundError: there are no weights of a version, or a model that weights were learnt with is gone.
    """
    features = settings.of(FeatureSettings)
    learnt = _learnt(store, model, algorithm, settings)
    factors: Mapping[str, float] | None
    if learnt is not None:
        mine, factors = learnt.features, learnt.factors
        if features.automatic:
            _require(store, model, mine)
    elif features.automatic:
        found = companions(store, model)
        mine, factors = companion_weights(found), BESIDE_TEXT if TEXT in found else None
    else:
        return settings
    if features.automatic:
        named = {name: weight for name, weight in features.features.named if name != AUTO}
        # What is named besides has the weight that was asked for, and stands behind the others.
        weights = {name: weight for name, weight in mine.items() if name not in named} | named
        settings = settings.having(FeatureSettings(rounded_weights(weights.items())))
    if factors is not None and FactorSettings in algorithm.groups and "factors" not in given:
        settings = settings.having(FactorSettings(rounded_weights(factors.items())))
    return settings


def _learnt(
    store: Store, model: ModelLike, algorithm: Algorithm, settings: SearchSettings
) -> LearntWeights | None:
    """Return the weights that were learnt, if there are any, and they are asked for."""
    if WeightSettings not in algorithm.groups or settings.of(WeightSettings).weights == DEFAULT:
        return None
    return learnt_weights(store, model.id, algorithm.name, settings.of(WeightSettings).version)


def _require(store: Store, model: ModelLike, learnt: Collection[str]) -> None:
    """Refuse weights that were learnt with a model or scorer that is gone: the others are not the best."""
    there = {listed.label for listed in list_models(store)}
    gone = next((name for name in learnt if name not in there and scorer_named(name) is None), None)
    if gone is not None:
        raise NotFoundError(
            f"weights of {model.name}@{model.version} were learnt with {gone}, which was removed;"
            " tune again, or take weights default"
        )
