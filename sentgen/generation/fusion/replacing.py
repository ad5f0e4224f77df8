"""Noun phrases that name the same thing more precisely.

The same thing, as far as one can tell: nouns of the same form that hang alike, on the same preposition, or
both as subjects or objects. More precisely is what

* says by a noun of which kind it is, where the other describes it by adjectives (*inaccessible areas*,
  *conflict areas*); where sentences are versions of each other, both may be meant, and it is added instead;
* in versions, has an article where the other has none, and says more (*export products*, *the staple export
  products*), which cannot just be added;
* in versions, is a noun phrase before a verb, where the other is a pronoun before the same verb.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentgen.generation.fusion.noun_phrases import ARTICLES, base_phrase, says_something
from sentgen.generation.fusion.revised_tree import RevisedTree, Revision
from sentgen.generation.fusion.sentence_parts import has_said, subject_of
from sentgen.generation.fusion.word_bag import NOUNS, WordBag

_LONGEST = 6
_PRONOUNS = {"he": False, "she": False, "they": True}


def replacements(bag: WordBag, tree: RevisedTree, *, versions: bool) -> Iterator[Revision]:
    """Yield what may stand in the place of noun phrases of a tree."""
    for noun in tree.words:
        if bag.words[noun].tag in NOUNS:
            yield from _noun_phrases(bag, tree, noun, versions=versions)
        elif versions and bag.words[noun].lemma in _PRONOUNS and bag.words[noun].relation == "nsubj":
            yield from _subjects(bag, tree, noun)


def _noun_phrases(bag: WordBag, tree: RevisedTree, noun: int, *, versions: bool) -> Iterator[Revision]:
    mine, word = base_phrase(bag, tree.modifiers, noun), bag.words[noun]
    at = tree.order.index(mine[0]) if mine else 0
    if not mine or tree.order[at : at + len(mine)] != mine:
        return
    said = bag.content(tree.order)
    for other in bag.of_form[word.form]:
        if bag.words[other].sentence == word.sentence or other in tree.heads:
            continue
        words = base_phrase(bag, bag.modifiers.__getitem__, other)
        if not 2 <= len(words) <= _LONGEST or not _hang_alike(bag, noun, other):
            continue
        new = bag.content(words) - bag.content(mine)
        if not new or has_said(said, new):
            continue
        if _says_more(bag, mine, words) if versions else _says_kind(bag, mine, words):
            yield Revision("replaced", other, words, tree.heads[noun], at, gone=mine)


def _hang_alike(bag: WordBag, noun: int, other: int) -> bool:
    """Return whether two words have the same preposition, or the same relation without one."""
    mine, theirs = bag.introduced(noun), bag.introduced(other)
    if mine or theirs:
        return mine == theirs
    same = bag.words[noun].relation == bag.words[other].relation
    return (
        same and bag.words[noun].plural == bag.words[other].plural and bag.words[noun].relation != "compound"
    )


def _says_more(bag: WordBag, mine: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Return whether one phrase has all words of the other, a new one, and an article of its own."""
    known = {bag.words[n].lemma for n in theirs}
    first, other = bag.words[mine[0]], bag.words[theirs[0]]
    # With the same article, or with none, the words are added.
    if other.relation != "det" or other.lemma not in ARTICLES or first.lemma == other.lemma:
        return False
    if first.relation == "det" and first.lemma not in ARTICLES:
        return False
    if any(bag.words[n].tag in ("PRON", "PART", "PUNCT", "ADV", "DET") for n in (*mine[1:], *theirs[1:])):
        return False
    return all(bag.words[n].lemma in known for n in _described(bag, mine)) and len(theirs) > len(mine)


def _described(bag: WordBag, words: tuple[int, ...]) -> list[int]:
    return [n for n in words[:-1] if says_something(bag, n)]


def _says_kind(bag: WordBag, mine: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Return whether one phrase has a noun where the other has adjectives, and both the same article."""

    def articles(words: tuple[int, ...]) -> list[str]:
        return [bag.words[n].lemma for n in words[:-1] if not says_something(bag, n)]

    described = [bag.words[n] for n in _described(bag, mine)]
    return (
        bool(described)
        and all(one.tag == "ADJ" and one.relation == "amod" for one in described)
        and all(bag.words[n].relation == "compound" for n in _described(bag, theirs))
        and articles(mine) == articles(theirs)
    )


def _subjects(bag: WordBag, tree: RevisedTree, pronoun: int) -> Iterator[Revision]:
    """Yield subjects for a pronoun before the same verb, where the verbs have more in common."""
    verb = tree.heads[pronoun]
    said, mine = bag.content(tree.order), bag.content(tree.below(verb))
    for other, word in enumerate(bag.words):
        if word.sentence == bag.words[verb].sentence or word.lemma != bag.words[verb].lemma:
            continue
        subject = subject_of(bag, other, bag.modifiers[other])
        if subject is None or bag.words[subject].tag not in NOUNS or bag.words[subject].relation != "nsubj":
            continue
        words = bag.phrase(subject)
        several = bag.words[subject].plural
        if not words or len(words) > _LONGEST or not all(map(bag.is_word, words)):
            continue
        shared = mine & bag.content(bag.below(other)) - {word.lemma}
        if (
            several == _PRONOUNS[bag.words[pronoun].lemma]
            and shared
            and not has_said(said, bag.content(words))
        ):
            yield Revision("replaced", subject, words, verb, tree.order.index(pronoun), gone=(pronoun,))
