"""Models, and what is made with them, each on a page.

Models: all, and some compared on a corpus; or one, its settings, perplexities, and how it backs off.
Regenerate: words in, sentences of several algorithms side by side, with trees and reasons.
Generate: a cluster in, new sentences by length, with the stack behind each word.
Fuse: a key sentence and related ones in, a new sentence out, each word with where it is from.
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


#: Columns of a comparison that have no room on a page.
_LEFT_OUT = ("tokens", "shared", "oov", *(f"hit_{n}" for n in range(1, 6)))


async def _model(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the models, or for one with what is asked of it."""
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
        "labels": _labels(models),
        "overview": overview,
        "subcorpora": subcorpora,
        "chosen": chosen,
        "corpus": corpus,
        "compared": compared,
        "left_out": _LEFT_OUT,
    }


def _labels(models: PageAnswer) -> list[str]:
    """Return the models that are asked about texts, those over words; the newest, likely wanted, is last."""
    return ["{name}@{version}".format(**row) for row in models.rows if row["over"] == "words"]


def _model_example(text: ExamplePassage) -> PageExample:
    """Return a sentence, and how the model gets the probability of its third word."""
    words = " ".join(text.words)
    return PageExample(words, {"ngram": " ".join(text.words[:3]), "text": words})


#: What is checked at first, where the corpora of the model have trees and where not.
_WITH_TREES, _WITHOUT = ("joint", "ab"), ("beam", "lmo")
_UNITS = ("np", "word")
#: What is shown of the reasons for an attachment; the command line gives all of it.
_ATTACHMENT = ("modifier", "side", "head", "log10_weight", "prob", "factor", "forced")
#: Levels of back-off (events as head and modifier, and pairs in a sentence), with what they are called.
_LEVELS = {"word": "words", "mixed": "word and tag", "tag": "tags"}
_WORD_COLUMNS = ("word", "ngram", "log10", "log10_backoff", "log10_total")


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


async def _regenerate(ask: Asking, query: PageParameters) -> Mapping[str, object]:
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


_ALGORITHMS = ("depviterbi", "bigram")
_REUSE = ("none", "counts", "free")
_TRANSITIONS = ("all", "seen")
_FORMATS = ("detected", "conllu", "text")
#: Of the sentences of an example: those of long ones take longer to make.
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
            # CoNLL-U ends a sentence with an empty line. Python 3.11 takes no backslash within the braces.
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
    """Return what makes sentences from a document: with its trees if it has some, and without."""
    parameters = {"corpus": text.corpus, "cluster": text.document, "lengths": _LENGTHS}
    ways = _ALGORITHMS if text.tree else _ALGORITHMS[1:]
    return [PageExample(f"{text.document}, {way}", {**parameters, "algorithm": way}) for way in ways]


#: What the form offers beside the algorithms that need a model.
_FUSIONS = {
    "revise": "revise: the tree of the key grows",
    "depviterbi": "depviterbi: search of 2005, without a model",
}


@dataclass(frozen=True, slots=True)
class _ShownFusion:
    """A sentence: its row, its stretches with where each is from, its words, and what was done to the key."""

    row: Mapping[str, Any]
    stretches: Sequence[tuple[str, str]]
    words: Sequence[Mapping[str, Any]]
    changes: Sequence[Mapping[str, Any]]


async def _fuse(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Fuse what was pasted, with a model of the store or without."""
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
            # CoNLL-U ends a sentence with an empty line.
            related=related.strip("\n") + "\n\n",
            format="" if form == _FORMATS[0] else form,
        )
    return {
        # Most documents have nothing that can be added: that of the operation has.
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
