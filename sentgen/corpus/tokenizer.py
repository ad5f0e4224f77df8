"""Tokenises English sentences as the Penn Treebank does.

The rules are those of NLTK's ``NLTKWordTokenizer`` (Loper, Tan, Aarsen; Apache-2.0), which go back to Robert
MacIntyre's script for the Treebank: each rule puts blanks at ends of words, and the sentence is split at
blanks in the end. Unlike NLTK's, the rules leave all signs as they were written, treat curly quotes and
apostrophes as straight ones, and keep the apostrophe of *'tis*, *'em*, *'90s* and *'n'*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

#: An apostrophe after a letter (also with a combining accent) or digit and before a letter: curly, a modifier
#: letter, full width, a prime, or typed as an accent.
_WITHIN: Final = re.compile("(?<=[\\w\u0300-\u036f])[‘’‛＇ʼʻ`´′ʹ՚](?=[^\\W\\d_])")


def straighten_apostrophes(text: str) -> str:
    """Return a text of the same length with straight apostrophes within words.

    >>> straighten_apostrophes("l’été, don`t, ‘so’")
    "l'été, don't, ‘so’"
    """
    return text if text.isascii() and "`" not in text else _WITHIN.sub("'", text)


def as_written(words: Iterable[str], text: str) -> list[str]:
    """Return the spelling in a text of its words, of which some characters were replaced one by one.

    >>> as_written(["l'", "été", "!"], "l’été !")
    ['l’', 'été', '!']
    """
    at, words_written = 0, []
    for word in words:
        while text[at].isspace():
            at += 1
        words_written.append(text[at : at + len(word)])
        at += len(word)
    return words_written


#: Rules apply one after the other to the result of the one before, so that their order matters.
_RULES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Opening quotes. The apostrophe of a clitic, which belongs to the word before it, is none, nor is
        # that of a word which has lost its beginning.
        (r"([«‹“„‚]|`+)", r" \1 "),
        (r'^"', '" '),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(\"|'{2})", r"\1 \2 "),
        (
            r"(?i)(?<!\w)(')(?!(?:re|ve|ll|m|t|s|d|n)\b)(?!(?:em|til|cuz|tis|twas|twere|\d0s)\b(?!'))(?=\w)",
            r"\1 ",
        ),
        # The full stop at the end, before closing signs: all others belong to abbreviations. The quantifier
        # is possessive, or all lengths of a long run of signs would be tried.
        (r"([^.])(\.)([\])}>\"' »›”]*+)\s*$", r"\1 \2 \3 "),
        (r"([:,])(\D)", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"(\.{2,}|[;@#$%&…]|[\u2012-\u2015])", r" \1 "),
        (r"([?!])", r" \1 "),
        # But not in *'n'*, which is a word.
        (r"(?i)([^'])(?<!\B'n)' ", r"\1 ' "),
        (r"([*\]\[(){}<>]|--)", r" \1 "),
        # From here on, the first and the last word have blanks on both sides, too.
        (r"\A|\Z", " "),
        # Closing quotes, then clitics.
        (r"([»›”])", r" \1 "),
        (r"''|\"", r" \g<0> "),
        (r"\s+", " "),
        (r"(?i)([^' ])(?<!\B'n)('[smd]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        # Two words written as one.
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim|lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is|was|were)\b", r" \1 \2 "),
    )
)

#: Signs that are always an apostrophe or a single quote, and the full-width double quote.
_STRAIGHT: Final = str.maketrans("‘’‛＇ʼ＂", "'" * 5 + '"')


def tokenize(sentence: str) -> list[str]:
    """Return the words of a sentence in its spelling; curly apostrophes are split off as straight ones are.

    >>> " ".join(tokenize('"They cannot," he said, "pay $3.88 to U.S. banks."'))
    '" They can not , " he said , " pay $ 3.88 to U.S. banks . "'
    >>> " ".join(tokenize("‘It’s the dogs’ bowl, isn’t it?’"))
    '‘ It ’s the dogs ’ bowl , is n’t it ? ’'
    """
    straight = straighten_apostrophes(sentence).translate(_STRAIGHT)
    cut = straight
    for rule, replacement in _RULES:
        cut = rule.sub(replacement, cut)
    words = cut.split()
    return words if straight == sentence else as_written(words, sentence)
