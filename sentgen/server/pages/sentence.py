"""Sentence: its text, its tree, and its tokens."""

from __future__ import annotations

from collections.abc import Mapping

from sentgen.server.pages.page import Asking, Page, PageParameters


async def view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for one sentence."""
    names = {name: query.raw(name) for name in ("corpus", "document", "sentence")}
    if not all(names.values()):
        problem = "name a sentence: ?corpus=NAME&document=NAME&sentence=NAME; a concordance links to them"
        return {**names, "answer": ask.problem(problem, 400)}
    return {**names, "answer": await ask("sentence", **names)}


PAGE = Page("/sentence", "", "sentence.html.j2", view)
