"""The verb relations of a source, found again in other words: related words, passive for active clauses.

Two words are related if they have the same lemma or stem, are two spellings (*25*, *twenty-five*), or are
synonyms: by our own list (``thesaurus``), or by WordNet in their part of speech, if it is installed. The
aligner relates the same words, and besides those that only share letters, which are not related here
(*increase*, *decrease*).

A function word is related only to itself and its other forms. As it means little by itself, its relation is
looked for where the content words of its verb were found: *to assess skills* has *to* from *to evaluate
skills* because *skills* is there, too. The auxiliary of a passive is also found with an active clause, which
has none.

The role of a word in the clause of its verb does not depend on the voice. The object of an active clause and
the subject of a passive one are the patient, the subject of an active clause and the *by*-phrase of a passive
one the agent. Labels are those of Universal Dependencies (``nsubj:pass``, ``obl:agent``, or ``obl`` with
*by*), of Stanford and ClearNLP (``nsubjpass``, ``dobj``, ``agent`` with ``pobj`` below), of SUD
(``subj@pass`` and ``comp:obl@agent``, below ``comp:aux``) and of the conversions of the Penn Treebank
(``SBJ`` above ``VC``, ``LGS`` with ``PMOD`` below). In the last three, arguments hang from function words,
which are skipped. Any other role is the label without subtypes; without labels there are no roles.
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
#: The roles of the core arguments, which an active clause distinguishes by word order.
_CORE = frozenset({_AGENT, _PATIENT})

_PASSIVE_SUBJECTS = frozenset({"nsubj:pass", "csubj:pass", "nsubjpass", "csubjpass", "subj@pass"})
_SUBJECTS = frozenset({"nsubj", "csubj", "subj", "sbj"}) | _PASSIVE_SUBJECTS
_OBJECTS = frozenset({"obj", "dobj", "comp:obj"})
_AGENTS = frozenset({"obl:agent", "agent", "comp:obl@agent", "lgs"})
#: Other labels of a *by*-phrase, which is the agent in a passive clause only.
_BY_PHRASES = frozenset({"obl", "nmod", "prep", "adv", "comp:obl", "mod", "udep"})
#: Labels of the verb below an auxiliary that heads its clause, and of the noun below a preposition.
_VERBS_BELOW = ("comp:aux", "vc")
_OBJECTS_BELOW = frozenset({"pobj", "comp:obj", "pmod"})
#: Labels between the auxiliary of a passive and its verb; in SUD the auxiliary is the head.
_VOICE = frozenset({"aux:pass", "auxpass", "comp:aux@pass"})
_BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m"})


@dataclass(frozen=True, slots=True)
class _Role:
    """A verb, a word of its clause, and the role of that word (``part``); positions count from 0.

    ``passive`` says that the clause is passive, ``voice`` that the word is the auxiliary of the passive.
    """

    verb: int
    word: int
    part: str
    passive: bool = False
    voice: bool = False

    @property
    def verb_first(self) -> bool:
        return self.verb < self.word

    def may_be(self, other: _Role) -> bool:
        """Return whether two relations may be the same: by their roles, or by their order if one has no role.

        >>> _Role(1, 0, _PATIENT, passive=True).may_be(_Role(1, 2, _PATIENT))
        True
        >>> _Role(1, 0, _AGENT).may_be(_Role(1, 0, _PATIENT, passive=True))
        False
        """
        if {self.part, other.part} <= _CORE or self.part == other.part != "":
            return self.part == other.part
        return self.verb_first == other.verb_first


class _Clauses:
    """The dependency tree of a sentence, with the roles of words in its clauses."""

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
        label = self._labels[argument.modifier]
        if label.startswith(_VERBS_BELOW):
            return self._auxiliary(argument)
        verb = self._lowest_verb(argument.head)
        passive = self._is_passive(verb)
        part, word = _plain(label), argument.modifier
        if label in _SUBJECTS:
            # The voice is that of the clause, since parsers leave the subtype of the label out.
            part = _PATIENT if passive else _AGENT
        elif label in _OBJECTS:
            part = _PATIENT
        elif label in _AGENTS or (label in _BY_PHRASES and passive and self._has_by(word)):
            part = _AGENT
            word = next((at for at in self._below[word] if self._labels[at] in _OBJECTS_BELOW), word)
        return _Role(verb, word, part, passive, voice=label in _VOICE)

    def participles(self) -> Iterator[_Role]:
        """Yield the nouns with a passive participle as modifier, as its patients: *food sent by workers*."""
        for verb, label in enumerate(self._labels):
            if label == "acl" and self._heads[verb] and self._is_passive(verb):
                yield _Role(verb, self._heads[verb] - 1, _PATIENT, passive=True)

    def _auxiliary(self, argument: Argument) -> _Role:
        """Return the role of an auxiliary that heads its clause, as if the verb were its head."""
        verb, word = self._lowest_verb(argument.modifier), argument.head
        passive = self._is_passive(verb)
        return _Role(verb, word, "aux", passive, voice=passive and verb == argument.modifier)

    def _lowest_verb(self, verb: int) -> int:
        while lower := [at for at in self._below[verb] if self._labels[at].startswith(_VERBS_BELOW)]:
            verb = lower[0]
        return verb

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
    """Return a label without subtypes, but keep those of ``comp``, which are different relations.

    >>> _plain("obl:tmod"), _plain("comp:obl@agent"), _plain("_")
    ('obl', 'comp:obl', '')
    """
    base = label.partition("@")[0]
    return "" if base == "_" else base if base.startswith("comp:") else base.partition(":")[0]


#: Distances of related words, the smallest first.
_SAME, FORM, _SPELLING, _SYNONYM = range(4)
_WAYS = ("", "form", "spelling", "synonym")
#: Most frequent senses of a word that count; *take* has 42 as a verb, and the rare ones mislead.
_SENSES = 10
#: WordNet's letter for a part of speech, by the beginning of the universal or Penn Treebank tag.
_PARTS = {"NOUN": "n", "PROPN": "n", "NN": "n", "V": "v", "ADJ": "a", "JJ": "a", "ADV": "r", "RB": "r"}

_NONE: frozenset[int] = frozenset()

#: Keys that a word shares with related words (form, stem, lemma, spelling, meaning), and the distance of the
#: words that share each.
Signs = Mapping[Hashable, int]
#: Numbers of relations of the source, with the distances of verb and word.
Near = dict[int, tuple[int, int]]


class RelationPlace(NamedTuple):
    """The sentences of a source that have a relation in other words.

    ``sentences`` count from 1. ``words`` are the two words of the closest relation, in the order of the
    source, and ``ways`` their differences: ``form``, ``spelling``, ``synonym``, ``passive`` (for active, or
    the other way around) or ``order``.
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
        """Return the sentence and position of the verb."""
        return self.sentence, self.role.verb


class OtherWords:
    """An index of the verb relations of a source, by the words that are related to theirs."""

    def __init__(self, source: Iterable[Sentence], wordnet: Path | None) -> None:
        """Index a source.

        Without the folder of WordNet, synonyms are those of our own list only.
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
        """Return the positions of words of a summary sentence that are related to no word of the source."""
        signs = enumerate(self._signs(sentence))
        return {position for position, own in signs if self._known.isdisjoint(own)}

    def find(self, sentence: Sentence, relations: Sequence[Argument]) -> list[RelationPlace | None]:
        """Return for each verb relation of a summary sentence its place in the source, if there is one."""
        clauses, signs = _Clauses(sentence), self._signs(sentence)
        roles = [clauses.role(argument) for argument in relations]
        near = [self._near(role, signs) for role in roles]
        # Relations of the source that were found for the content words of each verb.
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
        """Return the candidates of a function word, ``near``, at verbs that content words have found.

        ``reworded`` are the relations that were found for the content words of its verb.
        """
        verbs = {self._relations[at].verb for at in reworded}
        own = {
            at: how
            for at, how in near.items()
            if self._relations[at].verb in verbs and self._relations[at].role.part == role.part
        }
        # An active clause has no auxiliary that the one of a passive could be found by.
        active = {at: how for at, how in reworded.items() if not self._relations[at].role.passive}
        return own or (active if role.voice else {})

    def _near(self, role: _Role, signs: Sequence[Signs]) -> Near:
        """Return the relations of the source that may be this one, with the distances of verb and word."""
        places: Near = {}
        # Smaller distances come later, and overwrite.
        for verb, how in _farthest_first(signs[role.verb]):
            verbs = self._by_verb.get(verb, _NONE)
            for word, how_word in _farthest_first(signs[role.word]) if verbs else ():
                places |= dict.fromkeys(verbs & self._by_word.get(word, _NONE), (how, how_word))
        return {at: places[at] for at in sorted(places) if role.may_be(self._relations[at].role)}

    def _found(self, role: _Role, near: Near) -> RelationPlace | None:
        if not near:
            return None
        # At equal distance the first relation of the source.
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
    """Return the keys that a word shares with related words, with their distances."""
    signs: dict[Hashable, int] = {("form", word): _SAME, ("stem", stem(word)): FORM}
    base = word if lemma in ("", "_") else lemma
    signs["lemma", base] = FORM
    if spelled := same_word(word):
        signs["spelling", spelled] = _SPELLING
    if not is_function_word(word):
        # Our own list has no irregular forms, so that the lemma is looked up, too.
        signs |= dict.fromkeys((("meaning", group) for group in meanings(word) | meanings(base)), _SYNONYM)
        letter = next((letter for name, letter in _PARTS.items() if tag.startswith(name)), None)
        if letter and wordnet is not None:
            signs |= dict.fromkeys(frequent_senses(wordnet, word, letter, _SENSES), _SYNONYM)
    return signs


def _farthest_first(signs: Signs) -> list[tuple[Hashable, int]]:
    return sorted(signs.items(), key=lambda sign: -sign[1])


def _turned(role: _Role, other: _Role) -> str:
    """Return how two relations differ in construction: ``passive``, ``order``, or an empty string."""
    if (role.voice or role.part in _CORE) and role.passive != other.passive:
        return "passive"
    return "order" if role.verb_first != other.verb_first else ""
