"""The words of the key and its related sentences as one bag, and the tree that revision makes of them.
Relations are those of Universal Dependencies without subtypes. Where a treebank names none, as those of the
Penn Treebank, the tags of a word and its head, and the side on which it stands, say which it is; prepositions
govern their nouns there, and so are themselves modifiers of what these hang on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from sentgen.case_folding import fold
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, spell
from sentgen.generation.bags.problem import ROOT
from sentgen.generation.clusters.casing import decapitalized
from sentgen.generation.fusion.answer import ChangeKind, FusionChange

_UNIVERSAL = {
    "AUX": ("MD",),
    "ADP": ("IN", "RP"),
    "ADJ": ("JJ", "JJR", "JJS"),
    "ADV": ("RB", "RBR", "RBS", "WRB"),
    "CCONJ": ("CC",),
    "DET": ("DT", "PDT", "WDT"),
    "NOUN": ("NN", "NNS"),
    "NUM": ("CD",),
    "PART": ("POS", "TO"),
    "PRON": ("PRP", "PRP$", "WP", "WP$", "EX"),
    "PROPN": ("NNP", "NNPS"),
    "PUNCT": (".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "#"),
    "VERB": ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
}
_OF_PENN = {penn: tag for tag, found in _UNIVERSAL.items() for penn in found}
_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
NOUNS = frozenset({"NOUN", "PROPN"})
_PLURAL = ("NNS", "NNPS")
#: Relations of words between an article and its noun.
INSIDE = frozenset({"amod", "compound", "det", "nummod", "flat"})
#: Least number of common letters of two forms of a word, such as `asia` and `asian`.
_STEM = 4


@dataclass(frozen=True, slots=True)
class BagWord:
    """A word: the number of its sentence, 0 for the key, its place there, and the number of its head.

    ``tag`` is that of Universal Dependencies, ``fine`` that of the Penn Treebank, else the same.
    """

    sentence: int
    place: int
    form: str
    lemma: str
    tag: str
    fine: str
    relation: str
    subtype: str
    head: int

    @property
    def is_content(self) -> bool:
        """Return whether the word is a content word."""
        return self.tag in _CONTENT

    @property
    def plural(self) -> bool:
        """Return whether the word is a plural noun."""
        return self.fine in _PLURAL


@dataclass(frozen=True, slots=True)
class WordBag:
    """The words of all sentences, numbered consecutively from 0, with indexes.

    Attributes:
        words: words of all sentences, one after the other.
        modifiers: the modifiers of each word, in order.
        starts: number of the first word of each sentence, and the number of words.
        of_form: the words of each form.
        found_in: number of sentences with each lemma.
    """

    words: tuple[BagWord, ...]
    modifiers: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]
    of_form: Mapping[str, Sequence[int]]
    found_in: Mapping[str, int]

    @property
    def related(self) -> range:
        """Return the numbers of the related sentences."""
        return range(1, len(self.starts) - 1)

    def sentence(self, number: int) -> range:
        """Return the words of a sentence."""
        return range(self.starts[number], self.starts[number + 1])

    def below(self, top: int) -> list[int]:
        """Return a word with all its descendants, in order."""
        words = [top]
        for word in words:
            words += self.modifiers[word]
        return sorted(words)

    def phrase(self, top: int) -> tuple[int, ...]:
        """Return the phrase of a word without punctuation at its ends, () if the phrase has gaps."""
        below = self.below(top)
        words = [n for n in below if self.is_word(n)]
        span = [n for n in below if words and words[0] <= n <= words[-1]]
        return tuple(span) if span and span[-1] - span[0] + 1 == len(span) else ()

    def is_word(self, n: int) -> bool:
        """Return whether a word has a letter or a digit."""
        return any(map(str.isalnum, self.words[n].form))

    def content(self, numbers: Iterable[int]) -> set[str]:
        """Return the lemmas of the content words."""
        return {self.words[n].lemma for n in numbers if n >= 0 and self.words[n].is_content}

    def neighbor(self, n: int, step: int) -> int | None:
        """Return the word before or behind a word in its sentence."""
        at = n + step
        inside = 0 <= at < len(self.words) and self.words[at].sentence == self.words[n].sentence
        return at if inside else None

    def text(self, numbers: Iterable[int]) -> str:
        """Return words as a string."""
        return " ".join(self.words[n].form for n in numbers)

    def introduced(self, n: int) -> str:
        """Return the preposition or conjunction that introduces a word, "" for none."""
        word = self.words[n]
        if word.tag in ("ADP", "SCONJ"):
            return word.lemma
        signs = (m for m in self.modifiers[n] if self.words[m].relation in ("case", "mark"))
        return "".join(self.words[m].lemma for m in islice(signs, 1))

    def definiteness(self, modifiers: Modifiers, noun: int) -> Definiteness:
        """Return the definiteness of a noun phrase."""
        kind: Definiteness = ""
        for n in modifiers(noun):
            word = self.words[n]
            if n < 0 or (n > noun and word.sentence == self.words[noun].sentence):
                continue
            if word.relation == "nmod":
                kind = "whose"
            elif word.lemma == "the":
                kind = "the"
            elif word.relation == "det":
                kind = "this" if word.lemma in _THIS else "some"
        return kind

    def says_something(self, n: int) -> bool:
        """Return whether a word is a modifier with meaning, other than an article."""
        word = self.words[n]
        if word.relation == "det":
            return word.lemma not in ARTICLES and word.lemma not in _THIS
        return word.relation not in GRAMMAR

    def base_phrase(self, modifiers: Modifiers, noun: int) -> tuple[int, ...]:
        """Return a noun with the words before it in its noun phrase, () if these have gaps or other words."""
        word = self.words[noun]
        before = [
            n
            for n in modifiers(noun)
            if 0 <= n < noun and self.words[n].sentence == word.sentence and self.words[n].relation != "case"
        ]
        if any(self.words[n].relation not in (*INSIDE, "nmod", "punct", "advmod") for n in before):
            return ()
        phrase = sorted({m for n in before for m in self.below(n)} | {noun})
        return tuple(phrase) if phrase[-1] - phrase[0] + 1 == len(phrase) else ()

    def tree_of_key(self) -> RevisedTree:
        """Return the tree of the unchanged key."""
        numbers = self.sentence(0)
        return RevisedTree(tuple(numbers), {n: self.words[n].head for n in numbers})

    def form_of(self, n: int) -> str:
        """Return a word of a tree."""
        return MARKERS[-2 - n] if n < 0 else self.words[n].form

    @classmethod
    def of_sentences(cls, sentences: Sequence[Sentence]) -> WordBag:
        """Put sentences, the key first, into one bag.

        Raises:
            InputError: a sentence has no tree or no tags.
        """
        words: list[BagWord] = []
        starts = [0]
        for number, sentence in enumerate(sentences):
            words += _words(number, sentence, len(words))
            starts.append(len(words))
        modifiers: list[list[int]] = [[] for _ in words]
        for n, word in enumerate(words):
            if word.head != ROOT:
                modifiers[word.head].append(n)
        of_form: dict[str, list[int]] = {}
        for n, word in enumerate(words):
            of_form.setdefault(word.form, []).append(n)
        found_in = Counter(lemma for lemma, _ in {(word.lemma, word.sentence) for word in words})
        return cls(tuple(words), tuple(map(tuple, modifiers)), tuple(starts), of_form, found_in)


def _words(number: int, sentence: Sentence, first: int) -> Iterator[BagWord]:
    if sentence.heads is None or (sentence.upos is None and sentence.xpos is None):
        raise InputError(
            f"a sentence without a tree and tags cannot be fused; parse it with {spell('parser')}"
        )
    forms = decapitalized(sentence).forms
    fine = sentence.xpos or sentence.upos or []
    tags = [_OF_PENN.get(tag, "X") for tag in fine] if sentence.upos is None else sentence.upos
    lemmas = sentence.lemmas or forms
    for position, (form, tag, head) in enumerate(zip(forms, tags, sentence.heads, strict=True)):
        lemma = lemmas[position] if lemmas[position] not in ("", "_") else form
        name = sentence.deprels[position] if sentence.deprels else "_"
        if name == "_":
            name = _relation(tag, tags[head - 1], before=position < head - 1) if head else "root"
        relation, _, subtype = name.partition(":")
        yield BagWord(
            number,
            position,
            form,
            fold(lemma),
            tag,
            fine[position],
            relation,
            subtype,
            first + head - 1 if head else ROOT,
        )


def _relation(tag: str, head: str, *, before: bool) -> str:
    """Return the likely relation by tags and side."""
    fixed = {"DET": "det", "NUM": "nummod", "CCONJ": "cc", "PUNCT": "punct", "AUX": "aux", "PART": "mark"}
    if tag in fixed:
        return fixed[tag]
    if head in NOUNS:
        return {
            "ADJ": "amod",
            "ADP": "nmod",
            "SCONJ": "acl",
            "VERB": "acl",
            "AUX": "acl",
            "ADV": "advmod",
        }.get(tag, "compound" if before else "appos")
    if tag in NOUNS or tag == "PRON":
        return "nsubj" if before else "obj"
    return {"ADP": "obl", "SCONJ": "advcl", "ADV": "advmod"}.get(tag, "dep")


def begin_alike(lemma: str, other: str) -> bool:
    """Return whether two lemmas are the same or begin alike, as forms and derivations of a word do.

    >>> begin_alike("asia", "asian"), begin_alike("sep", "september"), begin_alike("port", "portion")
    (True, True, True)
    >>> begin_alike("far", "father")
    False
    """
    if lemma == other:
        return True
    short, long = sorted((lemma, other), key=len)
    if len(short) < _STEM:
        return len(short) == _STEM - 1 and len(long) > 2 * len(short) and long.startswith(short)
    return short[:_STEM] == long[:_STEM]


#: The modifiers of a word, in its sentence or in a growing tree.
Modifiers = Callable[[int], Iterable[int]]
#: By an article, by a demonstrative, by a possessive, by another determiner, or by none.
Definiteness = Literal["the", "this", "whose", "some", ""]

ARTICLES = frozenset({"the", "a", "an"})
_THIS = frozenset({"this", "that", "these", "those"})
#: Relations of function words and complements.
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


#: Words from no sentence; in a tree they have the numbers -2, -3 ...
MARKERS = (",", "while", "and")


@dataclass(frozen=True, slots=True)
class Revision:
    """A possible link: a unit for a place of the tree, and its head.

    Attributes:
        kind: kind of the change.
        top: the word that heads the unit.
        words: words of the unit, in order.
        anchor: the head of the unit in the tree; with `ROOT`, the unit is the head of the tree.
        at: the place in the order of the tree.
        markers: markers before the unit.
        gone: words of the tree, from the place on, that the unit replaces.
    """

    kind: ChangeKind
    top: int
    words: tuple[int, ...]
    anchor: int
    at: int
    markers: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RevisedTree:
    """Words in order, their heads, and the changes so far.

    Attributes:
        order: numbers of words in the bag, negative for markers.
        heads: heads of all words except markers, `ROOT` for the root.
        changes: the changes, in the order in which they were made.
        score: the sum of the weights of the links that were made.
    """

    order: tuple[int, ...]
    heads: dict[int, int]
    changes: tuple[FusionChange, ...] = ()
    score: float = 0.0

    @property
    def words(self) -> list[int]:
        """Return the words in order, without markers."""
        return [n for n in self.order if n >= 0]

    @property
    def root(self) -> int:
        """Return the root."""
        return next(n for n, head in self.heads.items() if head == ROOT)

    def modifiers(self, n: int) -> list[int]:
        """Return the modifiers of a word, in order."""
        return [m for m in self.words if self.heads[m] == n]

    def below(self, top: int) -> set[int]:
        """Return a word with all its descendants."""
        words = [top]
        for word in words:
            words += self.modifiers(word)
        return set(words)

    def revised(self, bag: WordBag, revision: Revision, weight: float) -> RevisedTree:
        """Return the tree with a further link."""
        inside, gone = set(revision.words), set(revision.gone)
        heads = {n: head for n, head in self.heads.items() if n not in gone}
        for n, head in heads.items():
            if head in gone or (head == ROOT and revision.anchor == ROOT):
                heads[n] = revision.top
        for n in revision.words:
            # A comma that comes with a phrase belongs to it; several phrases may have one head.
            outside = revision.anchor if bag.is_word(n) else revision.top
            heads[n] = bag.words[n].head if bag.words[n].head in inside else outside
        unit = (*revision.markers, *revision.words)
        order = (*self.order[: revision.at], *unit, *self.order[revision.at + len(gone) :])
        changes = (*self.changes, self._change(bag, revision))
        return replace(self, order=order, heads=heads, changes=changes, score=self.score + weight)

    def _change(self, bag: WordBag, revision: Revision) -> FusionChange:
        anchor = self.root if revision.anchor == ROOT else revision.anchor
        return FusionChange(
            revision.kind,
            bag.text(revision.words),
            bag.words[revision.top].sentence,
            tuple(bag.words[n].place for n in revision.words),
            bag.text(revision.gone or (anchor,)),
            " ".join(bag.form_of(n) for n in revision.markers),
        )


def markers(*forms: str) -> tuple[int, ...]:
    """Return the numbers of markers."""
    return tuple(-2 - MARKERS.index(form) for form in forms)
