"""Who does it, and to whom: the part that a word plays in the clause of its verb, active or passive.

The object of an active clause and the subject of a passive one are the same part, and so are the subject of
the one and the agent of the other. Labels are those of Universal Dependencies (``nsubj:pass``, ``obl:agent``,
or ``obl`` with *by*), of Stanford and ClearNLP (``nsubjpass``, ``dobj``, ``agent`` with ``pobj`` below), of
SUD (``subj@pass`` and ``comp:obl@agent``, below ``comp:aux``) and of the conversions of the Penn Treebank
(``SBJ`` above ``VC``, ``LGS`` with ``PMOD`` below). In the last three the words of a part hang from function
words, which are stepped over. Any other part is its label without subtypes; without labels there are none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.check.verb_arguments import Argument

AGENT, PATIENT = "agent", "patient"
#: The parts that word order tells apart in an active clause.
CORE = frozenset({AGENT, PATIENT})

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
class Role:
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

    def may_be(self, other: Role) -> bool:
        """Return whether both play the same part, or one that their order does not tell apart.

        >>> Role(1, 0, PATIENT, passive=True).may_be(Role(1, 2, PATIENT))
        True
        >>> Role(1, 0, AGENT).may_be(Role(1, 0, PATIENT, passive=True))
        False
        """
        if {self.part, other.part} <= CORE or self.part == other.part != "":
            return self.part == other.part
        return self.verb_first == other.verb_first


class Clauses:
    """The clauses of a sentence with a tree."""

    def __init__(self, sentence: Sentence) -> None:
        size = len(sentence.forms)
        self._forms = [form.lower() for form in sentence.forms]
        self._xpos = sentence.xpos or ["_"] * size
        self._labels = [label.lower() for label in sentence.deprels or [""] * size]
        self._heads = sentence.heads or [0] * size
        self._below: defaultdict[int, list[int]] = defaultdict(list)
        for place, head in enumerate(self._heads):
            self._below[head - 1].append(place)

    def role(self, argument: Argument) -> Role:
        """Return the part of an argument of a verb."""
        label = self._labels[argument.modifier]
        if label.startswith(_VERBS_BELOW):
            return self._auxiliary(argument)
        verb = self._lowest_verb(argument.head)
        passive = self._is_passive(verb)
        part, word = _plain(label), argument.modifier
        if label in _SUBJECTS:
            # Of the clause, not of the label, as parsers leave the subtype out.
            part = PATIENT if passive else AGENT
        elif label in _OBJECTS:
            part = PATIENT
        elif label in _AGENTS or (label in _BY_PHRASES and passive and self._has_by(word)):
            part, word = AGENT, self._object_below(word)
        return Role(verb, word, part, passive, voice=label in _VOICE)

    def participles(self) -> Iterator[Role]:
        """Yield the nouns that a participle after them is a passive clause of: *food sent by workers*."""
        for verb, label in enumerate(self._labels):
            if label == "acl" and self._heads[verb] and self._is_passive(verb):
                yield Role(verb, self._heads[verb] - 1, PATIENT, passive=True)

    def _auxiliary(self, argument: Argument) -> Role:
        """Return the part of an auxiliary that heads its clause, as if it hung on the verb."""
        verb, word = self._lowest_verb(argument.modifier), argument.head
        passive = self._is_passive(verb)
        return Role(verb, word, "aux", passive, voice=passive and verb == argument.modifier)

    def _lowest_verb(self, verb: int) -> int:
        while (lower := self._first_below(verb, _VERBS_BELOW)) is not None:
            verb = lower
        return verb

    def _object_below(self, word: int) -> int:
        return next((place for place in self._below[word] if self._labels[place] in _OBJECTS_BELOW), word)

    def _first_below(self, head: int, beginnings: tuple[str, ...]) -> int | None:
        return next((p for p in self._below[head] if self._labels[p].startswith(beginnings)), None)

    def _has_by(self, word: int) -> bool:
        return "by" in (self._forms[word], *(self._forms[place] for place in self._below[word]))

    def _is_passive(self, verb: int) -> bool:
        own, above = self._labels[verb], self._heads[verb] - 1
        if own == "comp:aux@pass":
            return True
        if not (_VOICE | _PASSIVE_SUBJECTS).isdisjoint(self._labels[place] for place in self._below[verb]):
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
