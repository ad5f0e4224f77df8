"""Where the phrases of abstracts come from in their documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sentgen.alignment.alignment import Aligner
from sentgen.alignment.baselines import aligner_named
from sentgen.alignment.external import External
from sentgen.alignment.html import fragment
from sentgen.alignment.model_store import list_models
from sentgen.alignment.pbhmm import untrained
from sentgen.alignment.settings import Settings
from sentgen.alignment.stored_model import stored_aligner
from sentgen.alignment.texts import align_texts, as_json, read_sentences
from sentgen.alignment.view import View
from sentgen.errors import InputError
from sentgen.server.operations.corpora import Nothing
from sentgen.server.operations.operation import HIDDEN, Context, Operation, Parameters, Result
from sentgen.tabular import Rows

_PRIORS = "priors only: nothing was learnt from pairs; `sentgen align train` makes a model for --model"


class Texts(BaseModel):
    """A document and its abstract."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document: str = Field(description="The document.")
    abstract: str = Field(description="Its abstract or summary.")


class Align(Parameters):
    """One document and its abstract, or a batch of pairs; each pair is aligned by itself."""

    document: str = Field("", description="The document.", json_schema_extra={"x-file": "document"})
    abstract: str = Field("", description="Its abstract.", json_schema_extra={"x-file": "abstract"})
    pairs: list[Texts] = Field(
        default_factory=list,
        description="Pairs, instead of one document and abstract.",
        json_schema_extra={"x-command-line": HIDDEN},
    )
    model: str | None = Field(None, max_length=200, description="A model of `sentgen align train`.")
    system: str | None = Field(
        None, max_length=200, description="Another aligner: NAME[:SETTING=VALUE], such as cut-and-paste."
    )
    preset: Literal["paper", "best"] = Field("best", description="Settings of the aligner without a model.")
    decode: Literal["viterbi", "posterior"] | None = Field(
        None, description="The best path, or links with a high posterior."
    )
    threshold: float | None = Field(None, ge=0, le=1, description="Least posterior of a link.")
    format: str | None = Field(None, description="Format of the texts; detected if not given.")
    html: bool = Field(
        False,
        description="Give each pair as a part of a page, too.",
        json_schema_extra={"x-command-line": HIDDEN},
    )


def align(context: Context, asked: Align) -> Result:
    """Answer `sentgen align text`, a row a pair."""
    pairs = asked.pairs or [Texts(document=asked.document, abstract=asked.abstract)]
    if asked.pairs and (asked.document or asked.abstract):
        raise InputError("give either `pairs`, or one `document` and its `abstract`")
    context.check_size((len(pair.document.split()) for pair in pairs), "document")
    context.check_size((len(pair.abstract.split()) for pair in pairs), "abstract")
    aligner, name = _aligner(context, asked)
    views = [_view(context, asked, aligner, pair) for pair in pairs]
    answers = [as_json(view, model=name) for view in views]
    notes = [] if asked.model or asked.system else [_PRIORS]
    more = {"html": [fragment(view) for view in views]} if asked.html else {}
    rows = [tuple(answer.values()) for answer in answers]
    return Result(Rows(list(answers[0]), rows), notes=notes, more=more)


def _view(context: Context, asked: Align, aligner: Aligner, pair: Texts) -> View:
    """Align one pair."""
    with (
        context.file("document", pair.document) as document,
        context.file("abstract", pair.abstract) as abstract,
    ):
        return align_texts(
            read_sentences(document, form=asked.format), read_sentences(abstract, form=asked.format), aligner
        )


def _aligner(context: Context, asked: Align) -> tuple[Aligner, str]:
    """Return the aligner, and what a reader is told of it; nothing that runs a program is offered."""
    if asked.system is not None:
        if asked.model or asked.decode or asked.threshold is not None:
            raise InputError("model, decode and threshold are of the phrase-based HMM; leave out the system")
        system = aligner_named(asked.system)
        if isinstance(system, External):
            raise InputError(f"{asked.system!r} is a program, which the server does not run")
        return system, asked.system
    if asked.model is not None:
        stored = stored_aligner(context.opened, asked.model)
        return replace(stored, settings=_settings(stored.settings, asked)), asked.model
    aligner = untrained(asked.preset)
    name = f"the phrase-based HMM, preset {asked.preset}, with its priors only"
    return replace(aligner, settings=_settings(aligner.settings, asked)), name


def _settings(settings: Settings, asked: Align) -> Settings:
    """Return settings with another choice of links."""
    if asked.decode is not None:
        settings = replace(settings, decode=asked.decode)
    if asked.threshold is not None:
        if settings.decode != "posterior":
            raise InputError("the best path has no threshold; choose decode posterior")
        settings = replace(settings, threshold=asked.threshold)
    return settings


def models(context: Context, asked: Nothing) -> Result:
    """Answer `sentgen align models`."""
    return Result(list_models(context.opened))


OPERATIONS = (
    Operation(
        "align",
        "Where the phrases of an abstract come from in its document.",
        "align text",
        Align,
        align,
        kind="compute",
        method="POST",
        example={
            "document": "Heavy rain flooded the camp on Monday. Trucks brought water to the people.",
            "abstract": "Trucks brought water to the flooded camp.",
        },
    ),
    Operation(
        "alignment-models",
        "Models that align.",
        "align models",
        Nothing,
        models,
        kind="compute",
        api=False,
    ),
)
