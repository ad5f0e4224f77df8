"""Text as people read it, where it stands in running text; tables, files and patterns keep the forms."""

from __future__ import annotations

#: What the Penn Treebank writes for double quotes, which have one sign for both ends on a typewriter.
_QUOTES = (("``", "“"), ("''", "”"))


def readable(text: str) -> str:
    """Return a text with quotes as they are printed.

    >>> readable("`` Yes , '' it 's said")
    "“ Yes , ” it 's said"
    """
    for form, sign in _QUOTES:
        text = text.replace(form, sign)
    return text
