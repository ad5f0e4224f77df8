"""Pruning of models by relative entropy, or by higher minimal counts.

By relative entropy (Stolcke 1998, as `ngram -prune` of SRILM): if an n-gram h w is dropped, w after h gets
its probability by back-off, and the back-off weight a(h) becomes a'(h), so that the sum is one again. With p
the probabilities of the model, and l(w) that of w after the shorter context, the relative entropy of both
models is

    D = -P(h) { p(w | h) [log l(w) + log a'(h) - log p(w | h)] + left(h) [log a'(h) - log a(h)] }
    a(h) = left(h) / shorter(h)      left(h) = 1 - sum of p(v | h), shorter(h) = 1 - sum of l(v) over its v
    a'(h) = (left(h) + p(w | h)) / (shorter(h) + l(w))

and the perplexity grows by the share e^D - 1. If that is below a threshold, the n-gram is dropped, unless it
is the prefix of a longer one that is kept. P(h) is the product of the model's probabilities of the words of
h, with that of </s> for <s>. The longest n-grams are decided first, each as if it were the only one dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, Space, compiled
from sentgen.errors import InputError, ModelError, spell
from sentgen.models.base.registry import PRUNED, ModelInfo
from sentgen.models.build_request import build, parse_counts, space_of
from sentgen.models.building.recipe import ESTIMATORS, Progress, apart
from sentgen.models.building.rows import NgramRows
from sentgen.models.parts import left_over, parts_named, read_union, store_model, weigh_contexts
from sentgen.options import Option
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRequest:
    """A smaller model.

    Raises:
        InputError: there is no threshold, or there are two.
    """

    name: Annotated[str, Option("Name of the smaller model.", argument=True, metavar="NAME")]
    of: Annotated[str, Option("Model to prune: NAME, or NAME@VERSION.", metavar="NAME[@VERSION]")]
    entropy: Annotated[
        float | None,
        Option(
            "Drop n-grams that each lower the perplexity by less than this share, such as 1e-8.",
            metavar="SHARE",
        ),
    ] = None
    min_count: Annotated[
        str | None,
        Option(
            "Drop rarer n-grams: the lowest count per order, the last one for the rest.", metavar="N,N,..."
        ),
    ] = None

    def __post_init__(self) -> None:
        parse_counts(self.min_count)
        if (self.entropy is None) == (self.min_count is None):
            raise InputError(
                f"what goes is said by one threshold; give {spell('entropy')} or {spell('min_count')}"
            )
        if self.entropy is not None and not 0 < self.entropy < np.inf:
            raise InputError(f"{spell('entropy')} {self.entropy:g} is no share above 0; begin with 1e-8")

    def make(self, store: Store, progress: Progress | None = None) -> ModelInfo:
        """Store the next version of the pruned model.

        Raises:
            NotFoundError: there is no such model.
            ModelError: the model has no n-grams of its own, or no counts.
        """
        report = progress or (lambda _: None)
        (model,) = parts_named(store, self.name, [self.of])
        if self.entropy is None:
            return self._without_rare(store, model, report)
        space = space_of(store)
        store.downgrade_to_read(unless_small=True)
        with store.connect() as connection:
            orders = read_union(
                connection, [model.id], [1.0], order=model.order, space=space, progress=report
            )
        report("weighing n-grams")
        _drop(orders, self.entropy, space)
        weigh_contexts(orders, space)
        report("writing the model")
        recorded = [(0, "entropy", self.entropy)]
        return store_model(store, self.name, PRUNED, [(model, 1.0)], orders, recorded, space)

    def _without_rare(self, store: Store, model: ModelInfo, report: Progress) -> ModelInfo:
        """Build the model again with higher counts: the discounts stay, and the mass goes to lower orders."""
        if model.smoothing not in ESTIMATORS:
            raise ModelError(
                f"{model.label} has no counts ({model.smoothing}); prune it with {spell('entropy')}"
            )
        if changed := model.changes(store):
            raise ModelError(
                f"{model.label} is stale: {changed[0]}; build it again, with {spell('min_count')}"
            )
        least = parse_counts(self.min_count) or [1]
        least += least[-1:] * (model.order - len(least))
        condition, draw = apart(model.condition)
        return build(
            store,
            self.name,
            model.corpora,
            order=model.order,
            smoothing=model.smoothing,
            min_count=[max(pair) for pair in zip_longest(least, model.min_count, fillvalue=1)],
            unknown=model.unknown,
            brackets=model.brackets,
            symbols=model.symbols,
            condition=condition or None,
            draw=draw,
            progress=report,
        )


def _drop(orders: Sequence[NgramRows], threshold: float, space: Space) -> None:
    """Set the probability of n-grams to 0 whose removal raises the perplexity by less than a share.

    ``orders`` have the probabilities and suffixes of all n-grams. Time O(n-grams).
    """
    likely = _likely(orders, space)
    needed: Bools = np.zeros(len(orders[-1].last), np.bool_)
    for below, rows in zip(orders[-2::-1], orders[:0:-1], strict=True):
        lower: Bools = space.array(len(below.last), np.bool_)
        for start, end in rows.spans():
            _drop_of_contexts(
                rows.first[start : end + 1],
                rows.value,
                rows.suffix,
                below.value,
                likely[rows.n - 2][start:end],
                needed,
                threshold,
                lower[start:end],
            )
            space.relax()
        needed = lower


def _likely(orders: Sequence[NgramRows], space: Space) -> list[Floats]:
    """Return P(h) of each n-gram that may be a context, by order."""
    words, p = orders[0].last, orders[0].value.copy()
    # <s> has no probability of its own, and is as frequent as </s>.
    p[words == BOS] = p[words == EOS]
    likely: list[Floats] = [p]
    for rows in orders[1:-1]:
        probabilities: Floats = space.array(len(rows.last), np.float64)
        for start, end in rows.spans():
            part = slice(rows.first[start], rows.first[end])
            probabilities[part] = np.repeat(likely[-1][start:end], np.diff(rows.first[start : end + 1]))
            probabilities[part] *= rows.value[part]
            space.relax()
        likely.append(probabilities)
    return likely


@compiled
def _drop_of_contexts(
    first: Ints,
    value: Floats,
    suffix: Ints,
    lower: Floats,
    likely: Floats,
    needed: Bools,
    threshold: float,
    contexts: Bools,
) -> None:
    """Drop n-grams of some contexts.

    Args:
        first: (c + 1,) rows of the n-grams of c contexts.
        value: probabilities; become 0.
        suffix: rows of the suffixes in the order below.
        lower: probabilities of the order below.
        likely: (c,) P(h) of the contexts.
        needed: whether an n-gram is the prefix of a longer one that is kept.
        threshold: the share by which the perplexity may rise.
        contexts: (c,) is set to whether an n-gram of a context is kept.
    """
    for context in range(len(likely)):
        left, shorter = left_over(first, context, value, suffix, lower)
        for row in range(first[context], first[context + 1]):
            p, backed = value[row], lower[suffix[row]]
            weight = (left + p) / (shorter + backed)
            change = p * (np.log(backed) + np.log(weight) - np.log(p))
            if left > 0:
                change += left * (np.log(weight) - np.log(left / shorter))
            if needed[row] or np.expm1(-likely[context] * change) >= threshold:
                contexts[context] = True
            else:
                value[row] = 0.0
