"""`sentgen kwic`, in a module of its own: it is the most frequent command, and imports take time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

from sqlalchemy import Connection

from sentgen.cli.console.line_table import WidthOption, fitted, line_look, show_lines, with_spans
from sentgen.cli.console.options import Arrange, PlotOption
from sentgen.cli.console.output import QuestionOutput
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.sorting import NONE
from sentgen.output.plots import PARTS
from sentgen.output.tabular import Rows

#: Width in cells of the strip for a document.
_STRIP = 24


def kwic(
    *,
    request: Kwic,
    width: Annotated[WidthOption, Arrange(after="context")] = None,
    plot: PlotOption = None,
    out: QuestionOutput,
) -> None:
    """Show a word or a sequence of words in context (concordance).

    With --plot, all hits are drawn where they are in their documents, those with most hits first.

    Example: `sentgen kwic "lemma:fall sharply" --sort 1L,2L --show genre`, or
    `sentgen kwic '[upos="ADJ"]+ "house"' --filter '"not"' --without 3L --sample 200`
    """
    if not (request.limit or request.offset or request.count or request.places or plot):
        _all_lines(request, width, out)
        return
    colored = out.in_colors and request.sort != NONE and not (request.count or request.places)
    answer = out.ask(request, plot, partial(_colored_lines, request) if colored else None)
    if request.places:
        table = _with_strips(answer.rows) if out.for_reading else answer.rows
        out.table(table, essential=("document", "count", "tokens", "places"))
    else:
        show_lines(answer.rows, out, width)
    out.finish(answer, "document" if request.places else "line")


def _all_lines(request: Kwic, width: int | None, out: QuestionOutput) -> None:
    """Write all lines of a concordance part by part, as they may not fit into memory."""
    with out.connection() as connection:
        colored = out.in_colors and request.sort != NONE
        query, lines = request.parts(connection, placed=colored)
        if colored:
            lines = (_colored(request, connection, part) for part in lines)
        out.show_statement(query)
        for remark in request.remarks(connection):
            out.note(remark)
        if not out.parts((fitted(part, out, width) for part in lines), look=line_look):
            # Asked again for one line, for the notes on why there may be none.
            out.finish(replace(replace(request, limit=1).ask(connection), remarks=()))


def _colored_lines(request: Kwic, connection: Connection) -> Answer:
    answer = request.lines(connection, placed=True)
    return replace(answer, rows=_colored(request, connection, answer.rows))


def _colored(request: Kwic, connection: Connection, lines: Rows) -> Rows:
    """Return lines with spans of the words that they are sorted by, in place of the columns of places."""
    from sentgen.lookups.concordances.line_text import PLACE, SortedWords

    sides = request.sorted_sides(connection, lines)
    return with_spans(lines.without(PLACE), sides, SortedWords.of_order(request.sort).levels.get(0, 0))


def _with_strips(table: Rows) -> Rows:
    """Draw the places of hits as marks in a strip for the document."""
    strips = []
    for text in table.column("places"):
        hit = {int(position) * _STRIP // PARTS for position in text.split()}
        strips.append("".join("|" if cell in hit else "·" for cell in range(_STRIP)))
    return table.with_texts("places", strips)
