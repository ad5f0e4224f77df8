"""``sentgen ingest``: read, check, store and count."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import ParserOption, StoreOptions
from sentgen.cli.console.output import printable
from sentgen.corpus.formats import MARKUP_WARNING
from sentgen.corpus.parsers import open_parser
from sentgen.counts.ingestion import Settings, Summary
from sentgen.counts.ingestion import ingest as run
from sentgen.default_store import default_path
from sentgen.output.progress import ingestion_bar
from sentgen.output.wording import quantity
from sentgen.schema.engine import DATABASE_SHARE

_SHOWN = 20


def ingest(
    *,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders, globs, archives, or - .")
    ],
    settings: Settings,
    parser: ParserOption = None,
    options: StoreOptions,
) -> None:
    """Read corpora into the store and count them.

    `sentgen formats` lists what is read.
    Sources that the corpus has already, by content, are not read again: after an interruption, run it again.
    Other files of a folder or an archive (a README, a licence, pictures) are skipped with a note.

    Example: `sentgen ingest en_ewt-ud-train.conllu --corpus ewt --licence "CC BY-SA 4.0"`
    """
    trees = open_parser(parser) if parser else None
    with (
        options.store(create=True, share=DATABASE_SHARE) as store,
        ingestion_bar(settings.corpus) as progress,
    ):
        summary = run(store, paths, settings, parser=trees, progress=progress)
        path = store.path
    report(summary, path)
    if summary.refused:
        raise typer.Exit(1)


def report(summary: Summary, path: Path) -> None:
    """Print what an ingestion did: data to standard output, what was refused to standard error."""
    for name, reason in summary.passed_over[:_SHOWN]:
        typer.echo(f"passed over: {name}: {reason}", err=True)
    if len(summary.passed_over) > _SHOWN:
        typer.echo(f"... and {quantity(len(summary.passed_over) - _SHOWN, 'more file')}", err=True)
    for rejection in summary.rejections[:_SHOWN]:
        typer.echo(f"rejected: {rejection.as_error()}", err=True)
    if len(summary.rejections) > _SHOWN:
        more = len(summary.rejections) - _SHOWN
        typer.echo(f"... and {more:,} more: sentgen corpora show {summary.corpus} --rejected", err=True)
    _warn((name, _earlier(name, summary.corpus, path)) for name in summary.changed_paths)
    _warn((name, MARKUP_WARNING) for name in summary.markup)
    _tell("note", summary.notes)
    lines = [
        ("corpus", summary.corpus),
        ("store", str(path)),
        (
            "sources",
            f"{summary.sources:,}"
            + _of_which(unchanged=summary.unchanged, replaced=summary.replaced, removed=summary.removed),
        ),
        ("sentences", f"{summary.sentences:,}"),
        ("tokens", f"{summary.tokens:,}"),
        ("types", f"{summary.types:,} in the corpus"),
        (
            "rejected",
            f"{len(summary.rejections):,}"
            + (f" in {quantity(summary.refused, 'refused file')}" if summary.refused else ""),
        ),
        ("seconds", f"{summary.seconds:.1f}"),
        ("tokens/s", f"{summary.rate:,.0f}"),
    ]
    if summary.passed_over:
        lines.insert(
            3,
            (
                "passed over",
                quantity(len(summary.passed_over), "file that is no corpus", "files that are no corpora"),
            ),
        )
    if summary.cyclic:
        # Before the times, which are the last lines.
        lines.insert(-2, ("not a unit tree", f"{summary.cyclic:,} (left out of the unit layer)"))
    for name, value in lines:
        typer.echo(f"{name:<16}{value}")


def _warn(of_files: Iterable[tuple[str, str]]) -> None:
    _tell("warning", list(of_files))


def _tell(what: str, of_files: Sequence[tuple[str, str]]) -> None:
    for name, text in of_files[:_SHOWN]:
        typer.echo(printable(f"{what}: {name}: {text}"), err=True)
    if len(of_files) > _SHOWN:
        typer.echo(f"... and {quantity(len(of_files) - _SHOWN, 'more file')}", err=True)


def _earlier(name: str, corpus: str, path: Path) -> str:
    db = [] if path == default_path() else ["--db", str(path)]
    command = shlex.join(["sentgen", "ingest", name, "--corpus", corpus, "--replace", *db])
    return f"the corpus has an earlier content of this file, too; to keep only the new one: {command}"


def _of_which(**numbers: int) -> str:
    named = ", ".join(f"{number:,} {what}" for what, number in numbers.items() if number)
    return f" ({named})" if named else ""
