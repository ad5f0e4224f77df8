"""How two linked words say the same, if they do."""

from __future__ import annotations

from typing import Literal

from sentgen.alignment.words.spellings import same_word
from sentgen.alignment.words.stems import stem
from sentgen.alignment.words.thesaurus import meanings

Relation = Literal["same", "variant", "related"]


def relation(word: str, other: str) -> tuple[Relation, str]:
    """Return what a word of the abstract is to one of the document, and why.

    >>> relation("Cats", "cats"), relation("cats", "cat")
    (('same', ''), ('variant', 'inflected'))
    """
    if word.lower() == other.lower():
        return "same", ""
    if stem(word) == stem(other):
        return "variant", "inflected"
    if same_word(word) and same_word(word) == same_word(other):
        return "variant", "spelled otherwise"
    if meanings(word) & meanings(other):
        return "variant", "synonym"
    return "related", ""
