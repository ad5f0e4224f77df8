"""What models weigh in a mixture: given, alike, or those under which a text is most probable (EM)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sentgen.arrays import Floats
from sentgen.errors import InputError
from sentgen.models.events import events, probabilities
from sentgen.models.registry import ModelInfo
from sentgen.models.submodel import lowercases
from sentgen.models.text_batches import batches_of_sentences
from sentgen.output.wording import quantity
from sentgen.schema import Store

#: Weights that move by less than this do not change a perplexity that is printed.
_STILL, _MOST_ROUNDS = 1e-7, 1000
#: No model is given up: a word that it alone knows keeps a probability.
_LEAST = 1e-6
#: How far from one the sum of given weights may be, for rounded ones.
_ROUNDED = 1e-3


def given_weights(text: str | None, models: int) -> list[float]:
    """Read weights such as ``.6,.4``, which are scaled to sum to one; without a text, all weigh the same.

    Raises:
        InputError: they are no such numbers.

    >>> given_weights(".6,.4", 2), given_weights(None, 4)
    ([0.6, 0.4], [0.25, 0.25, 0.25, 0.25])
    """
    if text is None:
        return [1 / models] * models
    try:
        weights = [float(part) for part in text.split(",")]
    except ValueError:
        weights = []
    if not weights or not all(0 < weight < np.inf for weight in weights):
        raise InputError(f"--weights {text[:40]!r} are no numbers above 0; write them like .6,.4")
    if len(weights) != models:
        raise InputError(f"--weights has {len(weights)} numbers for {models} models; give one for each")
    total = sum(weights)
    if abs(total - 1) > _ROUNDED:
        raise InputError(f"--weights {text[:40]} sum to {total:.6g}; give shares of 1")
    return [weight / total for weight in weights]


def tuned_weights(
    store: Store,
    models: Sequence[ModelInfo],
    sentences: Iterable[Sequence[str]],
    progress: Callable[[str], None],
) -> list[float]:
    """Return the weights under which some sentences are most probable, by EM (Dempster et al. 1977).

    What each model gives each event is looked up once, 8 bytes each; a round then takes one pass.
    """
    lower = any(lowercases(store, model) for model in models)
    found = [
        probabilities([events(store, model, batch, lower) for model in models])
        for batch in batches_of_sentences(sentences)
    ]
    p = np.concatenate(found, axis=1)
    weights, rounds = best_weights(p)
    told = ", ".join(f"{model.label} {weight:.4f}" for model, weight in zip(models, weights, strict=True))
    perplexity = float(np.exp(-np.log(weights @ p).mean()))
    progress(f"after {quantity(rounds, 'round')}: {told}; perplexity {perplexity:.2f}")
    return [float(weight) for weight in weights]


def best_weights(p: Floats) -> tuple[Floats, int]:
    """Return the weights that make the product of sums of weighted probabilities greatest, and the rounds.

    A round gives each model the mean share that it has in the sums. That never lowers the product, which has
    one maximum.

    Args:
        p: (models, events) what each model gives each event; no event has none.
    """
    weights: Floats = np.full(len(p), 1 / len(p))
    rounds = 0
    while rounds < _MOST_ROUNDS:
        rounds += 1
        before, weights = weights, weights * (p @ (1 / (weights @ p))) / p.shape[1]
        if np.abs(weights - before).max() < _STILL:
            break
    weights = np.maximum(weights, _LEAST)
    return weights / weights.sum(), rounds
