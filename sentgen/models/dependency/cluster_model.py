"""The probabilities of one cluster of sentences: bigrams, trigrams, dependencies, and supported arcs.

Wan et al. 2005. All are estimated from the cluster itself. Bigrams have Katz back-off. For words a and b, a
before b in the sentence,

    p(isHeadRight(a, b)) = Adj_right[b, a] / cnt(a, b)      b governs a, the head is to the right
    p(isHeadLeft(a, b))  = Adj_left[a, b] / cnt(a, b)       a governs b, the head is to the left
    p(Dep_sym(a, b))     = p(isHeadRight(a, b)) + p(isHeadLeft(a, b))

where cnt(a, b) counts the pairs of tokens of one sentence in which a is before b. A pair of tokens has one
relation at most, so that these are probabilities. They are 0 for words that never occur together.

Trigrams are interpolated with bigrams:

    p(x | u v) = (count(u v x) - 1/2) / count(u v) + 1/2 * (different words after u v) / count(u v) * p(x | v)

A cluster has too few counts of counts for the discounts of Katz, so that 1/2 is subtracted from all of them,
as from the bigrams where Katz fails. After u v that never occur together, p(x | v).

For the constraints of `Arcs`, every word of a sentence needs a
head that some sentence of the cluster gives it, on the same side, and a head takes no more modifiers of a
kind, such as subjects, than one of its tokens has in the cluster. For words h and m,

    p(h governs m) = times that h governs m on that side / tokens of h
    p(root h)      = times that h is the root / sentences
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, Longs
from sentgen.models.building.katz import ABSOLUTE, K, good_turing
from sentgen.models.dependency.cluster_counts import ClusterCounts, CountedTree, PairCounts

Smoothing = Literal["none", "collins"]
#: Kinds of modifiers that are distinguished, and how many of a kind are counted: two bits each, in 64.
KINDS, MOST = 32, 3


@dataclass(frozen=True, slots=True)
class ClusterModel:
    """The probabilities of a cluster of n words, none of them a logarithm.

    Attributes:
        words: (n,) forms.
        tags: (n,) a tag each.
        bigrams: (n + 1, n + 1) p(column | row); row n is the start of the sentence, column n its end.
        head_right: (n, n) p(isHeadRight(row, column)).
        head_left: (n, n) p(isHeadLeft(row, column)).
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    bigrams: Floats
    head_right: Floats
    head_left: Floats

    @classmethod
    def estimate(
        cls, counts: ClusterCounts, *, smoothing: Smoothing = "none", corpus: HeadSides | None = None
    ) -> ClusterModel:
        """Estimate the model of a cluster.

        A cluster without trees has no dependencies: all their probabilities are zero.

        Args:
            counts: counts of the cluster; with tags, if ``smoothing`` asks for them.
            smoothing: smoothing of dependencies: `none` as in the paper, or `collins` to back off to tags.
            corpus: dependencies in other text, to which those of the cluster back off last.
        """
        levels = [counts.pairs]
        if smoothing == "collins":
            if not counts.backed_off:
                raise ValueError("Collins back-off needs counts of tags: Reading(tags=True)")
            levels += _by_word(counts)
        beyond = (None, None) if corpus is None else corpus
        right = collins([(level.to_right, level.together) for level in levels], beyond[0])
        left = collins([(level.to_left, level.together) for level in levels], beyond[1])
        return cls(counts.words, counts.tags, katz(counts.bigrams), right, left)


class HeadSides(NamedTuple):
    """p(isHeadRight(row, column)) and p(isHeadLeft(row, column)) of n words, (n, n) each."""

    right: Floats
    left: Floats


def collins(levels: Sequence[tuple[Longs, Longs]], beyond: Floats | None = None) -> Floats:
    """Return relations over co-occurrences, each level backed off to the next one (Collins 1996).

    With e_i = relations_i / together_i, where 0 / 0 = 0, and l_i = together_i / (together_i + 1), the result
    is l_0 e_0 + (1 - l_0) (l_1 e_1 + (1 - l_1) e_2). The last level is not smoothed, unless it backs off to
    probabilities ``beyond``.

    Args:
        levels: relations and co-occurrences, all of one shape, the most specific level first.
        beyond: probabilities of that shape.
    """
    smoothed = beyond
    for relations, together in reversed(levels):
        ratio = relations / np.maximum(together, 1)
        share = together / (together + 1)
        smoothed = ratio if smoothed is None else share * ratio + (1 - share) * smoothed
    if smoothed is None:
        raise ValueError("there are no levels")
    return smoothed


def _by_word(counts: ClusterCounts) -> list[PairCounts]:
    """Return the counts to back off to for pairs of words, by their tags.

    First tag with word and word with tag, summed; then tag with tag.
    """
    tag_word, word_tag, tag_tag = counts.backed_off
    tags = counts.tag_of
    mixed = PairCounts(
        *(
            getattr(tag_word, name)[tags] + getattr(word_tag, name)[:, tags]
            for name in ("together", "to_right", "to_left")
        )
    )
    both = np.ix_(tags, tags)
    return [mixed, PairCounts(tag_tag.together[both], tag_tag.to_right[both], tag_tag.to_left[both])]


def katz(counts: Longs) -> Floats:
    """Return p(column | row) with Katz back-off, as `sentgen.models.building.katz` does it in the store.

    The vocabulary is closed: the n words and the end of the sentence.

    Args:
        counts: (n + 1, n + 1) bigrams; row n is the start, column n the end of the sentence.
    """
    total = counts.sum(axis=0)  # each token and each end of a sentence is the second word of one bigram
    unigrams = _discounted(total)
    unigrams /= unigrams.sum()
    discounted = _discounted(counts)
    seen = counts > 0
    tokens = counts.sum(axis=1)
    mass = discounted.sum(axis=1)
    full = seen.all(axis=1)
    # No mass is left where no count was discounted; a divisor greater by 1 leaves some, as in SRILM.
    divisor = np.where(full, mass, np.where(mass < tokens, tokens, tokens + 1))
    direct = discounted / divisor[:, None]
    left = 1 - direct.sum(axis=1)
    beyond = np.maximum(1 - np.where(seen, unigrams, 0).sum(axis=1), 1e-15)
    # After a word that every word of the vocabulary follows, no word is left to back off to.
    alpha = np.where(full, 0, np.maximum(left, 0) / beyond)
    return np.asarray(np.where(seen, direct, alpha[:, None] * unigrams))


def _discounted(counts: Longs) -> Floats:
    """Return counts with the discounts of Katz 1987, or less 1/2 where the discounts fail."""
    occurring = [int((counts == r).sum()) for r in range(1, K + 2)]
    discounts = good_turing(occurring)
    # Clusters are small: some counts of counts are 0, from which no discount can be estimated.
    if discounts is None:
        return np.where(counts > 0, counts - ABSOLUTE, 0.0)
    # One factor for each count up to K, and 1 above.
    factors = np.array([0.0, *discounts, 1.0])
    return np.asarray(counts * factors[np.minimum(counts, K + 1)])


class Trigrams(NamedTuple):
    """Natural log-probabilities over n words; n stands for the start before, and for the end after them."""

    bigram: Floats  # (n + 1, n + 1) of the column after the row
    backed_off: Floats  # (n + 1, n + 1) back-off weight of each pair of words
    keys: Longs  # (T,) trigrams that were seen, (u * (n + 1) + v) * (n + 1) + x, sorted
    trigram: Floats  # (T,) their log-probabilities

    @classmethod
    def estimate(cls, sentences: Sequence[Longs], bigrams: Floats) -> Trigrams:
        """Return the trigrams of some sentences.

        Args:
            sentences: numbers of words.
            bigrams: (n + 1, n + 1) probabilities, no logarithms; row n is the start, column n the end.
        """
        size = len(bigrams)
        counted: Counter[tuple[int, int, int]] = Counter()
        for sentence in sentences:
            words = [size - 1, *sentence.tolist(), size - 1]
            counted.update((u, v, x) for (u, v), x in zip(pairwise(words), words[2:], strict=False))
        total, different = np.zeros((size, size)), np.zeros((size, size))
        for (u, v, _), times in counted.items():
            total[u, v] += times
            different[u, v] += 1
        left = np.where(total > 0, ABSOLUTE * different / np.maximum(total, 1), 1.0)
        seen = sorted(counted)
        probs = [(counted[u, v, x] - ABSOLUTE) / total[u, v] + left[u, v] * bigrams[v, x] for u, v, x in seen]
        keys = [(u * size + v) * size + x for u, v, x in seen]
        with np.errstate(divide="ignore"):
            return cls(np.log(bigrams), np.log(left), np.array(keys, np.int64), np.log(np.array(probs)))


class Arcs(NamedTuple):
    """The supported arcs of n words; probabilities are natural logarithms, -inf without support.

    For a before b, ``left[a, b]`` is the probability that a governs b, ``right[a, b]`` that b governs a. A
    kind is a relation on a side.
    """

    left: Floats  # (n, n)
    right: Floats  # (n, n)
    left_kind: Ints  # (n, n) from 0
    right_kind: Ints  # (n, n)
    room: Ints  # (n, KINDS) how many modifiers of a kind a word may have
    root: Floats  # (n,)

    @classmethod
    def estimate(cls, trees: Sequence[CountedTree], n: int) -> Arcs:
        """Count the arcs of some sentences of n different words.

        A pair of words with several relations has the most frequent one; relations beyond the `KINDS` - 1
        most frequent ones share a kind.
        """
        relations = [Counter[tuple[int, int, str]]() for _ in range(2)]  # a governs b; b governs a
        tokens, roots = np.zeros(n), np.zeros(n)
        most: Counter[tuple[int, tuple[int, str]]] = Counter()
        for tree in trees:
            words = tree.words.tolist()
            np.add.at(tokens, tree.words, 1)
            taken: Counter[tuple[int, tuple[int, str]]] = Counter()
            for position, (head, relation) in enumerate(
                zip(tree.heads.tolist(), tree.relations, strict=True)
            ):
                if head < 0:
                    roots[words[position]] += 1
                    continue
                side = int(head > position)
                relations[side][words[min(head, position)], words[max(head, position)], relation] += 1
                taken[head, (side, relation)] += 1
            for (head, kind), times in taken.items():
                most[words[head], kind] = max(most[words[head], kind], times)
        kinds = _kinds(relations)
        limits = np.zeros((n, KINDS), np.int32)
        for (word, kind), times in most.items():
            limits[word, kinds[kind]] = max(limits[word, kinds[kind]], min(times, MOST))
        (left, left_kind), (right, right_kind) = (
            _table(counted, side, kinds, n) for side, counted in enumerate(relations)
        )
        heads = np.maximum(tokens, 1)
        with np.errstate(divide="ignore"):
            return cls(
                left=np.log(left / heads[:, None]),
                right=np.log(right / heads),
                left_kind=left_kind,
                right_kind=right_kind,
                room=limits,
                root=np.log(roots / max(len(trees), 1)),
            )


def _kinds(relations: Sequence[Counter[tuple[int, int, str]]]) -> dict[tuple[int, str], int]:
    """Number the relations of both sides, the most frequent ones first."""
    counted: Counter[tuple[int, str]] = Counter()
    for side, pairs in enumerate(relations):
        for (_, _, relation), times in pairs.items():
            counted[side, relation] += times
    ranked = sorted(counted, key=lambda kind: (-counted[kind], kind))
    return {kind: min(rank, KINDS - 1) for rank, kind in enumerate(ranked)}


def _table(
    relations: Counter[tuple[int, int, str]], side: int, kinds: dict[tuple[int, str], int], n: int
) -> tuple[Floats, Ints]:
    """Return (n, n) counts of the arcs of one side, and (n, n) the kind of the most frequent relation."""
    count, highest = np.zeros((n, n)), np.zeros((n, n))
    kind = np.zeros((n, n), np.int32)
    # Sorted: of equally frequent relations the first by name, whatever the order of the sentences.
    for (a, b, relation), times in sorted(relations.items()):
        count[a, b] += times
        if times > highest[a, b]:
            highest[a, b], kind[a, b] = times, kinds[side, relation]
    return count, kind
