"""English words that say little by themselves: they are aligned for what stands around them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

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

#: A line for each group of words and marks that may stand for each other where the words around them match;
#: an indented line goes on with the group before it.
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
    return {word: frozenset(found) for word, found in numbers.items()}


_BY_WORD = memberships(map(str.split, _GROUPS.replace("\n ", " ").strip().splitlines()))
#: Marks that end a sentence.
STOPS = frozenset(".!?")


@lru_cache(maxsize=1 << 16)
def is_function_word(word: str) -> bool:
    """Say whether a word is a function word or has no letter and no digit.

    >>> [word for word in ("The", "cat", "'s", ",", "1") if is_function_word(word)]
    ['The', "'s", ',']
    """
    return word.lower() in FUNCTION_WORDS or not any(character.isalnum() for character in word)


def groups(word: str) -> frozenset[int]:
    """Return the groups of a word by their numbers: words with a group in common may stand for each other.

    >>> bool(groups("The") & groups("a")), bool(groups("the") & groups("of"))
    (True, False)
    """
    return _BY_WORD.get(word.lower(), frozenset())
