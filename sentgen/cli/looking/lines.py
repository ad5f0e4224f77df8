"""``sentgen lines``: sets of lines of a concordance, to label and to count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.option_groups import options_of
from sentgen.cli.console.options import DbOption, DryRunOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options, printable
from sentgen.cli.looking.line_table import WidthOption, show_lines
from sentgen.desk import agreement, line_sets
from sentgen.desk.desk import Desk, desk_beside, note_of_new_desk
from sentgen.desk.labels import UNLABELED, GivenLabel, LineSetName, TakenBack, labeler_here
from sentgen.desk.line_sets import NewLineSet, SetLines
from sentgen.desk.spreadsheet import import_labels
from sentgen.output.tabular import column_of, without_columns
from sentgen.output.wording import quantity
from sentgen.schema import default_path

app = typer.Typer(help="Keep lines of a concordance as a set, label them, and count the labels.")

DeskOption = Annotated[
    Path | None,
    typer.Option(
        "--desk", metavar="FILE", help="Where the sets are. Default: study.desk beside study.duckdb."
    ),
]


@app.command()
@options_of(NewLineSet)
def new(
    *, request: NewLineSet, desk: DeskOption = None, db: DbOption = None, memory_limit: MemoryOption = None
) -> None:
    """Make a set of the lines that a query finds, in the order of --sort.

    It keeps these lines, whatever is read later; the query is told by `sentgen lines list`.

    Example: `sentgen lines new make '[lemma="make"]' --sample 200 --labels light --labels full`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store, store.connect() as connection:
        if desk is not None and not desk.exists():
            typer.echo(printable(note_of_new_desk(desk)), err=True)
        made, _ = request.make(_desk(desk, db, create=True), connection)
    typer.echo(f"{request.name}: {quantity(made, 'line')}", err=True)


@app.command("list")
@output_options
@options_of(SetLines)
def list_(
    *,
    request: SetLines,
    width: WidthOption = None,
    desk: DeskOption = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """List the lines of a set with their labels; without SET, the sets.

    `label` is yours, `label_NAME` that of another labeler. `state` says what has become of a line in the
    store: `gone`, or `changed`.

    Example: `sentgen lines list make --label "?" --sort left`, or `sentgen lines list make --xlsx make.xlsx`
    """
    if not request.name:
        _sets(_desk_path(desk, db), out)
        return
    with open_store(db, read_only=True, memory_limit=memory_limit) as store, store.connect() as connection:
        answer = replace(request, labeler=_who(request.labeler)).find(_desk(desk, db), connection)
    table = answer.rows
    if out.for_reading:
        unused = {"state", "label"} if not answer.notes else {"label"}
        empty = [name for name in unused if not any(column_of(table, name))]
        table = without_columns(table, empty)
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
    """List the sets; without a desk there are none."""
    out.table(
        line_sets.overview(Desk(path) if path.exists() else None),
        essential=("lines", "labeled"),
        none="no line sets yet; make one with: sentgen lines new SET QUERY",
    )


@app.command()
@options_of(GivenLabel)
def label(*, request: GivenLabel, desk: DeskOption = None, db: DbOption = None) -> None:
    """Label lines of a set; an empty LABEL takes theirs away.

    Example: `sentgen lines label make 1-3,7 light`
    """
    typer.echo(replace(request, labeler=_who(request.labeler)).give(_desk(desk, db)), err=True)


@app.command()
@options_of(TakenBack)
def undo(*, request: TakenBack, desk: DeskOption = None, db: DbOption = None) -> None:
    """Take back what you labeled last in a set; again, what you labeled before that.

    Example: `sentgen lines undo make`
    """
    typer.echo(replace(request, labeler=_who(request.labeler)).undo(_desk(desk, db)), err=True)


@app.command()
@output_options
@options_of(LineSetName)
def report(*, request: LineSetName, desk: DeskOption = None, db: DbOption = None, out: Output) -> None:
    """Report how often each label was given, and how far two labelers agree.

    `value` is a share of the lines that a labeler has labeled, of two labelers the share of lines with the
    same label (agreement), or Cohen's kappa; it lies between `low` and `high` with 95 %.

    Example: `sentgen lines report make`
    """
    rows, notes = agreement.report(_desk(desk, db), request.name)
    for note in notes:
        out.note(note)
    out.table(rows, essential=("labeler", "label", "lines", "value", "low", "high"))


@app.command("import")
@options_of(TakenBack)
def import_(
    *,
    request: TakenBack,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `lines list` wrote: CSV, TSV, Excel or Parquet.")
    ],
    desk: DeskOption = None,
    db: DbOption = None,
) -> None:
    """Take labels from a spreadsheet: its columns `line` and `label`. A row without a label changes nothing.

    Example: `sentgen lines import make make.xlsx`
    """
    changed = import_labels(_desk(desk, db), request.name, file, _who(request.labeler))
    typer.echo(changed, err=True)


@app.command()
@options_of(LineSetName)
def remove(
    *, request: LineSetName, dry_run: DryRunOption = False, desk: DeskOption = None, db: DbOption = None
) -> None:
    """Remove a set with all its labels.

    Example: `sentgen lines remove make --dry-run`
    """
    lines, labeled = line_sets.remove(_desk(desk, db), request.name, dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    typer.echo(f"{verb} {request.name}: {quantity(lines, 'line')}, {labeled:,} labeled", err=True)


def _desk(desk: Path | None, db: Path | None, *, create: bool = False) -> Desk:
    return Desk(_desk_path(desk, db), create=create)


def _desk_path(desk: Path | None, db: Path | None) -> Path:
    return desk or desk_beside(db or default_path())


def _who(labeler: str) -> str:
    return labeler or labeler_here()
