"""`sentgen align extract`: the sentences of documents from which abstracts would come."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.alignment.stored.extraction import SIZE, extracts, learn_extractor
from sentgen.cli.console.option_groups import LimitOption
from sentgen.cli.console.options import DbOption, MemoryOption, one_more, open_store
from sentgen.cli.console.output import Output, output_options

LearnOption = Annotated[str, typer.Option("--pairs", metavar="NAME", help="Aligned pairs to learn from.")]
AlignedOption = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="M", help="Model that aligned them; if not given, the priors."),
]
SizeOption = Annotated[int, typer.Option("--size", min=1, metavar="N", help="Sentences of each document.")]


@output_options
def extract(
    *,
    pairs: LearnOption,
    of: Annotated[
        str, typer.Option("--of", metavar="NAME", help="Corpus whose documents are read, of pairs or any.")
    ],
    model: AlignedOption = None,
    size: SizeOption = SIZE,
    limit: LimitOption = 20,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Learn from aligned pairs which sentences abstracts come from, and print those of other documents.

    Example: `sentgen align extract --pairs papers --of news --size 2`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        extractor = learn_extractor(store, pairs, model)
        sentences = extracts(store, extractor, of, size=size, limit=one_more(limit))
        out.first(sentences, limit, none=f"no documents in {of}")
