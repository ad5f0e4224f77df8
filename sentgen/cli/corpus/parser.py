"""``sentgen parser``: train a dependency parser, measure one, run one, and see what the store has kept."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

from sentgen.cli.console.held_texts import tell_size
from sentgen.cli.console.options import DbOption, DryRunOption, MemoryOption, check_file_option, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.corpus.conllu_writer import conllu
from sentgen.corpus.formats import check_format
from sentgen.corpus.parsers import open_parser, training
from sentgen.corpus.parsers.accuracy import Accuracy, accuracy
from sentgen.corpus.parsers.cache import forget_parses, kept_parses
from sentgen.corpus.parsers.qualities import QUALITIES
from sentgen.corpus.sentences import sentences_of
from sentgen.corpus.sources import expand
from sentgen.errors import InputError, Rejection
from sentgen.output.files import whole_file
from sentgen.output.progress import bars
from sentgen.output.wording import quantity

app = typer.Typer(help="Train, measure and run dependency parsers.")

ParserName = Annotated[
    str,
    typer.Option("--parser", metavar="PARSER", help="Parser: udpipe:FILE, spacy:NAME or stanza:LANGUAGE."),
]


@app.command()
def train(
    treebanks: Annotated[
        list[str], typer.Argument(metavar="TREEBANK...", help="Treebanks with tags, heads and relations.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Model to write.")],
    quality: Annotated[
        str, typer.Option(metavar="fast|full", help="Minutes of training, or about an hour.")
    ] = "fast",
    dev: Annotated[
        str | None, typer.Option("--dev", metavar="FILE", help="Treebank to measure the model on.")
    ] = None,
    lowercase: Annotated[
        bool, typer.Option("--lowercase", help="Lower-case all words, for text that is lower-cased.")
    ] = False,
) -> None:
    """Train a UDPipe tokenizer, tagger and parser on treebanks of your own.

    Ctrl-C ends the training at once; the model is written whole, at the end, or not at all.

    Example: `sentgen parser train en_ewt-ud-train.conllu --out ewt.udpipe --dev en_ewt-ud-dev.conllu`
    """
    if quality not in QUALITIES:
        raise typer.BadParameter(f"{quality!r} is none of: {', '.join(QUALITIES)}", param_hint="--quality")
    check_file_option("--out", out)
    tell_size([*treebanks, *([dev] if dev else [])], besides=" and what UDPipe itself takes")
    sentences = training.read_treebank(treebanks, lowercase=lowercase)
    held_out = training.read_treebank([dev], lowercase=lowercase) if dev else []
    # Opened before the training: a place that cannot be written must not cost an hour.
    with whole_file(out) as sink, _progress() as progress:
        trained = training.train(sentences, QUALITIES[quality], progress=progress)
        sink.write(trained.model)
    facts = [
        ("model", str(out)),
        ("sentences", f"{trained.sentences:,}"),
        ("tokens", f"{trained.tokens:,}"),
        ("seconds", f"{trained.seconds:.1f}"),
        ("bytes", f"{len(trained.model):,}"),
    ]
    for name, value in facts:
        typer.echo(f"{name:<16}{value}")
    if held_out:
        # The file itself is read again: what is measured is what others will load.
        _report(accuracy(open_parser(f"udpipe:{out}"), held_out))


@app.command()
def evaluate(
    treebanks: Annotated[
        list[str], typer.Argument(metavar="TREEBANK...", help="Treebanks with tags, heads and relations.")
    ],
    parser: ParserName,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lower-case all words.")] = False,
) -> None:
    """Measure a parser on the tokens of treebanks: UAS, LAS, tags and speed.

    Example: `sentgen parser evaluate en_ewt-ud-dev.conllu --parser udpipe:ewt.udpipe`
    """
    tell_size(treebanks)
    loaded = open_parser(parser)
    _report(accuracy(loaded, training.read_treebank(treebanks, lowercase=lowercase)))


def _report(found: Accuracy) -> None:
    facts = [
        ("dev tokens", f"{found.tokens:,}"),
        ("UAS", f"{found.uas:.2f}"),
        ("LAS", f"{found.las:.2f}"),
        *(
            (name, f"{value:.2f}")
            for name, value in (("upos", found.upos), ("xpos", found.xpos), ("lemma", found.lemma))
            if value is not None
        ),
        ("tokens/s", f"{found.tokens_per_second:,.0f}"),
    ]
    for name, value in facts:
        typer.echo(f"{name:<16}{value}")


@app.command()
def run(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders, globs, archives, or - .")
    ],
    parser: ParserName,
    format: Annotated[
        str | None, typer.Option("--format", "-f", metavar="FORMAT", help="Format; detected if not given.")
    ] = None,
) -> None:
    """Parse text and print it as CoNLL-U; sentences that have trees keep them.

    A sentence that fails a check is left out and reported; exit code 1.

    Example: `sentgen parser run news.txt --parser udpipe:ewt.udpipe`
    """
    try:
        check_format(format)
    except InputError as error:
        raise typer.BadParameter(error.message, param_hint="--format") from error
    loaded = open_parser(parser)
    rejections = list[Rejection]()

    def report(rejection: Rejection) -> None:
        rejections.append(rejection)
        typer.echo(f"rejected: {rejection.as_error()}", err=True)

    for sentence in sentences_of(expand(paths), form=format, parser=loaded, rejected=report):
        sys.stdout.write(conllu(sentence))
    if rejections:
        raise typer.Exit(1)


@app.command("list")
@output_options
def list_(*, db: DbOption = None, memory_limit: MemoryOption = None, out: Output) -> None:
    """List the parsers whose parses the store has kept.

    Example: `sentgen parser list`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        rows = kept_parses(store)
    out.rows(
        ["parser", "version", "texts", "sentences", "tokens"],
        rows,
        none="no parses yet; keep some with: sentgen ingest FILE --corpus NAME --parser PARSER",
    )


@app.command()
def forget(
    parser: Annotated[
        str, typer.Argument(metavar="PARSER", help="Parser as `sentgen parser list` shows it.")
    ],
    version: Annotated[
        str | None, typer.Option("--version", metavar="VERSION", help="Only this version of it.")
    ] = None,
    dry_run: DryRunOption = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Remove the parses of a parser from the store; corpora stay as they are.

    Example: `sentgen parser forget udpipe`
    """
    with open_store(db, read_only=dry_run, memory_limit=memory_limit) as store:
        removed = forget_parses(store, parser, version, dry_run=dry_run)
    typer.echo(f"{'would remove' if dry_run else 'removed'} {quantity(removed, 'parsed text')}", err=True)


def _progress() -> AbstractContextManager[Callable[[str, int, int], None] | None]:
    """Show the part that is trained and its rounds."""

    def start(progress: Progress) -> Callable[[str, int, int], None]:
        task = progress.add_task("tokenizer", total=None)
        return lambda part, done, rounds: progress.update(
            task, description=part, completed=done, total=rounds
        )

    return bars(start, MofNCompleteColumn(), TimeElapsedColumn())
