"""`sentgen evaluate generation`, `fusion` and `judgments`: sentences from clusters of related ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import typer

from sentgen.cli.console.options import LOOKUP_SHARE, Arrange, mistakes, report_into
from sentgen.cli.console.output import Output, OutputFormat, StoreOutput
from sentgen.corpus.parsers import CachedParser, Parser, open_parser
from sentgen.corpus.reading import read_trees
from sentgen.errors import InputError
from sentgen.evaluation.check.verb_arguments import Spelling
from sentgen.evaluation.clusters.clusters import Cluster, ClusterSet, reparsed, similar_clusters
from sentgen.evaluation.clusters.experiment import (
    GenerationResult,
    StringMaker,
    Undefined,
    evaluate_generation,
)
from sentgen.evaluation.clusters.report import GenerationReport
from sentgen.evaluation.figures.report import Report, latex, score_table
from sentgen.evaluation.fusion.experiment import (
    DEFAULT,
    EXTRACTION,
    FusionCases,
    FusionResult,
    evaluate_fusion,
    parse_fusers,
    require_bleu,
)
from sentgen.evaluation.fusion.judging import CLUSTERS, NO, YES, JudgingSheet, Judgments
from sentgen.evaluation.fusion.report import FusionReport
from sentgen.generation.clusters.clusters import parse_lengths
from sentgen.generation.clusters.generate import Reranker
from sentgen.generation.clusters.prepared import CorpusDependencies
from sentgen.generation.clusters.request import ClusterSearch
from sentgen.generation.clusters.settings import read_salience
from sentgen.generation.fusion.answer import FusionRequest
from sentgen.options import PARSERS, Option
from sentgen.output.progress import counting_bars
from sentgen.output.wording import quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class _GenerationExperiment(ClusterSearch):
    """What is compared, and how."""

    LAST: ClassVar = tuple(ClusterSearch.__annotations__)

    clusters: Annotated[str, Option("Clusters: a document each, in any format.", metavar="PATH")]
    parser: Annotated[str, Option(f"Parser of the strings: {PARSERS}.", metavar="PARSER")]
    lengths: Annotated[str, Option("Words of the strings, such as 1-40 or 5,10.", metavar="RANGES")] = "1-40"
    source_trees: Annotated[
        Literal["own", "gold", "parser"],
        Option(
            "Trees of the sources: their own, else the parser's; their own, or nothing; the parser's.",
            closed=True,
            metavar="own|gold|parser",
        ),
    ] = "own"
    derive: Annotated[
        int | None, Option("Make N clusters of similar sentences from a treebank.", metavar="N", least=1)
    ] = None
    limit: Annotated[int | None, Option("Only the first N clusters.", short="-n", metavar="N", least=1)] = (
        None
    )
    function_heads: Annotated[
        bool, Option("Let case, mark, aux and cop head their phrase for the search (UD only).")
    ] = False
    lemmas: Annotated[bool, Option("Compare lemmas instead of forms.")] = False
    undefined: Annotated[
        Undefined,
        Option(
            "Leave strings without verb arguments out, or take their figures for zero.",
            closed=True,
            metavar="skip|zero",
        ),
    ] = "skip"
    fluency: Annotated[
        str | None, Option("Model of the store that says how fluent the strings are.", metavar="MODEL")
    ] = None
    format: Annotated[str | None, Option("Format of the clusters; detected if not given.", short="-f")] = None


def generation(
    *,
    request: _GenerationExperiment,
    report: Annotated[
        Path | None, report_into("plots, tables and strings"), Arrange(after="undefined")
    ] = None,
    out: StoreOutput,
) -> None:
    """Generate sentences from clusters, parse them, and look their verb arguments up in the cluster.

    The dependency-propagating search is compared with the bigram baseline: precision and recall of verb
    arguments by length, all, adjacent and long-distance, with the Wilcoxon signed-rank test. Runs, figures
    and strings go into the tables run, score and output of the store, parses are kept there.

    Example: `sentgen evaluate generation --clusters c.jsonl --parser udpipe:ewt.udpipe --report report`
    """
    settings = request.settings(read_salience(request.salience))
    with mistakes("--lengths"):
        lengths = parse_lengths(request.lengths)
    if report is not None:
        Report.prepare_folder(report)
    trees = open_parser(request.parser)
    with (
        out.store(create=True, share=LOOKUP_SHARE) as store,
        # Parses are stored, so that a second run, or another setting, parses only new strings.
        CachedParser(trees, store) as cached,
        counting_bars("clusters", "strings") as progress,
    ):
        result = evaluate_generation(
            store,
            ClusterSet(
                _clusters(request, cached),
                request.clusters,
                "function" if request.function_heads else "own",
            ),
            cached,
            lengths=lengths,
            system=StringMaker(
                settings,
                Reranker.named(store, request.rerank, request.rerank_weight),
                CorpusDependencies.named(store, request.dependencies),
            ),
            spelling=Spelling(lemmas=request.lemmas),
            undefined=request.undefined,
            fluency_model=request.fluency,
            progress=progress,
        )
    if report is not None:
        out.note(f"report: {GenerationReport(result).report().write(report)[0]}")
    _show(result, out)
    out.note(f"run {result.run_id}: {result.seconds:.1f} s; strings are in the table output")


def _clusters(request: _GenerationExperiment, parser: Parser) -> list[Cluster]:
    """Read the clusters, with trees from the file or from the parser."""
    path, form, own = request.clusters, request.format, None if request.source_trees == "gold" else parser
    if request.derive is None:
        # No more than the limit, as parsing takes longest.
        clusters = list(islice(Cluster.all_in(path, parser=own, form=form), request.limit))
    else:
        clusters = similar_clusters(list(read_trees(path, parser=own, form=form)), request.derive)[
            : request.limit
        ]
        if not clusters:
            raise InputError("has no sentences that are similar enough for a cluster", path=path)
    return reparsed(clusters, parser) if request.source_trees == "parser" else clusters


def _show(result: GenerationResult, out: Output) -> None:
    """Print a row per curve for reading, or one table of all figures."""
    shown = GenerationReport(result)
    tables = shown.summary(), shown.strings()
    if out.form is OutputFormat.LATEX:
        typer.echo(latex(tables))
        return
    if not out.for_reading:
        out.table(shown.figure_rows())
        return
    for table in tables:
        out.rows(table.columns, table.rows)
        out.note(table.note)


#: Most columns of a table for reading that fit a terminal, without the first.
_WIDE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _FusionExperiment(FusionRequest):
    """What is compared, and how: a request for fusion, whose algorithm is each of ``systems``."""

    ORDER: ClassVar = (
        *("clusters", "parser", "references", "systems", "model", "words", "weight", "lemmas", "limit"),
        *("seed", "judge", "judge_clusters", "format"),
    )

    clusters: Annotated[str, Option("Clusters: a document each, in any format.", metavar="PATH")]
    parser: Annotated[str, Option(f"Parser of the sentences: {PARSERS}.", metavar="PARSER")]
    references: Annotated[
        int, Option("Sentences at the end of a cluster to hold back as references.", metavar="N", least=1)
    ] = 2
    systems: Annotated[
        str,
        Option(
            f"Systems to compare: algorithms of fuse; or extraction: {' or '.join(EXTRACTION)}.",
            short="-s",
            metavar="LIST",
        ),
    ] = ",".join(DEFAULT)
    lemmas: Annotated[bool, Option("Compare lemmas of verb arguments instead of forms.")] = False
    limit: Annotated[int | None, Option("Only the first N clusters.", short="-n", metavar="N", least=1)] = (
        None
    )
    seed: Annotated[int, Option("Seed of the shuffle, samples and tests.", least=0)] = 1
    judge: Annotated[
        Path | None,
        Option("Write a sheet of the sentences to judge, without the names of systems.", metavar="FILE"),
    ] = None
    judge_clusters: Annotated[int, Option("Clusters on that sheet, at most.", metavar="N", least=1)] = (
        CLUSTERS
    )
    format: Annotated[str | None, Option("Format of the clusters; detected if not given.", short="-f")] = None


def fusion(
    *,
    request: _FusionExperiment,
    report: Annotated[
        Path | None, report_into("tables, a plot and sentences"), Arrange(after="judge_clusters")
    ] = None,
    out: StoreOutput,
) -> None:
    """Fuse the sentences of clusters, and compare with references that were held back.

    The first sentence of a cluster is the key, the last ones are the references; JSON Lines may say which is
    which, with the keys `key`, `related` and `references`. Fusion stands beside the search of 2005 and beside
    extraction: the key itself, and `central`, the input that has the highest BLEU to the others. Prints
    for each system how often it has a sentence and how often a copied one, BLEU to the references, precision
    and recall of verb arguments against inputs and references, and which systems differ. With another format
    than a table all of it comes with 95% intervals and signatures, as it goes into the table score of the
    store; runs are in the table run, sentences in output. A sheet of --judge is read with
    `sentgen evaluate judgments`.

    Example: `sentgen evaluate fusion --clusters c.jsonl --parser udpipe:ewt.udpipe --judge sheet.tsv`
    """
    require_bleu()
    if report is not None:
        Report.prepare_folder(report)
    names = [name.strip() for name in request.systems.split(",") if name.strip()]
    if request.judge is not None:
        JudgingSheet(request.judge).systems(names)
    trees = open_parser(request.parser)
    with (
        out.store(create=True, share=LOOKUP_SHARE) as store,
        # Parses are stored, so that a second run, or another system, parses only new sentences.
        CachedParser(trees, store) as cached,
        counting_bars("clusters", "sentences") as progress,
    ):
        with mistakes("--systems"):
            systems = parse_fusers(names, request, store)
        source = FusionCases.read(
            request.clusters,
            parser=cached,
            references=request.references,
            form=request.format,
            limit=request.limit,
        )
        result = evaluate_fusion(
            store,
            source,
            cached,
            systems,
            spelling=Spelling(lemmas=request.lemmas),
            seed=request.seed,
            parameters={name: getattr(request, name) for name in ("model", "words", "weight")},
            progress=progress,
        )
    if source.short:
        out.note(f"{quantity(source.short, 'cluster')} left out: too few sentences to hold some back")
    _write(result, request, report, out)
    if out.for_reading:
        shown = FusionReport(result)
        out.reports((shown.figures(), shown.tests()), wide=_WIDE)
    else:
        out.table(score_table(result.rows(), "clusters", len(result.cases)))
    out.note(f"run {result.run_id}: {result.seconds:.1f} s; sentences are in the table output")


def judgments(
    sheet: Annotated[
        Path, typer.Argument(metavar="SHEET", help="A sheet of evaluate fusion --judge, filled in.")
    ],
    *,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the tests.")] = 1,
    out: Output,
) -> None:
    """Count the judgments of a sheet, by system.

    The column judgment says of each sentence whether it is grammatical, `yes` or `no`; empty ones are left
    out. The file beside the sheet, whose name ends in .answers.tsv, tells which system made which sentence.

    Example: `sentgen evaluate judgments sheet.tsv`
    """
    judged = Judgments.read(sheet, seed=seed)
    tables = judged.table(), judged.differences()
    if out.for_reading:
        out.reports(tables, wide=_WIDE)
    else:
        ends = (
            (system.name, system.good, system.judged, system.good / system.judged, *system.interval)
            for system in judged.systems
        )
        out.rows(["system", "grammatical", "judged", "share", "low", "high"], list(ends))


def _write(result: FusionResult, request: _FusionExperiment, report: Path | None, out: Output) -> None:
    if report is not None:
        out.note(f"report: {FusionReport(result).report().write(report)[0]}")
    if request.judge is not None:
        sheet, sentences = JudgingSheet(request.judge), {each.system: each.answers for each in result.systems}
        written = sheet.write(
            result.cases,
            {name: sentences[name] for name in sheet.systems(list(sentences))},
            seed=request.seed,
            clusters=request.judge_clusters,
        )
        out.note(
            f"{quantity(written, 'sentence')} to judge: write {YES} or {NO} into {request.judge};"
            f" which is whose, {sheet.answers_path} says"
        )
