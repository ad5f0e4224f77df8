"""Align: a document and its abstract in, and where each phrase of the abstract comes from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from sentgen.server.pages.page import Asking, Page, Query

#: Aligners that learn nothing from pairs, with what they are called on the page.
SYSTEMS = {
    "": "phrase-based HMM, priors only",
    "cut-and-paste": "Cut & Paste (Jing 2002)",
    "lcs": "longest common runs",
}
FORMATS = ("detected", "text", "conllu")
#: The package of all aligners that no plug-in adds.
_OURS = "sentgen"
#: Before the name of a model of the store, where a system is chosen.
_MODEL = "model:"


async def view(ask: Asking, query: Query) -> Mapping[str, Any]:
    """Align the two texts that were pasted, with a model of the store or without."""
    document, abstract = query.raw("document"), query.raw("abstract")
    models, systems = await asyncio.gather(ask("alignment-models"), ask("aligners"))
    trained = {f"{_MODEL}{row['model']}": f"model {row['model']}" for row in models.rows}
    aligners = trained | SYSTEMS | added(systems.rows)
    chosen = query.choice("aligner", [*aligners])
    form = query.choice("format", FORMATS)
    answer = None
    if document.strip() and abstract.strip():
        asked = {"model": chosen.removeprefix(_MODEL)} if chosen.startswith(_MODEL) else {"system": chosen}
        asked["format"] = "" if form == FORMATS[0] else form
        answer = await ask("align", document=document, abstract=abstract, **asked, html=True)
    return {
        "document": document,
        "abstract": abstract,
        "models": models,
        "aligners": aligners,
        "chosen": chosen,
        "forms": FORMATS,
        "form": form,
        "answer": answer,
    }


def added(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the aligners of plug-ins, of a list of all."""
    plugins = (row for row in rows if row["package"] != _OURS)
    return {row["aligner"]: f"{row['aligner']} ({row['package']})" for row in plugins}


PAGE = Page("/align", "Align", "align.html.j2", view)
