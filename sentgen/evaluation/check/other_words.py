"""The relations of a source in other words: words that are akin, and passive clauses for active ones.

Two words are akin if they have the same lemma or stem, are spelled in two ways (*25*, *twenty-five*), or are
synonyms: of our own list (``thesaurus``), or of WordNet in their part of speech where that is installed.
These are the words that the aligner knows, without those that it takes for akin by their letters alone
(*increase* and *decrease* share most of them).

Function words are akin to themselves and their other forms only, and since they say little by themselves,
they follow their verb: *to assess skills* has *to* from *to evaluate skills* because *skills* is there, too.
The auxiliary of a passive follows its verb to an active clause, which needs none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sentgen.alignment.words.spellings import same_word
from sentgen.alignment.words.word_classes import is_function_word, stem
from sentgen.alignment.words.wordnet import frequent_senses, meanings
from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.check.parts import CORE, Clauses, Role
from sentgen.evaluation.check.verb_arguments import Argument, arguments, tags_of

#: How near two words are, the nearest first.
SAME, FORM, SPELLING, SYNONYM = range(4)
_WAYS = ("", "form", "spelling", "synonym")
#: Senses of a word that count; *take* has 42 as a verb, and the last ones are those of other words.
SENSES = 10
#: The letters of WordNet for tags, by their beginnings: universal ones, and those of the Penn Treebank.
_PARTS = {"NOUN": "n", "PROPN": "n", "NN": "n", "V": "v", "ADJ": "a", "JJ": "a", "ADV": "r", "RB": "r"}

_NONE: frozenset[int] = frozenset()

#: What a word has in common with others, and how near it is to those that share it.
Signs = Mapping[Hashable, int]
#: Relations of the source, with how near verb and word are.
Near = dict[int, tuple[int, int]]


class RelationPlace(NamedTuple):
    """Where a source has a relation in other words.

    ``sentences`` count from 1. ``words`` are the two that are nearest, as they stand there, and ``ways`` what
    they differ in: ``form``, ``spelling``, ``synonym``, ``passive`` (for active, or the other way around) or
    ``order``.
    """

    sentences: tuple[int, ...]
    words: tuple[str, str]
    ways: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Relation:
    sentence: int
    words: tuple[str, str]
    role: Role

    @property
    def verb(self) -> tuple[int, int]:
        """Return where the verb stands."""
        return self.sentence, self.role.verb


class OtherWords:
    """The relations of the verbs of a source, to be found by words that are akin to theirs."""

    def __init__(self, source: Iterable[Sentence], wordnet: Path | None) -> None:
        """Read a source.

        Args:
            source: parsed.
            wordnet: the folder of WordNet; ``None`` for our own synonyms only.
        """
        self._wordnet = wordnet
        self._relations: list[_Relation] = []
        self._by_verb: defaultdict[Hashable, set[int]] = defaultdict(set)
        self._by_word: defaultdict[Hashable, set[int]] = defaultdict(set)
        self._known: set[Hashable] = set()
        for number, sentence in enumerate(source, 1):
            self._add(number, sentence)

    def _add(self, number: int, sentence: Sentence) -> None:
        clauses, signs = Clauses(sentence), self._signs(sentence)
        self._known.update(*signs)
        for role in (*map(clauses.role, arguments(sentence)), *clauses.participles()):
            for index, place in ((self._by_verb, role.verb), (self._by_word, role.word)):
                for sign in signs[place]:
                    index[sign].add(len(self._relations))
            first, last = sorted((role.verb, role.word))
            self._relations.append(_Relation(number, (sentence.forms[first], sentence.forms[last]), role))

    def unknown(self, sentence: Sentence) -> set[int]:
        """Return the places of the words of a summary to which no word of the source is akin."""
        signs = enumerate(self._signs(sentence))
        return {place for place, own in signs if self._known.isdisjoint(own)}

    def find(self, sentence: Sentence, relations: Sequence[Argument]) -> list[RelationPlace | None]:
        """Look up all relations of the verbs of a sentence of the summary: akin words in the same parts."""
        clauses, signs = Clauses(sentence), self._signs(sentence)
        roles = [clauses.role(argument) for argument in relations]
        near = [self._near(role, signs) for role in roles]
        # What words that say something have found of their verbs.
        found: defaultdict[int, Near] = defaultdict(dict)
        light = [is_function_word(sentence.forms[role.word]) for role in roles]
        for role, places, function in zip(roles, near, light, strict=True):
            if not function:
                found[role.verb] |= places
        followed = [
            self._following(role, places, found[role.verb]) if function else places
            for role, places, function in zip(roles, near, light, strict=True)
        ]
        return [self._found(role, places) for role, places in zip(roles, followed, strict=True)]

    def _following(self, role: Role, near: Near, found: Near) -> Near:
        """Return the relations of a function word that belong to verbs which are found."""
        verbs = {self._relations[at].verb for at in found}
        own = {
            at: how
            for at, how in near.items()
            if self._relations[at].verb in verbs and self._relations[at].role.part == role.part
        }
        # An active clause needs no auxiliary of the passive.
        active = {at: how for at, how in found.items() if not self._relations[at].role.passive}
        return own or (active if role.voice else {})

    def _near(self, role: Role, signs: Sequence[Signs]) -> Near:
        """Return the relations of the source that may be this one, with how near verb and word are."""
        found: Near = {}
        # The nearest come last, and so stay.
        for verb, how in _farthest_first(signs[role.verb]):
            verbs = self._by_verb.get(verb, _NONE)
            for word, how_word in _farthest_first(signs[role.word]) if verbs else ():
                found |= dict.fromkeys(verbs & self._by_word.get(word, _NONE), (how, how_word))
        return {at: found[at] for at in sorted(found) if role.may_be(self._relations[at].role)}

    def _found(self, role: Role, near: Near) -> RelationPlace | None:
        if not near:
            return None
        # The first one of equals.
        at = min(near, key=lambda at: sum(near[at]))
        best = self._relations[at]
        ways = [_WAYS[how] for how in near[at]] + [_turned(role, best.role)]
        numbers = dict.fromkeys(self._relations[each].sentence for each in near)
        return RelationPlace(tuple(numbers), best.words, tuple(dict.fromkeys(filter(None, ways))))

    def _signs(self, sentence: Sentence) -> list[Signs]:
        lemmas = sentence.lemmas or ["_"] * len(sentence.forms)
        words = zip(sentence.forms, lemmas, tags_of(sentence), strict=True)
        return [_signs_of(form.lower(), lemma.lower(), tag, self._wordnet) for form, lemma, tag in words]


def _signs_of(word: str, lemma: str, tag: str, wordnet: Path | None) -> Signs:
    """Return what a word has in common with those that are akin to it, and how near these are."""
    signs: dict[Hashable, int] = {("form", word): SAME, ("stem", stem(word)): FORM}
    base = word if lemma in ("", "_") else lemma
    signs["lemma", base] = FORM
    if spelled := same_word(word):
        signs["spelling", spelled] = SPELLING
    if not is_function_word(word):
        # Our own list knows no irregular forms.
        signs |= dict.fromkeys((("meaning", group) for group in meanings(word) | meanings(base)), SYNONYM)
        letter = next((letter for name, letter in _PARTS.items() if tag.startswith(name)), None)
        if letter and wordnet is not None:
            signs |= dict.fromkeys(frequent_senses(wordnet, word, letter, SENSES), SYNONYM)
    return signs


def _farthest_first(signs: Signs) -> list[tuple[Hashable, int]]:
    return sorted(signs.items(), key=lambda sign: -sign[1])


def _turned(role: Role, other: Role) -> str:
    """Return how the construction of two relations differs."""
    if (role.voice or role.part in CORE) and role.passive != other.passive:
        return "passive"
    return "order" if role.verb_first != other.verb_first else ""
