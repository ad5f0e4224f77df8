"""Alignment of abstracts with their documents, and checks whether documents support abstracts.

The last operations list aligners and other choices, with those of plug-ins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from sentgen.alignment import Aligner
from sentgen.alignment.baselines.external import External
from sentgen.alignment.choice import Choice
from sentgen.alignment.pairs.budget import Budget
from sentgen.alignment.texts import align_texts, as_json, json_schema
from sentgen.alignment.view.html import fragment
from sentgen.alignment.view.view import PairView
from sentgen.corpus.formats import check_format
from sentgen.errors import InputError, MemoryLimitError
from sentgen.evaluation.check.check import CheckRequest, WordLimits
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.server.operations.operation import (
    Context,
    Operation,
    Result,
    listing,
)

#: Share of the memory of a worker for alignment; DuckDB has most of the rest.
_SHARE = 0.55


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """A document and its abstract."""

    # Needed as the class is a field of a declaration, whose options forbid unknown names themselves.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    document: Annotated[str, Field(description="The document.")]
    abstract: Annotated[str, Field(description="Its abstract or summary.")]
    id: Annotated[str | int | None, Field(description="Stands in the row of this pair.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Align(Choice):
    """One document and its abstract, or a batch of pairs; each pair is aligned by itself.

    A pair of a batch that cannot be aligned has the reason in its row, and the others have their answers.
    """

    ORDER: ClassVar = ("document", "abstract", "pairs", *Choice.__annotations__, "format", "html")

    document: Annotated[str | None, Option("The document.", file="document")] = None
    abstract: Annotated[str | None, Option("Its abstract.", file="abstract")] = None
    pairs: Annotated[list[Texts], Option("Pairs, instead of one document and abstract.", line="each")] = (
        field(default_factory=list)
    )
    format: Annotated[str | None, Option("Format of the texts; detected if not given.")] = None
    html: Annotated[bool, Option("Give each pair as a part of a page, too.", line="hidden")] = False


def _align(context: Context, request: Align) -> Result:
    pairs = _pairs(request)
    context.check_size((1 for _ in pairs), "pair")
    check_format(request.format)  # first, as a wrong format is an error of the request, not of a pair
    # The kernel kills a worker that takes more memory; with a budget, the aligner refuses before, with a
    # message.
    budget = Budget.of_limit(context.opening.limits.memory, share=_SHARE)
    aligner, name = request.aligner(lambda: context.opened, budget=budget)
    # An external program would run outside the limits of this worker.
    if isinstance(aligner, External):
        raise InputError(f"{request.system!r} is a program, which the server does not run")
    answers = [_answer(context, request, aligner, pair, budget) for pair in pairs]
    views = [answer for answer in answers if isinstance(answer, PairView)]
    objects = [
        as_json(answer, model=name, explain=request.explain) if isinstance(answer, PairView) else {}
        for answer in answers
    ]
    if request.pairs:
        objects = [
            {"id": pair.id, "error": None if isinstance(answer, PairView) else str(answer), **values}
            for pair, answer, values in zip(pairs, answers, objects, strict=True)
        ]
    elif isinstance(refused := answers[0], InputError):
        raise refused
    html = [
        fragment(answer, explain=request.explain) if isinstance(answer, PairView) else None
        for answer in answers
    ]
    return Result(
        _table(objects),
        notes=request.notes(view.alignment for view in views),
        more={"html": html} if request.html else {},
    )


def _table(objects: Sequence[Mapping[str, object]]) -> Rows:
    columns = list(dict.fromkeys(name for values in objects for name in values))
    return Rows(columns, [tuple(map(values.get, columns)) for values in objects])


def _pairs(request: Align) -> list[Texts]:
    if request.pairs and (request.document is not None or request.abstract is not None):
        raise InputError("give either `pairs`, or one `document` and its `abstract`")
    if request.pairs:
        return request.pairs
    if request.document is None or request.abstract is None:
        missing = " and ".join(
            f"`{name}`" for name in ("document", "abstract") if getattr(request, name) is None
        )
        raise InputError(f"missing: {missing}; give a `document` and its `abstract`, or `pairs`")
    return [Texts(document=request.document, abstract=request.abstract)]


def _answer(
    context: Context, request: Align, aligner: Aligner, pair: Texts, budget: Budget
) -> PairView | InputError:
    """Align one pair, or return the error."""
    try:
        _check_sizes(context, pair)
        with (
            context.file("document", pair.document) as document,
            context.file("abstract", pair.abstract) as abstract,
        ):
            return align_texts(document, abstract, aligner, form=request.format, budget=budget)
    except MemoryLimitError:
        return MemoryLimitError("these texts take more memory than the server gives; ask for less")
    except InputError as error:
        return error


def _check_sizes(context: Context, pair: Texts) -> None:
    """Refuse texts that are too long, or whose product of lengths is too large."""
    # Before anything is tokenised or aligned, so that a refusal costs next to nothing.
    document, abstract = len(pair.document.split()), len(pair.abstract.split())
    most, cells = context.opening.limits.align_words, context.opening.limits.align_cells
    for name, size in (("document", document), ("abstract", abstract)):
        if size > most:
            raise InputError(f"has {quantity(size, 'word')}; at most {most:,} are taken", path=name)
    if document * abstract > cells:
        raise InputError(
            f"the texts have {document:,} x {abstract:,} words; at most {cells:,} word pairs are taken"
        )


def _row() -> dict[str, object]:
    """Return the JSON Schema of a row; that of a pair without an answer has only ``id`` and ``error``."""
    own: dict[str, object] = {
        "id": {
            "type": ["string", "integer", "null"],
            "description": "That of the pair, if `pairs` are sent.",
        },
        "error": {"type": ["string", "null"], "description": "Why it has no answer, or null."},
    }
    nothing = {"type": "null"}
    result_of = {name: {"anyOf": [kind, nothing]} for name, kind in json_schema()["properties"].items()}
    return {"type": "object", "properties": own | result_of}


_CHECKED = """\
1\tTrucks\ttruck\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tarrived\tarrive\tVERB\tVBD\t_\t0\troot\t_\t_

"""


def _check(context: Context, request: CheckRequest) -> Result:
    with (
        context.file("summary", request.summary) as summary,
        context.file("against", request.against) as source,
    ):
        limits = context.opening.limits
        words = WordLimits(Budget.of_limit(limits.memory, share=_SHARE), limits.align_cells)
        checked = replace(request, summary=summary, against=source).check(context.parser, limits=words)
    more: dict[str, object] = {}
    if checked.relations:
        more |= {
            "supported": checked.supported,
            "claims": len(checked.claims),
            "precision": checked.precision,
        }
    if checked.other_words:
        more["other_words"] = checked.reworded
    if checked.words or not checked.relations:
        more |= checked.word_counts
    return Result(checked.table(), notes=[*checked.figures(), *checked.notes], more=more)


OPERATIONS = (
    Operation(
        "check",
        "Which words and verb arguments of a summary its source supports.",
        "check",
        CheckRequest,
        _check,
        method="POST",
        example={"summary": _CHECKED, "against": _CHECKED},
    ),
    Operation(
        "align",
        "Where the phrases of an abstract come from in its document.",
        "align text",
        Align,
        _align,
        method="POST",
        example={
            "document": "Heavy rain flooded the camp on Monday. Trucks brought water to the people.",
            "abstract": "Trucks brought water to the flooded camp.",
        },
        row=_row(),
    ),
    listing("alignment-models", api=False),
    *map(listing, ("formats", "algorithms", "aligners", "scorers")),
)
