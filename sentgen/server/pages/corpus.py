"""Corpus: its documents, n-grams and frequencies, and a concordance behind every count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sentgen.server.pages.page import Asking, Page, PageAnswer, Query

TABS = ("documents", "frequencies", "ngrams", "concordance", "sources")
UNITS = ("word", "lemma", "upos", "xpos", "deprel")
ORDERS = ("none", "left", "right")
_ROWS = 50


async def view(ask: Asking, query: Query) -> Mapping[str, Any]:
    """Ask for what the chosen tab shows, of one corpus or of all."""
    name, tab = query.text("name"), query.choice("show", TABS)
    overview = await ask("corpora")
    about = next((row for row in overview.rows if row["corpus"] == name), None)
    if name and about is None and not overview.problem:
        known = ", ".join(row["corpus"] for row in overview.rows)
        there = f"there are: {known}" if known else "the store has no corpora"
        overview = ask.problem(f"no corpus {name!r}; {there}", 404)
    answer = None if overview.problem else await _VIEWS[tab](ask, query, name)
    return {
        "name": name,
        "tab": tab,
        "tabs": TABS if name else [one for one in TABS if one != "sources"],
        "overview": overview,
        "about": about,
        "answer": answer,
        "units": UNITS,
        "orders": ORDERS,
        "rows": query.number("limit", _ROWS, least=1, most=500),
        "offset": query.number("offset", 0),
        "document": query.text("document"),
        "by": query.choice("by", UNITS),
        "ignore_case": query.box("ignore_case"),
    }


async def _documents(ask: Asking, query: Query, name: str) -> PageAnswer | None:
    rows, offset = query.number("limit", _ROWS, least=1, most=500), query.number("offset", 0)
    document = query.raw("document")
    if document:
        return await ask("sentences", corpus=name, document=document, limit=rows, offset=offset)
    return await ask("documents", corpus=name, limit=rows, offset=offset)


async def _sources(ask: Asking, query: Query, name: str) -> PageAnswer | None:
    return await ask("corpus", name=name) if name else None


async def _frequencies(ask: Asking, query: Query, name: str) -> PageAnswer | None:
    return await ask(
        "frequencies",
        by=query.choice("by", UNITS),
        pattern=query.text("pattern", "*"),
        ignore_case=bool(query.box("ignore_case")),
        corpus=_only(name),
        limit=query.number("limit", _ROWS, least=1, most=500),
    )


async def _ngrams(ask: Asking, query: Query, name: str) -> PageAnswer | None:
    return await ask(
        "ngrams",
        pattern=query.text("pattern", "* *"),
        ignore_case=bool(query.box("ignore_case")),
        corpus=_only(name),
        limit=query.number("limit", _ROWS, least=1, most=500),
    )


async def _concordance(ask: Asking, query: Query, name: str) -> PageAnswer | None:
    if not query.text("pattern"):
        return None
    return await ask(
        "kwic",
        pattern=query.text("pattern"),
        sort=query.choice("sort", ORDERS),
        context=query.number("context", 12, most=100),
        random=query.text("random"),
        ignore_case=bool(query.box("ignore_case")),
        corpus=_only(name),
        limit=query.number("limit", _ROWS, least=1, most=500),
    )


def _only(name: str) -> list[str]:
    return [name] if name else []


_VIEWS = {
    "documents": _documents,
    "frequencies": _frequencies,
    "ngrams": _ngrams,
    "concordance": _concordance,
    "sources": _sources,
}

PAGE = Page("/corpus", "Corpora", "corpus.html.j2", view)
