"""Align: a document and its abstract in, and where each phrase of the abstract comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sentgen.server.pages.page import Asking, Page, Query


async def view(ask: Asking, query: Query) -> Mapping[str, Any]:
    """Align the two texts that were pasted."""
    document, abstract = query.raw("document"), query.raw("abstract")
    return {"document": document, "abstract": abstract, "answer": None}


PAGE = Page("/align", "Align", "align.html.j2", view)
