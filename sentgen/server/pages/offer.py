"""Which pages a server offers, and what of the API and of the links between pages goes with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import unescape
from urllib.parse import unquote

from sentgen.errors import InputError
from sentgen.server.operations import operations
from sentgen.server.pages.page import Page
from sentgen.server.settings import Kind, ServerSettings

#: Pages that are there only where work of their kind is done.
_KINDS: dict[str, Kind] = {"sql": "sql", "lines": "desk"}
#: What every page shows.
_SHARED = ("corpora", "subcorpora")
#: A link; one with a sentence about its page beside it; a paragraph of links alone. All in them is escaped.
_LINK = re.compile(r'<a\b[^>]*?\shref="(/[^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_CARD = re.compile(r'<li><a href="(/[^"]*)">[^<]*</a><p>[^<]*</p></li>\s*')
_ROW = re.compile(r"<p>(<a\b[^>]*>[^<]*</a>(?: · <a\b[^>]*>[^<]*</a>)*)</p>\n?")


def offered(pages: Iterable[Page], settings: ServerSettings) -> list[Page]:
    """Return the pages that are offered: all, or those that were named and what they lead to."""
    only, kinds = settings.only, settings.kinds
    return [
        page
        for page in pages
        if _KINDS.get(page.key, kinds[0]) in kinds and (not only or not page.name or page.key in ("", *only))
    ]


def read_only(pages: Iterable[Page], text: str) -> tuple[str, ...]:
    """Read names of pages with commas between them.

    Raises:
        InputError: there is no page of a name, or no name.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    known = [page.key for page in pages if page.name and page.key]
    for name in names:
        if name not in known:
            raise InputError(f"no page {name!r} to offer; there are: {', '.join(known)}")
    return names


def operations_of(pages: Iterable[Page]) -> frozenset[str]:
    """Return the operations whose rows some pages show."""
    return frozenset([*_SHARED, *(name for page in pages if page.key for name in page.asks)]) & {
        *operations()
    }


def without_dead_links(html: str, leads: Callable[[str], bool]) -> str:
    """Return a page without the links that lead nowhere; their texts stay, but where there is nothing else.

    Args:
        html: the page.
        leads: whether there is something at a path.
    """

    def is_dead(found: re.Match[str]) -> bool:
        return not leads(unquote(re.split("[?#]", unescape(found[1]), maxsplit=1)[0]))

    def left(found: re.Match[str]) -> str:
        links = [one for one in found[1].split(" · ") if not ((link := _LINK.match(one)) and is_dead(link))]
        return f"<p>{' · '.join(links)}</p>\n" if links else ""

    html = _ROW.sub(left, html)
    html = _CARD.sub(lambda found: "" if is_dead(found) else found[0], html)
    return _LINK.sub(lambda found: found[2] if is_dead(found) else found[0], html)
