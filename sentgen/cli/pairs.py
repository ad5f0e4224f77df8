"""``sentgen pairs``: documents with their abstracts, in the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TaskProgressColumn, TimeElapsedColumn, TimeRemainingColumn

from sentgen.alignment import Pair
from sentgen.alignment.stored.stored_pairs import list_pairs, stored_pairs
from sentgen.cli.console.options import LimitOption, StoreOptions, one_more
from sentgen.cli.console.output import StoreOutput, printable
from sentgen.corpus.pair_readers import PairSettings
from sentgen.counts.pair_ingestion import ON_ERROR, ORDER, PairSummary, ingest_pairs
from sentgen.output.progress import bars
from sentgen.output.wording import quantity
from sentgen.schema.engine import DATABASE_SHARE

app = typer.Typer(help="Read, list and show documents with their abstracts.")

_SHOWN = 20


@app.command()
def ingest(
    *,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="JSON Lines, a folder, CoNLL-U, or two files, documents first: texts of as many lines, "
            "or CoNLL-U with the same ids.",
        ),
    ],
    corpus: Annotated[str, typer.Option("--corpus", metavar="NAME", help="Corpus to make or to add to.")],
    licence: Annotated[
        str | None, typer.Option("--licence", metavar="TEXT", help="Licence to record.")
    ] = None,
    settings: PairSettings,
    order: Annotated[
        int, typer.Option("--order", min=1, max=5, help="Highest order of n-grams to count.")
    ] = ORDER,
    on_error: Annotated[
        str,
        typer.Option("--on-error", metavar="raise|skip", help="A bad pair stops everything, or is left out."),
    ] = "raise",
    options: StoreOptions,
) -> None:
    """Read pairs into the store.

    Pairs that the corpus has already, by name and content, are not stored again: after an interruption, run
    it again.

    Example: `sentgen pairs ingest scisummnet.jsonl.gz --corpus papers --licence "CC BY 4.0"`
    """
    if on_error not in ON_ERROR:
        raise typer.BadParameter(f"--on-error {on_error!r} is none of: {', '.join(ON_ERROR)}")
    with (
        options.store(create=True, share=DATABASE_SHARE) as store,
        _progress() as progress,
    ):
        summary = ingest_pairs(
            store,
            paths,
            corpus,
            settings=settings,
            licence=licence,
            order=order,
            on_error=on_error,
            progress=progress,
        )
        _report(summary, store.path)


def _report(summary: PairSummary, path: Path) -> None:
    for rejection in summary.rejections[:_SHOWN]:
        typer.echo(printable(f"left out: {rejection.as_error('pair')}"), err=True)
    if len(summary.rejections) > _SHOWN:
        more = len(summary.rejections) - _SHOWN
        typer.echo(f"... and {more:,} more: sentgen corpora show {summary.corpus} --rejected", err=True)
    unchanged = f" ({summary.unchanged:,} unchanged)" if summary.unchanged else ""
    for name, value in (
        ("corpus", summary.corpus),
        ("store", str(path)),
        ("pairs", f"{summary.pairs:,}{unchanged}"),
        ("left out", f"{len(summary.rejections):,}"),
        ("sentences", f"{summary.sentences:,}"),
        ("document words", f"{summary.document_words:,}"),
        ("abstract words", f"{summary.abstract_words:,}"),
        ("seconds", f"{summary.seconds:.1f}"),
    ):
        typer.echo(f"{name:<16}{value}")


@app.command("list")
def list_(
    corpus: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="List the pairs of this corpus.")
    ] = None,
    *,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics", help="Sentences, words and types of documents, abstracts and both, with means."
        ),
    ] = False,
    limit: LimitOption = 20,
    out: StoreOutput,
) -> None:
    """List the corpora of pairs, or the pairs of one.

    Example: `sentgen pairs list papers --limit 5`
    """
    with out.store(read_only=True) as store:
        out.table(
            list_pairs(store, corpus, statistics=statistics, limit=one_more(limit)),
            limit=limit,
            none="no pairs yet; read some with: sentgen pairs ingest FILE --corpus NAME",
        )


@app.command()
def show(
    corpus: Annotated[str, typer.Argument(metavar="NAME", help="Corpus of pairs.")],
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY]", help="Name of a pair; the first one if left out.")
    ] = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON Lines that `pairs ingest` reads.")
    ] = False,
    options: StoreOptions,
) -> None:
    """Show a document and its abstract as they are stored, a sentence a line.

    With `--json` and no KEY, all pairs come out.

    Example: `sentgen pairs show papers A00-1031`
    """
    with options.store(read_only=True) as store:
        for pair in stored_pairs(store, corpus, keys=(key,) if key is not None else ()):
            if as_json:
                sides = dict(_sides(pair))
                typer.echo(json.dumps({"id": pair.key, **sides}, ensure_ascii=False))
                continue
            typer.echo(printable(f"pair {pair.key}"))
            for name, sentences in _sides(pair):
                typer.echo(f"\n{name}: {quantity(sum(map(len, sentences)), 'word')}")
                for sentence in sentences:
                    typer.echo(printable(" ".join(sentence)))
            break


def _sides(pair: Pair) -> tuple[tuple[str, list[list[str]]], ...]:
    return (
        ("document", _cut(pair.document, pair.document_starts)),
        ("abstract", _cut(pair.abstract, pair.abstract_starts)),
    )


def _cut(words: tuple[str, ...], starts: tuple[int, ...]) -> list[list[str]]:
    return [list(words[first:end]) for first, end in zip(starts, (*starts[1:], len(words)), strict=True)]


def _progress() -> AbstractContextManager[Callable[[str, int, float], None] | None]:
    """Show the current file with its pairs so far, and the elapsed and remaining time for all files."""

    def start(progress: Progress) -> Callable[[str, int, float], None]:
        task = progress.add_task("", total=1.0)
        return lambda name, pairs, fraction: progress.update(
            task, description=f"{Path(name).name}: {quantity(pairs, 'pair')}", completed=fraction
        )

    return bars(start, TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
