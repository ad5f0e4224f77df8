"""The page Align: aligns each phrase of an abstract with its source in a document."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from sentgen.server.pages.forms import ExamplePassage, PageExample
from sentgen.server.pages.page import Asking, Page, PageParameters

#: Aligners that are not trained on pairs, with their names on the page.
_SYSTEMS = {
    "": "words and phrases, untrained (phrase-based HMM)",
    "preset:paper": "words and phrases as in the paper of 2004, untrained",
    "cut-and-paste": "copied blocks only (Cut & Paste, Jing 2002)",
    "lcs": "copied runs only, the longest first",
}
_FORMATS = ("detected", "text", "conllu")
#: Package of the aligners that do not come from plug-ins.
_OURS = "sentgen"
#: Ways to choose links, with their names on the page.
_DECODINGS = {"": "as the aligner does", "posterior": "by a threshold", "viterbi": "by the best path"}
#: Words on the page in place of the option of a command, about trained models.
_TRAINED = "that can then be chosen as an aligner here"
#: Prefixes of models of the store, and of presets, among the choices of a system.
_MODEL, _KINDS = "model:", ("model:", "preset:")


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Align the two texts that were pasted, with a model of the store or without."""
    document, abstract = query.raw("document"), query.raw("abstract")
    models, systems = await asyncio.gather(ask("alignment-models"), ask("aligners"))
    learnt = (row["model"] for row in models.rows if row["iterations"])
    trained = {f"{_MODEL}{model}": f"model of this store: {model}" for model in learnt}
    aligners = trained | _SYSTEMS | _added(systems.rows)
    chosen = query.choice("aligner", [*aligners])
    form = query.choice("format", _FORMATS)
    decode, threshold = query.choice("decode", _DECODINGS), query.text("threshold")
    answer = None
    if document.strip() and abstract.strip():
        kind, _, name = chosen.partition(":") if chosen.startswith(_KINDS) else ("system", "", chosen)
        parameters = {kind: name, "decode": decode, "threshold": threshold}
        parameters["format"] = "" if form == _FORMATS[0] else form
        texts = {"document": document, "abstract": abstract}
        answer = await ask("align", **texts, **parameters, explain=True, html=True)
        # Readers of the page do not know the parameter.
        answer = replace(answer, notes=[note.replace("for `model`", _TRAINED) for note in answer.notes])
    begin = None if answer else await ExamplePassage.choose(ask)
    return {
        "examples": [] if begin is None else _examples(begin),
        "document": document,
        "abstract": abstract,
        "models": models,
        "aligners": aligners,
        "chosen": chosen,
        "forms": _FORMATS,
        "form": form,
        "decodings": _DECODINGS,
        "decode": decode,
        "threshold": threshold,
        "answer": answer,
    }


def _examples(text: ExamplePassage) -> list[PageExample]:
    """Return examples for two aligners: a document, with an abstract of words from it."""
    parameters = {"document": " ".join(text.sentences), "abstract": _halves(text.sentences)}
    return [
        PageExample(
            f"{parameters['abstract']} ({_SYSTEMS[system]})",
            {**parameters, "aligner": system, "format": "text"},
        )
        for system in ("", "lcs")
    ]


def _halves(sentences: Sequence[str]) -> str:
    """Return an abstract in the words of a document: half of its first sentence, and half of its last one.

    >>> _halves(["Rain flooded the camp.", "It rained.", "Trucks brought clean water."])
    'Rain flooded clean water.'
    """
    first, last = sentences[0].split(), sentences[-1].split()
    return " ".join(chain(first[: (len(first) + 1) // 2], last[len(last) // 2 :]))


def _added(rows: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the names and labels of the aligners of plug-ins, from the list of all aligners."""
    plugins = (row for row in rows if row["package"] != _OURS)
    return {row["aligner"]: f"{row['aligner']} ({row['package']})" for row in plugins}


PAGES = (Page("/align", "Align", "align.html.j2", _view, asks=("aligners", "align")),)
