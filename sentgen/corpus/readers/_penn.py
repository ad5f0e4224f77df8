"""How the Penn Treebank writes words: escapes, bracket symbols, tags of brackets."""

from __future__ import annotations

_SYMBOLS = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"}
_TAGS = {"(": "-LRB-", ")": "-RRB-"}


def plain(form: str) -> str:
    r"""Return the word as it is written in plain text.

    >>> plain("1\\/2"), plain("-LRB-")
    ('1/2', '(')
    """
    if form in _SYMBOLS:
        return _SYMBOLS[form]
    return form.replace("\\/", "/").replace("\\*", "*") if "\\" in form else form


def plain_tag(tag: str) -> str:
    """Return the tag as the combined files write it; the tagged files have `(` for `-LRB-`."""
    return _TAGS.get(tag, tag)
