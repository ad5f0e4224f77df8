"""Bags of units: what a generator is given, free of the order it was written in.

A unit is a word or a phrase that is kept whole; in trees it is represented by its head: its last word, as in
Wan et al. 2007, unless another one is given.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Literal

import numpy as np

from sentgen.corpus.readers.lines import split_tokens
from sentgen.corpus.sentence import RESERVED, UNIVERSAL_TAGS, Sentence
from sentgen.errors import InputError
from sentgen.models.base.registry import ModelInfo
from sentgen.models.dependency.tagging import corpora_of, known_tags
from sentgen.schema import Store

#: Tags of the Penn Treebank, with both spellings of brackets, and what later English treebanks added.
_PENN = """\
    CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN
    VBP VBZ WDT WP WP$ WRB # $ `` '' , . : ( ) -LRB- -RRB- ADD AFX GW HYPH NFP XX"""
#: A slash separates a tag from a word only before one of these and the tags of the treebanks of a search, so
#: that `and/or` and `1/2` stay words. Of the 334 forms with a slash in EWT, GUM, LinES, ParTUT and ATIS, none
#: ends in a slash and a tag of the standard sets.
STANDARD_TAGS = UNIVERSAL_TAGS.union(_PENN.split())


class KnownTags:
    """The standard tags, and those in the dependency counts of some treebanks, which are looked up if needed.

    Args:
        treebanks: ids of the corpora; those of the model if ``None``.
    """

    def __init__(self, store: Store, model: ModelInfo, treebanks: Sequence[int] | None = None) -> None:
        self._store, self._model, self._treebanks = store, model, treebanks

    def __contains__(self, tag: object) -> bool:
        return tag in STANDARD_TAGS or tag in self._counted

    @cached_property
    def _counted(self) -> set[str]:
        chosen = self._treebanks
        corpora = [number for number, _ in corpora_of(self._store, self._model)] if chosen is None else chosen
        return known_tags(self._store, corpora, "word")


UnitKind = Literal["np", "word"]

#: Characters that no word may have: control characters and lone surrogates (of arguments that are not UTF-8).
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
#: Word and tag around the last slash inside a word, unless a backslash escapes it.
_TAGGED = re.compile(r"(.*[^\\])/([^/]+)", re.DOTALL)
#: A star behind a word of a phrase, unless a backslash escapes it.
_STARRED = re.compile(r"(.*[^\\])\*", re.DOTALL)
_ESCAPED = re.compile(r"\\([/*])")


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """Words that stay together; ``tags`` has one tag a word, or none at all.

    ``head_place`` is the position of the head, counted from the end: -1 the last word, -2 the one before it;
    0 if it is not given, which counts as the last.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] = ()
    head_place: int = 0

    @property
    def from_end(self) -> int:
        """Return the position of the head, counted from the end, given or not."""
        return self.head_place or -1

    @property
    def head(self) -> str:
        """Return the head, the word that represents the unit."""
        return self.words[self.from_end]

    @property
    def head_tag(self) -> str | None:
        """Return the tag of the head."""
        return self.tags[self.from_end] if self.tags else None

    @property
    def headless(self) -> bool:
        """Return whether the unit is a phrase without a given head."""
        return len(self.words) > 1 and not self.head_place

    def __str__(self) -> str:
        """Return the words of the unit as `parse_bag` reads them."""
        words = [word.replace("[", "\\[").replace("]", "\\]") for word in self.words]
        if len(words) == 1:
            return words[0]
        words = [f"{word[:-1]}\\*" if _STARRED.fullmatch(word) else word for word in words]
        if self.head_place:
            words[self.head_place] += "*"
        return f"[{' '.join(words)}]"


def parse_bag(
    text: str,
    *,
    joiner: str = "",
    tagged: bool | None = None,
    tags: Container[str] = STANDARD_TAGS,
) -> list[Unit]:
    r"""Read one bag: words, `word/TAG`, and `[phrases]`, separated by blanks.

    A star behind a word of a phrase, or behind its tag, marks the head: `[people* left behind]`. A bracket
    that is a word is written `\[` or `\]`, a star that ends a word of a phrase `\*`, and a slash that does
    not separate a tag may be written `\/`. A line without words is a bag without units.

    Args:
        text: one line.
        joiner: a string that joins the words of a phrase, as `_` in `the_dow`; none if empty.
        tagged: whether words have tags; if ``None``, they have if each word has a known tag.
        tags: the known tags.

    Raises:
        InputError: the brackets do not match or are empty, a phrase has two heads, a word lacks a tag, or is
            no valid word.

    >>> [str(unit) for unit in parse_bag("down [the dow] was 35_points", joiner="_")]
    ['down', '[the dow]', 'was', '[35 points]']
    >>> parse_bag("[the/DT dow/NNP] fell/VBD")[0].tags
    ('DT', 'NNP')
    >>> parse_bag("[people* left behind] had")[0].head
    'people'
    """
    check_readable(text)
    groups = [_joined(group, joiner) for group in _brackets(text)]
    if tagged is None:
        # All words: in a text without tags, a word may look like a word with a tag.
        matches = (_TAGGED.fullmatch(word) for group in groups for word in group.words)
        tagged = all(match is not None and match[2] in tags for match in matches)
    units = [_unit(group, tagged) for group in groups]
    check_words(word for unit in units for word in unit.words)
    return units


def check_readable(text: str) -> None:
    """Refuse text with characters that no file format can hold.

    Raises:
        InputError: the text has such a character.
    """
    match = _UNREADABLE.search(text)
    if match:
        raise InputError(f"character U+{ord(match[0]):04X} in the text; remove it")


def check_words(words: Iterable[str]) -> None:
    """Refuse words that are symbols of the language models.

    Raises:
        InputError: a word is a symbol of the language models.
    """
    # <s> as a word would be looked up as the start of a sentence.
    symbol = next((word for word in words if word in RESERVED), None)
    if symbol is not None:
        raise InputError(
            f"{symbol} is a symbol of the language models, not a word; leave it out or rename it"
        )


@dataclass(frozen=True, slots=True)
class _Group:
    """The words of a unit as they are written, without brackets; ``marked`` are positions with a star."""

    words: list[str]
    phrase: bool
    marked: tuple[int, ...] = ()


def _brackets(text: str) -> list[_Group]:
    """Split a line into words and bracketed phrases."""
    groups: list[_Group] = []
    phrase: list[str] | None = None
    for token in split_tokens(text):
        opens = token.startswith("[")
        closes = token.endswith("]") and not token.endswith("\\]")
        word = token[opens : len(token) - closes].replace("\\[", "[").replace("\\]", "]")
        if opens:
            if phrase is not None:
                raise InputError(
                    f"a bracket opens inside a bracket, at {token!r}; write a bracket word as \\["
                )
            phrase = []
        if closes and phrase is None:
            raise InputError(f"a bracket closes that never opened, at {token!r}; write a bracket word as \\]")
        if word and phrase is None:
            groups.append(_Group([word], phrase=False))
        elif word and phrase is not None:
            phrase.append(word)
        if closes:
            if not phrase:
                raise InputError(r"brackets without words; write the words as \[ and \], or leave them out")
            groups.append(_Group(phrase, phrase=True))
            phrase = None
    if phrase is not None:
        raise InputError(f"a bracket is never closed, after {' '.join(['[', *phrase])!r}; add a ]")
    return groups


def _joined(group: _Group, joiner: str) -> _Group:
    """Split words at the joiner, so that a word becomes a phrase; remove the stars of a phrase."""
    words = [part for word in group.words for part in _parts(word, joiner)]
    if not group.phrase and len(words) == 1:
        return group
    # Stars are removed before tags are read: `NN*` is no tag.
    stars = [_STARRED.fullmatch(word) for word in words]
    plain = [star[1] if star else word for star, word in zip(stars, words, strict=True)]
    return _Group(plain, True, tuple(position for position, star in enumerate(stars) if star))


def _parts(word: str, joiner: str) -> list[str]:
    """Split a word at the joiner; a joiner at an end, or next to another joiner, is part of the word."""
    parts = word.split(joiner) if joiner else [word]
    return parts if all(parts) else [word]


def _unit(group: _Group, tagged: bool) -> Unit:
    if not tagged:
        return _headed(group.words, (), group.marked)
    pairs = [(word, _TAGGED.fullmatch(word)) for word in group.words]
    matched = [pair for _, pair in pairs if pair]
    if len(matched) < len(pairs):
        bad = next(word for word, pair in pairs if not pair)
        raise InputError(f"{bad!r} has no tag; write it as word/TAG, or leave all tags out")
    words, tags = [pair[1] for pair in matched], tuple(pair[2] for pair in matched)
    # A star may also precede the tag.
    stars = [_STARRED.fullmatch(word) if group.phrase else None for word in words]
    marked = {*group.marked, *(position for position, star in enumerate(stars) if star)}
    return _headed(
        [star[1] if star else word for star, word in zip(stars, words, strict=True)], tags, sorted(marked)
    )


def _headed(words: Sequence[str], tags: tuple[str, ...], marked: Sequence[int]) -> Unit:
    """Return a unit whose head is marked at most once."""
    unit = Unit(tuple(_ESCAPED.sub(r"\1", word) for word in words), tags)
    if len(marked) > 1:
        first, second = (unit.words[position] for position in marked[:2])
        raise InputError(
            f"two heads in a phrase, {first!r} and {second!r}; mark one, and write a star that ends a word"
            r" as \*"
        )
    # A single word is its own head.
    return replace(unit, head_place=marked[0] - len(words)) if marked and len(words) > 1 else unit


def units_of(
    sentence: Sentence,
    kind: UnitKind = "np",
    *,
    tags: Sequence[str] | None = None,
    heads: Sequence[int] | None = None,
) -> list[Unit]:
    """Return the units of a sentence in their order: its base noun phrases whole, or single words.

    Args:
        sentence: the sentence, with ``nps`` if phrases are wanted; without, every word is a unit.
        kind: `np` or `word`.
        tags: the tags to give to the words; xpos, else upos, if ``None``.
        heads: heads of the words in a tree; the head of a phrase is its last word with a head outside of it;
            ``None`` without a tree.
    """
    tags = tags or sentence.xpos or sentence.upos
    numbers = sentence.nps if kind == "np" and sentence.nps else [0] * len(sentence.forms)
    units: list[Unit] = []
    # Two phrases side by side have different numbers, so they stay two.
    places = groupby(range(len(numbers)), key=lambda i: numbers[i] or -1 - i)
    for span in (list(places) for _, places in places):
        words = tuple(sentence.forms[i] for i in span)
        mine = tuple(tags[i] for i in span) if tags else ()
        tops = [i for i in span if heads and heads[i] - 1 not in span]
        units.append(Unit(words, mine, tops[-1] - span[-1] - 1 if tops and len(span) > 1 else 0))
    return units


def broken_up(units: Sequence[Unit]) -> list[Unit]:
    """Return the words of all units as units of their own."""
    return [Unit((word,), unit.tags[i : i + 1]) for unit in units for i, word in enumerate(unit.words)]


def places_of(units: Iterable[Unit], bag: Iterable[Unit]) -> list[int]:
    """Return the position of each unit in a bag that has them all; equal units get different positions."""
    places: defaultdict[Unit, list[int]] = defaultdict(list)
    for position, unit in enumerate(bag):
        places[unit].append(position)
    return [places[unit].pop(0) for unit in units]


def shuffled(units: Sequence[Unit], seed: int) -> list[Unit]:
    """Return the units in an order that depends on the seed and on them, not on the order they came in.

    Sorting first makes identical units interchangeable, so that no tie can leak the original order; seeding
    with the content makes the result independent of other bags in the batch.
    """
    canonical = sorted(units)
    # Not hash(): the hash of a string differs between processes.
    content = zlib.crc32(repr([(unit.words, unit.tags) for unit in canonical]).encode())
    order = np.random.default_rng([seed, content]).permutation(len(canonical))
    return [canonical[number] for number in order]
