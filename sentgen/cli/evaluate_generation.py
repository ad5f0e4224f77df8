"""`sentgen evaluate generation`: the experiment of Wan et al. 2005."""

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
from sentgen.evaluation.clusters.clusters import (
    Cluster,
    ClusterSet,
    read_clusters,
    reparsed,
    similar_clusters,
)
from sentgen.evaluation.clusters.experiment import (
    GenerationResult,
    StringMaker,
    Undefined,
    evaluate_generation,
)
from sentgen.evaluation.clusters.report import figure_rows, generation_report, strings_table, summary_table
from sentgen.evaluation.figures.report import latex, prepare_folder
from sentgen.generation.clusters.clusters import parse_lengths
from sentgen.generation.clusters.generate import Reranker
from sentgen.generation.clusters.prepared import CorpusDependencies
from sentgen.generation.clusters.request import ClusterSearch
from sentgen.generation.clusters.settings import read_salience
from sentgen.options import PARSERS, Option
from sentgen.output.progress import counting_bars


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
        prepare_folder(report)
    trees = open_parser(request.parser)
    with (
        out.store(create=True, share=LOOKUP_SHARE) as store,
        # Kept in the store: a second run, or another setting, parses only new strings.
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
        out.note(f"report: {generation_report(result).write(report)[0]}")
    _show(result, out)
    out.note(f"run {result.run_id}: {result.seconds:.1f} s; strings are in the table output")


def _clusters(request: _GenerationExperiment, parser: Parser) -> list[Cluster]:
    """Read the clusters with the trees that were asked for."""
    path, form, own = request.clusters, request.format, None if request.source_trees == "gold" else parser
    if request.derive is None:
        # Not read beyond the limit: parsing takes longest.
        clusters = list(islice(read_clusters(path, parser=own, form=form), request.limit))
    else:
        clusters = similar_clusters(list(read_trees(path, parser=own, form=form)), request.derive)[
            : request.limit
        ]
        if not clusters:
            raise InputError("has no sentences that are similar enough for a cluster", path=path)
    return reparsed(clusters, parser) if request.source_trees == "parser" else clusters


def _show(result: GenerationResult, out: Output) -> None:
    """Print a line a curve for reading, or one table of all figures."""
    tables = summary_table(result), strings_table(result)
    if out.form is OutputFormat.LATEX:
        typer.echo(latex(tables))
        return
    if not out.for_reading:
        out.table(figure_rows(result))
        return
    for table in tables:
        out.rows(table.columns, table.rows)
        out.note(table.note)
