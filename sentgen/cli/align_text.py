"""`sentgen align text`: where each phrase of a summary comes from, and what is new."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sentgen.alignment.choice import Choice
from sentgen.alignment.pairs.alignment import WeighedLink
from sentgen.alignment.pairs.budget import ALIGNMENT_DATABASE_SHARE, Budget
from sentgen.alignment.texts import align_texts, as_json
from sentgen.alignment.view.html import page
from sentgen.alignment.view.view import PairView, Segment, made_of, weighed_by, why
from sentgen.alignment.words.states import State
from sentgen.cli.console.options import StoreOptions, check_file_option
from sentgen.cli.console.output import Output, WideOption, printable
from sentgen.errors import InputError
from sentgen.output.files import write_text
from sentgen.output.wording import are, quantity
from sentgen.schema import Store

_COLUMNS = [*("phrase", "summary", "document", "state", "why", "sentence", "words", "posterior", "P(null)")]
_REASON_COLUMNS = [*("phrase", "summary", "document", "state", "why", "sentence", "posterior", "made of")]
_REASON_COLUMNS += ["runner-up", "its posterior", "P(null)", "weights"]
_PROBABILITIES = ("posterior", "its posterior", "P(null)")
#: Colors of the blocks, in turn, as the terminal defines them.
# No red and no magenta, which mark words that the document does not support.
_COLORS = ("cyan", "green", "yellow", "blue", "bright_cyan")
#: By state, the signs around words without colors, and the style with colors; underline and background
#: distinguish states for readers who see no colors.
_MARKS: Mapping[State, tuple[str, str]] = {
    "changed": ("!", "bold magenta reverse"),
    "new": ("*", "bold red underline"),
}
#: Legend of the states, each in its style.
_LEGEND: Mapping[State, str] = {
    "same": "linked",
    "changed": "changed: the document says otherwise",
    "new": "new: from nothing",
}
_SUBSCRIPTS = str.maketrans("0123456789,", "₀₁₂₃₄₅₆₇₈₉,")
_LONGEST = 44


def text(
    *,
    document: Annotated[str, typer.Option("--document", metavar="FILE|-", help="The document.")],
    abstract: Annotated[str, typer.Option("--abstract", metavar="FILE|-", help="Its abstract or summary.")],
    choice: Choice,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with both texts.")
    ] = None,
    as_object: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    as_links: Annotated[
        bool,
        typer.Option("--pharaoh", help="Print links i-j: document word, abstract word, from 0."),
    ] = False,
    wide: WideOption = False,
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="Format of both texts; detected if not given.")
    ] = None,
    options: StoreOptions,
) -> None:
    """Show where each phrase of a summary comes from in its document, and which words are changed or new.

    Works without training: the model then has its priors only, and says so. P(null) is the probability that a
    word comes from nothing in the document.

    --explain has a row for each linked word instead of each phrase: what its posterior is made of, and the
    best other word of the document; a new word has the one that came nearest. The page of --html has them,
    too, and a slider that links anew by another threshold.

    Example: `sentgen align text --document article.txt --abstract summary.txt --html align.html`
    """
    check_file_option("--html", html)
    _check(document, abstract, both=as_object and as_links)
    limit = options.memory
    budget = Budget.to_align(limit, with_store=choice.needs_store)
    with ExitStack() as opened:

        def store() -> Store:
            # Called only for a model or vectors, as no store is needed without them.
            opened_store = options.store(read_only=True, share=ALIGNMENT_DATABASE_SHARE)
            return opened.enter_context(opened_store)

        aligner, name = choice.aligner(store, budget=budget)
        shown = align_texts(document, abstract, aligner, form=format, budget=budget)
    if html is not None:
        caption = f"Aligned with {os.path.basename(document)} by {name}"
        write_text(html, page(shown, title=os.path.basename(abstract), model=caption, explain=choice.explain))
        typer.echo(printable(f"page: {html}"), err=True)
    if as_object:
        typer.echo(json.dumps(as_json(shown, model=name, explain=choice.explain), ensure_ascii=False))
    elif as_links:
        typer.echo(shown.alignment.pharaoh())
    else:
        _show(shown, Output(wide=wide))
    for note in choice.notes([shown.alignment]):
        typer.echo(note, err=True)


def _check(document: str, abstract: str, *, both: bool) -> None:
    """Refuse options that exclude each other."""
    if document == abstract == "-":
        raise InputError("both texts cannot come from standard input; name a file")
    if both:
        raise typer.BadParameter("--json and --pharaoh exclude each other; choose one")


def _show(shown: PairView, out: Output) -> None:
    """Print the summary with its blocks marked, a table of them, and the figures."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    # Without colors, states are shown by brackets and stars.
    colored = console.is_terminal and not console.no_color
    lines = [
        Text().join(_mark_segment(segment, colored=colored) for segment in sentence)
        for sentence in shown.sentences("abstract")
    ]
    legend = Text(" ").join(
        _mark(state, meaning, "₁" * (state == "same"), colored=colored) for state, meaning in _LEGEND.items()
    )
    if console.is_terminal:
        console.print(_number_lines([*enumerate(lines, 1), ("", legend)]))
    else:
        for number, line in enumerate(lines, 1):
            typer.echo(f"{number:>3}  {line.plain.rstrip()}")
        typer.echo(f"     {legend.plain}")
    console.print()
    if shown.alignment.weighed is None:
        out.rows(
            _COLUMNS,
            _rows(shown),
            align=dict.fromkeys(("words", *_PROBABILITIES), "right"),
            essential=("summary", "document", "state", "posterior"),
        )
    else:
        columns, rows = _reasons(shown)
        out.rows(
            columns,
            rows,
            align=dict.fromkeys(_PROBABILITIES, "right"),
            essential=("summary", "document", "state", "posterior", "made of"),
        )
    console.print()
    # Only for a terminal, lines are wrapped, so that files do not depend on its width.
    console.print(_figures(shown), soft_wrap=not console.is_terminal)


def _number_lines(lines: Iterable[tuple[object, Text]]) -> Table:
    """Return a table of sentences with their numbers, in which wrapped lines stay beside the number."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="dim", min_width=3)
    table.add_column(overflow="fold")
    for number, line in lines:
        table.add_row(str(number), line)
    return table


def _mark_segment(segment: Segment, *, colored: bool) -> Text:
    """Return a segment marked by its state, with the numbers of its blocks."""
    numbers = ",".join(map(str, segment.blocks)).translate(_SUBSCRIPTS)
    color = _COLORS[segment.blocks[0] % len(_COLORS)] if segment.blocks else ""
    marked = _mark(segment.state, printable(segment.text), numbers, color, colored=colored)
    return marked.append(" " * segment.space)


def _mark(state: State, words: str, numbers: str, color: str = _COLORS[1], *, colored: bool) -> Text:
    """Return words marked by a state: in a style, or between signs."""
    sign, style = _MARKS.get(state, ("", color))
    if colored:
        return Text.assemble((words, style), (numbers, "dim"))
    return Text(f"{sign}{words}{sign}{numbers}" if sign else f"[{words}]{numbers}")


def _rows(shown: PairView) -> Iterator[tuple[object, ...]]:
    """Yield a row for each block, and for each span of words outside blocks, in the order of the summary."""
    for phrase in shown.phrases():
        abstract, document = phrase.abstract, phrase.document
        yield (
            phrase.number,
            _short(abstract[0]),
            None if document is None else _short(document[0]),
            phrase.state,
            _short(phrase.why),
            phrase.sentence,
            None if document is None else _words(*document[1]),
            *map(_probability, (phrase.posterior, phrase.null)),
        )


def _reasons(shown: PairView) -> tuple[list[str], list[list[object]]]:
    """Return columns and rows with the terms of the weights of links, and the nearest words to new words."""
    rows: list[list[object]] = []
    for reason in shown.main_reasons():
        state = shown.states[reason.abstract]
        source, sentence, posterior = _source(shown, reason.link)
        if reason.link is None and state.source:
            source = _short(shown.pair.document[state.source[0]])
            sentence = shown.sentence("document", state.source[0])
        row: list[object] = [reason.number, _short(state.word), source, state.state, _short(why([state]))]
        row += [sentence, posterior, reason.link and made_of(reason.link)]
        rival, _, posterior = _source(shown, reason.rival)
        row += [rival, posterior, _probability(reason.null), reason.link and weighed_by(reason.link)]
        rows.append(row)
    columns = list(_REASON_COLUMNS)
    if not any(row[-1] for row in rows):  # of a tuned model only
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return columns, rows


def _source(shown: PairView, link: WeighedLink | None) -> tuple[object, ...]:
    """Return the document word of a link, the number of its sentence, and the posterior."""
    if link is None:
        return None, None, ""
    sentence = shown.sentence("document", link.document)
    return _short(shown.pair.document[link.document]), sentence, _probability(link.posterior)


def _probability(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _figures(shown: PairView) -> str:
    counts, changed, new = shown.figures, shown.count("changed"), shown.count("new")
    return (
        f"{changed:,} of {quantity(counts.words, 'word')} {are(counts.words)} changed, {new:,} new;"
        f" coverage {counts.coverage:.2f}, density {counts.density:.2f}, longest copied run {counts.longest}"
    )


def _words(start: int, end: int) -> str:
    # Counted from 1, with both ends included.
    return str(start + 1) if end == start + 1 else f"{start + 1}-{end}"


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
