"""How `sentgen regenerate` shows its sentences: as a table, as trees, with reasons, and in files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from sentgen.cli.console.files import write_text
from sentgen.cli.console.output import Output, printable
from sentgen.generation.answers import Answers, notes, reason_table, reasons, sentence_table
from sentgen.generation.drawing.text import tree_text


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for beside the sentences."""

    tree: bool = False
    explain: bool = False
    conllu: Path | None = None
    svg: Path | None = None


def write_files(answers: Answers, wanted: Wanted, out: Output) -> None:
    """Write the trees to the files that were asked for."""
    if wanted.conllu is not None:
        write_text(wanted.conllu, answers.conllu())
    if wanted.svg is not None:
        write_text(wanted.svg, answers.svg())
    for path in (wanted.conllu, wanted.svg):
        if path is not None:
            out.note(f"{path}: {len(answers.trees)} trees")


def show(answers: Answers, wanted: Wanted, out: Output) -> None:
    """Print the sentences, their trees or the reasons for them, and say what needs to be known of them."""
    if wanted.explain and not out.for_reading:
        out.table(reason_table(answers))
    elif out.for_reading and (wanted.tree or wanted.explain):
        _read(answers, wanted, out)
    else:
        out.table(sentence_table(answers, tree=wanted.tree))
    for note in notes(answers):
        out.note(note)


def _read(answers: Answers, wanted: Wanted, out: Output) -> None:
    """Print each sentence with its tree and its reasons below it."""
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
