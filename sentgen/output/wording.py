"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def quantity(number: int, one: str, many: str = "") -> str:
    """Say a number with its noun, or with what stands for it; ``many`` where that is not ``one`` with an s.

    >>> quantity(1, "tree"), quantity(2000, "tree"), quantity(0, "corpus", "corpora")
    ('1 tree', '2,000 trees', '0 corpora')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def are(number: int) -> str:
    """Return the verb for a number of things: ``is`` or ``are``."""
    return "is" if number == 1 else "are"


def either(names: Sequence[str]) -> str:
    """Name things of which one is meant.

    >>> either(["a"]), either(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
