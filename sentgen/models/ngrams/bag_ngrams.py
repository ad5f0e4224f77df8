"""Which n-grams lie within one bag of a batch, and a mixture of models for the bags.

A batch looks up the words of all its bags at once, but what is searched is one bag: an n-gram is of use only
if some bag has all of its words. A word is a set of bags, one bit each; so is the intersection over the words
of an n-gram, and it must not be empty. Of the rows that have an anchor in a hundred sentences, one in ten to
one in twenty is left.

Where a model is laid out, each n-gram is tried with each word of its bag behind it, as there are few of few
words.

A mixture of back-off models is summed when it is asked: nothing of it is stored but its weights.

    p(w | h) = sum over the models of weight times p(w | h) in the model

The sum is no back-off model: what two models lack, each has by weights of its own. In a bag it is one all the
same: a table of every context of any model with every word that may follow it there. A model gives nothing to
a word that it does not know and another one does; in a context that word is <unk> to it, as for scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Bools, Floats, Ints, Longs, compiled
from sentgen.models.ngrams.laid_out import NgramRecords, behind, home_of, packed
from sentgen.models.ngrams.ngram_cache import CachedNgrams, joined
from sentgen.models.ngrams.ngram_table import EMPTY, MISSING_UNK, NgramTable, build_table, extend
from sentgen.schema.tables.corpus import BOS, EOS, ROOT, UNK

_BITS = 64


class Membership(NamedTuple):
    """The bags of each word; W words occur in B bags."""

    places: Ints  # (greatest word id + 1,) row of a word in `bits`, -1 if it is in no bag
    bits: Bits  # (W, ceil(B / 64)) bit b % 64 of column b // 64: is it in bag b?


def membership(bags: Sequence[Sequence[int]], everywhere: Iterable[int]) -> Membership:
    """Return the bags of each word.

    Args:
        bags: the word ids of each bag.
        everywhere: word ids that count as members of every bag, and of one bag if there is none.
    """
    lengths = [len(bag) for bag in bags]
    flat = np.array([word for bag in bags for word in bag], np.int32)
    always = np.array(sorted(everywhere), np.int32)
    # Sorted, so that rows of `bits` come in the order of the ids, whatever the order of the bags.
    words = np.unique(np.concatenate((flat, always)))
    places = np.full(int(words.max(initial=-1)) + 1, -1, np.int32)
    places[words] = np.arange(len(words))
    bits = np.zeros((len(words), max(1, -(-len(bags) // _BITS))), np.uint64)
    column, bit = np.divmod(np.repeat(np.arange(len(bags)), lengths), _BITS)
    # `at`: a word occurs in many bags of one column, and plain indexing would keep the last one only.
    np.bitwise_or.at(bits, (places[flat], column), np.left_shift(np.uint64(1), bit.astype(np.uint64)))
    # All bits, beyond the last bag, too: n-grams of such words alone are kept even without a bag.
    bits[places[always]] = ~np.uint64(0)
    return Membership(places, bits)


@compiled
def within_bags(words: Ints, places: Ints, bits: Bits) -> Longs:
    """Return the rows of the n-grams that lie within one bag, ascending; one pass.

    Args:
        words: (R, n) word ids, -1 beyond the length; none is greater than the greatest one of the bags.
        places, bits: the `Membership`.
    """
    found = np.empty(len(words), np.int64)
    size = 0
    for row in range(len(words)):
        # 64 bags at a time, and done at the first one that has them all.
        for column in range(bits.shape[1]):
            common = ~np.uint64(0)
            for i in range(words.shape[1]):
                if words[row, i] < 0:
                    break
                place = places[words[row, i]]
                common = common & bits[place, column] if place >= 0 else np.uint64(0)
                if common == 0:
                    break
            if common != 0:
                found[size] = row
                size += 1
                break
    return found[:size].copy()


def ngrams_of_bags(
    records: NgramRecords, order: int, bags: Sequence[Sequence[int]], everywhere: Iterable[int]
) -> CachedNgrams:
    """Return the n-grams that lie within one bag, each once, as the store sorts them.

    Args:
        records: the model.
        order: that of the model.
        bags: the word ids of each bag.
        everywhere: word ids that count as members of every bag, and of one bag if there is none.
    """
    always = set(everywhere)
    parts = []
    for bag in bags or [()]:
        words = np.array(sorted(always.union(bag)), np.int32)
        parts.append(CachedNgrams(*_ngrams_of_bag(records, order, words[words < records.unigrams])))
    rows = joined(parts, order)
    rows = rows.where(np.lexsort((*rows.words.T[::-1], rows.lengths, rows.words.max(axis=1))))
    is_first = np.ones(len(rows.logp), np.bool_)
    is_first[1:] = (rows.words[1:] != rows.words[:-1]).any(axis=1)
    return rows.where(is_first)


@compiled
def _ngrams_of_bag(records: NgramRecords, order: int, words: Ints) -> tuple[Ints, Floats, Floats]:
    """Return all n-grams of some words, the shorter ones first."""
    grams, codes, values = (
        np.full((256, order), -1, np.int32),
        np.empty((256, 2), np.uint64),
        np.empty((256, 2)),
    )
    size = 0
    for word in words:
        if records.words[word, 0] != 0:
            grams, codes, values = _with_room(grams, codes, values, size)
            grams[size, 0] = word
            _copy(records, word, codes, values, size)
            size += 1
    begin, followers = 0, grams[:size, 0][grams[:size, 0] != BOS]
    homes, ahead = np.empty(len(followers), np.int64), np.empty(len(followers), np.uint64)
    for n in range(1, order):
        end = size
        for gram in range(begin, end):
            if grams[gram, n - 1] == EOS:
                continue
            # All are asked for before one is looked at, as memory answers many at once.
            for one in range(len(followers)):
                homes[one] = home_of(records, *packed(codes[gram, 0], codes[gram, 1], n, followers[one]))
                ahead[one] = records.words[homes[one], 0]
            for one in range(len(followers)):
                first, second = packed(codes[gram, 0], codes[gram, 1], n, followers[one])
                if ahead[one] < first:
                    continue
                at = behind(records, homes[one], first, second)
                if records.words[at, 0] == first and records.words[at, 1] == second:
                    grams, codes, values = _with_room(grams, codes, values, size)
                    grams[size, :n], grams[size, n] = grams[gram, :n], followers[one]
                    _copy(records, at, codes, values, size)
                    size += 1
        begin = end
    return grams[:size].copy(), values[:size, 0].copy(), values[:size, 1].copy()


@compiled
def _copy(records: NgramRecords, at: int, codes: Bits, values: Floats, to: int) -> None:
    codes[to, 0], codes[to, 1] = records.words[at, 0], records.words[at, 1]
    values[to, 0], values[to, 1] = records.values[at, 2], records.values[at, 3]


@compiled
def _with_room(grams: Ints, codes: Bits, values: Floats, size: int) -> tuple[Ints, Bits, Floats]:
    """Return the arrays with room for one n-gram more."""
    if size < len(grams):
        return grams, codes, values
    more = np.full_like(grams, -1)
    return (
        np.concatenate((grams, more)),
        np.concatenate((codes, np.empty_like(codes))),
        np.concatenate((values, np.empty_like(values))),
    )


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
