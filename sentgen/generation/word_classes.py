"""The word classes that the papers' rules speak of, for tags of the Penn Treebank and of UD alike."""

from __future__ import annotations

_VERBS = frozenset({"VERB", "AUX", "MD"})
_NOUNS = frozenset({"NOUN", "PROPN", "PRON", "PRP"})
_PREPOSITIONS = frozenset({"ADP", "IN", "TO"})
_PUNCTUATION = frozenset({"PUNCT", ".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "#"})


def is_verb(tag: str) -> bool:
    """Return whether a tag is that of a verb, auxiliaries and modals included.

    >>> [is_verb(tag) for tag in ("VBD", "MD", "AUX", "NN")]
    [True, True, True, False]
    """
    return tag in _VERBS or tag.startswith("VB")


def is_noun(tag: str) -> bool:
    """Return whether a tag is that of a noun or a personal pronoun, which stand for noun phrases."""
    return tag in _NOUNS or tag.startswith("NN")


def is_preposition(tag: str) -> bool:
    """Return whether a tag is that of a preposition; the Penn Treebank's IN and TO hold other words, too."""
    return tag in _PREPOSITIONS


def is_punctuation(tag: str) -> bool:
    """Return whether a tag is that of punctuation, hyphens and brackets included."""
    return tag in _PUNCTUATION
