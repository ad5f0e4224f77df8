"""Modifiers that stand, in their sentence, between two words that are neighbors in the tree.

Both sides show that such a phrase fits, so that less is asked of the word that it hangs on than in `adding`:
only that nothing of its kind hangs there that its sentence does not know. That is so where the sentences are
versions of each other, and the same words stand beside each other for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.fusion.fitting import LONGEST, Fitting
from sentgen.generation.fusion.noun_phrases import GRAMMAR
from sentgen.generation.fusion.revised_tree import Revision

#: Relations without which a clause would be another one, or of which nothing is known.
_COMPLETING = (GRAMMAR - {"conj"}) | {"ccomp", "xcomp", "parataxis", "nummod", "discourse", "dep"}
_BEFORE_NOUNS = frozenset({"amod", "compound", "nummod", "flat"})


class Between(Fitting):
    """What can be put between neighbors of one tree."""

    def revisions(self) -> Iterator[Revision]:
        """Yield phrases with their places."""
        neighbors = self._neighbors()
        for number in self.bag.related:
            sentence = [None, *self.bag.sentence(number), None]
            for first in range(1, len(sentence) - 1):
                for last in range(first, min(first + LONGEST, len(sentence) - 1)):
                    sides = self._lemma(sentence[first - 1]), self._lemma(sentence[last + 1])
                    words = tuple(n for n in sentence[first : last + 1] if n is not None)
                    for at in neighbors.get(sides, ()):
                        yield from self._revision(words, at, fronted=first == 1)

    def _revision(self, words: tuple[int, ...], at: int, *, fronted: bool) -> Iterator[Revision]:
        top, follows = self._top(words, fronted=fronted), self.at(at)
        if top is None or (follows >= 0 and self._lemma(follows) == self._lemma(words[0])):
            return
        anchor = self._anchor(top, at)
        if anchor is not None:
            yield Revision("added", top, words, anchor, at)

    def _lemma(self, n: int | None) -> str:
        return "" if n is None else self.bag.words[n].lemma

    def _neighbors(self) -> dict[tuple[str, str], list[int]]:
        """Return the places of the tree by the lemmas on both sides, "" at the ends."""
        found: dict[tuple[str, str], list[int]] = {}
        order = [None, *self.tree.order, None]
        for at, (left, right) in enumerate(pairwise(order)):
            if (left is None or left >= 0) and (right is None or right >= 0):
                found.setdefault((self._lemma(left), self._lemma(right)), []).append(at)
        return found

    def _top(self, words: tuple[int, ...], *, fronted: bool) -> int | None:
        """Return what heads a run of words that is one new modifier, or several of one word; its last top."""
        known = self.bag.words
        spoken = words[:-1] if fronted and known[words[-1]].form == "," else words
        inside = set(words)
        tops = [n for n in words if known[n].head not in inside and known[n].relation != "punct"]
        if not spoken or not self.is_new(spoken) or len({known[n].head for n in tops}) != 1:
            return None
        if any(known[n].relation in _COMPLETING or known[n].head == ROOT for n in tops):
            return None
        if any(m not in inside and self.bag.is_word(m) for n in words for m in self.bag.modifiers[n]):
            return None
        joined = any(known[n].relation == "conj" for n in tops)
        return tops[-1] if joined == (known[words[0]].tag == "CCONJ") else None

    def _anchor(self, top: int, at: int) -> int | None:
        """Return the word of the tree that a phrase at a place hangs on, None where it has a rival there."""
        lemma = self._lemma(self.bag.words[top].head)
        same = [n for n in self.tree.words if self._lemma(n) == lemma]
        if not all(self.is_all_known(n, top, lambda m: self._are_rivals(m, top)) for n in same):
            return None
        joined = self.bag.words[top].relation == "conj"
        for n in same:
            if self.is_projective(n, at) and not (joined and not self._can_be_joined(n, top)):
                return n
        return None if joined else self._beside(top, at)

    def _are_rivals(self, n: int, top: int) -> bool:
        one, other = self.bag.words[n].relation, self.bag.words[top].relation
        if one in _BEFORE_NOUNS and other in _BEFORE_NOUNS:
            return True
        introduced = self.bag.introduced(top)
        return self.bag.introduced(n) == introduced and (bool(introduced) or one == other)

    def _can_be_joined(self, n: int, other: int) -> bool:
        one, two = self.bag.words[n], self.bag.words[other]
        return one.tag == two.tag and (one.tag != "VERB" or one.fine == two.fine)

    def _beside(self, top: int, at: int) -> int | None:
        """Return a word that says something on one side of a place, or the head of one that does not."""
        follows = self.bag.words[top].relation in ("acl", "advcl", "nmod", "obl")
        for near in (at - 1, at) if follows else (at, at - 1):
            n = self.at(near)
            while n >= 0 and not self.bag.words[n].is_content:
                n = self.tree.heads[n]
            if n >= 0 and self.is_projective(n, at):
                return n
        return None
