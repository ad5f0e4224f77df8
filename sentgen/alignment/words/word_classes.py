"""Classes of English words as tuned aligners tell them apart: content words, kinds of function words."""

from __future__ import annotations

from functools import lru_cache

from sentgen.alignment.words.function_words import FUNCTION_WORDS, STOPS

#: The classes by number.
CLASSES = (
    "content word",
    "determiner",
    "auxiliary",
    "preposition",
    "conjunction",
    "pronoun",
    "full stop",
    "other mark",
    "other function word",
    "number",
)
CONTENT, _, _, _, _, _, STOP, MARK, OTHER, NUMBER = range(len(CLASSES))
_OF_CLASS = {
    "determiner": "a an the this that these those",
    "auxiliary": """
        is are was were be been being am 's 're 'm has have had having 've do does did doing will would shall
        should can could may might must 'll 'd
    """,
    "preposition": """
        about above across after against among around as at before behind below between by during for from in
        into near of off on onto out over since through to toward towards under until up upon via with within
        without
    """,
    "conjunction": "and or but nor so though although while because if than",
    "pronoun": """
        he she it they him her them i me we us you his hers its their theirs our my your who whom whose which
        what where when why how
    """,
}
_CLASS_OF = {word: CLASSES.index(name) for name, words in _OF_CLASS.items() for word in words.split()}
#: Endings that say something of the part of speech; 0 is none of them.
_ENDINGS = ("ing", "ed", "ly", "tion", "s")
#: Letters that must stand before an ending.
_STEM_LETTERS = 3


@lru_cache(maxsize=1 << 16)
def word_class(word: str) -> int:
    """Return the number of the class of a word.

    >>> [CLASSES[word_class(word)] for word in ("The", "cat", "2004", "of", ",", ".")]
    ['determiner', 'content word', 'number', 'preposition', 'other mark', 'full stop']
    """
    lower = word.lower()
    if lower in STOPS:
        return STOP
    if not any(character.isalnum() for character in word):
        return MARK
    if lower in _CLASS_OF:
        return _CLASS_OF[lower]
    if lower in FUNCTION_WORDS:
        return OTHER
    return NUMBER if any(character.isdigit() for character in word) else CONTENT


@lru_cache(maxsize=1 << 16)
def ending(word: str) -> int:
    """Return the number of the ending of a word, 0 for none.

    >>> [ending(word) for word in ("running", "Walked", "cats", "cat", "red")]
    [1, 2, 5, 0, 0]
    """
    lower = word.lower()
    endings = (
        number
        for number, one in enumerate(_ENDINGS, 1)
        if lower.endswith(one) and len(lower) >= len(one) + _STEM_LETTERS
    )
    return next(endings, 0)
