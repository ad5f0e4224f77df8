"""Words of an English sentence, as the Penn Treebank tells them apart.

The rules are those of NLTK's ``NLTKWordTokenizer`` (Loper, Tan, Aarsen; Apache-2.0), which go back to Robert
MacIntyre's script for the Treebank: each puts blanks where words end, and what is left is split at them.
Unlike these, they leave all signs as they were written, cut curly quotes, apostrophes and dots as straight
ones, and keep the apostrophe of *'tis*, *'em*, *'90s* and *'n'*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

#: An apostrophe where a letter follows and a letter or digit precedes, with an accent or without: curly, of
#: modifier letters, full width, prime, or typed as an accent.
_WITHIN: Final = re.compile("(?<=[\\w\u0300-\u036f])[‘’‛＇ʼʻ`´′ʹ՚](?=[^\\W\\d_])")


def straighten_apostrophes(text: str) -> str:
    """Return a text of the same length with straight apostrophes within words.

    >>> straighten_apostrophes("l’été, don`t, ‘so’")
    "l'été, don't, ‘so’"
    """
    return text if text.isascii() and "`" not in text else _WITHIN.sub("'", text)


def as_written(words: Iterable[str], text: str) -> list[str]:
    """Return words that are parts of a text but for some of their characters, as they stand in it.

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


#: A rule sees what the ones before it have made of the sentence, so that no two may change places.
_RULES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Quotes that open. The apostrophe of a clitic, which belongs to the word before it, does not, nor
        # that of a word which has lost its beginning.
        (r"([«‹“„‚]|`+)", r" \1 "),
        (r'^"', '" '),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(\"|'{2})", r"\1 \2 "),
        (
            r"(?i)(?<!\w)(')(?!(?:re|ve|ll|m|t|s|d|n)\b)(?!(?:em|til|cuz|tis|twas|twere|\d0s)\b(?!'))(?=\w)",
            r"\1 ",
        ),
        # The full stop at the end, with what closes behind it: all others are of abbreviations. The run is
        # possessive, or a long one would be tried at all lengths.
        (r"([^.])(\.)([\])}>\"' »›”]*+)\s*$", r"\1 \2 \3 "),
        (r"([:,])(\D)", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"(\.{2,}|[;@#$%&…]|[\u2012-\u2015])", r" \1 "),
        (r"([?!])", r" \1 "),
        # Not of *'n'*, which stands for a word.
        (r"(?i)([^'])(?<!\B'n)' ", r"\1 ' "),
        (r"([*\]\[(){}<>]|--)", r" \1 "),
        # From here on the first and the last word, too, stand between blanks.
        (r"\A|\Z", " "),
        # Quotes that close, then clitics.
        (r"([»›”])", r" \1 "),
        (r"''|\"", r" \g<0> "),
        (r"\s+", " "),
        (r"(?i)([^' ])(?<!\B'n)('[smd]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        # Two words that are written as one.
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

#: Signs that are an apostrophe or a single quote wherever they stand, and the double quote of full width.
_STRAIGHT: Final = str.maketrans("‘’‛＇ʼ＂", "'" * 5 + '"')


def tokenize(sentence: str) -> list[str]:
    """Return the words of a sentence as they stand in it; curly apostrophes are cut as straight ones.

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
