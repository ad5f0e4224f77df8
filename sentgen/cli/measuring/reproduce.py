"""`sentgen reproduce`: the experiments of a paper, beside the figures that it reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import LOOKUP_SHARE, DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.evaluation.regeneration.penn_treebank import split_treebank
from sentgen.evaluation.regeneration.reproduce import PAPERS, PaperColumn, reproduce
from sentgen.evaluation.regeneration.results import RegenerationResult
from sentgen.output.progress import counted
from sentgen.output.wording import quantity

COLUMNS = ["figure", "algorithm", "published", "literal", "defaults", "literal-13a", "defaults-13a"]
_BEYOND = "beyond the paper"


@output_options
def command(
    paper: Annotated[str, typer.Argument(metavar="wan2007|wan2009", help="The paper.")],
    *,
    ptb: Annotated[
        Path,
        typer.Option("--ptb", metavar="FOLDER", help="Penn Treebank WSJ, or its section 01 as in NLTK."),
    ],
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
    # First: a folder that is none must not leave an empty store.
    split = split_treebank(str(ptb))
    with (
        open_store(db, create=True, memory_limit=memory_limit, share=LOOKUP_SHARE) as store,
        counted("sentences") as progress,
    ):
        found = reproduce(
            store,
            paper,
            split,
            lm_text=lm_text or (),
            seed=seed,
            jobs=jobs,
            progress=progress,
            report=out.note,
        )
    rows = [row for column in found.columns for row in _rows(column)]
    out.rows(COLUMNS, [*rows, *(_rows_beyond(found.beyond.result) if found.beyond else [])])
    tested = quantity(len(found.columns[0].result.references), "test sentence")
    out.note(f"{found.split.title}, {tested}, seed {seed}")
    for column in found.columns:
        out.note(f"{column.table.citation}: run {column.result.run_id}, model {column.model.label}")
    if found.beyond:
        out.note(f"{_BEYOND}: run {found.beyond.result.run_id}, model {found.beyond.model.label}")


def _rows_beyond(result: RegenerationResult) -> list[tuple[object, ...]]:
    none, other = "bleu-lc-none", "bleu-lc-13a"
    return [
        (_BEYOND, one.system, None, None, one.value(none), None, one.value(other)) for one in result.systems
    ]


def _rows(column: PaperColumn) -> list[tuple[object, ...]]:
    systems = {system.system: system for system in column.result.systems}
    return [
        (
            column.table.citation,
            name,
            published,
            *(
                systems[system].value(metric)
                for metric in ("bleu-lc-none", "bleu-lc-13a")
                for system in (literal, default)
            ),
        )
        for name, published, literal, default in column.rows()
    ]
