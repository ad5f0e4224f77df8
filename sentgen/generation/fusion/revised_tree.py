"""The tree that revision grows: words of the bag in order, and what each hangs on by now."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.fusion.answer import ChangeKind, FusionChange
from sentgen.generation.fusion.word_bag import WordBag

#: Words that come from no sentence; in a tree they have the numbers -2, -3 ...
MARKERS = (",", "while", "and")


@dataclass(frozen=True, slots=True)
class Revision:
    """One link that may be made: a unit for a place of the tree, and the word that it hangs on.

    Attributes:
        kind: what is done.
        top: the word that heads the unit.
        words: of the unit, in order.
        anchor: the word of the tree that it hangs on; with `ROOT`, the tree hangs on the unit.
        at: the place in the order of the tree.
        markers: that stand before the unit.
        gone: words of the tree, from the place on, that it replaces.
    """

    kind: ChangeKind
    top: int
    words: tuple[int, ...]
    anchor: int
    at: int
    markers: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RevisedTree:
    """Words in order, the head of each, and what was done so far.

    Attributes:
        order: numbers of words in the bag, negative for markers.
        heads: of all of them but markers, `ROOT` for the root.
        changes: in the order in which they were made.
        score: the sum of the weights of the links that were made.
    """

    order: tuple[int, ...]
    heads: dict[int, int]
    changes: tuple[FusionChange, ...] = ()
    score: float = 0.0

    @property
    def words(self) -> list[int]:
        """Return the words in order, without markers."""
        return [n for n in self.order if n >= 0]

    @property
    def root(self) -> int:
        """Return the root."""
        return next(n for n, head in self.heads.items() if head == ROOT)

    def modifiers(self, n: int) -> list[int]:
        """Return what hangs on a word, in order."""
        return [m for m in self.words if self.heads[m] == n]

    def below(self, top: int) -> set[int]:
        """Return a word with all that hangs on it."""
        found = [top]
        for one in found:
            found += self.modifiers(one)
        return set(found)

    def revised(self, bag: WordBag, revision: Revision, weight: float) -> RevisedTree:
        """Return the tree with a link made."""
        inside, gone = set(revision.words), set(revision.gone)
        heads = {n: head for n, head in self.heads.items() if n not in gone}
        for n, head in heads.items():
            if head in gone or (head == ROOT and revision.anchor == ROOT):
                heads[n] = revision.top
        for n in revision.words:
            # A comma that comes with a phrase belongs to it; several phrases may have one head.
            outside = revision.anchor if bag.is_word(n) else revision.top
            heads[n] = bag.words[n].head if bag.words[n].head in inside else outside
        unit = (*revision.markers, *revision.words)
        order = (*self.order[: revision.at], *unit, *self.order[revision.at + len(gone) :])
        changes = (*self.changes, self._change(bag, revision))
        return replace(self, order=order, heads=heads, changes=changes, score=self.score + weight)

    def _change(self, bag: WordBag, revision: Revision) -> FusionChange:
        anchor = self.root if revision.anchor == ROOT else revision.anchor
        return FusionChange(
            revision.kind,
            bag.text(revision.words),
            bag.words[revision.top].sentence,
            tuple(bag.words[n].place for n in revision.words),
            bag.text(revision.gone or (anchor,)),
            " ".join(form_of(bag, n) for n in revision.markers),
        )


def tree_of_key(bag: WordBag) -> RevisedTree:
    """Return the key as it is."""
    numbers = bag.sentence(0)
    return RevisedTree(tuple(numbers), {n: bag.words[n].head for n in numbers})


def markers(*forms: str) -> tuple[int, ...]:
    """Return the numbers of markers."""
    return tuple(-2 - MARKERS.index(form) for form in forms)


def form_of(bag: WordBag, n: int) -> str:
    """Return a word of a tree."""
    return MARKERS[-2 - n] if n < 0 else bag.words[n].form
