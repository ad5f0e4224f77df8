"""How likely one word governs another, and how many modifiers a word has: of the sentences, or of a model.

Both are the models of Wan et al. 2007: probabilities of links by Collins' back-off from words to tags, and of
the number of modifiers that a word has on a side (see `sentgen.models.dependency.dependencies`). Without a
model of a store they are counted in the key and its related sentences, over lemmas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Protocol

import numpy as np

from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT
from sentgen.generation.fusion.word_bag import BagWord, WordBag
from sentgen.models.dependency.dependencies import FLOOR, UnitDependencies, backed_off


class LinkWeights(Protocol):
    """Weights of links between words of a bag, whose numbers are given."""

    def link(self, head: int, modifier: int, side: int) -> float:
        """Return the log-probability that a word governs another one on its left or right."""

    def arguments(self, head: int, side: int, count: int) -> float:
        """Return the probability that a word has so many modifiers on a side."""


class CountedLinks:
    """Weights that are counted in the sentences of a bag."""

    def __init__(self, bag: WordBag) -> None:
        self.bag = bag
        self.links: Counter[tuple[str, str, int]] = Counter()
        self.together: Counter[tuple[str, str]] = Counter()
        self.counts: Counter[tuple[str, int, int]] = Counter()
        self.tokens: Counter[str] = Counter()
        for number in (0, *bag.related):
            self._count(bag.sentence(number))

    def _count(self, sentence: range) -> None:
        words = self.bag.words
        for one, other in permutations(sentence, 2):
            self.together.update(_levels(words[one], words[other]))
        for n in sentence:
            head = words[n].head
            if head != ROOT:
                side = RIGHT if n > head else LEFT
                self.links.update((*pair, side) for pair in _levels(words[head], words[n]))
            sides = [0, 0]
            for m in self.bag.modifiers[n]:
                sides[RIGHT if m > n else LEFT] += 1
            for name in (words[n].lemma, f"/{words[n].tag}"):
                self.tokens[name] += 1
                self.counts.update((name, side, sides[side]) for side in (LEFT, RIGHT))

    def link(self, head: int, modifier: int, side: int) -> float:
        """Return the log-probability that a word governs another one on a side."""
        pairs = list(_levels(self.bag.words[head], self.bag.words[modifier]))
        rel = [self.links[*pair, side] for pair in pairs]
        co = [self.together[pair] for pair in pairs]
        # Tag with word and word with tag are one level.
        found = backed_off((rel[0], rel[1] + rel[2], rel[3]), (co[0], co[1] + co[2], co[3]))
        return float(np.log(max(found, FLOOR)))

    def arguments(self, head: int, side: int, count: int) -> float:
        """Return the probability that a word has so many modifiers on a side, backed off to its tag."""
        word = self.bag.words[head]
        total, tag = self.tokens[word.lemma], f"/{word.tag}"
        share = total / (total + 1)
        return share * self.counts[word.lemma, side, count] / max(total, 1) + (1 - share) * (
            self.counts[tag, side, count] / max(self.tokens[tag], 1)
        )


def _levels(head: BagWord, modifier: BagWord) -> Iterator[tuple[str, str]]:
    """Yield a pair as words, tag and word, word and tag, and tags."""
    yield head.lemma, modifier.lemma
    yield f"/{head.tag}", modifier.lemma
    yield head.lemma, f"/{modifier.tag}"
    yield f"/{head.tag}", f"/{modifier.tag}"


class ModelLinks:
    """Weights of the treebanks of a model."""

    def __init__(self, found: UnitDependencies) -> None:
        self.found = found

    def link(self, head: int, modifier: int, side: int) -> float:
        """Return the log-probability that a word governs another one on a side."""
        return float(self.found.prob[head + 1, modifier, side])

    def arguments(self, head: int, side: int, count: int) -> float:
        """Return the probability that a word has so many modifiers on a side."""
        return float(self.found.arguments[head + 1, side, min(count, 7)])
