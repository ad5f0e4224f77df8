"""Modifiers of related sentences for words of the tree that have the same lemma.

A phrase is compared with the modifiers of the word in both sentences. It is added only if

* its anchor and the word of the tree agree: what there is one of (*the next meeting*) needs something
  definite, and one of several things several;
* the other sentence has all modifiers of the same kind that the word has in the tree: else the phrase may
express one of them in other words (the *us* strike is the *american* one); * it is new, and read as in the
other sentences (see `_Fitting`); * in its sentence it is adjacent to a word that the tree has at the same
place, so that its place is right even if a parser attached it to the wrong word.

`Between` adds modifiers that are, in their sentence, between two words that are adjacent in the tree. Both
sides are evidence that the phrase fits, so that its head has only one condition: it has no modifier of the
same kind that the sentence of the phrase lacks. This is for sentences that are versions of each other, in
which the same words are adjacent for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.fusion.word_bag import (
    GRAMMAR,
    INSIDE,
    NOUNS,
    RevisedTree,
    Revision,
    WordBag,
    begin_alike,
)

#: Most words of an added phrase: parsers make more errors in longer ones.
_MOST_PHRASE_WORDS = 8
#: Tags of what opens a phrase or clause.
_OPENING = frozenset({"ADP", "SCONJ", "PART"})
#: Letters of an abbreviation, at most.
_ABBREVIATED = 5
_VOWELS = frozenset("aeiou")


class _Fitting:
    """A tree, and the conditions of phrases that may be added to it."""

    def __init__(self, bag: WordBag, tree: RevisedTree) -> None:
        self.bag, self.tree = bag, tree
        self.place = {n: at for at, n in enumerate(tree.order)}
        self.content = bag.content(tree.order)

    def is_new(self, words: tuple[int, ...]) -> bool:
        """Return whether all words of a phrase are new, none beginning like a word of the tree."""
        if len(words) > _MOST_PHRASE_WORDS or not all(
            self.bag.is_word(n) or self.bag.words[n].form == "-" for n in words
        ):
            return False
        new = self.bag.content(words)
        return (
            bool(new)
            and all(map(self._is_trusted, words))
            and not any(begin_alike(word, other) for word in new for other in self.content)
            and not self._is_abbreviated(words)
        )

    def _is_abbreviated(self, words: tuple[int, ...]) -> bool:
        """Return whether a phrase is an abbreviation of words of the tree, or has one there.

        The *un* is the one of the *united nations*: letters that begin content words beside each other.
        """

        def forms(numbers: Iterable[int]) -> set[str]:
            words = (self.bag.words[n] for n in numbers)
            return {word.form.replace(".", "").lower() for word in words if word.is_content}

        mine = self._initials(words)
        if len(mine) > 1 and mine in forms(self.tree.words):
            return True
        others = self._initials(self.tree.words)
        return any(1 < len(name) <= _ABBREVIATED and name in others for name in forms(words))

    def _initials(self, numbers: Iterable[int]) -> str:
        return "".join(self.bag.words[n].form[0].lower() for n in numbers if self.bag.words[n].is_content)

    def _is_trusted(self, n: int) -> bool:
        """Return whether the tag and relation of a word agree with other sentences.

        Taggers guess at words that they do not know, and parsers follow them: not trusted is an adjective or
        an adverb that another sentence has as a noun, a participle that one has as a verb, and a noun before
        an adjective that is said to be part of a compound.
        """
        word, right = self.bag.words[n], self.bag.neighbor(n, 1)
        if word.relation == "compound" and right is not None and self.bag.words[right].tag == "ADJ":
            return False
        same = (self.bag.words[m] for m in self.bag.of_form[word.form])
        others = (other for other in same if other.sentence != word.sentence)
        if word.tag in ("ADJ", "ADV"):
            return not any(other.tag in NOUNS for other in others)
        if word.relation == "amod" and word.tag == "VERB":
            return all(other.relation in ("amod", "acl") for other in others)
        return True

    def is_all_known(self, anchor: int, top: int, rivals: Callable[[int], bool]) -> bool:
        """Return whether the sentence of a phrase has all modifiers that a word has in the tree.

        A modifier of the tree alone may mean the same as the phrase. Only modifiers count that are ``rivals``
        of the phrase.
        """
        others = [n for n in self.bag.modifiers[self.bag.words[top].head] if n != top]
        others_lemmas = [self._lemmas_below(self.bag.below(n), n) for n in others]
        return all(
            any(self._lemmas_below(self.tree.below(n), n) & other for other in others_lemmas)
            for n in self.tree.modifiers(anchor)
            if self.bag.says_something(n) and rivals(n)
        )

    def _lemmas_below(self, below: set[int] | list[int], top: int) -> set[str]:
        return self.bag.content(below) or {self.bag.words[top].lemma}

    def sentence_has(self, top: int, rivals: Callable[[int], bool]) -> bool:
        """Return whether the sentence of a phrase has all words of the tree that are its rivals."""
        known = self.lemmas(top)
        return all(self.bag.words[n].lemma in known for n in self.tree.words if rivals(n))

    def lemmas(self, n: int) -> set[str]:
        """Return the lemmas of the sentence of a word."""
        return {self.bag.words[m].lemma for m in self.bag.sentence(self.bag.words[n].sentence)}

    def at(self, position: int) -> int:
        """Return the word at a place of the tree, negative for markers and beyond the ends."""
        return self.tree.order[position] if 0 <= position < len(self.tree.order) else ROOT

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
        if word.tag not in _OPENING:
            return True
        top = n if word.relation not in ("case", "mark") else self.tree.heads[n]
        return bool(self.bag.content(self.tree.below(top)) & self.lemmas(first))


#: Modifiers of unique things, which need a definite article.
_UNIQUE = frozenset({"same", "next", "last", "only", "very", "first"})
_CLAUSES = frozenset({"VERB", "AUX", "CCONJ", "SCONJ"})
_COMPLETIONS = frozenset({"obj", "iobj", "xcomp", "ccomp", "compound"})


class Adding(_Fitting):
    """The phrases that can be added to words of one tree."""

    def revisions(self, *, verbs: bool) -> Iterator[Revision]:
        """Yield phrases with their places, of nouns, or of verbs as well."""
        words = self.bag.words
        anchors: dict[str, list[int]] = {}
        for n in self.tree.words:
            if words[n].tag in NOUNS or (verbs and words[n].tag == "VERB"):
                anchors.setdefault(words[n].lemma, []).append(n)
        for top, word in enumerate(words):
            if word.sentence == 0 or top in self.place or word.head == ROOT:
                continue
            same_lemma = [n for n in anchors.get(words[word.head].lemma, ()) if n != word.head]
            phrase = self.bag.phrase(top) if same_lemma else ()
            if not self.is_new(phrase):
                continue
            for anchor in same_lemma:
                for at in self._places(anchor, top, phrase):
                    yield Revision("added", top, phrase, anchor, at)

    def _places(self, anchor: int, top: int, words: tuple[int, ...]) -> Iterator[int]:
        """Yield places for a phrase, none if it does not fit."""
        head = self.bag.words[top].head
        noun = self.bag.words[anchor].tag in NOUNS
        if noun != (self.bag.words[head].tag in NOUNS):
            return
        if words[-1] < head:
            if self._premodifies(anchor, top, words) if noun else self._is_adverb(top, words):
                yield from self._before(anchor, top, words)
        elif self._follows_noun(anchor, top, words) if noun else self._follows_verb(anchor, top, words):
            yield from self._behind(anchor, words)

    def _premodifies(self, anchor: int, top: int, words: tuple[int, ...]) -> bool:
        """Return whether an adjective or a noun may stand before a noun."""
        word, head, noun = self.bag.words[top], self.bag.words[top].head, self.bag.words[anchor]
        participle = word.relation == "amod" and word.fine in ("VBG", "VBN")
        if word.relation not in ("amod", "compound") or not (word.tag in ("ADJ", "NOUN") or participle):
            return False
        inner = ("ADV",) if word.tag == "ADJ" else ("ADJ", "NOUN", "PROPN")
        others = [self.bag.words[n] for n in words if n != top]
        if top != words[-1] or any(other.tag not in inner and other.form != "-" for other in others):
            return False
        if (
            noun.relation in ("compound", "nmod", "obl")
            and self.bag.introduced(head)
            and not self.bag.introduced(anchor)
        ):
            return False  # *For monday evening* is no evening that somebody came.
        named = (self.bag.words[n].relation in ("compound", "flat") for n in self.tree.modifiers(anchor))
        if noun.tag == "PROPN" and (word.tag != "NOUN" or any(named)):
            return False  # Titles stand before names, and nothing between names.
        return (
            (noun.plural or not self.bag.words[head].plural)
            and self._is_as_definite(anchor, top)
            and self.is_all_known(
                anchor,
                top,
                lambda n: (
                    self.place[n] < self.place[anchor]
                    or (word.tag == "NOUN" and self.bag.introduced(n) == "of")
                ),
            )
        )

    def _is_as_definite(self, anchor: int, top: int) -> bool:
        """Return whether a word of the tree is as definite as what stands before its noun asks for."""
        word = self.bag.words[top]
        wanted = self.bag.definiteness(self.bag.modifiers.__getitem__, word.head)
        here = self.bag.definiteness(self.tree.modifiers, anchor)
        if wanted != here and (wanted == "the" or here == "this"):
            return False
        return here in ("the", "whose") or not (word.fine in ("JJS", "RBS") or word.lemma in _UNIQUE)

    def _follows_noun(self, anchor: int, top: int, words: tuple[int, ...]) -> bool:
        head = self.tree.heads[anchor]
        before_noun = self.bag.words[anchor].relation in INSIDE and self.place[anchor] < self.place.get(
            head, -1
        )
        if before_noun:
            return False
        return self._postmodifies(anchor, top, words) or self._is_joined(anchor, top, words)

    def _postmodifies(self, anchor: int, top: int, words: tuple[int, ...]) -> bool:
        """Return whether a phrase is one with a preposition, or a clause that says how it hangs on it."""
        word, first, head = self.bag.words[top], self.bag.words[words[0]], self.bag.words[top].head
        opened = first.tag in _OPENING or first.fine in ("WDT", "WP", "WRB")
        participle = word.relation == "acl" and top == words[0] and word.fine in ("VBG", "VBN")
        if word.relation not in ("acl", "nmod") or not (opened or participle):
            return False
        here = self.bag.definiteness(self.tree.modifiers, anchor)
        return (
            self.bag.words[anchor].plural == self.bag.words[head].plural
            and here != "this"
            and not (here == "whose" and self.bag.introduced(top) == "of")
            and self.is_all_known(anchor, top, lambda n: self.bag.words[n].relation != "nummod")
        )

    def _is_joined(self, anchor: int, top: int, words: tuple[int, ...]) -> bool:
        """Return whether a phrase is *and* with a noun, for a noun that is no subject and in no list."""
        word = self.bag.words[top]
        joined = [n for n in self.bag.modifiers[word.head] if self.bag.words[n].relation == "conj"]
        if (
            self.bag.words[words[0]].lemma != "and"
            or word.tag not in NOUNS
            or joined != [top]
            or len(words) < 2
        ):
            return False
        if any(self.bag.words[n].tag in _CLAUSES for n in words[1:]):
            return False
        in_list = any(self.bag.words[m].relation in ("conj", "cc") for m in self.tree.modifiers(anchor))
        if self.bag.words[anchor].relation not in ("obj", "obl", "nmod") or in_list:
            return False
        return self.is_all_known(anchor, top, lambda n: True)

    def _is_adverb(self, top: int, words: tuple[int, ...]) -> bool:
        """Return whether an adverb may stand before a verb."""
        word = self.bag.words[top]
        if word.relation != "advmod" or word.tag != "ADV" or word.fine in ("WRB", "WP") or len(words) > 1:
            return False
        # The first word, and one beside a comma, joins sentences; one beside an adverb belongs to that.
        sides = [self.bag.neighbor(top, step) for step in (-1, 1)]
        if any(n is None or self.bag.words[n].tag in ("ADV", "PUNCT") for n in sides):
            return False
        return self.sentence_has(top, lambda n: self.bag.words[n].tag == "ADV")

    def _follows_verb(self, anchor: int, top: int, words: tuple[int, ...]) -> bool:
        word, first = self.bag.words[top], self.bag.words[words[0]]
        same = (one for one in self.bag.words if (one.lemma, one.relation) == (word.lemma, word.relation))
        # Several sentences have such a word.
        bare = word.subtype in ("tmod", "npmod") and len({one.sentence for one in same}) > 1
        adverb = word.tag == "ADV" and len(words) == 1
        if word.relation not in ("advcl", "advmod", "obl") or not (first.tag in _OPENING or bare or adverb):
            return False
        if not self.is_all_known(anchor, top, lambda n: True):
            return False
        if not bare and word.tag != "ADV":
            return True
        # What says when or how needs no word in common to say the same.
        return self.sentence_has(top, lambda n: self.bag.words[n].relation in ("advmod", "obl"))

    def _before(self, anchor: int, top: int, words: tuple[int, ...]) -> Iterator[int]:
        """Yield the places before the word that follows a phrase in its sentence."""
        right = self.bag.neighbor(words[-1], 1)
        there = self.place[anchor]
        for n in sorted(self.tree.below(anchor), key=self.place.__getitem__):
            same = right is not None and self.bag.words[n].lemma == self.bag.words[right].lemma
            if same and self.place[n] <= there and self.can_precede(self.place[n], words[0]):
                yield self.place[n]
        # An adverb may also be between other dependents of a verb and the verb.
        before = self.bag.words[self.at(there - 1)].tag if self.at(there - 1) >= 0 else ""
        if self.bag.words[anchor].tag == "VERB" and before in ("AUX", "PRON", "NOUN", "PROPN"):
            yield there

    def _behind(self, anchor: int, words: tuple[int, ...]) -> Iterator[int]:
        """Yield the places behind the word that precedes a phrase in its sentence."""
        left = self.bag.neighbor(words[0], -1)
        for n in sorted(self.tree.below(anchor), key=self.place.__getitem__):
            at = self.place[n]
            if left is None or self.bag.words[n].form != self.bag.words[left].form or at < self.place[anchor]:
                continue
            completed_behind = any(
                self.place[m] > at and self.bag.words[m].relation in _COMPLETIONS
                for m in self.tree.modifiers(anchor)
            )
            if self._ends(anchor, n) and not completed_behind and self.can_follow(at + 1, words[0]):
                yield at + 1

    def _ends(self, anchor: int, n: int) -> bool:
        """Return whether a word is the anchor, or the last one of a modifier of it."""
        while n != anchor:
            if any(self.place[m] > self.place[n] for m in self.tree.below(n)):
                return False
            n = self.tree.heads[n]
        return True


#: Relations without which a clause would be another one, or of which nothing is known.
_COMPLETING = (GRAMMAR - {"conj"}) | {"ccomp", "xcomp", "parataxis", "nummod", "discourse", "dep"}
_BEFORE_NOUNS = frozenset({"amod", "compound", "nummod", "flat"})


class Between(_Fitting):
    """The phrases that can be put between adjacent words of one tree."""

    def revisions(self) -> Iterator[Revision]:
        """Yield phrases with their places."""
        neighbors = self._neighbors()
        for number in self.bag.related:
            sentence = [None, *self.bag.sentence(number), None]
            for first in range(1, len(sentence) - 1):
                for last in range(first, min(first + _MOST_PHRASE_WORDS, len(sentence) - 1)):
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
        positions: dict[tuple[str, str], list[int]] = {}
        order = [None, *self.tree.order, None]
        for at, (left, right) in enumerate(pairwise(order)):
            if (left is None or left >= 0) and (right is None or right >= 0):
                positions.setdefault((self._lemma(left), self._lemma(right)), []).append(at)
        return positions

    def _top(self, words: tuple[int, ...], *, fronted: bool) -> int | None:
        """Return the last top word of a run of words that is one new modifier, or several of one head."""
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
        """Return the head in the tree of a phrase at a place, None if the phrase has a rival there."""
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
        relation, other_relation = self.bag.words[n].relation, self.bag.words[top].relation
        if relation in _BEFORE_NOUNS and other_relation in _BEFORE_NOUNS:
            return True
        introduced = self.bag.introduced(top)
        return self.bag.introduced(n) == introduced and (bool(introduced) or relation == other_relation)

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
