"""Features: models besides that of the words in one beam, their weights, and the symbols of units in them.

The score of a hypothesis is log-linear, log p(words) + w1 log p1 + w2 log p2 ...: p1 may be over tags,
classes or items of the same units (see `sentgen.models.base.symbols`), or over words of other text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from sentgen.arrays import Ints
from sentgen.case_folding import fold
from sentgen.generation.bags.bag import Unit
from sentgen.generation.bags.problem import Setting, Weights, is_writable
from sentgen.models.base.registry import ModelInfo, find, list_models
from sentgen.models.base.symbols import CLASSES, ITEMS, PHRASE, TAG, TAGS
from sentgen.models.building.recipe import CLOSING, OPENING
from sentgen.models.companions import COMPANIONS, TEXT, companion_name
from sentgen.models.submodel import SubModel, lowercases, prefetch
from sentgen.schema import Store
from sentgen.schema.tables.corpus import UNK

#: Name for the companions of the model of the words (see `companions`).
AUTO = "auto"
_NONE = Weights()
#: Default weights by kind of symbols, and those in the presence of a model of more text.
_WEIGHTS = {TAGS: 0.2, CLASSES: 0.9, ITEMS: 0.6}
_BESIDE_TEXT = {TAGS: 0.9, CLASSES: 0.6, ITEMS: 0.4, TEXT: 1.6}

#: The symbols of a word in a model, of which the first known one counts.
Choices = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """The models besides that of the words, whose log-probability has the weight 1.

    ``auto`` stands for the companions of the model, until a plan has found them.
    """

    features: Annotated[
        Weights,
        Setting(
            "Models to ask as well, and what they weigh beside the words' 1, joined by commas or +; auto for"
            " those over tags, classes and items of the model's corpora, and text, of more text.",
            metavar="NAME[=WEIGHT],...",
            read=partial(Weights.read, kind="feature"),
            api={"max_length": 1000},
        ),
    ] = _NONE

    @property
    def automatic(self) -> bool:
        """Return whether the companions of the model are named by ``auto``."""
        return AUTO in dict(self.features.named)

    def models(self, store: Store, lowercase: bool) -> tuple[FeatureModel, ...]:
        """Return the models besides that of the words, whose words are lower-cased if ``lowercase``.

        Raises:
            NotFoundError: there is no model of a name.
        """
        models = [find(store, name) for name, _ in self.features.named]
        return tuple(FeatureModel(model, lowercase or lowercases(store, model)) for model in models)


@dataclass(frozen=True, slots=True)
class FeatureModel:
    """A further model; ``lowercase``: whether words are looked up in lower case."""

    model: ModelInfo
    lowercase: bool

    @property
    def needs_tags(self) -> bool:
        """Return whether each word must have a tag."""
        return not self.model.symbols.are_words

    def fetch(
        self, store: Store, batch: Sequence[Sequence[Unit]], order: int
    ) -> tuple[SubModel, list[tuple[Ints, Ints]]]:
        """Fetch the sub-model of a batch of bags, and the words and offsets of the units of each bag."""
        spelled = [[_symbols_of(unit, self) for unit in bag] for bag in batch]
        forms = [[form for unit in bag for word in unit for form in word] for bag in spelled]
        submodel = prefetch(store, self.model, forms, order=order)
        return submodel, [_arrays(submodel, bag) for bag in spelled]


def companions(store: Store, model: ModelInfo) -> dict[str, str]:
    """Return the companions of a model: over tags, classes and items of its corpora, and of more text.

    Of each kind it is the model that covers most of the corpora of the model; ties go to a model that was
    built as its companion, then to the newest one. Of more text it is the newest model over words named
    NAME-text, or text. No companion was trained on sentences that the condition of the model excludes: an
    evaluation may use them. Models whose names have a comma or a plus sign are excluded.
    """
    models = list_models(store)
    condition, mine = next(
        ((listed.condition, set(listed.corpora)) for listed in models if listed.id == model.id), ("", set())
    )
    labels = {}
    for over in COMPANIONS:
        there = [
            model
            for model in models
            if model.symbols.over == over
            and model.condition == condition
            and set(model.corpora) <= mine
            and is_writable(model.name)
        ]
        if there:
            own = companion_name(model.name, over)
            best = max(there, key=lambda model: (len(model.corpora), model.name == own, model.id))
            labels[over] = best.label
    # It was trained on no other sentences of the model's corpora.
    seen = [model for model in models if model.condition == condition or mine.isdisjoint(model.corpora)]
    for name in (companion_name(model.name, TEXT), TEXT):
        named = [other for other in seen if other.name == name != model.name and other.symbols.are_words]
        if named and is_writable(name):
            return {**labels, TEXT: named[-1].label}
    return labels


def companion_weights(companions: Mapping[str, str]) -> dict[str, float]:
    """Return the default weights of the `companions` of a model, by their labels."""
    weights = _BESIDE_TEXT if TEXT in companions else _WEIGHTS
    return {label: weights[kind] for kind, label in companions.items()}


def _arrays(submodel: SubModel, bag: Sequence[Sequence[Choices]]) -> tuple[Ints, Ints]:
    index = submodel.index
    known = [
        next((index[form] for form in choices if form in index), UNK) for unit in bag for choices in unit
    ]
    return np.array(known, np.int32), np.cumsum([0, *map(len, bag)], dtype=np.int32)


def _symbols_of(unit: Unit, feature: FeatureModel) -> list[Choices]:
    """Return the symbols of the words of a unit in a model, between brackets if the model counts them."""
    model = feature.model
    if model.symbols.over == ITEMS and len(unit.words) > 1:
        return [(f"{PHRASE}{unit.tags[-1]}>",)]
    tags = unit.tags or (None,) * len(unit.words)
    choices = [_choices(word, tag, feature) for word, tag in zip(unit.words, tags, strict=True)]
    return [(OPENING,), *choices, (CLOSING,)] if model.brackets and len(unit.words) > 1 else choices


def _choices(word: str, tag: str | None, feature: FeatureModel) -> Choices:
    model = feature.model
    form = fold(word) if feature.lowercase else word
    if model.symbols.are_words:
        return (form, f"<unk:{tag}>") if tag and model.unknown == "tag" else (form,)
    symbol = f"{TAG}{tag or ''}>"
    return (symbol,) if model.symbols.over == TAGS else (form, symbol)
