"""Modifiers of related sentences for words of the tree that have the same lemma.

What may be added is decided by what both sentences say of the word. A phrase is taken only if

* its anchor and the word of the tree agree: what there is one of (*the next meeting*) needs something
  definite, and one of several things several;
* whatever the tree says of the word in such a way, the other sentence says, too: else the phrase may say the
  same in other words (the *us* strike is the *american* one);
* it is new, and read as in the other sentences (see `Fitting`);
* in its sentence it stands right beside a word that the tree has at the same place, so that it stands well
  even where a parser hung it on the wrong word.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.fusion.fitting import OPENING, Fitting
from sentgen.generation.fusion.noun_phrases import definiteness
from sentgen.generation.fusion.revised_tree import Revision
from sentgen.generation.fusion.word_bag import INSIDE, NOUNS

#: What there is one of, so that an article says which.
_UNIQUE = frozenset({"same", "next", "last", "only", "very", "first"})
_CLAUSES = frozenset({"VERB", "AUX", "CCONJ", "SCONJ"})
_COMPLETIONS = frozenset({"obj", "iobj", "xcomp", "ccomp", "compound"})


class Adding(Fitting):
    """What can be added to words of one tree."""

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
            found = [n for n in anchors.get(words[word.head].lemma, ()) if n != word.head]
            phrase = self.bag.phrase(top) if found else ()
            if not self.is_new(phrase):
                continue
            for anchor in found:
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
        if top != words[-1] or any(one.tag not in inner and one.form != "-" for one in others):
            return False
        if (
            noun.relation in ("compound", "nmod", "obl")
            and self.bag.introduced(head)
            and not self.bag.introduced(anchor)
        ):
            return False  # *For monday evening* is no evening that somebody came.
        if noun.tag == "PROPN" and (word.tag != "NOUN" or self._has_parts(anchor)):
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

    def _has_parts(self, n: int) -> bool:
        """Return whether a name has other parts."""
        return any(self.bag.words[m].relation in ("compound", "flat") for m in self.tree.modifiers(n))

    def _is_as_definite(self, anchor: int, top: int) -> bool:
        """Return whether a word of the tree is as definite as what stands before its noun asks for."""
        word = self.bag.words[top]
        meant = definiteness(self.bag, self.bag.modifiers.__getitem__, word.head)
        here = definiteness(self.bag, self.tree.modifiers, anchor)
        if meant != here and (meant == "the" or here == "this"):
            return False
        return here in ("the", "whose") or not (word.fine in ("JJS", "RBS") or word.lemma in _UNIQUE)

    def _follows_noun(self, anchor: int, top: int, words: tuple[int, ...]) -> bool:
        """Return whether a phrase may stand behind a noun."""
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
        opened = first.tag in OPENING or first.fine in ("WDT", "WP", "WRB")
        participle = word.relation == "acl" and top == words[0] and word.fine in ("VBG", "VBN")
        if word.relation not in ("acl", "nmod") or not (opened or participle):
            return False
        here = definiteness(self.bag, self.tree.modifiers, anchor)
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
        """Return whether a phrase may stand behind a verb."""
        word, first = self.bag.words[top], self.bag.words[words[0]]
        bare = word.subtype in ("tmod", "npmod") and self._times(top) > 1
        adverb = word.tag == "ADV" and len(words) == 1
        if word.relation not in ("advcl", "advmod", "obl") or not (first.tag in OPENING or bare or adverb):
            return False
        if not self.is_all_known(anchor, top, lambda n: True):
            return False
        if not bare and word.tag != "ADV":
            return True
        # What says when or how needs no word in common to say the same.
        return self.sentence_has(top, lambda n: self.bag.words[n].relation in ("advmod", "obl"))

    def _times(self, top: int) -> int:
        """Return how many sentences have a word with the same relation."""
        word = self.bag.words[top]
        same = (one for one in self.bag.words if (one.lemma, one.relation) == (word.lemma, word.relation))
        return len({one.sentence for one in same})

    def _before(self, anchor: int, top: int, words: tuple[int, ...]) -> Iterator[int]:
        """Yield the places before the word that a phrase stands before in its sentence."""
        right = self.bag.neighbor(words[-1], 1)
        there = self.place[anchor]
        for n in sorted(self.tree.below(anchor), key=self.place.__getitem__):
            same = right is not None and self.bag.words[n].lemma == self.bag.words[right].lemma
            if same and self.place[n] <= there and self.can_precede(self.place[n], words[0]):
                yield self.place[n]
        # An adverb may as well stand between what belongs to a verb and the verb.
        before = self.bag.words[self.at(there - 1)].tag if self.at(there - 1) >= 0 else ""
        if self.bag.words[anchor].tag == "VERB" and before in ("AUX", "PRON", "NOUN", "PROPN"):
            yield there

    def _behind(self, anchor: int, words: tuple[int, ...]) -> Iterator[int]:
        """Yield the places behind the word that a phrase stands behind in its sentence."""
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
