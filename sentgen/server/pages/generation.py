"""The pages for models, and for sentences made with them.

Models: all models, and a comparison on a corpus; or one model, with its settings, perplexities and back-off.
Regenerate: sentences from given words by several algorithms, side by side, with trees and reasons.
Generate: new sentences from a cluster, by length, with the stack after each word.
Fuse: a new sentence from a key sentence and related ones, with the source of each word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sentgen.generation.fusion.answer import runs
from sentgen.schema.tables.corpus import RESERVED_WORDS, ROOT
from sentgen.server.operations import operations
from sentgen.server.pages.forms import ExamplePassage, PageExample
from sentgen.server.pages.page import Asking, Page, PageAnswer, PageParameters, default

if TYPE_CHECKING:
    from sentgen.generation import Algorithm


#: Columns of a comparison that the page leaves out for lack of room.
_LEFT_OUT = ("tokens", "shared", "oov", *(f"hit_{n}" for n in range(1, 6)))


async def _model(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the models, or for one model and the answers to the questions to it."""
    name, ngram, text = query.text("name"), query.text("ngram"), query.raw("text")
    if not name:
        return await _models(ask, query)

    lines = [line for line in text.splitlines() if line.strip()]
    about, backoff, scores = await asyncio.gather(
        ask("model", name=name),
        ask("backoff", model=name, ngram=ngram) if ngram else ask.nothing(),
        ask("score", model=name, text=lines) if lines else ask.nothing(),
    )
    begin = None if text or ngram else await ExamplePassage.choose(ask)
    return {
        "examples": [] if begin is None else [_model_example(begin)],
        "name": name,
        "about": about,
        "backoff": backoff,
        "scores": scores,
        "text": text,
        "ngram": ngram,
    }


async def _models(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the models, and for a comparison of the chosen ones."""
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
        "labels": _labels(models),
        "overview": overview,
        "subcorpora": subcorpora,
        "chosen": chosen,
        "corpus": corpus,
        "compared": compared,
        "left_out": _LEFT_OUT,
    }


def _labels(models: PageAnswer) -> list[str]:
    """Return the names of the models over words, with versions; the newest is last."""
    return ["{name}@{version}".format(**row) for row in models.rows if row["over"] == "words"]


def _model_example(text: ExamplePassage) -> PageExample:
    """Return an example: a sentence to score, and its first three words to show back-off."""
    words = " ".join(text.words)
    return PageExample(words, {"ngram": " ".join(text.words[:3]), "text": words})


#: Algorithms that are checked by default, if the corpora of the model have trees, and if not.
_WITH_TREES, _WITHOUT = ("joint", "ab"), ("beam", "lmo")
_UNITS = ("np", "word")
#: Columns that are shown of the reasons for an attachment; the command line gives all.
_ATTACHMENT = ("modifier", "side", "head", "log10_weight", "prob", "factor", "forced")
#: Levels of back-off for events of heads and modifiers, with their names on the page.
_LEVELS = {"word": "words", "mixed": "word and tag", "tag": "tags"}
_WORD_COLUMNS = ("word", "ngram", "log10", "log10_backoff", "log10_total")


@dataclass(frozen=True, slots=True)
class _PageOutput:
    """The sentences of one algorithm.

    ``reasons`` are those of each sentence, in their order, and ``steps`` the steps that found its tree.
    """

    algorithm: Algorithm
    answer: PageAnswer
    explained: PageAnswer
    reasons: Sequence[Sequence[Mapping[str, object]]]
    steps: Sequence[Sequence[Mapping[str, Any]]]


async def _regenerate(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask each algorithm twice: for its sentences with trees, and for the reasons."""
    models, corpora, algorithms = await asyncio.gather(
        ask("models"), ask("corpora"), asyncio.to_thread(_algorithms)
    )
    # Models over tags and the like cannot order words.
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
        # Reversed, so that the newest version is the default.
        "model": query.choice("model", labels[::-1]) if labels else "",
        "units": query.choice("units", _UNITS),
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
    text = None if words else await ExamplePassage.choose(ask)
    return {
        "examples": [] if text is None else [_regenerate_example(text)],
        "words": words,
        "models": models,
        "labels": labels[::-1],
        "algorithms": list(algorithms.values()),
        "chosen": chosen,
        "attempts": attempts,
        **parameters,
        "attachment": _ATTACHMENT,
        "levels": _LEVELS,
        "word_columns": _WORD_COLUMNS,
    }


def _regenerate_example(text: ExamplePassage) -> PageExample:
    """Return an example: the words of a sentence in alphabetical order."""
    return PageExample(" ".join(text.words), {"words": " ".join(sorted(text.words))})


async def _have_trees(ask: Asking, corpora: Sequence[str], units: str) -> bool:
    """Return whether one of the corpora has trees, by a search for roots."""
    if not corpora:
        return False
    layer = "word" if units == "word" else "unit"
    answer = await ask("dependencies", head=RESERVED_WORDS[ROOT], corpus=list(corpora), layer=layer, limit=1)
    return bool(answer.rows)


def _algorithms() -> Mapping[str, Algorithm]:
    """Return the table of algorithms, which imports numba and plug-ins when it is first shown."""
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
    """Return the steps of all attachments in their order; in each step, joined events come first."""
    steps = [{**step, "modifier": row["modifier"]} for row in reasons for step in row.get("steps") or ()]
    return sorted(steps, key=lambda step: (step["step"], step["event"] in ("empty", "moved", "kept")))


_ALGORITHMS = ("depviterbi", "bigram")
_REUSE = ("none", "counts", "free")
_TRANSITIONS = ("all", "seen")
_FORMATS = ("detected", "conllu", "text")
#: Lengths of the sentences of an example, as long ones take longer to make.
_LENGTHS = "5-8"
_TRACE = ("word", "ngram", "dep", "transition", "log10", "rule", "partner", "stack")


async def _generate(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Generate from the text that was pasted, or from a cluster of the store."""
    text, corpus = query.raw("file"), query.text("corpus")
    overview = await ask("corpora")
    form = query.choice("format", _FORMATS)
    parameters = {
        "lengths": query.text("lengths", default("generate", "lengths")),
        "nbest": query.number("nbest", default("generate", "nbest"), least=1, most=10),
        "algorithm": query.choice("algorithm", _ALGORITHMS),
        "weight": query.text("weight", str(default("generate", "weight"))),
        "reuse": query.choice("reuse", _REUSE),
        "transitions": query.choice("transitions", _TRANSITIONS),
    }
    answer = None
    if text.strip():
        answer = await ask(
            "generate",
            **parameters,
            # CoNLL-U ends a sentence with a blank line; Python 3.11 allows no backslash within the braces.
            file=f"{text.strip(chr(10))}\n\n",
            format="" if form == _FORMATS[0] else form,
            tree=True,
            trace=True,
        )
    elif corpus:
        names = [query.raw("cluster")] if query.raw("cluster") else []
        answer = await ask("generate", **parameters, corpus=corpus, cluster=names, tree=True, trace=True)
    begin = None if text.strip() or corpus else await ExamplePassage.choose(ask)
    return {
        "examples": [] if begin is None else _generate_examples(begin),
        "text": text,
        "corpus": corpus,
        "cluster": query.raw("cluster"),
        "overview": overview,
        "answer": answer,
        "form": form,
        **parameters,
        "algorithms": _ALGORITHMS,
        "reuses": _REUSE,
        "transition_kinds": _TRANSITIONS,
        "forms": _FORMATS,
        "trace_columns": _TRACE,
    }


def _generate_examples(text: ExamplePassage) -> list[PageExample]:
    """Return examples of sentences from a document: with its trees, if it has any, and without."""
    parameters = {"corpus": text.corpus, "cluster": text.document, "lengths": _LENGTHS}
    ways = _ALGORITHMS if text.tree else _ALGORITHMS[1:]
    return [PageExample(f"{text.document}, {way}", {**parameters, "algorithm": way}) for way in ways]


#: Choices of the form, in addition to the algorithms that need a model.
_FUSIONS = {
    "revise": "revise: the tree of the key grows",
    "depviterbi": "depviterbi: search of 2005, without a model",
}


@dataclass(frozen=True, slots=True)
class _ShownFusion:
    """A sentence: its row, its spans with their sources, its words, and the changes of the key sentence."""

    row: Mapping[str, Any]
    stretches: Sequence[tuple[str, str]]
    words: Sequence[Mapping[str, Any]]
    changes: Sequence[Mapping[str, Any]]


async def _fuse(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Fuse the pasted sentences, with a model of the store or without."""
    key, related, form = query.raw("key"), query.raw("related"), query.choice("format", _FORMATS)
    models, algorithms = await asyncio.gather(ask("models"), ask("algorithms"))
    labels = _labels(models)[::-1]
    offered = _FUSIONS | {row["algorithm"]: f"{row['algorithm']}: with a model" for row in algorithms.rows}
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
            # CoNLL-U ends a sentence with a blank line.
            related=related.strip("\n") + "\n\n",
            format="" if form == _FORMATS[0] else form,
        )
    return {
        # The example of the operation, as most documents have nothing that can be added.
        "examples": [] if answer else [_fuse_example()],
        "key": key,
        "related": related,
        "models": models,
        "labels": labels,
        "algorithms": offered,
        "forms": _FORMATS,
        "form": form,
        "answer": answer,
        "fused": [] if answer is None else list(_fused_sentences(answer)),
        "sources": [] if answer is None else list(_sources(answer)),
        **parameters,
    }


def _fused_sentences(answer: PageAnswer) -> Iterator[_ShownFusion]:
    for row in answer.rows:
        words, changes = (
            [each for each in answer.more.get(name, ()) if each["rank"] == row["rank"]]
            for name in ("words", "changes")
        )
        stretches = runs((word["word"], word["sentence"]) for word in words)
        yield _ShownFusion(row, stretches, words, changes)


def _sources(answer: PageAnswer) -> Iterator[tuple[int, list[tuple[str, bool]]]]:
    """Yield the key sentence, and each sentence with words in the new one, in spans that are used or not."""
    taken = {(word["sentence"], word["source_place"]) for word in answer.more.get("words", ())}
    for number, forms in enumerate(answer.more.get("sources", ()) if taken else ()):
        marked = [
            (form, number > 0 and (number, position) in taken) for position, form in enumerate(forms, 1)
        ]
        if number == 0 or any(was for _, was in marked):
            groups = groupby(marked, key=lambda pair: pair[1])
            yield number, [(" ".join(form for form, _ in group), was) for was, group in groups]


def _fuse_example() -> PageExample:
    parameters = operations()["fuse"].example
    return PageExample(
        "Survivors of the earthquake", {name: str(value) for name, value in parameters.items()}
    )


PAGES = (
    Page(
        "/model",
        "Models",
        "model.html.j2",
        _model,
        asks=("models", "model", "score", "compare_models", "backoff"),
    ),
    Page(
        "/regenerate",
        "Regenerate",
        "regenerate.html.j2",
        _regenerate,
        asks=("models", "algorithms", "dependencies", "regenerate"),
    ),
    Page("/generate", "Generate", "generate.html.j2", _generate, asks=("models", "algorithms", "generate")),
    Page("/fuse", "Fuse", "fuse.html.j2", _fuse, asks=("models", "algorithms", "fuse")),
)
