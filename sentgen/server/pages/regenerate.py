"""Regenerate: words in, sentences of several algorithms side by side, with trees and reasons."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sentgen.schema.tables.corpus import RESERVED_WORDS, ROOT
from sentgen.server.pages import examples
from sentgen.server.pages.examples import ExamplePassage, PageExample
from sentgen.server.pages.page import Asking, Page, PageAnswer, PageParameters, default

if TYPE_CHECKING:
    from sentgen.generation import Algorithm

#: What is checked at first, where the corpora of the model have trees and where not.
_WITH_TREES, _WITHOUT = ("joint", "ab"), ("beam", "lmo")
UNITS = ("np", "word")
#: What is shown of the reasons for an attachment; the command line gives all of it.
ATTACHMENT = ("modifier", "side", "head", "log10_weight", "prob", "factor", "forced")
#: Levels of back-off (events as head and modifier, and pairs in a sentence), with what they are called.
LEVELS = {"word": "words", "mixed": "word and tag", "tag": "tags"}
WORD = ("word", "ngram", "log10", "log10_backoff", "log10_total")


@dataclass(frozen=True, slots=True)
class _PageOutput:
    """What one algorithm made of the words.

    ``reasons`` are those of each sentence, in their order, and ``steps`` how its tree was found.
    """

    algorithm: Algorithm
    answer: PageAnswer
    explained: PageAnswer
    reasons: Sequence[Sequence[Mapping[str, object]]]
    steps: Sequence[Sequence[Mapping[str, Any]]]


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask each algorithm twice: for its sentences with trees, and for the reasons."""
    models, corpora, algorithms = await asyncio.gather(
        ask("models"), ask("corpora"), asyncio.to_thread(_algorithms)
    )
    # Models over tags and the like order no words by themselves.
    known = {row["corpus"] for row in corpora.rows}
    corpora_of = {
        f"{row['name']}@{row['version']}": [
            corpus for corpus in row["corpora"].split(", ") if corpus in known
        ]
        for row in models.rows
        if row["over"] == "words"
    }
    labels = list(corpora_of)
    words = " ".join(query.raw("words").split())
    parameters = {
        # The last one first, and so the default: the newest version of its name.
        "model": query.choice("model", labels[::-1]) if labels else "",
        "units": query.choice("units", UNITS),
        "nbest": query.number("nbest", default("regenerate", "nbest"), least=1, most=10),
    }
    chosen = [name for name in query.all("algorithm") if name in algorithms]
    if not chosen:
        trees = await _have_trees(ask, corpora_of.get(str(parameters["model"]), []), str(parameters["units"]))
        chosen = list(_WITH_TREES if trees else _WITHOUT)
    attempts: list[_PageOutput] = []
    if words and not labels:
        models = models if models.problem else ask.problem("the store has no language model", 409)
    elif words:
        attempts = list(
            await asyncio.gather(*(_attempt(ask, algorithms[name], words, parameters) for name in chosen))
        )
    text = None if words else await examples.passage(ask)
    return {
        "examples": [] if text is None else [_example(text)],
        "words": words,
        "models": models,
        "labels": labels[::-1],
        "algorithms": list(algorithms.values()),
        "chosen": chosen,
        "attempts": attempts,
        **parameters,
        "attachment": ATTACHMENT,
        "levels": LEVELS,
        "word_columns": WORD,
    }


def _example(text: ExamplePassage) -> PageExample:
    """Return the words of a sentence in the order of the alphabet."""
    return PageExample(" ".join(text.words), {"words": " ".join(sorted(text.words))})


async def _have_trees(ask: Asking, corpora: Sequence[str], units: str) -> bool:
    """Return whether one of some corpora has trees: every tree has a root."""
    if not corpora:
        return False
    layer = "word" if units == "word" else "unit"
    answer = await ask("dependencies", head=RESERVED_WORDS[ROOT], corpus=list(corpora), layer=layer, limit=1)
    return bool(answer.rows)


def _algorithms() -> Mapping[str, Algorithm]:
    """Import the table when it is first shown, beside the requests; it imports numba, and plug-ins."""
    from sentgen.generation.algorithms import usable_algorithms

    return usable_algorithms()


async def _attempt(
    ask: Asking, algorithm: Algorithm, words: str, parameters: Mapping[str, object]
) -> _PageOutput:
    given = {"bag": [words], "algorithm": algorithm.name, **parameters}
    answer, explained = await asyncio.gather(
        ask("regenerate", **given, tree=algorithm.trees), ask("regenerate", **given, explain=True)
    )
    reasons = [[row for row in explained.rows if row["rank"] == sentence["rank"]] for sentence in answer.rows]
    return _PageOutput(algorithm, answer, explained, reasons, list(map(_steps, reasons)))


def _steps(reasons: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps of all attachments in their order; in each, what joined comes first."""
    steps = [{**step, "modifier": row["modifier"]} for row in reasons for step in row.get("steps") or ()]
    return sorted(steps, key=lambda step: (step["step"], step["event"] in ("empty", "moved", "kept")))


PAGES = (
    Page(
        "/regenerate",
        "Regenerate",
        "regenerate.html.j2",
        _view,
        asks=("models", "algorithms", "dependencies", "regenerate"),
    ),
)
