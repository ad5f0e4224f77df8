"""`sentgen evaluate`: experiments whose figures are kept in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from sentgen.cli.console.option_groups import asking
from sentgen.cli.console.options import LOOKUP_SHARE, DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.cli.console.progress import counted
from sentgen.cli.evaluate_alignment import alignment
from sentgen.cli.evaluate_generation import generation
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.figures.significance import Comparison
from sentgen.evaluation.regeneration.bleu import OVERLAP
from sentgen.evaluation.regeneration.report import regeneration_report
from sentgen.evaluation.regeneration.results import (
    PRIMARY,
    OrderingResult,
    RegenerationResult,
    rows_of,
)
from sentgen.evaluation.report.folder import prepare_folder
from sentgen.evaluation.report.tables import probability, score_table
from sentgen.evaluation.testset import read_test_set
from sentgen.generation import Search
from sentgen.generation.bag import UnitKind
from sentgen.generation.plan import SHARED
from sentgen.models import registry

app = typer.Typer(help="Run experiments; every figure is recorded in the store.", no_args_is_help=True)
app.command("generation")(generation)
app.command("alignment")(alignment)


@app.callback()
def main() -> None:
    """Run experiments; every figure is recorded in the store."""


@app.command()
@output_options
@asking(Search, "search", SHARED)
def regeneration(
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME[@VERSION]", help="Language model.")],
    test: Annotated[
        str, typer.Option("--test", metavar="PATH", help="Sentences to regenerate, in any format.")
    ],
    algorithms: Annotated[
        str,
        typer.Option(
            "--algorithms",
            "-a",
            metavar="LIST",
            help="Algorithms to compare, with settings where wanted, such as lmo,beam:beam=512,ab:q=paper.",
        ),
    ] = "lmo,greedy",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the shuffle, samples and tests.")] = 1,
    units: Annotated[
        str,
        typer.Option("--units", metavar="np|word", help="Keep base noun phrases whole, or break them up."),
    ] = "np",
    punct: Annotated[bool, typer.Option("--punct/--no-punct", help="Keep punctuation.")] = True,
    lowercase: Annotated[
        bool | None,
        typer.Option("--lowercase/--keep-case", help="Lower-case the test. Default: as the model's corpora."),
    ] = None,
    lengths: Annotated[
        bool, typer.Option("--by-length", help="Give BLEU by length of the sentence, too.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="DIR", help="Write tables, plots and examples into a folder."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="Threads that search; take times with 1.")
    ] = 1,
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="Format of the test; detected if not given.")
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    search: Search,
    out: Output,
) -> None:
    """Shuffle the units of test sentences, order them again, and compare with the original.

    Prints for each system corpus BLEU in three ways and chrF, the share of sentences that are exact and of
    neighbors that are right, Kendall's tau, the share of sentences whose real order the algorithm would have
    scored higher than its answer, the share of units on the right head, and milliseconds; then which systems
    differ. With another format than a table all of it comes with 95% intervals and signatures, as it goes
    into the table score of the store; runs are in the table run, sentences in output.

    Example: `sentgen evaluate regeneration --model ewt --test en_ewt-ud-dev.conllu --algorithms lmo,greedy`
    """
    if units not in ("np", "word"):
        raise typer.BadParameter(f"{units!r} is neither np nor word", param_hint="--units")
    if report is not None:
        prepare_folder(report)
    with (
        open_store(db, memory_limit=memory_limit, share=LOOKUP_SHARE) as store,
        counted("sentences") as progress,
    ):
        result = evaluate_regeneration(
            store,
            registry.find(store, model),
            read_test_set(test, form=format),
            [name.strip() for name in algorithms.split(",") if name.strip()],
            replace(search, seed=seed, units=cast(UnitKind, units), lowercase=lowercase),
            punctuation=punct,
            by_length=lengths or report is not None,
            jobs=jobs,
            source=test,
            progress=progress,
        )
    if report is not None:
        out.note(f"report: {regeneration_report(result).write(report)[0]}")
    _show(result, out)
    out.note(f"run {result.run_id}: seed {seed}, {result.seconds:.1f} s; sentences are in the table output")


def _show(result: RegenerationResult, out: Output) -> None:
    """Print tables for reading, or one table of all figures."""
    if not out.for_reading:
        out.table(score_table(rows_of(result), "sentences", len(result.references)))
        return
    _show_figures(result, out)
    if result.comparisons:
        _show_comparisons(result.comparisons, out)
    if result.lengths:
        _show_lengths(result, out)
    for name, signature in result.signatures.items():
        out.note(f"{name}: {signature}")


def _show_figures(result: RegenerationResult, out: Output) -> None:
    """Print overlap, order and times apart, so that each table fits a terminal."""
    overlap = [name for name in result.signatures if name in OVERLAP]
    order = [name for name in result.signatures if name not in OVERLAP]
    interval = f"95% of {PRIMARY}"
    ends = [f"{found.low:.2f} - {found.high:.2f}" for found in (s.intervals[PRIMARY] for s in result.systems)]
    rows = [[*_values(system, overlap), end] for system, end in zip(result.systems, ends, strict=True)]
    out.rows(["system", *overlap, interval], rows, align={interval: "right"})
    typer.echo()
    out.rows(["system", *order], [_values(system, order) for system in result.systems])
    typer.echo()
    times = [(system.system, *(f"{time.value:.2f} ms" for time in system.times)) for system in result.systems]
    out.rows(["system", "look-up", "search"], times, align={"look-up": "right", "search": "right"})


def _values(system: OrderingResult, metrics: Sequence[str]) -> list[object]:
    """Return the name of a system and its figures, None where it has none."""
    found = system.measurements
    return [system.system, *(found[name].value if name in found else None for name in metrics)]


def _show_comparisons(comparisons: Sequence[Comparison], out: Output) -> None:
    tests = ["p (sign)", "p (shuffled)", "p (Holm)"]
    rows = [
        (
            *(pair.worse, pair.better, pair.difference, pair.pluses, pair.minuses, pair.equal),
            *map(probability, (pair.sign_p, pair.shuffle_p, pair.holm)),
        )
        for pair in comparisons
    ]
    typer.echo()
    columns = ["worse", "better", "by", "+", "-", "=", *tests]
    out.rows(columns, rows, align=dict.fromkeys(tests, "right"))


def _show_lengths(result: RegenerationResult, out: Output) -> None:
    rows = [
        (system.system, *(score.value for score in result.by_length(system))) for system in result.systems
    ]
    typer.echo()
    out.rows(["words", *(f"{bucket.label} ({len(bucket.sentences)})" for bucket in result.lengths)], rows)
