"""Lengths of sentences on the command line."""

from __future__ import annotations

import typer

from sentgen.errors import InputError
from sentgen.generation.clusters import clusters


def parse_lengths(text: str) -> list[int]:
    """Read lengths such as ``1-40`` or ``5,10-12``; sorted, each once.

    Raises:
        typer.BadParameter: a part is no length.
    """
    try:
        return clusters.parse_lengths(text)
    except InputError as error:
        raise typer.BadParameter(error.message, param_hint="--lengths") from error
