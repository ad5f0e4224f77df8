"""Models: all, and some compared on a corpus; or one, its settings, perplexities, and how it backs off."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from sentgen.server.pages import examples
from sentgen.server.pages.examples import ExamplePassage, PageExample
from sentgen.server.pages.page import Asking, Page, PageParameters

#: Columns of a comparison that have no room on a page.
_LEFT_OUT = ("tokens", "shared", "oov", *(f"hit_{n}" for n in range(1, 6)))


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the models, or for one with what is asked of it."""
    name, ngram, text = query.text("name"), query.text("ngram"), query.raw("text")
    if not name:
        return await _all(ask, query)

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


async def _all(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the models, and to compare those that are chosen."""
    chosen, corpus = query.all("model"), query.text("corpus")
    parameters = {"models": ",".join(chosen), "corpus": corpus}
    models, overview, subcorpora, compared = await asyncio.gather(
        ask("models"),
        ask("corpora"),
        ask("subcorpora"),
        ask("compare_models", **parameters) if chosen and corpus else ask.nothing(),
    )
    return {
        "name": "",
        "models": models,
        # The others are asked about no text.
        "labels": ["{name}@{version}".format(**row) for row in models.rows if row["over"] == "words"],
        "overview": overview,
        "subcorpora": subcorpora,
        "chosen": chosen,
        "corpus": corpus,
        "compared": compared,
        "left_out": _LEFT_OUT,
    }


def _example(text: ExamplePassage) -> PageExample:
    """Return a sentence, and how the model gets the probability of its third word."""
    words = " ".join(text.words)
    return PageExample(words, {"ngram": " ".join(text.words[:3]), "text": words})


PAGES = (
    Page(
        "/model",
        "Models",
        "model.html.j2",
        _view,
        asks=("models", "model", "score", "compare_models", "backoff"),
    ),
)
