"""Options of the commands that build a model, in a store or in a lake."""

from __future__ import annotations

from typing import Annotated

import typer

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
    if text is None:
        return None
    parts = text.split(",")
    # More digits than any count has; int() refuses some thousand of them with a traceback.
    if not all(part.strip().isdecimal() and len(part.strip()) <= 9 for part in parts):
        raise typer.BadParameter(
            f"{text[:40]!r} is no list of numbers; write it like 1,1,2", param_hint="--min-count"
        )
    return [int(part) for part in parts]
