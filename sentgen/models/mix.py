"""Mixtures of models, by linear interpolation (Jelinek and Mercer 1980).

    p(w | h) = sum over the models of weight times p(w | h) in the model

A stored mixture has the n-grams of all models, each with that sum, and back-off weights with which the
probabilities after each context sum to one, as `ngram -mix-lm` of SRILM computes them; n-grams that no model
has get their probability by back-off. A dynamic mixture stores only its weights, and is summed at look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentgen.arrays import Floats
from sentgen.errors import InputError, ModelError, spell
from sentgen.models.base.registry import DYNAMIC, MIXTURE, ModelInfo
from sentgen.models.build_request import space_of
from sentgen.models.building.recipe import Progress
from sentgen.models.parts import parts_named, read_union, store_model, weigh_contexts
from sentgen.models.scoring import probabilities, score_batch
from sentgen.models.stored_text import held_out, of_training
from sentgen.models.submodel import lowercases
from sentgen.models.text_batches import TextBatch
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema import Store

#: Changes of weights below this do not change a printed perplexity.
_STILL, _MOST_ROUNDS = 1e-7, 1000
#: The smallest weight of a model, so that words that only this model knows keep a probability.
_LEAST_WEIGHT = 1e-6
#: How far from one the sum of given weights may be, since users round them.
_ROUNDED = 1e-3


def _given_weights(text: str | None, models: int) -> list[float]:
    """Read weights such as ``.6,.4``, which are scaled to sum to one; without a text, all weigh the same.

    Raises:
        InputError: the text has no such weights.

    >>> _given_weights(".6,.4", 2), _given_weights(None, 4)
    ([0.6, 0.4], [0.25, 0.25, 0.25, 0.25])
    """
    if text is None:
        return [1 / models] * models
    try:
        weights = [float(part) for part in text.split(",")]
    except ValueError:
        weights = []
    if not weights or not all(0 < weight < np.inf for weight in weights):
        raise InputError(f"{spell('weights')} {text[:40]!r} are no numbers above 0; write them like .6,.4")
    if len(weights) != models:
        raise InputError(
            f"{spell('weights')} has {len(weights)} numbers for {models} models; give one for each"
        )
    total = sum(weights)
    if abs(total - 1) > _ROUNDED:
        raise InputError(f"{spell('weights')} {text[:40]} sum to {total:.6g}; give shares of 1")
    return [weight / total for weight in weights]


def _tuned_weights(
    store: Store,
    models: Sequence[ModelInfo],
    sentences: Iterable[Sequence[str]],
    progress: Callable[[str], None],
) -> list[float]:
    """Return the weights under which some sentences are most probable, by EM (Dempster et al. 1977).

    The probability of each event in each model is looked up once, 8 bytes each; a round takes one pass.
    """
    lower = any(lowercases(store, model) for model in models)
    batches = [
        probabilities([score_batch(store, model, batch, lower) for model in models])
        for batch in TextBatch.of_sentences(sentences)
    ]
    p = np.concatenate(batches, axis=1)
    weights, rounds = best_weights(p)
    listed = ", ".join(f"{model.label} {weight:.4f}" for model, weight in zip(models, weights, strict=True))
    perplexity = float(np.exp(-np.log(weights @ p).mean()))
    progress(f"after {quantity(rounds, 'round')}: {listed}; perplexity {perplexity:.2f}")
    return [float(weight) for weight in weights]


def best_weights(p: Floats) -> tuple[Floats, int]:
    """Return the weights that maximize the likelihood of some events in a mixture, and the rounds of EM.

    A round sets the weight of each model to its mean share in the mixed probabilities. The likelihood never
    falls, and has one maximum.

    Args:
        p: (models, events) probability of each event in each model; above 0 in one of them.
    """
    weights: Floats = np.full(len(p), 1 / len(p))
    rounds = 0
    while rounds < _MOST_ROUNDS:
        rounds += 1
        before, weights = weights, weights * (p @ (1 / (weights @ p))) / p.shape[1]
        if np.abs(weights - before).max() < _STILL:
            break
    weights = np.maximum(weights, _LEAST_WEIGHT)
    return weights / weights.sum(), rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class MixRequest:
    """A mixture of some models.

    Raises:
        InputError: there are less than two models, or the weights come from several places.
    """

    name: Annotated[str, Option("Name of the mixture.", argument=True, metavar="NAME")]
    of: Annotated[
        str, Option("Models to mix, joined by commas; NAME or NAME@VERSION each.", metavar="NAME,NAME,...")
    ]
    weights: Annotated[
        str | None,
        Option("What they weigh, in the same order. Default: all the same.", metavar="SHARE,SHARE,..."),
    ] = None
    tune: Annotated[
        str | None, Option("Learn the weights from the sentences of this file.", metavar="FILE")
    ] = None
    tune_corpus: Annotated[
        str | None, Option("Learn the weights from the sentences of this corpus.", metavar="NAME")
    ] = None
    format: Annotated[
        str | None,
        Option(
            "Format of `tune`; detected if not given.",
            shell="Format of --tune; detected if not given.",
            short="-f",
        ),
    ] = None
    dynamic: Annotated[
        bool, Option("Store the weights alone, and sum what the models give when it is asked for.")
    ] = False

    def __post_init__(self) -> None:
        if len(self.labels) < 2:
            raise InputError("a mixture is of two models or more; join their names by commas")
        if sum(value is not None for value in (self.weights, self.tune, self.tune_corpus)) > 1:
            raise InputError(
                f"weights come from one place; give {spell('weights')}, {spell('tune')} or"
                f" {spell('tune_corpus')}"
            )
        if self.weights is not None:
            _given_weights(self.weights, len(self.labels))

    @property
    def labels(self) -> list[str]:
        """Return the names of the models."""
        return [label.strip() for label in self.of.split(",") if label.strip()]

    def make(self, store: Store, progress: Progress | None = None) -> ModelInfo:
        """Store the next version of the mixture.

        Raises:
            InputError: a model is named twice, or the text is one that a model was built from.
            NotFoundError: there is no such model, or corpus.
            ModelError: the models cannot be mixed.
        """
        report = progress or (lambda _: None)
        models = parts_named(store, self.name, self.labels)
        _check_alike(store, models)
        if len({model.id for model in models}) < len(models):
            raise InputError(f"a model is named twice in {spell('of')} {self.of}; name each once")
        weights = self._weights(store, models, report)
        parts = list(zip(models, weights, strict=True))
        if self.dynamic:
            return store_model(store, self.name, DYNAMIC, parts)
        space = space_of(store)
        store.downgrade_to_read(unless_small=True)
        with store.connect() as connection:
            orders = read_union(
                connection,
                [model.id for model in models],
                weights,
                order=max(model.order for model in models),
                space=space,
                progress=report,
            )
        report("weighing contexts")
        weigh_contexts(orders, space)
        report("writing the model")
        return store_model(store, self.name, MIXTURE, parts, orders, space=space)

    def _weights(self, store: Store, models: Sequence[ModelInfo], report: Progress) -> list[float]:
        if self.tune is None and self.tune_corpus is None:
            return _given_weights(self.weights, len(models))
        if seen := of_training(models, self.tune_corpus):
            raise InputError(
                f"{seen[0]} was built from corpus {self.tune_corpus!r}; learn weights from other text"
            )
        sentences = held_out(store, models, file=self.tune, corpus=self.tune_corpus, form=self.format)
        report("learning the weights")
        return _tuned_weights(store, models, sentences, report)


def _check_alike(store: Store, parts: Sequence[ModelInfo]) -> None:
    """Refuse models that are over different symbols.

    Raises:
        ModelError: the models differ in their symbols, brackets, classes of unknown words or case.
    """
    kinds: dict[str, list[str | None]] = {
        "what n-grams are made of": [str(part.symbols) for part in parts],
        "brackets": ["with" if part.brackets else "without" for part in parts],
        "unknown words": ["tag" if part.unknown == "tag" else "word" for part in parts],
        "case": ["lower" if lowercases(store, part) else "kept" if part.corpora else None for part in parts],
    }
    for kind, values in kinds.items():
        stated = [(part.label, value) for part, value in zip(parts, values, strict=True) if value]
        if len({value for _, value in stated}) > 1:
            listed = ", ".join(f"{label} {value}" for label, value in stated)
            raise ModelError(f"models that differ in {kind} cannot be mixed ({listed}); build them alike")
