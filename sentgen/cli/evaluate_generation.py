"""`sentgen evaluate generation`: the experiment of Wan et al. 2005."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sentgen.cli.console.lengths import parse_lengths
from sentgen.cli.console.options import LOOKUP_SHARE, DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.cli.console.progress import counted_each
from sentgen.corpus.parsers import CachedParser, Parser, open_parser
from sentgen.corpus.sentences import read_trees
from sentgen.errors import InputError
from sentgen.evaluation.check.verb_arguments import Spelling
from sentgen.evaluation.clusters.clusters import (
    Cluster,
    ClusterSet,
    read_clusters,
    reparsed,
    similar_clusters,
)
from sentgen.evaluation.clusters.experiment import evaluate_generation
from sentgen.evaluation.clusters.report import generation_report
from sentgen.evaluation.clusters.results import GenerationResult
from sentgen.evaluation.clusters.tables import figure_rows, summary_table
from sentgen.evaluation.report.folder import prepare_folder
from sentgen.generation.clusters.generate import GenerationSettings

#: Whose trees the sources have.
_TREES = ("own", "gold", "parser")


@output_options
def generation(
    *,
    clusters: Annotated[
        str, typer.Option("--clusters", metavar="PATH", help="Clusters: a document each, in any format.")
    ],
    parser: Annotated[
        str,
        typer.Option("--parser", metavar="PARSER", help="Parser of the strings, such as udpipe:FILE."),
    ],
    lengths: Annotated[
        str, typer.Option("--lengths", metavar="RANGES", help="Words of the strings, such as 1-40 or 5,10.")
    ] = "1-40",
    source_trees: Annotated[
        str,
        typer.Option(
            "--source-trees",
            metavar="|".join(_TREES),
            help="Trees of the sources: their own, else the parser's; their own, or nothing; the parser's.",
        ),
    ] = "own",
    derive: Annotated[
        int | None,
        typer.Option(
            "--derive", metavar="N", min=1, help="Make N clusters of similar sentences from a treebank."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="Only the first N clusters.")
    ] = None,
    weight: Annotated[
        float, typer.Option("--weight", min=0, max=1, help="Weight of the dependencies beside the bigrams.")
    ] = 0.5,
    reuse: Annotated[
        str, typer.Option("--reuse", metavar="none|counts|free", help="How often a word may be used.")
    ] = "none",
    transitions: Annotated[
        str,
        typer.Option(
            "--transitions",
            metavar="all|seen",
            help="A word may follow any other, or only one that it follows in the cluster.",
        ),
    ] = "all",
    function_heads: Annotated[
        bool,
        typer.Option(
            "--function-heads",
            help="Let case, mark, aux and cop head their phrase for the search (UD only).",
        ),
    ] = False,
    smoothing: Annotated[
        str, typer.Option("--smoothing", metavar="none|collins", help="Back-off of the dependencies.")
    ] = "none",
    salience: Annotated[
        str, typer.Option("--salience", metavar="uniform|unigram|tfidf", help="Content selection.")
    ] = "uniform",
    beam: Annotated[
        int | None, typer.Option("--beam", metavar="N", min=1, help="Hypotheses a length and word.")
    ] = None,
    punct: Annotated[bool, typer.Option("--punct/--no-punct", help="Keep punctuation.")] = True,
    lowercase: Annotated[
        bool, typer.Option("--lowercase/--keep-case", help="Lower-case the words of the clusters.")
    ] = False,
    lemmas: Annotated[bool, typer.Option("--lemmas", help="Compare lemmas instead of forms.")] = False,
    undefined: Annotated[
        str,
        typer.Option(
            "--undefined",
            metavar="skip|zero",
            help="Leave strings without verb arguments out, or take their figures for zero.",
        ),
    ] = "skip",
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="DIR", help="Write plots, tables and strings into a folder."),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="Format of the clusters; detected if not given.")
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Generate sentences from clusters, parse them, and look their verb arguments up in the cluster.

    The dependency-propagating search is compared with the bigram baseline: precision and recall of verb
    arguments by length, all, adjacent and long-distance, with the Wilcoxon signed-rank test. Runs, figures
    and strings go into the tables run, score and output of the store, parses are kept there.

    Example: `sentgen evaluate generation --clusters c.jsonl --parser udpipe:ewt.udpipe --report report`
    """
    for option, value, allowed in (
        ("--source-trees", source_trees, _TREES),
        ("--undefined", undefined, ("skip", "zero")),
    ):
        if value not in allowed:
            raise typer.BadParameter(f"{value!r} is none of: {', '.join(allowed)}", param_hint=option)
    settings = GenerationSettings(
        **cast(
            Any,
            {
                "weight": weight,
                "reuse": reuse,
                "transitions": transitions,
                "smoothing": smoothing,
                "salience": salience,
                "beam": beam,
                "punctuation": punct,
                "lowercase": lowercase,
            },
        )
    )
    wanted = parse_lengths(lengths)
    if report is not None:
        prepare_folder(report)
    trees = open_parser(parser)
    with (
        open_store(db, create=True, memory_limit=memory_limit, share=LOOKUP_SHARE) as store,
        CachedParser(trees, store) as cached,
        counted_each("clusters", "strings") as progress,
    ):
        result = evaluate_generation(
            store,
            ClusterSet(
                _clusters(clusters, cached, source_trees, derive, limit, format),
                clusters,
                "function" if function_heads else "own",
            ),
            cached,
            lengths=wanted,
            settings=settings,
            spelling=Spelling(lemmas=lemmas),
            undefined=cast(Any, undefined),
            progress=progress,
        )
    if report is not None:
        out.note(f"report: {generation_report(result).write(report)[0]}")
    _show(result, out)
    out.note(f"run {result.run_id}: {result.seconds:.1f} s; strings are in the table output")


def _clusters(
    path: str, parser: Parser, trees: str, derive: int | None, limit: int | None, form: str | None
) -> list[Cluster]:
    """Read the clusters with the trees that were asked for."""
    own = None if trees == "gold" else parser
    if derive is None:
        found = list(islice(read_clusters(path, parser=own, form=form), limit))
    else:
        found = similar_clusters(list(read_trees(path, parser=own, form=form)), derive)[:limit]
        if not found:
            raise InputError("has no sentences that are similar enough for a cluster", path=path)
    return reparsed(found, parser) if trees == "parser" else found


def _show(result: GenerationResult, out: Output) -> None:
    """Print a line a curve for reading, or one table of all figures."""
    if not out.for_reading:
        out.table(figure_rows(result))
        return
    table = summary_table(result)
    out.rows(table.columns, table.rows)
    out.note(table.note)
