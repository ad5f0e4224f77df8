"""Tokenises sentences of any language, at Unicode's word boundaries and by rules for some languages.

Boundaries are those of Unicode Standard Annex 29, from the library `regex`. In addition, words with hyphens
and addresses stay whole, dots or hyphens in a row are one token, and an elided word (*l'* in *l'homme*) is a
token, with any sign as the apostrophe. In scripts without blanks between words (Chinese, Japanese, Thai), a
character is a token: to find words needs a dictionary or a parser.
"""

from __future__ import annotations

from functools import cache

import regex

from sentgen.corpus.tokenizer import as_written, straighten_apostrophes

_BOUNDARY = regex.compile(r"(?V1)(?w)\b")
_ADDRESS = regex.compile(
    r"(?:[a-z][a-z0-9+.\-]*://|www\.)\S*[^\s\p{P}]/?|[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+", regex.IGNORECASE
)
_HYPHENS = frozenset("-\u2010\u2011")
_IN_ROWS = _HYPHENS | {"."}
_LETTERS = regex.compile(r"[\p{L}\p{M}\p{N}']+")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
#: Words that are elided before another word, by language; the apostrophe belongs to the elided word.
_ELIDED = {
    "fr": r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)",
    "it": r"(?:[cdlmnstv]|[dns]ell|[dcs]?all|[dns]?ull|un|quell|quest|bell|sant|tutt|anch|dov|com|cos)",
    "ca": r"(?:[dlmnst])",
    "oc": r"(?:[dlmnstcj]|qu)",
    "pt": r"(?:d)",
    "ga": r"(?:[dbm])",
}


def split_words(sentence: str, language: str) -> list[str]:
    """Return the words of a sentence; ``language`` (ISO 639) determines which of them are elided.

    >>> split_words("L'homme, dit-il aujourd'hui... https://x.org/a?b=1", "fr")
    ["L'", 'homme', ',', 'dit-il', "aujourd'hui", '...', 'https://x.org/a?b=1']
    >>> split_words("我喜欢狗。", "zh")
    ['我', '喜', '欢', '狗', '。']
    """
    elided = _elision_pattern(language)
    words: list[str] = []
    straight = straighten_apostrophes(sentence)
    for chunk in straight.split():
        end = 0
        for address in _ADDRESS.finditer(chunk):
            words += _words(chunk[end : address.start()], elided)
            words.append(address[0])
            end = address.end()
        words += _words(chunk[end:], elided)
    return words if straight == sentence else as_written(words, sentence)


def _words(chunk: str, elided: regex.Pattern[str] | None) -> list[str]:
    """Return the words of a text without blanks."""
    words: list[str] = []
    joins = False
    for part in _BOUNDARY.split(chunk):
        if not part:
            continue
        before = words[-1] if words else ""
        if joins and _joins(part):
            words[-1] += part
        elif part in _HYPHENS and _joins(before):
            # Part of the word if another letter follows; else it is split off below.
            words[-1] += part
            joins = True
            continue
        elif part in _IN_ROWS and before and not before.strip(part):
            words[-1] += part
        else:
            words.append(part)
        joins = False
    split: list[str] = []
    for word in words:
        if len(word) > 1 and word[-1] in _HYPHENS and _joins(word[:-1].rstrip("-\u2010\u2011")):
            bare = word.rstrip("-\u2010\u2011")
            split += [bare, word[len(bare) :]]
        elif elided and (match := elided.match(word)):
            split += [word[: match.end()], word[match.end() :]]
        else:
            split.append(word)
    return split


def _joins(text: str) -> bool:
    """Return whether a hyphen next to this text is inside a word."""
    return bool(text) and bool(_LETTERS.fullmatch(text.replace("-", ""))) and not _UNSPACED.search(text)


@cache
def _elision_pattern(language: str) -> regex.Pattern[str] | None:
    words = _ELIDED.get(language)
    return regex.compile(rf"{words}'(?=\p{{L}})", regex.IGNORECASE) if words else None
