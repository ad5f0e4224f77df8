"""A mixture of back-off models that is summed when it is asked: nothing of it is stored but its weights.

    p(w | h) = sum over the models of weight times p(w | h) in the model

The sum is no back-off model: what two models lack, each has by weights of its own. In a bag it is one all the
same: a table of every context of any model with every word that may follow it there. A model gives nothing
to a word that it does not know and another one does; in a context that word is <unk> to it, as for scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Bools, Floats, Ints, compiled
from sentgen.models.ngrams.bag_ngrams import Membership
from sentgen.models.ngrams.ngram_cache import CachedNgrams
from sentgen.models.ngrams.ngram_table import EMPTY, MISSING_UNK, NgramTable, build_table, extend
from sentgen.schema.tables.corpus import BOS, ROOT, UNK

DYNAMIC = "dynamic-mixture"


class _BagModel(NamedTuple):
    """What one model has for some bags, over local word ids; ``known`` says which words it has."""

    rows: CachedNgrams
    table: NgramTable
    known: Bools
    weight: float


def bag_model(rows: CachedNgrams, words: int, weight: float) -> _BagModel:
    """Return the table of some n-grams of local ids below ``words``."""
    known = np.zeros(words, np.bool_)
    known[rows.words[rows.lengths == 1, 0]] = True
    known[[UNK, BOS]] = True
    return _BagModel(rows, build_table(rows.words, rows.lengths, rows.logp, rows.backoff), known, weight)


def mixed_table(models: Sequence[_BagModel], bags: Membership, order: int) -> tuple[NgramTable, int]:
    """Return the table of the sums, and the number of its n-grams.

    Args:
        models: what each model has for the bags; all with as many columns of words as the order.
        bags: of local word ids; <unk>, <s> and </s> are in every bag.
        order: the highest one.
    """
    contexts = _contexts(models, bags, order)
    words = np.flatnonzero(bags.places >= 0).astype(np.int32)
    words = words[(words != BOS) & (words != ROOT)]
    context, word = _followed(contexts, words, bags.places, bags.bits)
    p = np.zeros(len(word))
    for model in models:
        _add(model.table, contexts, context, word, model.known, model.weight, p)
    grams = np.full((len(word), order), -1, np.int32)
    grams[:, : order - 1] = contexts[context]
    lengths = np.count_nonzero(grams >= 0, axis=1).astype(np.int32)
    grams[np.arange(len(word)), lengths] = word
    logp = np.log(np.maximum(p, np.exp(MISSING_UNK)))
    return build_table(grams, lengths + 1, logp, np.zeros(len(word))), len(word)


def _contexts(models: Sequence[_BagModel], bags: Membership, order: int) -> Ints:
    """Return each n-gram that more words can follow in a model, and the empty one: (C, order - 1)."""
    found = [np.full((1, order - 1), -1, np.int32)]
    if order == 1:
        return found[0]
    for model in models:
        words, lengths = model.rows.words, model.rows.lengths
        weighed = words[(lengths < order) & (model.rows.backoff != 0)][:, : order - 1]
        before = words[lengths > 1]
        before[np.arange(len(before)), lengths[lengths > 1] - 1] = -1
        mine = np.unique(np.concatenate((weighed, before[:, : order - 1])), axis=0)
        found.append(
            _with_unknown(mine, np.flatnonzero(~model.known & _in_bags(bags, len(model.known))).tolist())
        )
    return np.unique(np.concatenate(found), axis=0)


def _in_bags(bags: Membership, words: int) -> Bools:
    """Return which words are in a bag."""
    inside = np.zeros(words, np.bool_)
    inside[: len(bags.places)] = bags.places[:words] >= 0
    inside[[BOS, ROOT]] = False
    return inside


def _with_unknown(contexts: Ints, unknown: Sequence[int]) -> Ints:
    """Return contexts as well with each word that the model does not know in the place of <unk>."""
    for place in range(contexts.shape[1]):
        same = contexts[contexts[:, place] == UNK]
        for word in unknown if len(same) else ():
            other = same.copy()
            other[:, place] = word
            contexts = np.concatenate((contexts, other))
    return contexts


@compiled
def _share(bits: Bits, other: Bits) -> bool:
    """Return whether two sets have a member in common."""
    common = np.uint64(0)
    for column in range(len(bits)):
        common |= bits[column] & other[column]
    return bool(common != 0)


@compiled
def _followed(contexts: Ints, words: Ints, places: Ints, bits: Bits) -> tuple[Ints, Ints]:
    """Return each context with each word that is with it in one bag, as number of the context and word."""
    found = np.empty((2, 1024), np.int32)
    size = 0
    for context in range(len(contexts)):
        common = np.full(bits.shape[1], ~np.uint64(0))
        for k in range(contexts.shape[1]):
            if contexts[context, k] >= 0:
                common &= bits[places[contexts[context, k]]]
        for word in words:
            if _share(common, bits[places[word]]):
                if size == found.shape[1]:
                    found = np.concatenate((found, np.empty_like(found)), axis=1)
                found[0, size], found[1, size] = context, word
                size += 1
    return found[0, :size].copy(), found[1, :size].copy()


@compiled
def _add(
    table: NgramTable, contexts: Ints, context: Ints, word: Ints, known: Bools, weight: float, p: Floats
) -> None:
    """Add what a model gives each word after its context, times its weight."""
    before, state = -1, EMPTY
    for i in range(len(word)):
        if context[i] != before:
            before, state = context[i], EMPTY
            for k in range(contexts.shape[1]):
                if contexts[before, k] >= 0:
                    # Before it is looked up: a table backs off before it takes a word for <unk>.
                    read = contexts[before, k] if known[contexts[before, k]] else UNK
                    _, state = extend(table, state, read)
        if known[word[i]]:
            logp, _ = extend(table, state, word[i])
            p[i] += weight * np.exp(logp)
