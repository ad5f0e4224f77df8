"""Near: the words that keep the same company as a word, and their distances."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from sentgen.server.pages import examples
from sentgen.server.pages.page import Asking, ListPart, Page, PageParameters, default


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the vectors, and for what is near a word if there is one."""
    word, name = query.text("word"), query.text("vectors")
    rows = query.rows(default("near", "limit"))
    part = ListPart("/vectors", query, rows, usual="-cosine")
    parameters = {"word": word, "vectors": name, **part.parameters}
    spaces, near = await asyncio.gather(ask("vectors"), ask("near", **parameters) if word else ask.nothing())
    begin = next((row for row in spaces.rows if name in ("", row["name"])), None) if not word else None
    return {
        "examples": await examples.words(ask, begin["corpora"].split(", ")) if begin else [],
        "begin": begin,
        "spaces": spaces,
        "near": near,
        "word": word,
        "name": name,
        "rows": rows,
        "part": part,
    }


PAGES = (Page("/vectors", "Vectors", "vectors.html.j2", _view, asks=("vectors", "near")),)
