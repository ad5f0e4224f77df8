"""``sentgen parser``: train and run a dependency parser, and see what the store has kept."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sentgen.cli.console.listings import listing
from sentgen.cli.console.options import DryRunOption, StoreOptions, mistakes
from sentgen.cli.console.output import StoreOutput
from sentgen.corpus.formats import check_format
from sentgen.corpus.parsers import forget_parses, open_parser
from sentgen.corpus.paths import expand
from sentgen.corpus.readers.conllu import conllu_text
from sentgen.corpus.reading import sentences_of
from sentgen.errors import Rejection
from sentgen.models.parser_training import TrainParser
from sentgen.options import PARSERS
from sentgen.output.progress import counting_bars
from sentgen.output.wording import quantity

app = typer.Typer(help="Train and run dependency parsers, and see what they gave.")


@app.command()
def train(*, request: TrainParser, out: StoreOutput) -> None:
    """Train UDPipe on a treebank of the store, for `--parser NAME` of other commands.

    The scores, in percent, are those of each tenth sentence as plain text; it does not learn from them.
    Ctrl-C ends the training at once; the model is written whole, at the end, or not at all.

    Example: `sentgen parser train english --corpus ewt`
    """
    with out.store(read_only=True) as store, counting_bars("tokenizer", "tagger") as progress:
        trained = request.train(store, progress)
    out.table(trained.rows())
    out.note(
        f"{trained.path}: learnt from {quantity(trained.sentences, 'sentence')}; use it with: sentgen ingest"
        f" FILE --corpus NAME --parser {trained.name}"
    )


@app.command()
def run(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders, globs, archives, or - .")
    ],
    parser: Annotated[
        str,
        typer.Option("--parser", metavar="PARSER", help=f"Parser: {PARSERS}."),
    ],
    format: Annotated[
        str | None, typer.Option("--format", "-f", metavar="FORMAT", help="Format; detected if not given.")
    ] = None,
) -> None:
    """Parse text and print it as CoNLL-U; sentences that have trees keep them.

    A sentence that fails a check is left out and reported; exit code 1.

    Example: `sentgen parser run news.txt --parser udpipe:ewt.udpipe`
    """
    with mistakes("--format"):
        check_format(format)
    loaded = open_parser(parser)
    rejections = list[Rejection]()

    def report(rejection: Rejection) -> None:
        rejections.append(rejection)
        typer.echo(f"rejected: {rejection.as_error()}", err=True)

    for sentence in sentences_of(expand(paths), form=format, parser=loaded, rejected=report):
        sys.stdout.write(conllu_text(sentence))
    if rejections:
        raise typer.Exit(1)


app.command("list")(listing("parses"))


@app.command()
def forget(
    parser: Annotated[
        str, typer.Argument(metavar="PARSER", help="Parser as `sentgen parser list` shows it.")
    ],
    version: Annotated[
        str | None, typer.Option("--version", metavar="VERSION", help="Only this version of it.")
    ] = None,
    *,
    dry_run: DryRunOption = False,
    options: StoreOptions,
) -> None:
    """Remove the parses of a parser from the store; corpora stay as they are.

    Example: `sentgen parser forget udpipe`
    """
    with options.store(read_only=dry_run) as store:
        removed = forget_parses(store, parser, version, dry_run=dry_run)
    typer.echo(f"{'would remove' if dry_run else 'removed'} {quantity(removed, 'parsed text')}", err=True)
