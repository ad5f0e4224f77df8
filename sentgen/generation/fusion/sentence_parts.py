"""The parts of a sentence that revision looks at: its root, the subject of a verb, and where it ends."""

from __future__ import annotations

from collections.abc import Iterable

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.fusion.revised_tree import RevisedTree
from sentgen.generation.fusion.word_bag import WordBag, akin

#: Content words that two sentences share, of those of the shorter one, if they say the same in other words.
VERSIONS = 0.25
_SUBJECTS = frozenset({"nsubj", "csubj", "expl"})
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})


def root_of(bag: WordBag, sentence: int) -> int:
    """Return the root of a sentence."""
    return next(n for n in bag.sentence(sentence) if bag.words[n].head == ROOT)


def subject_of(bag: WordBag, verb: int, modifiers: Iterable[int]) -> int | None:
    """Return the subject of a verb among its modifiers, if it stands before it."""
    return next((n for n in modifiers if bag.words[n].relation in _SUBJECTS and n < verb), None)


def is_clause(bag: WordBag, top: int) -> bool:
    """Return whether a word heads a clause that can stand alone, with a subject, and a verb with a tense."""
    modifiers = bag.modifiers[top]
    if subject_of(bag, top, modifiers) is None:
        return False
    verbs = [bag.words[n] for n in (top, *modifiers) if bag.words[n].tag in ("VERB", "AUX")]
    # Where there are universal tags alone, a verb with a subject is taken to have a tense.
    return any(verb.fine in _FINITE or verb.fine == verb.tag for verb in verbs)


def has_said(said: set[str], content: Iterable[str]) -> bool:
    """Return whether one of some lemmas, or one that begins alike, is among others."""
    return any(akin(one, other) for one in content for other in said)


def are_versions(bag: WordBag) -> bool:
    """Return whether half of the related sentences say what the key says, in other words."""
    key = bag.content(bag.sentence(0))
    alike = 0
    for number in bag.related:
        other = bag.content(bag.sentence(number))
        shared = sum(has_said(other, [one]) for one in key)
        alike += shared >= VERSIONS * max(1, min(len(key), len(other)))
    return 2 * alike >= len(bag.related)


def first_word(bag: WordBag, tree: RevisedTree) -> int | None:
    """Return the first word of a tree that is no punctuation."""
    return next((n for n in tree.words if bag.is_word(n)), None)


def end_of(bag: WordBag, tree: RevisedTree) -> int:
    """Return the place behind the last word of a tree."""
    return max((at for at, n in enumerate(tree.order, 1) if n >= 0 and bag.is_word(n)), default=0)
