"""Mixtures of models, by linear interpolation (Jelinek and Mercer 1980).

    p(w | h) = sum over the models of weight times p(w | h) in the model

A stored mixture has the n-grams of all models, each with that sum, and back-off weights that make what comes
after each context sum to one, as `ngram -mix-lm` of SRILM does it; what no model has is backed off to by
these. A dynamic one is summed when it is asked, and stores nothing but its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sentgen.errors import InputError
from sentgen.models.building.summed_counts import Progress
from sentgen.models.derived.parts import check_alike, parts_named, room, store_model
from sentgen.models.derived.union import read_union, weigh_contexts
from sentgen.models.derived.weights import given_weights, tuned_weights
from sentgen.models.held_out import held_out, of_training
from sentgen.models.ngrams.mixture import DYNAMIC
from sentgen.models.registry import ModelInfo
from sentgen.options import Option
from sentgen.schema import Store

MIXTURE = "mixture"


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
    format: Annotated[str | None, Option("Format of --tune; detected if not given.", short="-f")] = None
    dynamic: Annotated[
        bool, Option("Store the weights alone, and sum what the models give when it is asked for.")
    ] = False

    def __post_init__(self) -> None:
        if len(self.labels) < 2:
            raise InputError("a mixture is of two models or more; join their names by commas")
        if sum(value is not None for value in (self.weights, self.tune, self.tune_corpus)) > 1:
            raise InputError("weights come from one place; give --weights, --tune or --tune-corpus")
        if self.weights is not None:
            given_weights(self.weights, len(self.labels))

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
        check_alike(store, models)
        if len({model.id for model in models}) < len(models):
            raise InputError(f"a model is named twice in --of {self.of}; name each once")
        weights = self._weights(store, models, report)
        parts = list(zip(models, weights, strict=True))
        if self.dynamic:
            return store_model(store, self.name, DYNAMIC, parts)
        space = room(store)
        store.downgrade_to_read()
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
            return given_weights(self.weights, len(models))
        if seen := of_training(models, self.tune_corpus):
            raise InputError(
                f"{seen[0]} was built from corpus {self.tune_corpus!r}; learn weights from other text"
            )
        sentences = held_out(store, models, file=self.tune, corpus=self.tune_corpus, form=self.format)
        report("learning the weights")
        return tuned_weights(store, models, sentences, report)
