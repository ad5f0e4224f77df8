"""How words become patterns and links; `sentgen.output.display` says how values stand on a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from sentgen.lookups.cql.search import is_cql

_SPECIAL = re.compile(r"[\\*?/]")
_REGEX = re.compile(r'[\\.?*+|()\[\]{}^$"]')


def link(path: str, **query: object) -> str:
    """Return a URL; what is empty is left out.

    >>> link("/word", word="R&D", corpus="", page=2)
    '/word?word=R%26D&page=2'
    """
    given = {key: value for key, value in query.items() if value not in (None, "", [])}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def literal_pattern(word: str) -> str:
    """Return the word pattern that only this word matches.

    >>> literal_pattern("5*/2")
    '5\\\\*\\\\/2'
    """
    return _SPECIAL.sub(r"\\\g<0>", word)


def token_pattern(value: str, attribute: str = "word") -> str:
    """Return the token pattern for a word, lemma or tag; empty if there can be none, as it holds a blank.

    >>> token_pattern("camp"), token_pattern("NOUN", "upos"), token_pattern("lemma:x"), token_pattern("a b")
    ('camp', 'upos:NOUN', 'word:lemma:x', '')
    >>> token_pattern("[sic]")
    'word:[sic]'
    """
    if not value or len(value.split()) != 1:
        return ""
    bare = attribute == "word" and ":" not in value and not is_cql(value)
    prefix = "" if bare else f"{attribute}:"
    return prefix + literal_pattern(value)


def cql_value(text: str) -> str:
    """Return the string of CQL that only this text matches.

    >>> print(cql_value('camp'), cql_value('5"?'))
    "camp" "5\\"\\?"
    """
    escaped = _REGEX.sub(r"\\\g<0>", text)
    return f'"{escaped}"'


def phrase_pattern(words: Sequence[str]) -> str:
    """Return the pattern for words one after the other; empty if one of them cannot be asked for."""
    patterns = ["" if word in ("<s>", "</s>") else token_pattern(word) for word in words]
    pattern = " ".join(patterns) if all(patterns) else ""
    return f"word:{pattern}" if is_cql(pattern) else pattern


def ngram_pattern(row: Mapping[str, Any]) -> str:
    """Return the pattern for the words ``w1`` to ``w5`` of a row, as `phrase_pattern` does."""
    return phrase_pattern([row[name] for name in ("w1", "w2", "w3", "w4", "w5") if name in row])
