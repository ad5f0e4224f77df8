"""What noun phrases say before their noun, and how they say which one they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from sentgen.generation.fusion.word_bag import INSIDE, WordBag

#: What hangs on a word, in its sentence or in a tree that grows.
Modifiers = Callable[[int], Iterable[int]]
#: By an article, by *this* or such, by whose it is, by another determiner, or by none.
Definiteness = Literal["the", "this", "whose", "some", ""]

ARTICLES = frozenset({"the", "a", "an"})
_THIS = frozenset({"this", "that", "these", "those"})
#: Relations that say nothing of their head, or complete it.
GRAMMAR = frozenset(
    {
        "aux",
        "case",
        "cc",
        "conj",
        "cop",
        "csubj",
        "det",
        "expl",
        "iobj",
        "mark",
        "nsubj",
        "obj",
        "punct",
        "root",
    }
)


def definiteness(bag: WordBag, modifiers: Modifiers, noun: int) -> Definiteness:
    """Return how a noun phrase says which one it means."""
    found: Definiteness = ""
    for n in modifiers(noun):
        word = bag.words[n]
        if n < 0 or (n > noun and word.sentence == bag.words[noun].sentence):
            continue
        if word.relation == "nmod":
            found = "whose"
        elif word.lemma == "the":
            found = "the"
        elif word.relation == "det":
            found = "this" if word.lemma in _THIS else "some"
    return found


def says_something(bag: WordBag, n: int) -> bool:
    """Return whether a word is a modifier that says something of its head, an article not."""
    word = bag.words[n]
    if word.relation == "det":
        return word.lemma not in ARTICLES and word.lemma not in _THIS
    return word.relation not in GRAMMAR


def base_phrase(bag: WordBag, modifiers: Modifiers, noun: int) -> tuple[int, ...]:
    """Return a noun with what stands before it in its noun phrase, () if that has gaps or something else."""
    word = bag.words[noun]
    before = [
        n
        for n in modifiers(noun)
        if 0 <= n < noun and bag.words[n].sentence == word.sentence and bag.words[n].relation != "case"
    ]
    if any(bag.words[n].relation not in (*INSIDE, "nmod", "punct", "advmod") for n in before):
        return ()
    found = sorted({m for n in before for m in bag.below(n)} | {noun})
    return tuple(found) if found[-1] - found[0] + 1 == len(found) else ()
