"""How `sentgen generate` shows its sentences: as a table, with trees and traces, and in files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from sentgen.generation.clusters.generate import GeneratedSentence
from sentgen.generation.clusters.request import ClusterRequest
from sentgen.generation.drawing.text import tree_text

TRACE_COLUMNS = ["word", "ngram", "dep", "transition", "logp", "relation", "stack"]


def write_files(
    sentences: Sequence[GeneratedSentence], conllu: Path | None, svg: Path | None, tags: TagKind, out: Output
) -> None:
    """Write the trees to the files that were asked for, clusters as documents."""
    if conllu is not None:
        write_text(conllu, generated_conllu(sentences, tags))
    if svg is not None:
        write_text(svg, generated_svg(sentences))
    for path in (conllu, svg):
        if path is not None:
            out.note(f"{path}: {sum(one.tree is not None for one in sentences)} trees")


def show(
    sentences: Sequence[GeneratedSentence],
    asked: ClusterRequest,
    clusters: int,
    lengths: Collection[int],
    out: Output,
) -> None:
    """Print the sentences with what was asked for, and say what is not proven, and what is missing."""
    if out.for_reading and (asked.tree or asked.trace):
        for one in sentences:
            _show_one(one, asked, out)
    else:
        out.table(generated_table(sentences, tree=asked.tree, trace=asked.trace))
    for note in generated_notes(sentences, clusters, lengths):
        out.note(note)


def _show_one(one: GeneratedSentence, asked: ClusterRequest, out: Output) -> None:
    """Print a sentence with its trace and its tree below it."""
    rank = f", rank {one.rank}" if one.rank > 1 else ""
    typer.echo(printable(f"{one.cluster}, length {one.length}{rank}: {one.text}"))
    typer.echo(f"logp {one.logp:.4f}, {'exact' if one.exact else 'bounded by the beam'}")
    if asked.trace:
        typer.echo()
        out.rows(TRACE_COLUMNS, [_trace_row(step) for step in one.trace])
    if asked.tree and one.tree:
        typer.echo()
        for line in tree_text(units_of_words(one), one.tree.heads):
            typer.echo(printable(line))
    typer.echo()


def _trace_row(step: TraceStep) -> tuple[object, ...]:
    """Return a step for reading: the relation in words, the stack growing to the right as in the papers."""
    relation = "" if step.partner is None else f"{step.rule} {step.partner}"
    stack = " | ".join(step.stack)
    return step.word, step.ngram, step.dep, step.transition, step.logp, relation, stack
