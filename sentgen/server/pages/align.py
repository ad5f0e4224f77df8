"""Align: a document and its abstract in, and where each phrase of the abstract comes from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sentgen.server.pages import examples
from sentgen.server.pages.examples import ExamplePassage, PageExample
from sentgen.server.pages.page import Asking, Page, PageParameters

#: Aligners that learn nothing from pairs, with what they are called on the page.
SYSTEMS = {
    "": "words and phrases, untrained (phrase-based HMM)",
    "preset:paper": "words and phrases as in the paper of 2004, untrained",
    "cut-and-paste": "copied blocks only (Cut & Paste, Jing 2002)",
    "lcs": "copied runs only, the longest first",
}
FORMATS = ("detected", "text", "conllu")
#: The package of all aligners that no plug-in adds.
_OURS = "sentgen"
#: How links are chosen, with what it is called on the page.
DECODINGS = {"": "as the aligner does", "posterior": "by a threshold", "viterbi": "by the best path"}
#: What becomes of a trained model on the page.
_TRAINED = "that can then be chosen as an aligner here"
#: Before the name of a model of the store, or of a preset, where a system is chosen.
_MODEL, _KINDS = "model:", ("model:", "preset:")


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Align the two texts that were pasted, with a model of the store or without."""
    document, abstract = query.raw("document"), query.raw("abstract")
    models, systems = await asyncio.gather(ask("alignment-models"), ask("aligners"))
    learnt = (row["model"] for row in models.rows if row["iterations"])
    trained = {f"{_MODEL}{model}": f"model of this store: {model}" for model in learnt}
    aligners = trained | SYSTEMS | added(systems.rows)
    chosen = query.choice("aligner", [*aligners])
    form = query.choice("format", FORMATS)
    decode, threshold = query.choice("decode", DECODINGS), query.text("threshold")
    answer = None
    if document.strip() and abstract.strip():
        kind, _, name = chosen.partition(":") if chosen.startswith(_KINDS) else ("system", "", chosen)
        parameters = {kind: name, "decode": decode, "threshold": threshold}
        parameters["format"] = "" if form == FORMATS[0] else form
        texts = {"document": document, "abstract": abstract}
        answer = await ask("align", **texts, **parameters, explain=True, html=True)
        # Who reads a page knows no parameter of that name.
        answer = replace(answer, notes=[note.replace("for `model`", _TRAINED) for note in answer.notes])
    begin = None if answer else await examples.passage(ask)
    return {
        "examples": [] if begin is None else _examples(begin),
        "document": document,
        "abstract": abstract,
        "models": models,
        "aligners": aligners,
        "chosen": chosen,
        "forms": FORMATS,
        "form": form,
        "decodings": DECODINGS,
        "decode": decode,
        "threshold": threshold,
        "answer": answer,
    }


def _examples(text: ExamplePassage) -> list[PageExample]:
    """Return a document with a summary in its own words, for two aligners."""
    parameters = {"document": " ".join(text.sentences), "abstract": examples.halves(text.sentences)}
    return [
        PageExample(
            f"{parameters['abstract']} ({SYSTEMS[system]})",
            {**parameters, "aligner": system, "format": "text"},
        )
        for system in ("", "lcs")
    ]


def added(rows: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the aligners of plug-ins, of a list of all."""
    plugins = (row for row in rows if row["package"] != _OURS)
    return {row["aligner"]: f"{row['aligner']} ({row['package']})" for row in plugins}


PAGES = (Page("/align", "Align", "align.html.j2", _view, asks=("aligners", "align")),)
