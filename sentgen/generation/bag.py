"""Bags of units: what a generator is given, free of the order it was written in.

A unit is a word or a base noun phrase that is kept whole; its head is its last word (Wan et al. 2007).
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sentgen.corpus.readers.lines import split_tokens
from sentgen.corpus.sentence import RESERVED, Sentence
from sentgen.errors import InputError
from sentgen.generation.tag_sets import STANDARD_TAGS

UnitKind = Literal["np", "word"]

#: What no word may have: control characters and lone surrogates (of arguments that are not UTF-8).
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
#: The last slash inside a word, unless a backslash says that it belongs there: what stands before and after.
_TAGGED = re.compile(r"(.*[^\\])/([^/]+)", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """Words that stay together; ``tags`` has one tag a word, or none at all."""

    words: tuple[str, ...]
    tags: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        """Return the word that stands for the unit: its last."""
        return self.words[-1]

    @property
    def head_tag(self) -> str | None:
        """Return the tag of the head."""
        return self.tags[-1] if self.tags else None

    def __str__(self) -> str:
        return " ".join(self.words) if len(self.words) == 1 else f"[{' '.join(self.words)}]"


def parse_bag(
    text: str,
    *,
    joiner: str = "",
    tagged: bool | None = None,
    tags: Container[str] = STANDARD_TAGS,
) -> list[Unit]:
    r"""Read one bag: words, `word/TAG`, and `[base noun phrases]`, separated by blanks.

    A bracket that is a word is written `\[` or `\]`, and a slash that parts no tag may be written `\/`.
    A line without words is a bag without units.

    Args:
        text: one line.
        joiner: a string that joins the words of a phrase, as `_` in `the_dow`; none if empty.
        tagged: whether words carry tags; if ``None``, they do where every word has one that is known.
        tags: the tags that are known.

    Raises:
        InputError: the brackets do not match or are empty, a word has no tag where all must, or something is
            no word.

    >>> [str(unit) for unit in parse_bag("down [the dow] was 35_points", joiner="_")]
    ['down', '[the dow]', 'was', '[35 points]']
    >>> parse_bag("[the/DT dow/NNP] fell/VBD")[0].tags
    ('DT', 'NNP')
    """
    check_readable(text)
    groups = [_joined(group, joiner) for group in _brackets(text)]
    if tagged is None:
        # All of them: in a text without tags, one word may look like one with a tag.
        tagged = all(_is_tagged(word, tags) for group in groups for word in group)
    units = [_unit(group, tagged) for group in groups]
    check_words(word for unit in units for word in unit.words)
    return units


def check_readable(text: str) -> None:
    """Refuse text with characters that no file format can hold.

    Raises:
        InputError: which character.
    """
    found = _UNREADABLE.search(text)
    if found:
        raise InputError(f"character U+{ord(found[0]):04X} in the text; remove it")


def check_words(words: Iterable[str]) -> None:
    """Refuse words that no sentence may have.

    Raises:
        InputError: a word is a symbol of the language models.
    """
    # <s> as a word would be looked up as the start of a sentence.
    symbol = next((word for word in words if word in RESERVED), None)
    if symbol is not None:
        raise InputError(
            f"{symbol} is a symbol of the language models, not a word; leave it out or rename it"
        )


def _brackets(text: str) -> list[list[str]]:
    """Split a line into words and bracketed phrases."""
    groups: list[list[str]] = []
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
            groups.append([word])
        elif word and phrase is not None:
            phrase.append(word)
        if closes:
            if not phrase:
                raise InputError(r"brackets without words; write the words as \[ and \], or leave them out")
            groups.append(phrase)
            phrase = None
    if phrase is not None:
        raise InputError(f"a bracket is never closed, after {' '.join(['[', *phrase])!r}; add a ]")
    return groups


def _joined(words: list[str], joiner: str) -> list[str]:
    """Split words at the joiner: one word becomes a phrase, a phrase stays one."""
    return [part for word in words for part in _parts(word, joiner)]


def _parts(word: str, joiner: str) -> list[str]:
    """Split a word at the joiner; one at an end, or beside another one, joins nothing and is part of it."""
    parts = word.split(joiner) if joiner else [word]
    return parts if all(parts) else [word]


def _is_tagged(word: str, tags: Container[str]) -> bool:
    found = _TAGGED.fullmatch(word)
    return found is not None and found[2] in tags


def _unit(words: list[str], tagged: bool) -> Unit:
    if not tagged:
        return Unit(tuple(map(_unescaped, words)))
    pairs = [(word, _TAGGED.fullmatch(word)) for word in words]
    found = [pair for _, pair in pairs if pair]
    if len(found) < len(pairs):
        bad = next(word for word, pair in pairs if not pair)
        raise InputError(f"{bad!r} has no tag; write it as word/TAG, or leave all tags out")
    return Unit(tuple(_unescaped(pair[1]) for pair in found), tuple(pair[2] for pair in found))


def _unescaped(word: str) -> str:
    return word.replace("\\/", "/")


def units_of(sentence: Sentence, kind: UnitKind = "np", *, tags: Sequence[str] | None = None) -> list[Unit]:
    """Return the units of a sentence in their order: its base noun phrases whole, or single words.

    Args:
        sentence: with ``nps`` if phrases are wanted; without, every word is a unit.
        kind: `np` or `word`.
        tags: the tags to give to the words; xpos, else upos, if ``None``.
    """
    tags = tags or sentence.xpos or sentence.upos
    numbers = sentence.nps if kind == "np" and sentence.nps else [0] * len(sentence.forms)
    units: list[Unit] = []
    previous = 0
    for i, (form, number) in enumerate(zip(sentence.forms, numbers, strict=True)):
        mine = (tags[i],) if tags else ()
        # Two phrases side by side have different numbers, so they stay two.
        if number and number == previous:
            units[-1] = Unit((*units[-1].words, form), (*units[-1].tags, *mine))
        else:
            units.append(Unit((form,), mine))
        previous = number
    return units


def broken_up(units: Sequence[Unit]) -> list[Unit]:
    """Return the words of all units as units of their own."""
    return [Unit((word,), unit.tags[i : i + 1]) for unit in units for i, word in enumerate(unit.words)]


def places_of(units: Iterable[Unit], bag: Iterable[Unit]) -> list[int]:
    """Return the place of each unit in a bag that has them all; equal ones take theirs in turn."""
    places: defaultdict[Unit, list[int]] = defaultdict(list)
    for place, unit in enumerate(bag):
        places[unit].append(place)
    return [places[unit].pop(0) for unit in units]


def shuffled(units: Sequence[Unit], seed: int) -> list[Unit]:
    """Return the units in an order that depends on the seed and on them, not on the order they came in.

    Sorting first makes identical units one and the same, so that no tie can leak the original order;
    seeding with the content makes the result independent of what else is in the batch.
    """
    canonical = sorted(units)
    # Not hash(): that of strings differs from process to process.
    content = zlib.crc32(repr([(unit.words, unit.tags) for unit in canonical]).encode())
    order = np.random.default_rng([seed, content]).permutation(len(canonical))
    return [canonical[place] for place in order]
