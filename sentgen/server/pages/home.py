"""Home: what the store holds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from sentgen.server.pages import examples
from sentgen.server.pages.page import Asking, Page, PageParameters


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for corpora and models."""
    corpora, models, words = await asyncio.gather(ask("corpora"), ask("models"), examples.words(ask))
    return {"corpora": corpora, "models": models, "examples": words}


PAGES = (Page("/", "Home", "home.html.j2", _view),)
