"""Fuse: a key sentence and related ones in, a new sentence out, each word with where it is from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sentgen.generation.fusion.answer import runs
from sentgen.server.operations import operations
from sentgen.server.pages.examples import PageExample
from sentgen.server.pages.page import Asking, Page, PageAnswer, PageParameters, default

#: What the form offers beside the algorithms that need a model.
ALGORITHMS = {
    "revise": "revise: the tree of the key grows",
    "depviterbi": "depviterbi: search of 2005, without a model",
}
FORMATS = ("detected", "conllu", "text")


@dataclass(frozen=True, slots=True)
class _ShownFusion:
    """A sentence: its row, its stretches with where each is from, its words, and what was done to the key."""

    row: Mapping[str, Any]
    stretches: Sequence[tuple[str, str]]
    words: Sequence[Mapping[str, Any]]
    changes: Sequence[Mapping[str, Any]]


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Fuse what was pasted, with a model of the store or without."""
    key, related, form = query.raw("key"), query.raw("related"), query.choice("format", FORMATS)
    models, algorithms = await asyncio.gather(ask("models"), ask("algorithms"))
    # The newest last: it is what is most likely wanted.
    labels = [f"{row['name']}@{row['version']}" for row in models.rows if row["over"] == "words"][::-1]
    offered = ALGORITHMS | {row["algorithm"]: f"{row['algorithm']}: with a model" for row in algorithms.rows}
    parameters = {
        "model": query.choice("model", ["", *labels]),
        "algorithm": query.choice("algorithm", offered),
        "words": query.number("words", default("fuse", "words"), least=1, most=100),
        "nbest": query.number("nbest", default("fuse", "nbest"), least=1, most=10),
        "weight": query.text("weight", str(default("fuse", "weight"))),
    }
    answer = None
    if key.strip() and related.strip():
        answer = await ask(
            "fuse",
            **parameters,
            key=key.strip(),
            # CoNLL-U ends a sentence with an empty line.
            related=related.strip("\n") + "\n\n",
            format="" if form == FORMATS[0] else form,
        )
    return {
        # Most documents have nothing that can be added: that of the operation has.
        "examples": [] if answer else [_example()],
        "key": key,
        "related": related,
        "models": models,
        "labels": labels,
        "algorithms": offered,
        "forms": FORMATS,
        "form": form,
        "answer": answer,
        "fused": [] if answer is None else list(_fused_sentences(answer)),
        "sources": [] if answer is None else list(_sources(answer)),
        **parameters,
    }


def _fused_sentences(answer: PageAnswer) -> Iterator[_ShownFusion]:
    """Yield the sentences of an answer."""
    for row in answer.rows:
        words, changes = (
            [each for each in answer.more.get(name, ()) if each["rank"] == row["rank"]]
            for name in ("words", "changes")
        )
        stretches = runs((word["word"], word["sentence"]) for word in words)
        yield _ShownFusion(row, stretches, words, changes)


def _sources(answer: PageAnswer) -> Iterator[tuple[int, list[tuple[str, bool]]]]:
    """Yield the key, and each sentence of which something was taken, in stretches that were taken or not."""
    taken = {(word["sentence"], word["source_place"]) for word in answer.more.get("words", ())}
    for number, forms in enumerate(answer.more.get("sources", ()) if taken else ()):
        marked = [
            (form, number > 0 and (number, position) in taken) for position, form in enumerate(forms, 1)
        ]
        if number == 0 or any(was for _, was in marked):
            groups = groupby(marked, key=lambda pair: pair[1])
            yield number, [(" ".join(form for form, _ in group), was) for was, group in groups]


def _example() -> PageExample:
    parameters = operations()["fuse"].example
    return PageExample(
        "Survivors of the earthquake", {name: str(value) for name, value in parameters.items()}
    )


PAGES = (Page("/fuse", "Fuse", "fuse.html.j2", _view, asks=("models", "algorithms", "fuse")),)
