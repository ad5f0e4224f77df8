"""Language models compared on a text: perplexities with intervals, and known words.

The perplexity of a text is exp of the negative mean log-probability of its events, the words and the ends of
sentences. Intervals and tests are over sentences, the same for all models (see `sentgen.evaluation.figures`).
A model that knows fewer words may have the lower perplexity, as <unk> is one word: the perplexity of the
events that all models know compares them without that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentgen.arrays import Bools, Floats
from sentgen.errors import InputError, ModelError, spell
from sentgen.evaluation.figures.measurement import Measurement, holm, intervals, randomization_tests
from sentgen.models.base import registry
from sentgen.models.base.registry import STUPID_BACKOFF, ModelInfo
from sentgen.models.scoring import Events, score_batch
from sentgen.models.stored_text import held_out, of_training
from sentgen.models.submodel import lowercases
from sentgen.models.text_batches import TextBatch
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store

#: Sentences are drawn one by one up to so many, and as blocks of neighbors beyond: a bound of memory.
_MOST_DRAWN = 10_000
#: What is summed of each sentence; behind it stand the events by the length of the n-gram that was found.
_LOGP, _EVENTS, _SHARED_LOGP, _SHARED, _UNKNOWN, _SUMS = range(6)
COLUMNS = (
    *("model", "perplexity", "low", "high", "difference", "difference_low", "difference_high", "p"),
    *("perplexity_shared", "tokens", "shared", "oov", "oov_rate"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """Models, and a text.

    Raises:
        InputError: there is no model, or not one text.
    """

    models: Annotated[
        str,
        Option(
            "Models, joined by commas; the first one is what the others are compared with.",
            argument=True,
            metavar="NAME,NAME,...",
            api={"max_length": 2000},
        ),
    ]
    test: Annotated[str | None, Option("Sentences to ask them about.", metavar="FILE", file="test")] = None
    corpus: Annotated[
        str | None,
        Option("The sentences of this corpus instead of a text.", metavar="NAME", api={"max_length": 200}),
    ] = None
    format: Annotated[str | None, Option("Format of the text; detected if not given.", short="-f")] = None
    seed: Annotated[int, Option("Seed of the samples.", least=0)] = 1

    def __post_init__(self) -> None:
        if not self.labels:
            raise InputError("there is no model to compare; name one at least")
        if (self.test is None) == (self.corpus is None):
            raise InputError(f"a comparison is on one text; give {spell('test')} or {spell('corpus')}")

    @property
    def labels(self) -> list[str]:
        """Return the names of the models, each once."""
        return list(dict.fromkeys(label.strip() for label in self.models.split(",") if label.strip()))

    def compare(self, store: Store) -> tuple[Rows, list[str]]:
        """Return a row of `COLUMNS` a model, and notes on the rows.

        Raises:
            NotFoundError: there is no such model, or corpus.
            ModelError: the scores of one are no probabilities.
        """
        # Two names may mean one model.
        named = [registry.find(store, label) for label in self.labels]
        models = list({model.id: model for model in named}.values())
        for model in models:
            if model.smoothing == STUPID_BACKOFF:
                raise ModelError(
                    f"{model.label}: scores of {model.smoothing} are no probabilities;"
                    " take a model of kneser-ney"
                )
        text = held_out(store, models, file=self.test, corpus=self.corpus, form=self.format)
        sums = _sums(store, models, text)
        order = max(model.order for model in models)
        hits = [f"hit_{n}" for n in range(1, order + 1)]
        return Rows((*COLUMNS, *hits), list(self._rows(models, sums))), list(self._notes(store, models, sums))

    def _rows(self, models: Sequence[ModelInfo], sums: Sequence[Floats]) -> Iterator[tuple[object, ...]]:
        labels = [model.label for model in models]
        starts = np.arange(0, len(sums[0]), -(-len(sums[0]) // _MOST_DRAWN))
        drawn: list[Floats] = [np.add.reduceat(each[:, :_SUMS], starts) for each in sums]
        measured = dict(zip(labels, map(_perplexity, drawn), strict=True))
        compared = [_difference(drawn[0], other) for other in drawn]
        bounds = intervals([*measured.values(), *compared], seed=self.seed)
        pairs = [(labels[0], other) for other in labels[1:]]
        tests = [None, *holm(randomization_tests(measured, pairs, seed=self.seed))]
        for i, (label, each) in enumerate(zip(labels, sums, strict=True)):
            own, away = bounds[i], bounds[len(labels) + i]
            total = each.sum(axis=0)
            known = int(total[_EVENTS])
            against = (compared[i].value, away.low, away.high) if i else (None, None, None)
            shared = _exp(total[_SHARED_LOGP : _SHARED + 1]) if total[_SHARED] else None
            yield (
                *(label, measured[label].value, own.low, own.high, *against, tests[i]),
                *(shared and float(shared), known, int(total[_SHARED]), int(total[_UNKNOWN])),
                float(total[_UNKNOWN] / total[_EVENTS]),
                *(float(count / known) for count in total[_SUMS:]),
            )

    def _notes(self, store: Store, models: Sequence[ModelInfo], sums: Sequence[Floats]) -> Iterator[str]:
        sentences = len(sums[0])
        yield f"{quantity(sentences, 'sentence')}; intervals of 95%, p by Holm; seed {self.seed}"
        if sentences > _MOST_DRAWN:
            yield f"neighbors are drawn together, {-(-sentences // _MOST_DRAWN)} at a time"
        if len({each[:, _UNKNOWN].sum() for each in sums}) > 1:
            yield "the models know different words: perplexity_shared is of the tokens that all know"
        if len({lowercases(store, model) for model in models}) > 1:
            yield "models of lower-cased corpora read the text so: others do not compare with them"
        for label in of_training(models, self.corpus):
            yield f"{label} was built from this text: its perplexity says nothing of other text"


def _sums(store: Store, models: Sequence[ModelInfo], text: Iterator[Sequence[str]]) -> list[Floats]:
    """Return the sums of each sentence, (sentences, sums), by model."""
    lower = [lowercases(store, model) for model in models]
    order = max(model.order for model in models)
    by_model: list[list[Floats]] = [[] for _ in models]
    for batch in TextBatch.of_sentences(text):
        given = [score_batch(store, model, batch, own) for model, own in zip(models, lower, strict=True)]
        shared = np.all([each.known for each in given], axis=0)
        for sums, each in zip(by_model, given, strict=True):
            sums.append(_of_sentences(batch, each, shared, order))
    return [np.concatenate(each) for each in by_model]


def _of_sentences(batch: TextBatch, given: Events, shared: Bools, order: int) -> Floats:
    columns = [given.logp, np.ones(len(shared)), given.logp * shared, shared, ~given.known]
    columns += [given.length == n for n in range(1, order + 1)]
    starts = np.cumsum([0, *(batch.lengths[:-1] + 1)])
    sums: Floats = np.add.reduceat(np.stack(columns, axis=1).astype(np.float64), starts)
    return sums


def _exp(sums: Floats) -> Floats:
    return np.asarray(np.exp(-sums[..., 0] / sums[..., 1]), np.float64)


def _perplexity(sums: Floats) -> Measurement:
    return Measurement("perplexity", "", sums[:, : _EVENTS + 1], _exp)


def _difference(first: Floats, other: Floats) -> Measurement:
    """Return how much greater the perplexity of another model is."""
    both = np.hstack([first[:, : _EVENTS + 1], other[:, : _EVENTS + 1]])
    return Measurement("difference", "", both, lambda sums: _exp(sums[..., 2:]) - _exp(sums[..., :2]))
