"""`sentgen evaluate alignment` and `evaluate extraction`: links, and the sentences that they choose."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, get_args

import typer

from sentgen.alignment import Pair
from sentgen.alignment.pairs.budget import ALIGNMENT_DATABASE_SHARE, Budget
from sentgen.alignment.stored.extraction import SIZE
from sentgen.alignment.stored.stored_pairs import stored_pairs
from sentgen.alignment.systems import parse_specs
from sentgen.alignment.texts import read_pairs
from sentgen.cli.console.options import AlignedOption, LearnOption, SizeOption, report_into
from sentgen.cli.console.output import Output, OutputFormat, StoreOutput
from sentgen.errors import InputError
from sentgen.evaluation.alignment.experiment import AlignmentResult, Target, evaluate_alignment
from sentgen.evaluation.alignment.extraction import evaluate_extraction
from sentgen.evaluation.alignment.gold import Possible, pseudo_sizes
from sentgen.evaluation.alignment.gold_readers import (
    CombineOption,
    GoldFormatOption,
    GoldOption,
    LimitOption,
    read_gold,
)
from sentgen.evaluation.alignment.measures import ignored_words, read_ignored
from sentgen.evaluation.alignment.report import AlignmentReport
from sentgen.evaluation.figures.report import ExperimentReport, Report, latex, score_table
from sentgen.options import Option
from sentgen.output.progress import counting_bars
from sentgen.output.wording import quantity

#: Most columns of figures in a table on a terminal.
_WIDE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class _AlignmentExperiment:
    """What is compared with the links of people, and how."""

    gold: GoldOption
    format: GoldFormatOption
    systems: Annotated[
        str,
        Option(
            "Systems with settings where wanted, such as pbhmm,pbhmm:MODEL,cut-and-paste:n=3,hmm.",
            short="-s",
            metavar="LIST",
        ),
    ] = "pbhmm,cut-and-paste,lcs,model1,hmm,hmm-flipped"
    train: Annotated[
        list[str],
        Option("Pairs to learn from beside those of the gold; may be repeated.", metavar="PATH"),
    ] = field(default_factory=list)
    train_pairs: Annotated[str | None, Option("Pairs of the store to learn from, too.", metavar="NAME")] = (
        None
    )
    combine: CombineOption = "half"
    possible: Annotated[
        Possible,
        Option("What becomes of possible links.", closed=True, metavar="|".join(get_args(Possible))),
    ] = "keep"
    ignore: Annotated[
        Path | None,
        Option("Words that some figures leave out, one a line. Default: ours.", metavar="FILE"),
    ] = None
    pseudo_documents: Annotated[
        str | None,
        Option("Put N documents together with M of their abstracts, shuffled, such as 22x8.", metavar="NxM"),
    ] = None
    limit: LimitOption = None
    seed: Annotated[int, Option("Seed of pseudo-documents, samples and tests.", least=0)] = 1

    @property
    def parameters(self) -> dict[str, object]:
        names = ("gold", "format", "limit", "pseudo_documents", "train", "train_pairs")
        return {name.replace("_", "-"): getattr(self, name) for name in names}

    def target(self) -> Target:
        """Read what the systems are compared with, in pseudo-documents if they are wanted."""
        try:
            documents, abstracts = pseudo_sizes(self.pseudo_documents or "1x1")
        except InputError as error:  # an error of usage, not of a file
            raise typer.BadParameter(error.message, param_hint="--pseudo-documents") from error
        ignored = ignored_words() if self.ignore is None else read_ignored(self.ignore)
        gold = read_gold(self.gold, self.format).first(self.limit)
        if self.pseudo_documents is not None:
            gold = gold.pseudo_documents(documents=documents, abstracts=abstracts, seed=self.seed)
        return Target(gold, self.combine, self.possible, ignored)


def alignment(
    *,
    request: _AlignmentExperiment,
    report: Annotated[Path | None, report_into("tables, plots and examples")] = None,
    out: StoreOutput,
) -> None:
    """Align pairs that people aligned, and compare: precision, recall, F, error rate, strict and soft.

    Prints for each system the figures of Daumé and Marcu 2004 and those of others, which systems differ, and
    how far annotators agree, if there are several. With another format than a table all of it comes with 95%
    intervals and signatures, as it goes into the table score of the store, where single pairs are, too;
    runs are in the table run, links in output. A system that is not installed is left out, and named.

    Example: `sentgen evaluate alignment --gold rte2 --format rte --systems pbhmm,cut-and-paste,hmm-flipped`
    """
    specs = parse_specs(request.systems)
    if report is not None:
        Report.prepare_folder(report)
    target = request.target()
    memory = out.memory
    # Before the store is opened, and perhaps made, so that files that cannot be read leave nothing.
    training: list[Pair] = list(read_pairs(*request.train)) if request.train else []
    with (
        out.store(create=True, share=ALIGNMENT_DATABASE_SHARE) as store,
        counting_bars() as progress,
    ):
        if request.train_pairs is not None:
            training += stored_pairs(store, request.train_pairs)
        result = evaluate_alignment(
            store,
            target,
            specs,
            training=training,
            seed=request.seed,
            # Without the share of DuckDB.
            budget=Budget.to_align(memory, with_store=True),
            parameters=request.parameters,
            progress=progress,
        )
    if report is not None:
        out.note(f"report: {AlignmentReport(result).report().write(report)[0]}")
    _show(result, out)
    out.note(f"run {result.run_id}: {result.seconds:.1f} s; links are in the table output")


def _show(result: AlignmentResult, out: Output) -> None:
    """Print tables for reading, or one table of all figures."""
    for missing in result.missing:
        out.note(f"{missing.system} was left out: {missing.reason}")
    if not out.for_reading and out.form is not OutputFormat.LATEX:
        out.table(score_table(result.rows(), "pairs", len(result.pairs)))
        return
    report = AlignmentReport(result)
    tables = (
        report.figures(),
        report.new_words(),
        report.sources(),
        report.differences(),
        report.agreement(),
    )
    shown = [table for table in tables if table.rows]
    if out.form is OutputFormat.LATEX:
        typer.echo(latex(shown))
        return
    out.reports(shown, wide=_WIDE)


def extraction(
    *,
    pairs: LearnOption,
    of: Annotated[str, typer.Option("--of", metavar="NAME", help="Aligned pairs to test it on.")],
    model: AlignedOption = None,
    size: SizeOption = SIZE,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of samples and tests.")] = 1,
    out: StoreOutput,
) -> None:
    """Learn from aligned pairs which sentences abstracts come from, and test it on other aligned pairs.

    Beside the extractor stand the first sentences of each document (`lead`), those most like the document
    (`salience`), and those from which most words of the abstract come (`alignment`), which no system knows.

    Example: `sentgen evaluate extraction --pairs train --of dev --size 1`
    """
    with out.store() as store:
        result = evaluate_extraction(store, pairs, of, model, size=size, seed=seed)
    if not out.for_reading:
        out.table(score_table(result.rows(), "pairs", result.pairs))
        return
    figures = [
        (system.system, *system.with_ends("rouge-1"), system.value("rouge-2"), system.value("source-f1"))
        for system in result.ranked
    ]
    rows = [(name, *(100 * value for value in values)) for name, *values in figures]
    out.rows(("system", "ROUGE-1", "low", "high", "ROUGE-2", "source F1"), rows)
    differences = ExperimentReport(result).differences()
    typer.echo()
    out.report(differences)
    about = f"{quantity(result.pairs, 'pair')}, {quantity(size, 'sentence')} a document, in percent"
    out.note(f"{about}; run {result.run_id}")
    out.note(f"{differences.title}. {differences.note}")
