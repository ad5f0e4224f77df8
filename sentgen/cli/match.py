"""``sentgen match``: Grew requests over dependency trees."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Connection

from sentgen.cli.console.line_table import show_lines, with_spans
from sentgen.cli.console.options import Arrange, PlotOption, check_file_option, check_plot_option
from sentgen.cli.console.output import Output, QuestionOutput
from sentgen.cli.sql import text_of
from sentgen.counts.conllu_export import sentences_conllu
from sentgen.lookups.browsing import find_trees
from sentgen.lookups.concordances.sorting import NONE
from sentgen.lookups.grew.matches import Match
from sentgen.output.files import write_text
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity

FileOption = Annotated[
    Path | None, typer.Option("--file", metavar="FILE|-", help="Read the request from a file.")
]
ConlluOption = Annotated[
    bool,
    typer.Option("--conllu", help="Print the sentences of the hits as CoNLL-U.", rich_help_panel="Output"),
]
SvgOption = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE", help="Draw the trees of the hits.", rich_help_panel="Output"),
]


def match(
    *,
    request: Match,
    file: Annotated[FileOption, Arrange(after="request")] = None,
    conllu: ConlluOption = False,
    svg: SvgOption = None,
    plot: PlotOption = None,
    out: QuestionOutput,
) -> None:
    """Show where a Grew request matches the trees, or count the hits by keys.

    `nodes` says which token each node is. With --key or --whether, the hits are counted by what these say,
    and `frequency` is the share of a row in all of them; `per_million_in_part` is relative to the tokens with
    the same metadata.

    Example: `sentgen match 'pattern { V [upos=VERB]; V -[nsubj]-> S }' --key V.lemma --key 'S#V'`
    """
    check_parts(request, file, conllu=conllu, svg=svg)
    request = replace(request, request=text_of(request.request, file))
    check_file_option("--svg", svg)
    check_plot_option(plot)
    with out.connection() as connection:
        answer = request.ask(connection)
        out.show_statement(answer.query)
        if answer.rows.num_rows:
            _trees(request, connection, conllu=conllu, svg=svg, out=out)
            if out.in_colors and request.sort != NONE and not (request.is_count or conllu):
                answer = replace(answer, rows=_colored(request, connection, answer.rows))
        out.draw(connection, request, answer, plot)
    if request.count and out.for_reading:
        (row,) = answer.rows.to_pylist()
        typer.echo(row["count"])
    elif not conllu:
        show_lines(answer.rows, out, cut=answer.truncated and answer.total is None)
    what = "row" if request.key or request.whether else "hit"
    out.finish(answer, "" if answer.total is None else what)


def check_parts(request: Match, file: Path | None, *, conllu: bool, svg: Path | None) -> None:
    """Refuse what excludes each other.

    Raises:
        typer.BadParameter: there is not one request, or counts are to have sentences.
    """
    if bool(request.request) == (file is not None):
        raise typer.BadParameter("give one request: as REQUEST, with --file FILE, or - for standard input")
    if request.is_count and (conllu or svg):
        raise typer.BadParameter("counts have no sentences; leave out --conllu and --svg, or what is counted")


def _colored(request: Match, connection: Connection, lines: Rows) -> Rows:
    """Return lines with spans of the words that they are sorted by."""
    from sentgen.lookups.concordances.hit_places import Marks
    from sentgen.lookups.concordances.line_text import SortedWords

    hits = lines.to_pylist()
    sides = request.sorted_sides(connection, hits, list(Marks.of_hits(connection, hits)))
    return with_spans(lines, sides, SortedWords.of_order(request.sort).levels.get(0, 0))


def _trees(request: Match, connection: Connection, *, conllu: bool, svg: Path | None, out: Output) -> None:
    """Print and draw the sentences of the hits, if the options ask for it."""
    if not (conllu or svg):
        return
    numbers = request.sentences(connection)
    if conllu:
        for text in sentences_conllu(connection, numbers):
            sys.stdout.write(text)
    if svg is not None:
        from sentgen.generation.drawing import SentenceDrawing, tree_svg

        drawn = [
            SentenceDrawing.of_corpus(tree.name, tree.forms, tree.tags, tree.heads, tree.labels)
            for tree in find_trees(connection, numbers)
        ]
        write_text(svg, tree_svg(drawn))
        out.note(f"{svg}: {quantity(len(drawn), 'tree')}")
