"""How `sentgen regenerate` shows its sentences: as a table, as trees, with reasons, and in files."""

from __future__ import annotations

from pathlib import Path

import typer

from sentgen.cli.console.files import write_text
from sentgen.cli.console.output import Output, printable
from sentgen.generation.answers import Answers, notes, reasons, table_of
from sentgen.generation.drawing.text import tree_text


def write_files(answers: Answers, conllu: Path | None, svg: Path | None, out: Output) -> None:
    """Write the trees to the files that were asked for."""
    if conllu is not None:
        write_text(conllu, answers.conllu())
    if svg is not None:
        write_text(svg, answers.svg())
    for path in (conllu, svg):
        if path is not None:
            out.note(f"{path}: {len(answers.trees)} trees")


def show(answers: Answers, out: Output) -> None:
    """Print the sentences, their trees or the reasons for them, and say what needs to be known of them."""
    if out.for_reading and (answers.request.tree or answers.request.explain):
        _read(answers, out)
    else:
        out.table(table_of(answers))
    for note in notes(answers):
        out.note(note)


def _read(answers: Answers, out: Output) -> None:
    """Print each sentence with its tree and its reasons below it."""
    wanted = answers.request
    columns, tables = reasons(answers, full=False) if wanted.explain else ([], [])
    for number, one in enumerate(answers.sentences):
        rank = f", rank {one.rank}" if answers.plan.nbest > 1 else ""
        typer.echo(printable(f"bag {one.item}{rank}: {one.text}".rstrip()))
        typer.echo(f"logp {one.logp:.2f}, score {one.score:.2f}")
        if wanted.tree and one.tree:
            typer.echo()
            for line in tree_text(one.units, one.tree.heads):
                typer.echo(printable(line))
        if wanted.explain:
            typer.echo()
            out.rows(columns, tables[number])
        typer.echo()
