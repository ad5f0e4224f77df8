"""English words that say little by themselves: they are aligned for what stands around them."""

from __future__ import annotations

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


def is_function_word(word: str) -> bool:
    """Say whether a word is a function word or has no letter and no digit.

    >>> [word for word in ("The", "cat", "'s", ",", "1") if is_function_word(word)]
    ['The', "'s", ',']
    """
    return word.lower() in FUNCTION_WORDS or not any(character.isalnum() for character in word)
