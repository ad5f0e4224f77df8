"""Model: its settings, the perplexity of sentences, and how it backs off at a word."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from sentgen.server.pages import examples
from sentgen.server.pages.examples import ExamplePassage, PageExample
from sentgen.server.pages.page import Asking, Page, PageParameters


async def view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the models, or for one with what is asked of it."""
    name, ngram, text = query.text("name"), query.text("ngram"), query.raw("text")
    if not name:
        return {"name": "", "models": await ask("models")}

    lines = [line for line in text.splitlines() if line.strip()]
    about, backoff, scores = await asyncio.gather(
        ask("model", name=name),
        ask("backoff", model=name, ngram=ngram) if ngram else ask.nothing(),
        ask("score", model=name, text=lines) if lines else ask.nothing(),
    )
    begin = None if text or ngram else await examples.passage(ask)
    return {
        "examples": [] if begin is None else [_example(begin)],
        "name": name,
        "about": about,
        "backoff": backoff,
        "scores": scores,
        "text": text,
        "ngram": ngram,
    }


def _example(text: ExamplePassage) -> PageExample:
    """Return a sentence, and how the model gets the probability of its third word."""
    words = " ".join(text.words)
    return PageExample(words, {"ngram": " ".join(text.words[:3]), "text": words})


PAGE = Page("/model", "Models", "model.html.j2", view, asks=("models", "model", "score"))
