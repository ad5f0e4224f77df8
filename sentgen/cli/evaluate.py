"""`sentgen evaluate`: experiments whose figures are stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from sentgen.cli.console.options import LOOKUP_SHARE, Arrange, StoreOptions, report_into
from sentgen.cli.console.output import Output, OutputFormat, StoreOutput
from sentgen.cli.evaluate_alignment import alignment, extraction
from sentgen.cli.evaluate_generation import fusion, generation, judgments
from sentgen.corpus.parsers import Parser, open_parser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.figures.measurement import SystemComparison
from sentgen.evaluation.figures.report import Report, latex, probability, score_table
from sentgen.evaluation.regeneration.answers import Progress
from sentgen.evaluation.regeneration.bleu import overlap_metrics
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.experiment import (
    PRIMARY,
    OrderingResult,
    RegenerationResult,
    RegenerationSettings,
    evaluate_regeneration,
)
from sentgen.evaluation.regeneration.learning_curve import learning_curve
from sentgen.evaluation.regeneration.measures import ARGUMENT_ERRORS, VERB_ARGUMENTS
from sentgen.evaluation.regeneration.report import RegenerationReport, arguments_rows
from sentgen.evaluation.regeneration.stored_runs import compare_runs
from sentgen.generation.plan import SHARED
from sentgen.models import ModelInfo
from sentgen.models.base import registry
from sentgen.options import PARSERS, Option
from sentgen.output.progress import counting_bar
from sentgen.schema import Store

app = typer.Typer(help="Run experiments; every figure is recorded in the store.")
app.command("generation")(generation)
app.command("alignment")(alignment)
app.command("extraction")(extraction)
app.command("fusion")(fusion)
app.command("judgments")(judgments)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RegenerationExperiment(RegenerationSettings):
    """What is compared, and how: a search, of which ``algorithms`` have their own settings."""

    ORDER: ClassVar = (
        *("model", "test", "algorithms", "outputs", "curve", "seed", "units", "punct", "lowercase"),
        *("by_length", "jobs", "format", *SHARED),
    )

    model: Annotated[
        list[str],
        Option(
            "Language model, NAME or NAME@VERSION; may be repeated, and each system is run with each.",
            short="-m",
            metavar="NAME[@VERSION]",
            given=True,
        ),
    ]
    test: Annotated[str, Option("Sentences to regenerate, in any format.", metavar="PATH")]
    algorithms: Annotated[
        str,
        Option(
            "Algorithms to compare, with settings where wanted, such as lmo,beam:beam=512,ab:q=paper.",
            short="-a",
            metavar="LIST",
        ),
    ] = "lmo,beam"
    curve: Annotated[
        str | None,
        Option(
            "Learn from so many sentences of the model's corpora, or percents, drawn by the seed.",
            metavar="N,N%,...",
        ),
    ] = None
    format: Annotated[str | None, Option("Format of the test; detected if not given.", short="-f")] = None


@app.command()
def regeneration(
    *,
    request: _RegenerationExperiment,
    parser: Annotated[
        str | None,
        typer.Option(
            "--parser",
            metavar="PARSER",
            help=f"Measure verb arguments of the outputs by a parser: {PARSERS}.",
        ),
        Arrange(after="by_length"),
    ] = None,
    report: Annotated[
        Path | None, report_into("tables, plots and examples"), Arrange(after="by_length")
    ] = None,
    options: Annotated[StoreOptions, Arrange(after="format")],
    out: Output,
) -> None:
    """Shuffle the units of test sentences, order them again, and compare with the original.

    Prints for each system corpus BLEU in three ways and chrF, the share of sentences that are exact and of
    neighbors that are right, Kendall's tau, the share of sentences whose real order the algorithm would have
    scored higher than its answer, the share of units on the right head, errors in the numbers of arguments,
    with --parser how many verb arguments of the original the output has, and milliseconds; then which systems
    differ. With another format than a table all of it comes with 95% intervals and signatures, as it goes
    into the table score of the store; runs are in the table run, sentences in output.

    Example: `sentgen evaluate regeneration --model ewt --test en_ewt-ud-dev.conllu --algorithms lmo,beam`
    """
    if report is not None:
        # Before the work, so that a folder that cannot be written does not waste an hour.
        Report.prepare_folder(report)
    trees = open_parser(parser) if parser else None
    with (
        options.store(share=LOOKUP_SHARE) as store,
        counting_bar("sentences") as progress,
    ):
        if report is not None:  # which always has figures by length
            request = replace(request, by_length=True)
        result = _evaluate(store, request, trees, progress)
    if report is not None:
        out.note(f"report: {RegenerationReport(result).report().write(report)[0]}")
    _show(result, out)
    about = f"seed {request.seed}, {result.seconds:.1f} s; sentences are in the table output"
    out.note(f"run {result.run_id}: {about}")


def _evaluate(
    store: Store, request: _RegenerationExperiment, parser: Parser | None, progress: Progress | None
) -> RegenerationResult:
    """Run the experiment once, or for each size of a learning curve."""
    models = [registry.find(store, name) for name in request.model]
    algorithms = [name.strip() for name in request.algorithms.split(",") if name.strip()]
    sentences: Iterable[Sentence] = read_test_set(request.test, form=request.format)

    def evaluate(store: Store, model: ModelInfo | Sequence[ModelInfo]) -> RegenerationResult:
        return evaluate_regeneration(
            store,
            model,
            sentences,
            algorithms,
            request,
            parser=parser,
            source=request.test,
            progress=progress,
        )

    if request.curve is None:
        return evaluate(store, models)
    if len(models) > 1 or request.outputs:
        raise InputError("a curve is of one model, without outputs of others; leave them out")
    sentences = list(sentences)  # read once for each size
    return learning_curve(store, models[0], request.curve, request, evaluate)


@app.command()
def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN[:SYSTEM]...", help="Number of a run, with the name of one of its systems."
        ),
    ],
    *,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of samples and tests.")] = 1,
    out: StoreOutput,
) -> None:
    """Compare systems of recorded runs of evaluate regeneration, which must be over the same sentences.

    Nothing is put in order again: figures and tests are of the sentences in the table output. The comparison
    is recorded as a run of its own; its systems are called by run and name, such as 3:joint.

    Example: `sentgen evaluate compare 3:joint 7:joint`
    """
    with out.store() as store:
        result = compare_runs(store, runs, seed=seed)
    _show(result, out)
    out.note(f"run {result.run_id}: seed {seed}")


def _show(result: RegenerationResult, out: Output) -> None:
    """Print several tables for reading or for a paper, or one table of all figures."""
    if out.form is OutputFormat.LATEX:
        report = RegenerationReport(result)
        compared = [report.comparisons()] if result.comparisons else []
        arguments = [arguments] if (arguments := report.arguments()).rows else []
        lengths = [report.lengths()] if result.lengths else []
        typer.echo(latex([report.figures(), *compared, *arguments, *lengths]))
        return
    if not out.for_reading:
        out.table(score_table(result.rows(), "sentences", len(result.references)))
        return
    _show_figures(result, out)
    if result.comparisons:
        _show_comparisons(result.comparisons, out)
    if result.lengths:
        _show_lengths(result, out)
    for name, signature in result.signatures.items():
        out.note(f"{name}: {signature}")


def _show_figures(result: RegenerationResult, out: Output) -> None:
    """Print overlap, order and times in separate tables, so that each fits a terminal."""
    overlap = [name for name in result.signatures if name in overlap_metrics()]
    apart = {*overlap_metrics(), *ARGUMENT_ERRORS, VERB_ARGUMENTS}
    order = [name for name in result.signatures if name not in apart]
    interval = f"95% of {PRIMARY}"
    rows = [[*_values(system, overlap), _ends(system, PRIMARY, 2)] for system in result.systems]
    out.rows(["system", *overlap, interval], rows, align={interval: "right"})
    typer.echo()
    out.rows(["system", *order], [_values(system, order) for system in result.systems])
    if arguments := arguments_rows(result.systems):
        errors = [*ARGUMENT_ERRORS, "units"]
        typer.echo()
        out.rows(["system", *errors], arguments, align=dict.fromkeys(errors, "right"))
    if VERB_ARGUMENTS in result.signatures:
        interval = f"95% of {VERB_ARGUMENTS}"
        parsed = [
            [*_values(system, [VERB_ARGUMENTS]), _ends(system, VERB_ARGUMENTS, 4)]
            for system in result.systems
            if VERB_ARGUMENTS in system.measurements
        ]
        typer.echo()
        out.rows(["system", VERB_ARGUMENTS, interval], parsed, align={interval: "right"})
    times = [
        (system.system, *(f"{time.value:.2f} ms" for time in system.times.values()))
        for system in result.systems
        if system.times
    ]
    if times:
        typer.echo()
        out.rows(["system", "look-up", "search"], times, align={"look-up": "right", "search": "right"})


def _ends(system: OrderingResult, metric: str, digits: int) -> str:
    """Return the ends of the confidence interval of a figure."""
    _, low, high = system.with_ends(metric)
    return f"{low:.{digits}f} - {high:.{digits}f}"


def _values(system: OrderingResult, metrics: Sequence[str]) -> list[object]:
    """Return the name of a system and its figures, ``None`` for a missing one."""
    measurements = system.measurements
    return [system.system, *(measurements[name].value if name in measurements else None for name in metrics)]


def _show_comparisons(comparisons: Sequence[SystemComparison], out: Output) -> None:
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
    out.rows(columns, rows, align=dict.fromkeys(tests, "right"), essential=("better", "by", tests[-1]))


def _show_lengths(result: RegenerationResult, out: Output) -> None:
    rows = [
        (system.system, *(score.value for score in result.by_length(system))) for system in result.systems
    ]
    typer.echo()
    out.rows(["words", *(f"{bucket.label} ({len(bucket.sentences)})" for bucket in result.lengths)], rows)
