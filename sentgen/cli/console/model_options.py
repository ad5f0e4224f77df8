"""Options of the commands that build a model, in a store or in a lake."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.errors import InputError
from sentgen.models.building import build_request

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the model.")]
CorpusOption = Annotated[
    list[str], typer.Option("--corpus", metavar="NAME", help="Corpus to count; may be repeated.")
]
OrderOption = Annotated[int, typer.Option("--order", min=1, max=5, help="Highest order of n-grams.")]
MinCountOption = Annotated[
    str | None,
    typer.Option(
        "--min-count", metavar="N,N,...", help="Lowest count kept per order; the last one for the rest."
    ),
]


def parse_counts(text: str | None) -> list[int] | None:
    """Read numbers such as ``1,1,2``."""
    try:
        return build_request.parse_counts(text)
    except InputError as error:
        raise typer.BadParameter(error.message) from error
