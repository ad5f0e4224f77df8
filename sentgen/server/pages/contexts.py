"""How much is shown around the hits of a page: the links that ask for more or less of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sentgen.server.pages.page import PageParameters
from sentgen.server.pages.texts import link

#: Contexts as `--context` has them; the first is what is shown unless another is asked for.
_NAMES: Mapping[str, str] = {
    "": "some words",
    "1s": "sentence",
    "2s": "3 sentences",
    "1p": "paragraph",
    "3p": "5 paragraphs",
}


class ContextLink(NamedTuple):
    """A context that a page can be asked for."""

    name: str
    link: str
    shown: bool


def contexts(query: PageParameters, path: str, kept: Iterable[str], **more: object) -> list[ContextLink]:
    """Return the contexts that a page offers.

    Args:
        query: the parameters of the page.
        path: its path.
        kept: the names of those that stay as they are.
        more: others, with their values.
    """
    names = {one: query.all(one) for one in kept if one != "context"} | more
    now = query.text("context")
    shown = now if now in _NAMES else ""
    return [
        ContextLink(name, link(path, **names, context=value), value == shown)
        for value, name in _NAMES.items()
    ]
