"""How `sentgen generate` shows its sentences: as a table, with trees and traces, and in files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from sentgen.cli.files import write_text
from sentgen.cli.output import Output, printable
from sentgen.generation.bag import Unit
from sentgen.generation.bag_reader import TagKind
from sentgen.generation.depviterbi_trace import TraceStep
from sentgen.generation.generate import Generated
from sentgen.generation.tree_conllu import conllu_block
from sentgen.generation.tree_svg import Sentence, tree_svg
from sentgen.generation.tree_text import tree_text

COLUMNS = ["cluster", "length", "rank", "sentence", "logp", "exact"]
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
    trees = [(one, one.tree) for one in sentences if one.tree is not None]
    if shown.conllu is not None:
        blocks, cluster = [], None
        for one, tree in trees:
            if one.cluster != cluster:
                cluster = one.cluster
                blocks.append(f"# newdoc id = {cluster}\n")
            blocks.append(conllu_block(_units(one), tree.heads, tags=tags, sent_id=_name(one)))
        write_text(shown.conllu, "".join(blocks))
    if shown.svg is not None:
        write_text(shown.svg, tree_svg([Sentence(_name(one), _units(one), tree) for one, tree in trees]))
    for path in (shown.conllu, shown.svg):
        if path is not None:
            out.note(f"{path}: {len(trees)} trees")


def show(
    sentences: Sequence[Generated], shown: Shown, clusters: int, lengths: Collection[int], out: Output
) -> None:
    """Print the sentences with what was asked for, and say what is not proven, and what is missing."""
    if out.for_reading and (shown.tree or shown.trace):
        for one in sentences:
            _show_one(one, shown, out)
    else:
        _table(sentences, shown, out)
    proven = sum(one.exact for one in sentences)
    if proven < len(sentences):
        out.note(
            f"{proven:,} of {len(sentences):,} sentences are exact;"
            " for the others, the beam may have lost a better one"
        )
    reached = sum(one.rank == 1 for one in sentences)
    if reached < clusters * len(lengths):
        missing = clusters * len(lengths) - reached
        out.note(f"{missing:,} times a cluster has no sentence of a length: its words do not suffice")


def _table(sentences: Sequence[Generated], shown: Shown, out: Output) -> None:
    """Print a row a sentence; heads are places from 1, 0 for a root."""
    columns = [*COLUMNS, *(["heads"] if shown.tree else []), *(["trace"] if shown.trace else [])]
    rows = []
    for one in sentences:
        row: list[object] = [one.cluster, one.length, one.rank, one.text, one.logp, one.exact]
        if shown.tree:
            row.append([head + 1 for head in one.tree.heads] if one.tree else None)
        if shown.trace:
            row.append([asdict(step) for step in one.trace])
        rows.append(row)
    out.rows(columns, rows)


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
        for line in tree_text(_units(one), one.tree.heads):
            typer.echo(printable(line))
    typer.echo()


def _trace_row(step: TraceStep) -> tuple[object, ...]:
    """Return a step for reading: the relation in words, the stack growing to the right as in the papers."""
    relation = "" if step.partner is None else f"{step.rule} {step.partner}"
    stack = " | ".join(step.stack)
    return step.word, step.ngram, step.dep, step.transition, step.logp, relation, stack


def _units(one: Generated) -> list[Unit]:
    return [Unit((word,), (tag,)) for word, tag in zip(one.words, one.tags, strict=True)]


def _name(one: Generated) -> str:
    return f"{one.cluster}-{one.length}-{one.rank}"
