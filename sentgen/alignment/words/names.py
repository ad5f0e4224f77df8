"""Names: initials and the names that they abbreviate in two texts, and words that are written as names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import compress, islice
from typing import Final

from sentgen.alignment.pairs.alignment import Span
from sentgen.alignment.words.relations import letters
from sentgen.alignment.words.word_classes import FUNCTION_WORDS, STOPS

#: A name in lower case, word for word; a short form is one word without points.
Name = tuple[str, ...]

#: A line for each name that texts shorten without a definition.
_LISTED: Final = """
us,usa,united states,united states of america
uk,united kingdom,great britain,britain
un,united nations
eu,european union
ussr,soviet union
"""
#: Expected number of runs of words with some initials from which on such a run is no name.
_CHANCE: Final = 0.25
#: Most letters of initials; brackets with a name in them have fewer words than this.
_INITIALS: Final = 8
_LONGEST: Final = 12
#: Most occurrences of a name in the document; each is combined with each occurrence in the abstract.
_PLACES: Final = 100
_OPENING: Final = frozenset(("(", "[", "-lrb-", "-lsb-"))
_CLOSING: Final = frozenset((")", "]", "-rrb-", "-rsb-"))
_QUOTES: Final = frozenset("\"'`“‘«„‚") | {"``", "''", ":", ";", "...", "…", "--", "-", "–", "—", "•", "*"}


class FirstLetters:
    """The first letters of the words of a text, in which initials are searched."""

    def __init__(self, text: Sequence[str]) -> None:
        self._firsts = "".join(map(_first_letter, text))
        self._full = list(compress(range(len(text)), map(_is_full, text)))
        self._full_firsts = "".join(self._firsts[position] for position in self._full)

    def spelled_out(self, initials: str) -> list[tuple[int, ...]]:
        """Return the positions of sequences of words that begin with these initials.

        Function words may have an initial, or be skipped: *usa* has none for *of*.

        Args:
            initials: Two letters or more, in lower case.

        >>> FirstLetters("the union of the States of America".split()).spelled_out("usa")
        [(1, 4, 6)]
        """
        runs = [tuple(range(at, at + len(initials))) for at in _all_of(initials, self._firsts)]
        full = (tuple(self._full[at : at + len(initials)]) for at in _all_of(initials, self._full_firsts))
        return list(dict.fromkeys((*runs, *full)))


@lru_cache(maxsize=1 << 16)
def _first_letter(word: str) -> str:
    return letters(word)[:1] or " "


@lru_cache(maxsize=1 << 16)
def _is_full(word: str) -> bool:
    return word.lower() not in FUNCTION_WORDS


def _all_of(part: str, whole: str) -> Iterator[int]:
    at = whole.find(part)
    while at >= 0:
        yield at
        at = whole.find(part, at + 1)


def same_names(abstract: Sequence[str], document: Sequence[str]) -> list[tuple[Span, Span]]:
    """Return pairs of spans of abstract and document that are the same name in different forms.

    A short form abbreviates the name that a text gives in brackets, else the name of our list, else the only
    name with these initials in the texts. Where a text is all in one case, only brackets and our list count.

    >>> text = "International Business Machines ( IBM ) of the U.S. hires".split()
    >>> same_names("IBM , United States".split(), text)
    [((0, 1), (0, 3)), ((2, 4), (8, 9))]
    """
    texts = tuple(_Text(words) for words in (abstract, document))
    pairs = set[tuple[Span, Span]]()
    for group in _groups(texts):
        (left, right) = (text.spans(group) for text in texts)
        pairs.update(
            (span, other_span)
            for span, form in left.items()
            for other_span, other_form in islice(right.items(), _PLACES)
            if form != other_form
        )
    return sorted(pairs)


def _groups(texts: Sequence[_Text]) -> list[set[Name]]:
    known = defaultdict[str, set[Name]](set)
    for text in texts:
        for short, name in text.defined:
            known[short].add(_singular(name))
    groups = [{(short,), *names} for short, names in known.items()]
    lines = (line.split(",") for line in _LISTED.strip().splitlines())
    listed = [{_singular(tuple(name.split())) for name in line} for line in lines]
    groups += [group for group in listed if not any(len(name) == 1 and name[0] in known for name in group)]
    listed_shorts = {name[0] for group in listed for name in group if len(name) == 1}
    for short in dict.fromkeys(short for text in texts for short in text.shorts):
        if short not in known and short not in listed_shorts:
            names = texts[0].spelled_out(short)
            # A name that the abstract has in no form is not needed.
            if names or short in texts[0].shorts:
                names |= texts[1].spelled_out(short)
            names = set(map(_singular, names))
            if len(names) == 1:
                groups.append({(short,), *names})
    return groups


class _Text:
    """A text in which names are searched."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.lower = [word.lower() for word in words]
        self.cased = any(map(str.islower, words)) and self.lower != list(words)
        self._places = defaultdict[str, list[int]](list)
        for position, word in enumerate(self.lower):
            self._places[word].append(position)
        #: Positions of words that may be short forms, by short form.
        self.shorts = defaultdict[str, list[int]](list)
        shorts = {word: _plain(word) for word in set(words) if self._is_short(word)}
        for position, word in enumerate(words):
            if word in shorts:
                self.shorts[shorts[word]].append(position)
        self._firsts: FirstLetters | None = None
        self.defined = list(self._definitions())

    def _is_short(self, word: str) -> bool:
        """Return whether a word is written as initials are: *IBM*, *U.S.*, *GANs*."""
        # Most words are none, and are dismissed before their periods and plurals are removed.
        if self.cased and (word.islower() or (word.istitle() and "." not in word)):
            return False
        plain = _plain(word)
        if not 1 < len(plain) <= _INITIALS or not plain.isalpha():
            return False
        if self.cased:
            return sum(map(str.isupper, word)) >= 2 and word[0].isupper()
        return word.lower() not in FUNCTION_WORDS

    def spelled_out(self, short: str) -> set[Name]:
        """Return the names with these initials, in capitals, or in lower case where chance is unlikely."""
        if not self.cased:
            return set()
        if self._firsts is None:
            self._firsts = FirstLetters(self.words)
        # First letters are about as predictable as a draw from twelve letters.
        unlikely = len(self.words) / 12 ** len(short) < _CHANCE and len(short) > 2
        names = set()
        for places in self._firsts.spelled_out(short):
            words = self.words[places[0] : places[-1] + 1]
            full = [word for word in words if word.lower() not in FUNCTION_WORDS]
            ends = words[0], words[-1]
            named = all(map(_begins_as_a_name, full)) and all(map(_begins_as_a_name, ends))
            if named or (unlikely and len(full) == len(words) and all(map(str.islower, words))):
                names.add(tuple(map(str.lower, words)))
        return names

    def _definitions(self) -> Iterator[tuple[str, Name]]:
        """Yield short forms and names of which one follows the other in brackets."""
        for opening in (position for mark in _OPENING for position in self._places.get(mark, ())):
            near = range(opening + 2, min(opening + _LONGEST, len(self.lower)))
            closing = next((at for at in near if self.lower[at] in _CLOSING), 0)
            if not closing or not opening:
                continue
            behind = closing == opening + 2
            short = self.words[opening + 1 if behind else opening - 1]
            words = self._before(opening) if behind else self.lower[opening + 1 : closing]
            if not self._is_short(short):
                continue
            name = _name_of(_plain(short), words, strict=not self.cased)
            if name is not None and (behind or name == tuple(words)):
                yield _plain(short), name

    def _before(self, end: int) -> list[str]:
        """Return the words before an opening bracket that may be the name."""
        start = end
        while start > 0 and end - start < 2 * _INITIALS and self.lower[start - 1][:1].isalnum():
            start -= 1
        return self.lower[start:end]

    def spans(self, group: Collection[Name]) -> dict[Span, Name]:
        """Return the spans of the names of a group with their forms, without names inside a longer one."""
        stands = dict[Span, Name]()
        taken = set[int]()
        for name in sorted(group, key=lambda phrase: (-len(phrase), phrase)):
            if len(name) == 1 and name[0] in self.shorts:
                stands |= {(at, at + 1): (self.words[at],) for at in self.shorts[name[0]] if at not in taken}
                continue
            for at in self._places.get(name[0], ()):
                places = range(at, at + len(name))
                here = _singular(tuple(self.lower[at : places.stop]))
                if here == name and self._may_be(name, at) and taken.isdisjoint(places):
                    stands[at, places.stop] = name
                    taken.update(places)
        return stands

    def _may_be(self, name: Name, at: int) -> bool:
        """Return whether a word may be a short name: *us* and *it* are none."""
        if len(name) > 1:
            return True
        return name[0] not in FUNCTION_WORDS and (not self.cased or self.words[at][:1].isupper())


def _begins_as_a_name(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and not word.isupper()


def _singular(name: Name) -> Name:
    """Return a name without the *s* of its last word: *neural networks*."""
    last = name[-1]
    if len(name) < 2 or len(last) < 4 or not last.endswith("s") or last.endswith("ss"):
        return name
    return (*name[:-1], last[:-1])


def _plain(word: str) -> str:
    """Return a short form in lower case, without periods and the *s* of a plural."""
    bare = word[:-1] if word.endswith("s") and word[:-1].isupper() else word
    return letters(bare)


def _name_of(short: str, words: Sequence[str], *, strict: bool) -> Name | None:
    """Return the last words with the letters of a short form in order, the first at the beginning of a word.

    Schwartz and Hearst 2003, A simple algorithm for identifying abbreviation definitions in biomedical text.
    All is in lower case. If ``strict``, as case does not distinguish short forms, each letter must begin a
    word.
    """
    words = words[-min(len(short) + 5, 2 * len(short)) :]
    text = " ".join(words)
    at = len(text)
    for number, letter in enumerate(reversed(short), 1):
        begins = number == len(short) or strict
        at = text.rfind(letter, 0, at)
        while at > 0 and begins and text[at - 1].isalnum():
            at = text.rfind(letter, 0, at)
        if at < 0:
            return None
    start = text.rfind(" ", 0, at) + 1
    name = tuple(text[start:].split())
    return name if short not in map(letters, name) and len(text) - start > len(short) else None


def lower_words(*texts: Sequence[str]) -> frozenset[str]:
    """Return the words that texts have in lower case."""
    return frozenset(word for words in texts for word in set(words) if word.islower())


def name_like(words: Sequence[str], position: int, lower: Collection[str]) -> bool:
    """Return whether a word is written as a proper name: with a capital that has no other reason.

    A word that begins a sentence or a quote is a name if no text has it in lower case. A sentence all in
    capitals or all in lower case has no names.

    Args:
        words: the words of the text.
        position: the offset of the word.
        lower: the words that the texts have in lower case (``lower_words``).

    >>> words = "The firm hired Berlin engineers . Paris hired IBM".split()
    >>> [word for at, word in enumerate(words) if name_like(words, at, lower_words(words))]
    ['Berlin', 'Paris', 'IBM']
    """
    word = words[position]
    small = word.lower()
    if not lower or not word[:1].isupper() or small in FUNCTION_WORDS - {"us", "it"}:
        return False
    if word.isupper() and len(word) > 1:
        # *THE INTRODUCTION* is a title in capitals, *US* is not.
        return len(word) < 6 or small not in lower
    before = words[position - 1] if position else "."
    if before in STOPS or before in _QUOTES:
        return small not in lower
    return small != "i" and small not in FUNCTION_WORDS
