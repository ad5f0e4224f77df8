"""Aligning two texts for `Database.align`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sentgen.alignment.budget import Budget
from sentgen.alignment.choice import Choice, chosen_aligner, notes
from sentgen.alignment.texts import align_texts
from sentgen.api.arguments import declared
from sentgen.api.door import StoreSession
from sentgen.api.texts import AlignedTexts, as_file
from sentgen.output.progress import steps

#: Of the memory: DuckDB has most of the rest.
_SHARE = 0.55


def aligned(
    door: StoreSession, document: str | Path, abstract: str | Path, options: Mapping[str, Any]
) -> AlignedTexts:
    """Align two texts, with a model of the store if one is named."""
    given = dict(options)
    form = given.pop("format", None)
    with (
        door.reading() as store,
        as_file(document, "document") as first,
        as_file(abstract, "abstract") as second,
    ):
        choice = declared(Choice, given)
        budget = Budget.of_limit(door.memory, share=_SHARE)
        aligner, name = chosen_aligner(choice, lambda: store, budget=budget)
        with steps("aligning"):
            view = align_texts(first, second, aligner, form=form, budget=budget)
        return AlignedTexts(view, name, notes(choice, [view.alignment]))
