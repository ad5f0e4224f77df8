"""``sentgen lines``: sets of lines of a concordance, to label and to count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.line_table import WidthOption, show_lines
from sentgen.cli.console.options import DeskAndDbOptions, DeskOptions, DryRunOption
from sentgen.cli.console.output import Output, printable
from sentgen.desk import line_sets
from sentgen.desk.agreement import LineReport
from sentgen.desk.desk import Desk, desk_beside, note_of_new_desk
from sentgen.desk.labels import UNLABELED, GivenLabel, LineSetName, TakenBack, import_labels, labeler_here
from sentgen.desk.line_sets import NewLineSet, SetLines
from sentgen.output.wording import quantity

app = typer.Typer(help="Keep lines of a concordance as a set, label them, and count the labels.")


def _path(options: DeskOptions) -> Path:
    return options.desk or desk_beside(options.path)


def _desk(options: DeskOptions, *, create: bool = False) -> Desk:
    return Desk(_path(options), create=create)


@app.command()
def new(*, request: NewLineSet, options: DeskOptions) -> None:
    """Make a set of the lines that a query finds, in the order of --sort.

    It keeps these lines, whatever is read later; the query is told by `sentgen lines list`.

    Example: `sentgen lines new make '[lemma="make"]' --sample 200 --labels light --labels full`
    """
    new_desk = options.desk if options.desk and not options.desk.exists() else None
    with options.connection() as connection:
        made, _ = request.make(_desk(options, create=True), connection)
    if new_desk:
        typer.echo(printable(note_of_new_desk(new_desk)), err=True)
    typer.echo(f"{request.name}: {quantity(made, 'line')}", err=True)


@app.command("list")
def list_(
    *,
    request: SetLines,
    width: WidthOption = None,
    options: DeskOptions,
    out: Output,
) -> None:
    """List the lines of a set with their labels; without SET, the sets.

    `label` is yours, `label_NAME` that of another labeler. `state` says what has become of a line in the
    store: `gone`, or `changed`. `--show` adds what the store says of the lines now, and `--sort` sorts by it.

    Example: `sentgen lines list make --label "?" --show genre`, or
    `sentgen lines list make --xlsx make.xlsx`
    """
    if not request.name:
        _sets(_path(options), out)
        return
    with options.connection() as connection:
        answer = replace(request, labeler=_who(request.labeler)).find(_desk(options), connection)
    table = answer.rows
    if out.for_reading:
        unused = {"state", "label"} if not answer.notes else {"label"}
        empty = [name for name in unused.intersection(table.columns) if not any(table.column(name))]
        table = table.without(empty)
    show_lines(table, out, width)
    if answer.truncated:
        out.note_part(answer.rows.num_rows, answer.total, "line", offset=request.offset)
    for note in answer.notes:
        out.note(note)
    if not answer.total:
        out.note(
            f"no line of {request.name} is without a label" if request.label == UNLABELED else "no such lines"
        )
        raise typer.Exit(1)


def _sets(path: Path, out: Output) -> None:
    """List the sets, none if there is no desk."""
    out.table(
        line_sets.overview(Desk(path) if path.exists() else None),
        essential=("lines", "labeled"),
        none="no line sets yet; make one with: sentgen lines new SET QUERY",
    )


@app.command()
def label(*, request: GivenLabel, options: DeskAndDbOptions) -> None:
    """Label lines of a set; an empty LABEL takes theirs away.

    Example: `sentgen lines label make 1-3,7 light`
    """
    typer.echo(replace(request, labeler=_who(request.labeler)).give(_desk(options)), err=True)


@app.command()
def undo(*, request: TakenBack, options: DeskAndDbOptions) -> None:
    """Take back what you labeled last in a set; again, what you labeled before that.

    Example: `sentgen lines undo make`
    """
    typer.echo(replace(request, labeler=_who(request.labeler)).undo(_desk(options)), err=True)


@app.command()
def report(*, request: LineReport, options: DeskOptions, out: Output) -> None:
    """Report how often each label was given, and how far two labelers agree.

    `value` is a share of the lines that a labeler has labeled, of two labelers the share of lines with the
    same label (agreement), or Cohen's kappa; it lies between `low` and `high` with 95 %.
    With `--by`, that is told for each value of a key.

    Example: `sentgen lines report make`, or `sentgen lines report make --by genre`
    """
    rows, notes = request.make(_desk(options), options.connection)
    for note in notes:
        out.note(note)
    by = [request.by] if request.by else []
    out.table(rows, essential=(*by, "labeler", "label", "lines", "value", "low", "high"))


@app.command("import")
def import_(
    *,
    request: TakenBack,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `lines list` wrote: CSV, TSV, Excel or Parquet.")
    ],
    options: DeskAndDbOptions,
) -> None:
    """Take labels from a spreadsheet: its columns `line` and `label`. A row without a label changes nothing.

    Example: `sentgen lines import make make.xlsx`
    """
    changed = import_labels(_desk(options), request.name, file, _who(request.labeler))
    typer.echo(changed, err=True)


@app.command()
def remove(*, request: LineSetName, dry_run: DryRunOption = False, options: DeskAndDbOptions) -> None:
    """Remove a set with all its labels.

    Example: `sentgen lines remove make --dry-run`
    """
    lines, labeled = line_sets.remove(_desk(options), request.name, dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    typer.echo(f"{verb} {request.name}: {quantity(lines, 'line')}, {labeled:,} labeled", err=True)


def _who(labeler: str) -> str:
    return labeler or labeler_here()
