"""`sentgen evaluate alignment`: aligners against links that people drew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from sentgen.alignment import Pair
from sentgen.alignment.budget import DATABASE_SHARE, aligning_budget
from sentgen.alignment.reading import read_pairs
from sentgen.alignment.stored.stored_pairs import stored_pairs
from sentgen.alignment.systems import parse_specs
from sentgen.cli.console.options import DbOption, MemoryOption, open_store, parse_size
from sentgen.cli.console.output import Output, output_options
from sentgen.cli.console.progress import counted_each
from sentgen.evaluation.alignment.experiment import evaluate_alignment
from sentgen.evaluation.alignment.gold import GoldStandard, Possible
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.evaluation.alignment.measures import ignored_words, read_ignored
from sentgen.evaluation.alignment.pseudo import pseudo_documents
from sentgen.evaluation.alignment.report import alignment_report
from sentgen.evaluation.alignment.results import AlignmentResult, rows_of
from sentgen.evaluation.alignment.tables import agreement_table, figures_table
from sentgen.evaluation.alignment.target import Target
from sentgen.evaluation.report.folder import prepare_folder
from sentgen.evaluation.report.tables import differences_table, score_table
from sentgen.schema.store import default_memory_limit

#: Columns of figures beside one another on a terminal.
_WIDE = 6


@output_options
def alignment(
    *,
    gold: Annotated[str, typer.Option("--gold", metavar="PATH", help="Alignments that people made.")],
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="Their format: edinburgh, rte, mtref, multimwa, handalign or pharaoh.",
        ),
    ],
    systems: Annotated[
        str,
        typer.Option(
            "--systems",
            "-s",
            metavar="LIST",
            help="Systems with settings where wanted, such as pbhmm,pbhmm:MODEL,cut-and-paste:n=3,hmm.",
        ),
    ] = "pbhmm,cut-and-paste,lcs,model1,hmm,hmm-flipped",
    train: Annotated[
        list[str] | None,
        typer.Option(
            "--train", metavar="PATH", help="Pairs to learn from beside those of the gold; may be repeated."
        ),
    ] = None,
    train_pairs: Annotated[
        str | None,
        typer.Option("--train-pairs", metavar="NAME", help="Pairs of the store to learn from, too."),
    ] = None,
    combine: Annotated[
        str,
        typer.Option(
            "--combine",
            metavar="half|union|intersection|NAME",
            help="Links of several annotators: drawn by half of them, by any, by all, or by one.",
        ),
    ] = "half",
    possible: Annotated[
        str,
        typer.Option(
            "--possible", metavar="|".join(get_args(Possible)), help="What becomes of possible links."
        ),
    ] = "keep",
    ignore: Annotated[
        Path | None,
        typer.Option(
            "--ignore", metavar="FILE", help="Words that some figures leave out, one a line. Default: ours."
        ),
    ] = None,
    pseudo: Annotated[
        str | None,
        typer.Option(
            "--pseudo-documents",
            metavar="NxM",
            help="Put N documents together with M of their abstracts, shuffled, such as 22x8.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="Only the first N pairs.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of pseudo-documents, samples and tests.")
    ] = 1,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="DIR", help="Write tables, plots and examples into a folder."),
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Align pairs that people aligned, and compare: precision, recall, F, error rate, strict and soft.

    Prints for each system the figures of Daumé and Marcu 2004 and those of others, which systems differ, and
    how far annotators agree, if there are several. With another format than a table all of it comes with 95%
    intervals and signatures, as it goes into the table score of the store, where single pairs are, too;
    runs are in the table run, links in output. A system that is not installed is left out, and named.

    Example: `sentgen evaluate alignment --gold rte2 --format rte --systems pbhmm,cut-and-paste,hmm-flipped`
    """
    if possible not in get_args(Possible):
        names = ", ".join(get_args(Possible))
        raise typer.BadParameter(f"{possible!r} is none of: {names}", param_hint="--possible")
    specs, ignored = parse_specs(systems), ignored_words() if ignore is None else read_ignored(ignore)
    if report is not None:
        prepare_folder(report)
    read = _gold(gold, format, limit, pseudo, seed)
    target = Target(read, combine, cast(Possible, possible), ignored)
    memory = parse_size(memory_limit) or default_memory_limit()
    training: list[Pair] = list(read_pairs(*train)) if train else []
    with (
        open_store(db, create=True, memory_limit=str(memory), share=DATABASE_SHARE) as store,
        counted_each() as progress,
    ):
        if train_pairs is not None:
            training += stored_pairs(store, train_pairs)
        result = evaluate_alignment(
            store,
            target,
            specs,
            training=training,
            seed=seed,
            budget=aligning_budget(memory, with_store=True),
            parameters={
                "gold": gold,
                "format": format,
                "limit": limit,
                "pseudo-documents": pseudo,
                "train": train or [],
                "train-pairs": train_pairs,
            },
            progress=progress,
        )
    if report is not None:
        out.note(f"report: {alignment_report(result).write(report)[0]}")
    _show(result, out)
    out.note(f"run {result.run_id}: {result.seconds:.1f} s; links are in the table output")


def _gold(path: str, form: str, limit: int | None, pseudo: str | None, seed: int) -> GoldStandard:
    """Read the gold standard, and make pseudo-documents of it if they are wanted."""
    sizes = re.fullmatch(r"(\d+)x(\d+)", pseudo or "1x1", re.ASCII)
    if sizes is None:
        raise typer.BadParameter(f"{pseudo!r} is not such as 22x8", param_hint="--pseudo-documents")
    found = read_gold(path, form).first(limit)
    if pseudo is None:
        return found
    return pseudo_documents(found, documents=int(sizes[1]), abstracts=int(sizes[2]), seed=seed)


def _show(result: AlignmentResult, out: Output) -> None:
    """Print tables for reading, or one table of all figures."""
    for missing in result.missing:
        out.note(f"{missing.system} was left out: {missing.reason}")
    if not out.for_reading:
        out.table(score_table(rows_of(result), "pairs", len(result.pairs)))
        return
    tables = figures_table(result), differences_table(result), agreement_table(result)
    for table in (table for table in tables if table.rows):
        for columns in _that_fit(len(table.columns)):
            names = [table.columns[n] for n in columns]
            rows = [[row[n].replace("\n", " ") for n in columns] for row in table.rows]
            out.rows(names, rows, align=dict.fromkeys(names[1:], "right"))
            typer.echo()
        out.note(f"{table.title}. {table.note}")


def _that_fit(columns: int) -> list[list[int]]:
    """Split columns after the first one into parts that fit a terminal."""
    return [[0, *range(begin, min(begin + _WIDE, columns))] for begin in range(1, columns, _WIDE)]
