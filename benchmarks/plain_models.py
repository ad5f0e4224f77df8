"""Mixing and pruning in plain Python, an n-gram at a time: what `mixtures.py` and `pruning.py` compare with.

The formulas are those of `sentgen.models.mix`, over dictionaries that lie in memory before anything is measured;
what comes out is not stored.
"""

from __future__ import annotations

import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from sentgen.models import ModelInfo
from sentgen.schema import Store
from sentgen.schema.store import raw
from sentgen.schema.tables.corpus import BOS, EOS, UNK

Gram = tuple[int, ...]
#: N-gram to its probability, and its weight as a context.
Grams = dict[Gram, tuple[float, float]]


def read(store: Store, model: ModelInfo) -> Grams:
    """Return the n-grams of a model."""
    query = "select n, w1, w2, w3, w4, w5, exp(logp), exp(backoff) from model_ngram where model_id = ?"
    with store.connect() as connection:
        rows = raw(connection).execute(query, [model.id]).fetchall()
    return {words[:n]: (p, weight) for n, *words_, p, weight in rows for words in [tuple(words_)]}


def probability(grams: Grams, context: Gram, word: int) -> float:
    """Return p(word | context), by backing off."""
    weight = 1.0
    while (found := grams.get((*context, word))) is None:
        if not context:
            return 0.0
        if context in grams:
            weight *= grams[context][1]
        context = context[1:]
    return weight * found[0]


def mix(parts: Sequence[tuple[Grams, float]]) -> Grams:
    """Return the mixture of some models."""
    known = [{gram[0] for gram in grams if len(gram) == 1} for grams, _ in parts]
    mixed: Grams = {}
    for gram in set().union(*(grams for grams, _ in parts)):
        p = 0.0
        for (grams, weight), words in zip(parts, known, strict=True):
            if gram[-1] in words:
                context = tuple(word if word in words else UNK for word in gram[:-1])
                p += weight * probability(grams, context, gram[-1])
        mixed[gram] = (p, 1.0)
    return weighed(mixed)


def prune(grams: Grams, threshold: float) -> Grams:
    """Return a model without the n-grams that change its perplexity by less than a share."""
    stays, order = dict(grams), max(map(len, grams))
    for n in range(order, 1, -1):
        needed = {gram[:-1] for gram in stays if len(gram) == n + 1}
        for context, words, left, shorter in contexts(grams, n):
            likely = _likely(grams, context)
            for word in words:
                gram = (*context, word)
                if gram in needed:
                    continue
                p, backed = grams[gram][0], probability(grams, context[1:], word)
                weight = (left + p) / (shorter + backed)
                change = p * (math.log(backed) + math.log(weight) - math.log(p))
                if left > 0:
                    change += left * (math.log(weight) - math.log(left / shorter))
                if math.expm1(-likely * change) < threshold:
                    del stays[gram]
    return weighed({gram: (p, 1.0) for gram, (p, _) in stays.items()})


def _likely(grams: Grams, context: Gram) -> float:
    p = 1.0
    for end, word in enumerate(context, 1):
        p *= grams[EOS,][0] if word == BOS else probability(grams, context[: end - 1], word)
    return p


def weighed(grams: Grams) -> Grams:
    """Set the weights of contexts so that what follows each sums to one; `grams` changes."""
    for n in range(2, max(map(len, grams)) + 1):
        for context, _, left, shorter in contexts(grams, n):
            grams[context] = (grams[context][0], left / shorter if shorter > 0 else 1.0)
    return grams


def contexts(grams: Grams, n: int) -> Iterator[tuple[Gram, list[int], float, float]]:
    """Yield the contexts of n-grams of an order, the words behind each, and what both orders leave for others."""
    behind: dict[Gram, list[int]] = defaultdict(list)
    for gram in grams:
        if len(gram) == n:
            behind[gram[:-1]].append(gram[-1])
    for context, words in behind.items():
        left = 1 - sum(grams[*context, word][0] for word in words)
        shorter = 1 - sum(probability(grams, context[1:], word) for word in words)
        yield context, words, *((max(left, 0.0), shorter) if shorter > 1e-12 else (0.0, 0.0))


def ratio(ours: Callable[[], ModelInfo], plain: Callable[[], Grams], store: Store, rounds: int = 3) -> str:
    """Return how many times the CPU time of ours, which stores its model, the plain way takes, by turns.

    Raises:
        ValueError: they do not come to the same.
    """
    ratios = []
    for number in range(rounds + 1):
        started = time.process_time()
        model = ours()
        between = time.process_time()
        grams = plain()
        if number:  # compiled functions are loaded in the first round
            ratios.append((time.process_time() - between) / (between - started))
        elif different := differing(grams, read(store, model)):
            raise ValueError(f"{different} n-grams differ")
    return f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def differing(one: Grams, other: Grams) -> int:
    """Return how many n-grams only one of two models has, or has with another probability or weight."""
    both = [gram for gram in one.keys() & other.keys() if gram != (BOS,)]
    alike = (
        all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(one[gram], other[gram], strict=True))
        for gram in both
    )
    return len(one.keys() ^ other.keys()) + len(both) - sum(alike)
