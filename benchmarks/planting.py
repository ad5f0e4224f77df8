"""Summaries of copied sentences with one planted change each, for `planted_changes.py`.

A word gives way to another of its kind, taken from another sentence of the same document (where it stands, too)
or from another document (it does not stand in this one); *not* is put in or taken out; or the subject and the
object of a verb change places. Synonyms, words one step apart in WordNet and words of one stem are left out, and
counted. The same seed, text and kind plant the same change, whatever else is planted.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planted_texts import Text, column

from sentgen.alignment.pairs.alignment import Pair
from sentgen.alignment.words.relations import same_word
from sentgen.alignment.words.word_classes import is_function_word, stem
from sentgen.alignment.words.wordnet import meanings, senses
from sentgen.corpus.sentence import Sentence

KINDS = ("number", "name", "date", "noun", "verb", "adjective", "polarity", "swapped")
#: Whether a word that is put in comes from the same document, or from another one.
SAME, ANOTHER = "same", "another"
PUT_IN, TAKEN_OUT = "put in", "taken out"
#: What else there is.
ORIGINS = {"polarity": (PUT_IN, TAKEN_OUT), "swapped": ("",)}
#: Sentences of a summary that have a change; one more has none.
CHANGED = 3
#: How long a sentence may be that is copied.
SHORTEST, LONGEST = 7, 45
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_MONTHS = "January February March April May June July August September October November December"
_SHORT = "Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sept. Oct. Nov. Dec."
CALENDAR = {"day": _DAYS.split(), "month": _MONTHS.split(), "short month": _SHORT.split()}
_DATES = {word.rstrip("."): tag for tag, words in CALENDAR.items() for word in words}
_DIGITS = re.compile(r"[1-9]\d*(?:\.\d+)?|[1-9]\d{0,2}(?:,\d{3})+|0\.\d+")
_NUMBERS = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
_IN_WORDS = {same_word(word): word for word in _NUMBERS.split()}
_OPEN = {"NOUN": "noun", "VERB": "verb", "ADJ": "adjective"}
_FINITE = {"MD", "VBD", "VBP", "VBZ"}
_NEGATIONS = {"not", "n't", "n’t", "no", "never", "nobody", "nothing", "none", "neither", "nor", "cannot"}
#: What is left of these without *n't* is no word.
_BOUND = {"ca", "wo", "sha", "ai"}


@dataclass(frozen=True)
class Word:
    """A word of a summary.

    ``source`` is the offset in its document sentence of the word that it is a copy of. ``mark`` is ``put`` for
    those of the change, ``near`` for words that may be told for it but need not, ``reworded`` for other ones
    that are not copies, and empty for untouched ones.
    """

    form: str
    source: int | None
    mark: str = ""


@dataclass(frozen=True)
class Planted:
    """A sentence of a summary: that of the document, from 0, with a change, or none (``kind`` is ``verbatim``)."""

    kind: str
    origin: str
    sentence: int
    words: tuple[Word, ...]
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Summary:
    """Sentences of a summary of a document, in the order of the document."""

    text: Text
    sentences: tuple[Planted, ...]

    def pair(self, key: str) -> Pair:
        """Return the document and the summary for an aligner."""
        sentences = [Sentence([word.form for word in one.words]) for one in self.sentences]
        return Pair.of_sentences(key, self.text.sentences, sentences)


@dataclass(frozen=True)
class Slot:
    """Words of a sentence that others of the same ``tag`` can replace."""

    kind: str
    tag: str
    start: int
    words: tuple[str, ...]
    lemmas: tuple[str, ...]
    proper: bool = False


def slots(sentence: Sentence) -> list[Slot]:
    """Return what can be replaced in a sentence; a name is a run of proper nouns."""
    found, upos = list[Slot](), column(sentence.upos)
    place = 0
    while place < len(upos):
        end = place + 1
        kind, tag = _kind(sentence, place)
        while kind == "name" and end < len(upos) and _kind(sentence, end)[0] == "name":
            tag, end = _kind(sentence, end)[1], end + 1
        if kind:
            lemmas = tuple(lemma.lower() for lemma in column(sentence.lemmas)[place:end])
            words = tuple(sentence.forms[place:end])
            found.append(Slot(kind, tag, place, words, lemmas, upos[place] == "PROPN"))
        place = end
    return found


def _kind(sentence: Sentence, place: int) -> tuple[str, str]:
    """Return the kind of a word and what a replacement has to have in common with it; empty if none is made."""
    form, part, tag = sentence.forms[place], column(sentence.upos)[place], column(sentence.xpos)[place]
    before, after = ("", *sentence.forms)[place], (*sentence.forms, "")[place + 1]
    if before == "<":  # SumPubMed has <dig> and <cit> for numbers and references
        return "", ""
    if part == "PROPN":
        if form.rstrip(".") in _DATES:
            return "date", _DATES[form.rstrip(".")]
        return ("name", tag) if form[0].isupper() and form.isalpha() and len(form) > 1 else ("", "")
    if part == "NUM":
        if form.isdigit() and len(form) == 4 and "1700" <= form < "2100":
            return "date", "year"
        # Codes, references in brackets and numbers of items are no numbers of anything.
        label = before == "[" or after == "]" or (before in ("", "(") and after in (")", ".", "-"))
        counts = _DIGITS.fullmatch(form) or form.lower() in _NUMBERS.split()
        return ("number", "") if counts and not label else ("", "")
    if part in _OPEN and form.isalpha() and len(form) > 2 and not is_function_word(form):
        return _OPEN[part], "ordinal" if same_word(form)[0].isdigit() else tag
    return "", ""


class Planter:
    """Plants changes in the sentences of texts, of which each is another document for the others."""

    def __init__(self, texts: Sequence[Text], *, wordnet: Path | None, seed: int = 1) -> None:
        self.texts, self.wordnet, self.seed = texts, wordnet, seed
        self.slots = [[slots(sentence) for sentence in text.sentences] for text in texts]
        self.known = [_known(text.sentences) for text in texts]
        #: How many words were drawn to replace others, by kind and what was said of them.
        self.drawn = Counter[tuple[str, str]]()

    def summaries(self, number: int, kinds: Sequence[str] = KINDS) -> list[Summary]:
        """Return summaries of a text: together, they have one change of each kind and origin that there can be."""
        text = self.texts[number]
        changes = [
            change
            for kind in kinds
            for origin in ORIGINS.get(kind, (SAME, ANOTHER))
            if (change := self._planted(number, kind, origin))
        ]
        rng = self._rng(number, "summaries")
        rng.shuffle(changes)
        groups = list[list[Planted]]()
        for change in changes:
            free = (
                group
                for group in groups
                if len(group) < CHANGED and all(change.sentence != one.sentence for one in group)
            )
            group = next(free, None)
            if group is None:
                groups.append(group := [])
            group.append(change)
        for group in groups:
            taken = {one.sentence for one in group}
            free_sentences = [place for place in self._usable(number) if place not in taken]
            if free_sentences:
                group.append(verbatim(text, rng.choice(free_sentences)))
        return [Summary(text, tuple(sorted(group, key=lambda one: one.sentence))) for group in groups]

    def _rng(self, number: int, what: str) -> random.Random:
        return random.Random(f"{self.seed} {self.texts[number].key} {what}")

    def _usable(self, number: int) -> list[int]:
        sentences = self.texts[number].sentences
        return [place for place, one in enumerate(sentences) if SHORTEST <= len(one.forms) <= LONGEST]

    def _planted(self, number: int, kind: str, origin: str) -> Planted | None:
        """Return a change of a kind in some sentence of a text, ``None`` if it has no place for one."""
        rng = self._rng(number, f"{kind} {origin}")
        places = self._usable(number)
        rng.shuffle(places)
        for place in places:
            sentence = self.texts[number].sentences[place]
            if kind == "polarity":
                change = put_in(sentence, place, rng) if origin == PUT_IN else taken_out(sentence, place)
            elif kind == "swapped":
                change = swapped(sentence, place)
            else:
                change = self._replaced(number, place, kind, origin, rng)
            if change:
                return change
        return None

    def _replaced(
        self, number: int, place: int, kind: str, origin: str, rng: random.Random
    ) -> Planted | None:
        sentence = self.texts[number].sentences[place]
        own = [slot for slot in self.slots[number][place] if slot.kind == kind]
        rng.shuffle(own)
        for slot in own:
            others = self._others(number, place, slot, origin)
            rng.shuffle(others)
            for other in others:
                if self._fits(number, sentence, slot, other, origin):
                    return _exchanged(sentence, place, slot, other, origin, rng)
        return None

    def _others(self, number: int, place: int, slot: Slot, origin: str) -> list[Slot]:
        """Return what stands elsewhere with the same tag; dates that stand nowhere are those of the calendar."""
        if origin == SAME:
            sentences = [one for at, one in enumerate(self.slots[number]) if at != place]
        elif slot.tag == "year":
            years = (str(int(slot.words[0]) + more) for more in range(-40, 41) if more)
            return [replace(slot, words=(year,), lemmas=(year,)) for year in years]
        elif slot.tag in CALENDAR:
            return [replace(slot, words=(word,), lemmas=(word.lower(),)) for word in CALENDAR[slot.tag]]
        else:
            sentences = [one for at, text in enumerate(self.slots) if at != number for one in text]
        same = (slot.kind, slot.tag)
        return [one for sentence in sentences for one in sentence if (one.kind, one.tag) == same]

    def _fits(self, number: int, sentence: Sentence, slot: Slot, other: Slot, origin: str) -> bool:
        """Say whether one may replace the other, and note why not."""
        absent_from = self.known[number] if origin == ANOTHER else _known([sentence])
        if any(word in absent_from for word in _names(other)):
            return False
        before = sentence.forms[slot.start - 1].lower() if slot.start else ""
        if before in ("a", "an") and (other.words[0][0].lower() in "aeiou") != (before == "an"):
            return False
        why = self._akin(slot, other)
        self.drawn[slot.kind, why or "taken"] += 1
        return not why

    def _akin(self, slot: Slot, other: Slot) -> str:
        """Say why two words are no contradiction; empty if they are one."""
        if slot.kind in ("number", "date"):
            return ""
        for word in (*slot.words, *slot.lemmas):
            for akin in (*other.words, *other.lemmas):
                if stem(word) == stem(akin) or same_word(word) == same_word(akin):
                    return "same lemma"
                if slot.kind != "name" and self._synonyms(word, akin):
                    return "synonym"
        if slot.kind == "name" and _initials(slot, other):
            return "initials"
        return ""

    def _synonyms(self, word: str, other: str) -> bool:
        if meanings(word) & meanings(other):
            return True
        if self.wordnet is None:
            return False
        own, near = senses(self.wordnet, word)
        others, others_near = senses(self.wordnet, other)
        return bool(own & others or own & others_near or near & others)


def _known(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Return the words of sentences as `_names` has them."""
    return frozenset(
        name
        for sentence in sentences
        for words in (sentence.forms, sentence.lemmas or ())
        for word in words
        for name in (word.lower(), stem(word), same_word(word))
    )


def _names(slot: Slot) -> Iterator[str]:
    """Yield the words of a slot in all spellings, and their stems."""
    for word in (*slot.words, *slot.lemmas):
        yield from filter(None, (word.lower(), stem(word), same_word(word)))


def _initials(slot: Slot, other: Slot) -> bool:
    return any(
        len(one.words) > 1
        and "".join(word[0] for word in one.words).lower() in (w.lower() for w in two.words)
        for one, two in ((slot, other), (other, slot))
    )


def copies(sentence: Sentence) -> list[Word]:
    """Return the words of a sentence, untouched."""
    return [Word(form, place) for place, form in enumerate(sentence.forms)]


def verbatim(text: Text, place: int) -> Planted:
    """Return a sentence of a text as it stands there."""
    return Planted("verbatim", "", place, tuple(copies(text.sentences[place])))


def _exchanged(
    sentence: Sentence, place: int, slot: Slot, other: Slot, origin: str, rng: random.Random
) -> Planted:
    """Put the words of one slot in the place of another; numbers in letters, or in digits, now and then."""
    words = list(other.words)
    if slot.kind == "number" and rng.random() < 0.3:
        value = same_word(words[0])
        words[0] = _IN_WORDS.get(value, words[0]) if words[0][0].isdigit() else value
    if not other.proper and words[0].istitle():
        words[0] = words[0].lower()
    if slot.start == 0 and not slot.proper:
        words[0] = words[0][:1].upper() + words[0][1:]
    made = copies(sentence)
    made[slot.start : slot.start + len(slot.words)] = [Word(word, None, "put") for word in words]
    return Planted(slot.kind, origin, place, tuple(made), " ".join(slot.words), " ".join(words))


def put_in(sentence: Sentence, place: int, rng: random.Random) -> Planted | None:
    """Put *not* behind a finite auxiliary of a sentence without negation."""
    if _NEGATIONS & {form.lower() for form in sentence.forms}:
        return None
    found = [at for at in range(len(sentence.forms) - 1) if _takes_not(sentence, at)]
    if not found:
        return None
    at = rng.choice(found)
    made = copies(sentence)
    # What is denied may be told instead of the word that denies it.
    for near in (at, column(sentence.heads)[at] - 1):
        made[near] = replace(made[near], mark="near")
    made.insert(at + 1, Word("not", None, "put"))
    return Planted("polarity", PUT_IN, place, tuple(made), "", "not")


def _takes_not(sentence: Sentence, at: int) -> bool:
    """Say whether a word is a finite auxiliary before what it belongs to, and no question."""
    heads, deprels = column(sentence.heads), column(sentence.deprels)
    if column(sentence.upos)[at] != "AUX" or column(sentence.xpos)[at] not in _FINITE:
        return False
    subjects = [
        one for one, head in enumerate(heads) if head == heads[at] and deprels[one].startswith("nsubj")
    ]
    return at < heads[at] - 1 and any(one < at for one in subjects) and sentence.forms[at + 1] != "?"


def taken_out(sentence: Sentence, place: int) -> Planted | None:
    """Take a *not* out; it is told by the word before the gap, the one after it, or the next content word."""
    for at, form in enumerate(sentence.forms):
        if form.lower() not in ("not", "n't", "n’t") or not 0 < at < len(sentence.forms) - 1:
            continue
        if sentence.forms[at - 1].lower() in _BOUND or sentence.forms[at + 1].lower() == "only":
            continue
        made = copies(sentence)
        content = next((one for one in made[at + 1 :] if not is_function_word(one.form)), made[at + 1])
        for one in (made[at - 1], made[at + 1], content):
            made[one.source or 0] = replace(one, mark="put")
        del made[at]
        return Planted("polarity", TAKEN_OUT, place, tuple(made), form, "")
    return None


def swapped(sentence: Sentence, place: int) -> Planted | None:
    """Exchange the heads of the subject and the object of a verb, both of them nouns."""
    heads, deprels = column(sentence.heads), column(sentence.deprels)
    upos, lemmas = column(sentence.upos), column(sentence.lemmas)
    nouns = [at for at, tag in enumerate(upos) if tag in ("NOUN", "PROPN")]
    for subject in nouns:
        for thing in nouns:
            if (deprels[subject], deprels[thing]) != ("nsubj", "obj") or heads[subject] != heads[thing]:
                continue
            if lemmas[subject].lower() == lemmas[thing].lower() or upos[heads[thing] - 1] != "VERB":
                continue
            made = copies(sentence)
            made[heads[thing] - 1] = replace(made[heads[thing] - 1], mark="near")
            for at, other in ((subject, thing), (thing, subject)):
                made[at] = Word(_cased(sentence, at, other), None, "put")
            return Planted("swapped", "", place, tuple(made), sentence.forms[subject], sentence.forms[thing])
    return None


def _cased(sentence: Sentence, at: int, other: int) -> str:
    """Return a word as it is written in the place of another."""
    form = sentence.forms[other]
    if other == 0 and column(sentence.upos)[other] != "PROPN" and form.istitle():
        form = form.lower()
    return form[:1].upper() + form[1:] if at == 0 else form
