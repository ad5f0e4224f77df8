"""How `sentgen generate` shows its sentences: as a table, with trees and traces, and in files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from sentgen.cli.console.files import write_text
from sentgen.cli.console.output import Output, printable
from sentgen.generation.bag_reader import TagKind
from sentgen.generation.clusters.clusters import (
    generated_conllu,
    generated_notes,
    generated_svg,
    generated_table,
    units_of_words,
)
from sentgen.generation.clusters.depviterbi_trace import TraceStep
from sentgen.generation.clusters.generate import Generated
from sentgen.generation.drawing.text import tree_text

TRACE_COLUMNS = ["word", "ngram", "dep", "transition", "logp", "relation", "stack"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What was asked for beside the sentences."""

    tree: bool = False
    trace: bool = False
    conllu: Path | None = None
    svg: Path | None = None


def write_files(sentences: Sequence[Generated], shown: Shown, tags: TagKind, out: Output) -> None:
    """Write the trees to the files that were asked for, clusters as documents."""
    if shown.conllu is not None:
        write_text(shown.conllu, generated_conllu(sentences, tags))
    if shown.svg is not None:
        write_text(shown.svg, generated_svg(sentences))
    for path in (shown.conllu, shown.svg):
        if path is not None:
            out.note(f"{path}: {sum(one.tree is not None for one in sentences)} trees")


def show(
    sentences: Sequence[Generated], shown: Shown, clusters: int, lengths: Collection[int], out: Output
) -> None:
    """Print the sentences with what was asked for, and say what is not proven, and what is missing."""
    if out.for_reading and (shown.tree or shown.trace):
        for one in sentences:
            _show_one(one, shown, out)
    else:
        out.table(generated_table(sentences, tree=shown.tree, trace=shown.trace))
    for note in generated_notes(sentences, clusters, lengths):
        out.note(note)


def _show_one(one: Generated, shown: Shown, out: Output) -> None:
    """Print a sentence with its trace and its tree below it."""
    rank = f", rank {one.rank}" if one.rank > 1 else ""
    typer.echo(printable(f"{one.cluster}, length {one.length}{rank}: {one.text}"))
    typer.echo(f"logp {one.logp:.4f}, {'exact' if one.exact else 'bounded by the beam'}")
    if shown.trace:
        typer.echo()
        out.rows(TRACE_COLUMNS, [_trace_row(step) for step in one.trace])
    if shown.tree and one.tree:
        typer.echo()
        for line in tree_text(units_of_words(one), one.tree.heads):
            typer.echo(printable(line))
    typer.echo()


def _trace_row(step: TraceStep) -> tuple[object, ...]:
    """Return a step for reading: the relation in words, the stack growing to the right as in the papers."""
    relation = "" if step.partner is None else f"{step.rule} {step.partner}"
    stack = " | ".join(step.stack)
    return step.word, step.ngram, step.dep, step.transition, step.logp, relation, stack
