"""Generate: a cluster in, new sentences by length, with the stack behind each word."""

from __future__ import annotations

from collections.abc import Mapping

from sentgen.server.pages import examples
from sentgen.server.pages.examples import ExamplePassage, PageExample
from sentgen.server.pages.page import Asking, Page, PageParameters, default

ALGORITHMS = ("depviterbi", "bigram")
REUSE = ("none", "counts", "free")
TRANSITIONS = ("all", "seen")
FORMATS = ("detected", "conllu", "text")
#: Of the sentences of an example: those of long ones take longer to make.
_LENGTHS = "5-8"
TRACE = ("word", "ngram", "dep", "transition", "log10", "rule", "partner", "stack")


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Generate from the text that was pasted, or from a cluster of the store."""
    text, corpus = query.raw("file"), query.text("corpus")
    overview = await ask("corpora")
    form = query.choice("format", FORMATS)
    parameters = {
        "lengths": query.text("lengths", default("generate", "lengths")),
        "nbest": query.number("nbest", default("generate", "nbest"), least=1, most=10),
        "algorithm": query.choice("algorithm", ALGORITHMS),
        "weight": query.text("weight", str(default("generate", "weight"))),
        "reuse": query.choice("reuse", REUSE),
        "transitions": query.choice("transitions", TRANSITIONS),
    }
    answer = None
    if text.strip():
        answer = await ask(
            "generate",
            **parameters,
            # CoNLL-U ends a sentence with an empty line. Python 3.11 takes no backslash within the braces.
            file=f"{text.strip(chr(10))}\n\n",
            format="" if form == FORMATS[0] else form,
            tree=True,
            trace=True,
        )
    elif corpus:
        names = [query.raw("cluster")] if query.raw("cluster") else []
        answer = await ask("generate", **parameters, corpus=corpus, cluster=names, tree=True, trace=True)
    begin = None if text.strip() or corpus else await examples.passage(ask)
    return {
        "examples": [] if begin is None else _examples(begin),
        "text": text,
        "corpus": corpus,
        "cluster": query.raw("cluster"),
        "overview": overview,
        "answer": answer,
        "form": form,
        **parameters,
        "algorithms": ALGORITHMS,
        "reuses": REUSE,
        "transition_kinds": TRANSITIONS,
        "forms": FORMATS,
        "trace_columns": TRACE,
    }


def _examples(text: ExamplePassage) -> list[PageExample]:
    """Return what makes sentences from a document: with its trees if it has some, and without."""
    parameters = {"corpus": text.corpus, "cluster": text.document, "lengths": _LENGTHS}
    ways = ALGORITHMS if text.tree else ALGORITHMS[1:]
    return [PageExample(f"{text.document}, {way}", {**parameters, "algorithm": way}) for way in ways]


PAGES = (Page("/generate", "Generate", "generate.html.j2", _view, asks=("models", "algorithms", "generate")),)
