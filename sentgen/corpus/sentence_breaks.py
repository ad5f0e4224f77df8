"""Where the sentences of a paragraph end, in any language.

`sentencex` tells sentences by their final punctuation, and knows the abbreviations of many languages; but it
ends none inside of quotes and brackets, so that a quote of a page is a sentence of a page, and an inch sign
or an apostrophe that looks like a quote joins all up to the next. So it gets the text without these signs:
what closes stays with the sentence before it, and what opens with the one that follows. References such as
`[12]`, which it knows, stay in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

import sentencex

#: Titles before names that sentencex takes for ends of sentences, and cannot be told, by language.
_TITLES = {"fr": re.compile(r"(?<![\w-])(?:MM?|Mmes?|Mlles?|Mgr|Drs?|Prs?|[Pp]rof|Ste?)\.\s*$")}
#: Characters in which such a title fits.
_TITLE = 10
#: The number of a heading, or of an item of a list.
_NUMBER = re.compile(r"\s*\d{1,3}\.\s*")

_BOTH = "'’‘`´\"＂“«‹»›"
_OPENING, _CLOSING = r"„‚‛‟(\[{<（《「『【", r"”)\]}>）》」』】"
#: References, which stay, or signs that do not; an apostrophe within a word is none.
_SIGNS = re.compile(rf"(?:\[\d{{1,3}}\])+|(['’‘`´](?!\w)|(?<!\w)['’‘`´]|[\"＂“«‹»›{_OPENING}{_CLOSING}])")
#: With one, *"no".* is no abbreviation.
_BEFORE_STOP = re.compile(r"[\"'”’»)](?=\.)")
#: Of the signs between two sentences, those of the first one: »so.« ends with what opens a quote elsewhere.
_CLOSES = re.compile(rf"(?:[{_CLOSING}'’\"＂]|[{_BOTH}](?!\w))*(?:\s+[»›{_CLOSING}]+(?=\s|\Z))?")
_BLANK, _WORD = re.compile(r"\s"), re.compile(r"\w")
#: Characters that the segmenter gets at once, as it takes quadratic time on some scripts; and those at their
#: end which it gets again, with what follows them.
_WINDOW, _AHEAD = 4_000, 400


def split_sentences(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield the stripped, non-empty sentences of a paragraph with their offsets.

    >>> list(split_sentences('He said: "It is so. I saw it." Then he left.', "en"))
    [(0, 'He said: "It is so.'), (20, 'I saw it."'), (31, 'Then he left.')]
    """
    begin = end = 0
    for further in _ends(text, language):
        # What has no letter and no digit is no sentence, and goes with the one before it.
        if end and _WORD.search(text, end, further) and not _goes_on(text, begin, end, language):
            yield from _stripped(text, begin, end)
            begin = end
        end = further
    yield from _stripped(text, begin, end)


def _goes_on(text: str, begin: int, end: int, language: str) -> bool:
    """Say whether what was found is a number or ends with a title, which is of what follows."""
    title = _TITLES.get(language)
    return _NUMBER.fullmatch(text, begin, end) is not None or (
        title is not None and title.search(text, max(begin, end - _TITLE), end) is not None
    )


def _stripped(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    if sentence := text[begin:end].strip():
        yield text.index(sentence, begin), sentence


def _ends(text: str, language: str) -> Iterator[int]:
    """Yield where sentences end, in linear time, whatever the text is."""
    begin, size = 0, _WINDOW
    while begin < len(text):
        window = text[begin : begin + size]
        ends = list(_ends_within(window, language))
        if begin + size < len(text):
            ends = [end for end in ends if end <= size - _AHEAD]
        yield from (begin + end for end in ends)
        if ends:
            begin, size = begin + ends[-1], _WINDOW
        else:
            size *= 2


def _ends_within(window: str, language: str) -> Iterator[int]:
    """Yield where sentences end; the last end is that of the window."""
    # Blanks of all kinds are one: some make sentencex panic, and a line feed may stand for any of them.
    plain = _BLANK.sub(" ", _BEFORE_STOP.sub("_", window))
    signs = [found.start() for found in _SIGNS.finditer(plain) if found[1]]
    bare = "".join(plain[left + 1 : right] for left, right in pairwise((-1, *signs, len(plain))))
    # How many characters of the bare text stand before each sign, to find the others in the window.
    before = [sign - number for number, sign in enumerate(signs)]
    at = 0
    for piece in sentencex.segment(language, bare):
        last = at + len(piece.rstrip()) - 1
        at += len(piece)
        if at == len(bare) or piece.isspace():
            continue
        after = last + bisect_right(before, last) + 1
        following = at + bisect_right(before, at)
        found = _CLOSES.match(window, after)
        assert found is not None
        # "Really?" he said.
        if found.end() == after or not window[following].islower():
            yield found.end()
    yield len(window)
