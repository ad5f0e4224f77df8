"""Thesaurus: words of the same class that have the same collocates in the same relations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from sentgen.lookups.statistics.collocations import CollocateUnit
from sentgen.server.pages import examples
from sentgen.server.pages.page import Asking, Page, PageParameters, default
from sentgen.server.pages.sketch import as_pattern, as_typed
from sentgen.server.pages.texts import link


async def view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the words that are most similar to a word."""
    word, by = query.text("word"), query.choice("by", (CollocateUnit.LEMMA, CollocateUnit.WORD))
    corpora, rows = query.all("corpus"), query.rows(default("thesaurus", "limit"))
    shared = query.number("min_count", default("thesaurus", "min_count"), least=1)
    kept = {"by": by, "corpus": corpora, "ignore_case": query.box("ignore_case")}
    asked = {**kept, "min_count": shared, "function_words": query.box("function_words"), "limit": rows}
    overview, subcorpora, found = await asyncio.gather(
        ask("corpora"),
        ask("subcorpora"),
        ask("thesaurus", word=as_pattern(word, by), **asked) if word else ask.nothing(),
    )

    def page(path: str, other: str) -> str:
        return link(path, word=as_typed(other, by), **kept)

    return {
        "word": word,
        "by": by,
        "shared": shared,
        "rows": rows,
        "corpora": corpora,
        "overview": overview,
        "subcorpora": subcorpora,
        "answer": found,
        "page": page,
        "against": lambda other: link("/sketch", word=word, against=as_typed(other, by), **kept),
        "examples": [] if word else await examples.words(ask, corpora),
    }


PAGE = Page("/thesaurus", "", "thesaurus.html.j2", view, asks=("thesaurus",))
