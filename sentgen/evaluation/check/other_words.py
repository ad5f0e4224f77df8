"""The relations of a source in other words: words that are akin, and passive clauses for active ones.

Two words are akin if they have the same lemma or stem, are spelled in two ways (*25*, *twenty-five*), or are
synonyms: of our own list (``thesaurus``), or of WordNet in their part of speech where that is installed.
These are the words that the aligner knows, without those that it takes for akin by their letters alone
(*increase* and *decrease* share most of them).

Function words are akin to themselves and their other forms only, and since they say little by themselves,
they follow their verb: *to assess skills* has *to* from *to evaluate skills* because *skills* is there, too.
The auxiliary of a passive follows its verb to an active clause, which needs none.

Who does it, and to whom, is the part that a word plays in the clause of its verb, active or passive. The
object of an active clause and the subject of a passive one are the same part, and so are the subject of the
one and the agent of the other. Labels are those of Universal Dependencies (``nsubj:pass``, ``obl:agent``, or
``obl`` with *by*), of Stanford and ClearNLP (``nsubjpass``, ``dobj``, ``agent`` with ``pobj`` below), of SUD
(``subj@pass`` and ``comp:obl@agent``, below ``comp:aux``) and of the conversions of the Penn Treebank
(``SBJ`` above ``VC``, ``LGS`` with ``PMOD`` below). In the last three the words of a part hang from function
words, which are stepped over. Any other part is its label without subtypes; without labels there are none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sentgen.alignment.words.relations import same_word
from sentgen.alignment.words.word_classes import is_function_word, stem
from sentgen.alignment.words.wordnet import frequent_senses, meanings
from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.check.verb_arguments import Argument, arguments, tags_of

_AGENT, _PATIENT = "agent", "patient"
#: The parts that word order tells apart in an active clause.
_CORE = frozenset({_AGENT, _PATIENT})

_PASSIVE_SUBJECTS = frozenset({"nsubj:pass", "csubj:pass", "nsubjpass", "csubjpass", "subj@pass"})
_SUBJECTS = frozenset({"nsubj", "csubj", "subj", "sbj"}) | _PASSIVE_SUBJECTS
_OBJECTS = frozenset({"obj", "dobj", "comp:obj"})
_AGENTS = frozenset({"obl:agent", "agent", "comp:obl@agent", "lgs"})
#: What a *by*-phrase may be called besides; it is the agent in a passive clause only.
_BY_PHRASES = frozenset({"obl", "nmod", "prep", "adv", "comp:obl", "mod", "udep"})
#: Below an auxiliary that heads its clause, and below a preposition that heads its phrase.
_VERBS_BELOW = ("comp:aux", "vc")
_OBJECTS_BELOW = frozenset({"pobj", "comp:obj", "pmod"})
#: The relation of a passive's auxiliary to its verb: below it, or above it in SUD.
_VOICE = frozenset({"aux:pass", "auxpass", "comp:aux@pass"})
_BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m"})


@dataclass(frozen=True, slots=True)
class _Role:
    """A verb, a word that plays a part in its clause, and the part; places count from 0.

    ``passive`` says that the clause is, ``voice`` that the word is the auxiliary which makes it so.
    """

    verb: int
    word: int
    part: str
    passive: bool = False
    voice: bool = False

    @property
    def verb_first(self) -> bool:
        """Return whether the verb stands before the word."""
        return self.verb < self.word

    def may_be(self, other: _Role) -> bool:
        """Return whether both play the same part, or one that their order does not tell apart.

        >>> _Role(1, 0, _PATIENT, passive=True).may_be(_Role(1, 2, _PATIENT))
        True
        >>> _Role(1, 0, _AGENT).may_be(_Role(1, 0, _PATIENT, passive=True))
        False
        """
        if {self.part, other.part} <= _CORE or self.part == other.part != "":
            return self.part == other.part
        return self.verb_first == other.verb_first


class _Clauses:
    """The clauses of a sentence with a tree."""

    def __init__(self, sentence: Sentence) -> None:
        size = len(sentence.forms)
        self._forms = [form.lower() for form in sentence.forms]
        self._xpos = sentence.xpos or ["_"] * size
        self._labels = [label.lower() for label in sentence.deprels or [""] * size]
        self._heads = sentence.heads or [0] * size
        self._below: defaultdict[int, list[int]] = defaultdict(list)
        for position, head in enumerate(self._heads):
            self._below[head - 1].append(position)

    def role(self, argument: Argument) -> _Role:
        """Return the part of an argument of a verb."""
        label = self._labels[argument.modifier]
        if label.startswith(_VERBS_BELOW):
            return self._auxiliary(argument)
        verb = self._lowest_verb(argument.head)
        passive = self._is_passive(verb)
        part, word = _plain(label), argument.modifier
        if label in _SUBJECTS:
            # Of the clause, not of the label, as parsers leave the subtype out.
            part = _PATIENT if passive else _AGENT
        elif label in _OBJECTS:
            part = _PATIENT
        elif label in _AGENTS or (label in _BY_PHRASES and passive and self._has_by(word)):
            part, word = _AGENT, self._object_below(word)
        return _Role(verb, word, part, passive, voice=label in _VOICE)

    def participles(self) -> Iterator[_Role]:
        """Yield the nouns that a participle after them is a passive clause of: *food sent by workers*."""
        for verb, label in enumerate(self._labels):
            if label == "acl" and self._heads[verb] and self._is_passive(verb):
                yield _Role(verb, self._heads[verb] - 1, _PATIENT, passive=True)

    def _auxiliary(self, argument: Argument) -> _Role:
        """Return the part of an auxiliary that heads its clause, as if it hung on the verb."""
        verb, word = self._lowest_verb(argument.modifier), argument.head
        passive = self._is_passive(verb)
        return _Role(verb, word, "aux", passive, voice=passive and verb == argument.modifier)

    def _lowest_verb(self, verb: int) -> int:
        while (lower := self._first_below(verb, _VERBS_BELOW)) is not None:
            verb = lower
        return verb

    def _object_below(self, word: int) -> int:
        return next((at for at in self._below[word] if self._labels[at] in _OBJECTS_BELOW), word)

    def _first_below(self, head: int, beginnings: tuple[str, ...]) -> int | None:
        return next((p for p in self._below[head] if self._labels[p].startswith(beginnings)), None)

    def _has_by(self, word: int) -> bool:
        return "by" in (self._forms[word], *(self._forms[at] for at in self._below[word]))

    def _is_passive(self, verb: int) -> bool:
        own, above = self._labels[verb], self._heads[verb] - 1
        if own == "comp:aux@pass":
            return True
        if not (_VOICE | _PASSIVE_SUBJECTS).isdisjoint(self._labels[at] for at in self._below[verb]):
            return True
        past = self._xpos[verb] == "VBN"
        return past and (own == "acl" or (own == "vc" and self._forms[above] in _BE))


def _plain(label: str) -> str:
    """Return a label without subtypes; those of ``comp`` tell its kinds apart.

    >>> _plain("obl:tmod"), _plain("comp:obl@agent"), _plain("_")
    ('obl', 'comp:obl', '')
    """
    base = label.partition("@")[0]
    return "" if base == "_" else base if base.startswith("comp:") else base.partition(":")[0]


#: How near two words are, the nearest first.
_SAME, FORM, _SPELLING, _SYNONYM = range(4)
_WAYS = ("", "form", "spelling", "synonym")
#: Senses of a word that count; *take* has 42 as a verb, and the last ones are those of other words.
_SENSES = 10
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
    role: _Role

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
        clauses, signs = _Clauses(sentence), self._signs(sentence)
        self._known.update(*signs)
        for role in (*map(clauses.role, arguments(sentence)), *clauses.participles()):
            for index, position in ((self._by_verb, role.verb), (self._by_word, role.word)):
                for sign in signs[position]:
                    index[sign].add(len(self._relations))
            first, last = sorted((role.verb, role.word))
            self._relations.append(_Relation(number, (sentence.forms[first], sentence.forms[last]), role))

    def unknown(self, sentence: Sentence) -> set[int]:
        """Return the places of the words of a summary to which no word of the source is akin."""
        signs = enumerate(self._signs(sentence))
        return {position for position, own in signs if self._known.isdisjoint(own)}

    def find(self, sentence: Sentence, relations: Sequence[Argument]) -> list[RelationPlace | None]:
        """Look up all relations of the verbs of a sentence of the summary: akin words in the same parts."""
        clauses, signs = _Clauses(sentence), self._signs(sentence)
        roles = [clauses.role(argument) for argument in relations]
        near = [self._near(role, signs) for role in roles]
        # What words that say something have found of their verbs.
        near_verbs: defaultdict[int, Near] = defaultdict(dict)
        light = [is_function_word(sentence.forms[role.word]) for role in roles]
        for role, places, function in zip(roles, near, light, strict=True):
            if not function:
                near_verbs[role.verb] |= places
        followed = [
            self._following(role, places, near_verbs[role.verb]) if function else places
            for role, places, function in zip(roles, near, light, strict=True)
        ]
        return [self._found(role, places) for role, places in zip(roles, followed, strict=True)]

    def _following(self, role: _Role, near: Near, reworded: Near) -> Near:
        """Return the relations of a function word that belong to verbs which are found."""
        verbs = {self._relations[at].verb for at in reworded}
        own = {
            at: how
            for at, how in near.items()
            if self._relations[at].verb in verbs and self._relations[at].role.part == role.part
        }
        # An active clause needs no auxiliary of the passive.
        active = {at: how for at, how in reworded.items() if not self._relations[at].role.passive}
        return own or (active if role.voice else {})

    def _near(self, role: _Role, signs: Sequence[Signs]) -> Near:
        """Return the relations of the source that may be this one, with how near verb and word are."""
        places: Near = {}
        # The nearest come last, and so stay.
        for verb, how in _farthest_first(signs[role.verb]):
            verbs = self._by_verb.get(verb, _NONE)
            for word, how_word in _farthest_first(signs[role.word]) if verbs else ():
                places |= dict.fromkeys(verbs & self._by_word.get(word, _NONE), (how, how_word))
        return {at: places[at] for at in sorted(places) if role.may_be(self._relations[at].role)}

    def _found(self, role: _Role, near: Near) -> RelationPlace | None:
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
    signs: dict[Hashable, int] = {("form", word): _SAME, ("stem", stem(word)): FORM}
    base = word if lemma in ("", "_") else lemma
    signs["lemma", base] = FORM
    if spelled := same_word(word):
        signs["spelling", spelled] = _SPELLING
    if not is_function_word(word):
        # Our own list knows no irregular forms.
        signs |= dict.fromkeys((("meaning", group) for group in meanings(word) | meanings(base)), _SYNONYM)
        letter = next((letter for name, letter in _PARTS.items() if tag.startswith(name)), None)
        if letter and wordnet is not None:
            signs |= dict.fromkeys(frequent_senses(wordnet, word, letter, _SENSES), _SYNONYM)
    return signs


def _farthest_first(signs: Signs) -> list[tuple[Hashable, int]]:
    return sorted(signs.items(), key=lambda sign: -sign[1])


def _turned(role: _Role, other: _Role) -> str:
    """Return how the construction of two relations differs."""
    if (role.voice or role.part in _CORE) and role.passive != other.passive:
        return "passive"
    return "order" if role.verb_first != other.verb_first else ""
