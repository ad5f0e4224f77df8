"""`sentgen reproduce`: the experiments of a paper, beside the figures that it reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import LOOKUP_SHARE, DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.evaluation.papers.paper import PaperRequest
from sentgen.evaluation.papers.papers import PAPERS, prepared
from sentgen.output.progress import counted


@output_options
def command(
    paper: Annotated[str, typer.Argument(metavar="|".join(PAPERS), help="The paper.")],
    *,
    ptb: Annotated[
        Path | None,
        typer.Option("--ptb", metavar="FOLDER", help="Penn Treebank WSJ, or its section 01 as in NLTK."),
    ] = None,
    lm_text: Annotated[
        list[str] | None,
        typer.Option(
            "--lm-text",
            metavar="PATH",
            help="Text for a second language model, as BLLIP in 2009; may be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the shuffle.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Threads that search.")] = 1,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Train and test as a paper did, and print its figures beside those that come out.

    With sections 02-22 and 23 of the Penn Treebank the data are those of the papers. With section 01 alone,
    as NLTK distributes it, files 0100-0179 are for training and 0180-0199 for testing, so that only the order
    of the systems can be compared. `literal` takes every literal reading of the paper, `defaults` those of
    sentgen; BLEU is lower-cased, tokenized as the treebank or (`13a`) as sacreBLEU does. Behind the paper's
    systems come those that it does not have, with the best model of the treebank: beam, beam with models over
    tags, classes and items, and joint. Corpora, models, runs and the published figures stay in the store.

    Example: `sentgen reproduce wan2009 --ptb wsj01 --db wan.duckdb`
    """
    if paper not in PAPERS:
        raise typer.BadParameter(f"{paper!r} is none of: {', '.join(PAPERS)}", param_hint="PAPER")
    with counted("sentences") as progress:
        request = PaperRequest(
            ptb=None if ptb is None else str(ptb),
            lm_text=lm_text or (),
            seed=seed,
            jobs=jobs,
            progress=progress,
            report=out.note,
        )
        # First: what cannot be used must not leave an empty store.
        run = prepared(paper, request)
        with open_store(db, create=True, memory_limit=memory_limit, share=LOOKUP_SHARE) as store:
            found = run(store)
    out.table(found.figures)
    if out.for_reading and found.tests.num_rows:
        typer.echo()
        out.table(
            found.tests, align={"p (sign)": "right", "p (shuffled)": "right"}, essential=("better", "by")
        )
    for note in found.notes:
        out.note(note)
