"""Classes of English words, stems, and where sentences begin.

Function words are poor evidence by themselves: they are aligned by the words around them. Tuned aligners
distinguish some classes of function words. Stems are those of Snowball's stemmer of English (Porter2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from Stemmer import Stemmer

from sentgen.arrays import Bools, Longs

_WORDS = """
a about above after against all also am among an and any are around as at be because been before being
below between both but by can could did do does doing down during each either few for from had has have
having he her here hers him his how i if in into is it its itself may me might more most must my neither
no nor not of off on once only onto or other our out over own same shall she should since so some such
than that the their them then there these they this those though through to too under until up upon
very was we were what when where whether which while who whom whose why will with within without would
you your 's 's 've 'll 'd 're 'm n't -lrb- -rrb-
"""
FUNCTION_WORDS = frozenset(_WORDS.split())

#: A line for each group of words and marks that may replace each other where the words around them match; an
#: indented line continues the group.
_GROUPS = """
a an the this that these those one
his her hers its their theirs our my your 's whose the
he she it they him her them i me we us you himself herself itself themselves
am are is was were be been being 's 're 'm become becomes became
have has had having 've
do does did doing
will would shall should can could may might must 'll 'd to
am are is was were be been being 's has have had will would do does did
about above across after against among around as at before behind below between by down during for from in
    into near of off on onto out over since through to toward towards under until up upon via with within
    without
of from 's
and or but nor so though although while because since as if than
but however though although yet nevertheless while
because since as due for
before prior ahead
after following since
and also too as with along together
who whom whose which that what where when why how
no not n't neither nor never without cannot
can could able cannot
all any both each every either few more most much many some such other same certain several
per a each
over more than above exceed exceeding
under less below than fewer
about around some approximately nearly almost
like such as including include includes included
only just but
then later
now currently
at in located
. ! ? ; ...
, ; :
- -- _
" '' `` ' `
( [ -lrb-
) ] -rrb-
"""


def memberships(groups: Iterable[Iterable[str]]) -> Mapping[str, frozenset[int]]:
    """Return the groups of each word by their numbers, from 0."""
    numbers = defaultdict[str, set[int]](set)
    for number, group in enumerate(groups):
        for word in group:
            numbers[word].add(number)
    return {word: frozenset(members) for word, members in numbers.items()}


_BY_WORD = memberships(map(str.split, _GROUPS.replace("\n ", " ").strip().splitlines()))
#: Marks that end a sentence.
STOPS = frozenset(".!?")


@lru_cache(maxsize=1 << 16)
def is_function_word(word: str) -> bool:
    """Return whether a word is a function word or has no letter and no digit.

    >>> [word for word in ("The", "cat", "'s", ",", "1") if is_function_word(word)]
    ['The', "'s", ',']
    """
    return word.lower() in FUNCTION_WORDS or not any(character.isalnum() for character in word)


def groups(word: str) -> frozenset[int]:
    """Return the numbers of the groups of a word; words with a common group may replace each other.

    >>> bool(groups("The") & groups("a")), bool(groups("the") & groups("of"))
    (True, False)
    """
    return _BY_WORD.get(word.lower(), frozenset())


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
#: Endings that indicate the part of speech; 0 is none of them.
_ENDINGS = ("ing", "ed", "ly", "tion", "s")
#: Least number of letters before an ending.
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
def ending_class(word: str) -> int:
    """Return the number of the ending of a word, 0 for none.

    >>> [ending_class(word) for word in ("running", "Walked", "cats", "cat", "red")]
    [1, 2, 5, 0, 0]
    """
    lower = word.lower()
    endings = (
        number
        for number, suffix in enumerate(_ENDINGS, 1)
        if lower.endswith(suffix) and len(lower) >= len(suffix) + _STEM_LETTERS
    )
    return next(endings, 0)


# `lru_cache` has more words than the cache of the stemmer, which is off.
_STEMMER = Stemmer("english", 0)


@lru_cache(maxsize=1 << 18)
def stem(word: str) -> str:
    """Return the stem of a word in lower case.

    >>> stem("Tripling"), stem("sales"), stem("'s")
    ('tripl', 'sale', "'s")
    """
    return str(_STEMMER.stemWord(word.lower()))


#: Most words of a sentence; a text without full stops is split into pieces of this length.
LONGEST = 100


def breaks(stops: Bools) -> Bools:
    """Return which words directly follow a full stop, (m,)."""
    return np.append(False, stops[:-1])[: len(stops)]


def sentence_starts(words: Sequence[str], starts: Sequence[int]) -> Longs:
    """Return the starts of sentences: ``starts``, after full stops, and after ``LONGEST`` words without one.

    Punctuation marks alone are no sentence, but belong to the sentence before them. The text must have words.

    >>> sentence_starts("`` so it was . '' so it is . ''".split(), (0,)).tolist()
    [0, 5]
    """
    first = breaks(np.array([word in STOPS for word in words], np.bool_))
    first[[start for start in starts if start < len(words)]] = True
    begins = np.flatnonzero(first)
    says = np.array(list(map(_says, words)), np.int64)
    # The first sentence stays even if it is all marks: there is none before it.
    begins = begins[np.append(True, np.add.reduceat(says, begins)[1:] > 0)]
    lengths = np.diff(np.append(begins, len(words)))
    pieces = -(-lengths // LONGEST)
    # The number of each piece in its sentence: 0, 1, 2, 0, 0, 1, ...
    number = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    offsets: Longs = np.repeat(begins, pieces) + LONGEST * number
    return offsets


@lru_cache(maxsize=1 << 16)
def _says(word: str) -> bool:
    return any(map(str.isalnum, word))
