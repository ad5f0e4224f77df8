"""What is asked of a phrase that is added to a tree: that it is new, well read, has no rival, and fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.fusion.noun_phrases import says_something
from sentgen.generation.fusion.revised_tree import RevisedTree
from sentgen.generation.fusion.word_bag import NOUNS, WordBag, akin

#: Words of an added phrase, at most: of longer ones, more are broken by parsers.
LONGEST = 8
#: Tags of what opens a phrase or clause.
OPENING = frozenset({"ADP", "SCONJ", "PART"})
#: Letters of an abbreviation, at most.
_ABBREVIATED = 5
_VOWELS = frozenset("aeiou")


class Fitting:
    """A tree, and the questions that are asked of phrases for it."""

    def __init__(self, bag: WordBag, tree: RevisedTree) -> None:
        self.bag, self.tree = bag, tree
        self.place = {n: at for at, n in enumerate(tree.order)}
        self.said = bag.content(tree.order)

    def is_new(self, words: tuple[int, ...]) -> bool:
        """Return whether a phrase brings new words alone, none of which begins like a word of the tree."""
        if len(words) > LONGEST or not all(
            self.bag.is_word(n) or self.bag.words[n].form == "-" for n in words
        ):
            return False
        new = self.bag.content(words)
        return (
            bool(new)
            and all(map(self._is_trusted, words))
            and not any(akin(one, other) for one in new for other in self.said)
            and not self._is_abbreviated(words)
        )

    def _is_abbreviated(self, words: tuple[int, ...]) -> bool:
        """Return whether a phrase is an abbreviation of words of the tree, or has one there.

        The *un* is the one of the *united nations*: letters that begin content words beside each other.
        """

        def forms(numbers: Iterable[int]) -> set[str]:
            found = (self.bag.words[n] for n in numbers)
            return {word.form.replace(".", "").lower() for word in found if word.is_content}

        mine = self._initials(words)
        if len(mine) > 1 and mine in forms(self.tree.words):
            return True
        others = self._initials(self.tree.words)
        return any(1 < len(name) <= _ABBREVIATED and name in others for name in forms(words))

    def _initials(self, numbers: Iterable[int]) -> str:
        return "".join(self.bag.words[n].form[0].lower() for n in numbers if self.bag.words[n].is_content)

    def _is_trusted(self, n: int) -> bool:
        """Return whether a word is read as elsewhere.

        Taggers guess at words that they do not know, and parsers follow them: not trusted is an adjective or
        an adverb that another sentence has as a noun, a participle that one has as a verb, and a noun before
        an adjective that is said to be part of a compound.
        """
        word, right = self.bag.words[n], self.bag.neighbor(n, 1)
        if word.relation == "compound" and right is not None and self.bag.words[right].tag == "ADJ":
            return False
        same = (self.bag.words[m] for m in self.bag.of_form[word.form])
        others = (one for one in same if one.sentence != word.sentence)
        if word.tag in ("ADJ", "ADV"):
            return not any(one.tag in NOUNS for one in others)
        if word.relation == "amod" and word.tag == "VERB":
            return all(one.relation in ("amod", "acl") for one in others)
        return True

    def is_all_known(self, anchor: int, top: int, rivals: Callable[[int], bool]) -> bool:
        """Return whether the sentence of a phrase says of its head what the tree says of a word.

        What the tree says alone may be what the phrase says in other words. Only modifiers count that are
        ``rivals`` of the phrase.
        """
        others = [n for n in self.bag.modifiers[self.bag.words[top].head] if n != top]
        said = [self._said_by(self.bag.below(n), n) for n in others]
        return all(
            any(self._said_by(self.tree.below(n), n) & other for other in said)
            for n in self.tree.modifiers(anchor)
            if says_something(self.bag, n) and rivals(n)
        )

    def _said_by(self, below: set[int] | list[int], top: int) -> set[str]:
        return self.bag.content(below) or {self.bag.words[top].lemma}

    def sentence_has(self, top: int, rivals: Callable[[int], bool]) -> bool:
        """Return whether the sentence of a phrase has all words of the tree that are its rivals."""
        known = self.lemmas(top)
        return all(self.bag.words[n].lemma in known for n in self.tree.words if rivals(n))

    def lemmas(self, n: int) -> set[str]:
        """Return the lemmas of the sentence of a word."""
        return {self.bag.words[m].lemma for m in self.bag.sentence(self.bag.words[n].sentence)}

    def at(self, place: int) -> int:
        """Return the word at a place of the tree, negative for markers and beyond the ends."""
        return self.tree.order[place] if 0 <= place < len(self.tree.order) else ROOT

    def is_projective(self, anchor: int, at: int) -> bool:
        """Return whether a link from a word to a place crosses no other."""
        low, high = sorted((self.place[anchor] + 0.5, float(at)))
        for n, head in self.tree.heads.items():
            if head != ROOT:
                begin, end = sorted((self.place[n] + 0.5, self.place[head] + 0.5))
                if begin < low < end < high or low < begin < high < end:
                    return False
        return True

    def can_precede(self, at: int, first: int) -> bool:
        """Return whether a word can stand before the one at a place.

        The article there must fit, and what else stands there by now must be grammar, or be known in the
        sentence of the word: else it may be a modifier that a parser hung elsewhere.
        """
        if at == 0:
            return True
        if self.at(at - 1) < 0:
            return False
        before = self.bag.words[self.at(at - 1)]
        if before.lemma in ("a", "an"):
            return (before.form == "an") == (self.bag.words[first].form[:1].lower() in _VOWELS)
        if before.is_content:
            return before.lemma in self.lemmas(first) or before.fine in ("VBD", "VBZ", "VBP", "VB")
        return self.bag.is_word(self.at(at - 1)) or before.form == ","

    def can_follow(self, at: int, first: int) -> bool:
        """Return whether a phrase can stand before the word at a place.

        Not before *of*, which belongs to what is before it, nor before a phrase with the same preposition or
        one that the sentence of this one does not know.
        """
        n = self.at(at)
        if n < 0:
            return True
        word = self.bag.words[n]
        if word.lemma in ("of", self.bag.words[first].lemma) or word.form in ("-", "'s", "'"):
            return False
        if word.tag not in OPENING:
            return True
        top = n if word.relation not in ("case", "mark") else self.tree.heads[n]
        return bool(self.bag.content(self.tree.below(top)) & self.lemmas(first))
