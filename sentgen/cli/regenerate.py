"""`sentgen regenerate`: order the words and phrases of a sentence."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.cli.console.answers import TreeFiles, show
from sentgen.cli.console.options import Arrange, StoreOptions
from sentgen.cli.console.output import Output
from sentgen.corpus.parsers import open_parser
from sentgen.errors import InputError
from sentgen.generation.answers import FILES_PANEL, OrderingRequest, answer
from sentgen.generation.bags.bag_reader import FORMATS, Bag, Notation, read_bags
from sentgen.models.caches import describe_caches
from sentgen.options import PARSERS

_AFTER = Arrange(after="algorithm")


def regenerate(
    *,
    request: OrderingRequest,
    input: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="FILE", help="Bags, one a line or as JSON, or a treebank."),
        _AFTER,
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help=f"Format of the input: {', '.join(FORMATS)}. Default: detected."),
        _AFTER,
    ] = None,
    parser: Annotated[
        str | None,
        typer.Option(
            "--parser",
            metavar="PARSER",
            help=f"Find the heads of phrases that have none: {PARSERS}.",
        ),
        _AFTER,
    ] = None,
    files: Annotated[TreeFiles, Arrange(after="tree", panel=FILES_PANEL)],
    options: Annotated[StoreOptions, Arrange(after="explain")],
    out: Output,
) -> None:
    """Order the words and phrases of a sentence; the order in which they are given does not matter.

    `log10` is the decimal log-probability of the sentence with its end, `log10_score` what the algorithm
    maximized, `unknown` the words that the model has not seen, `guessed` those that came without a tag and
    got the most frequent one; formats for programs have natural logarithms, too: `logp` and `score`. With
    `--nbest` the first sentence is the algorithm's own.

    Example: `sentgen regenerate --model ewt --algorithm ab --tree "down was [the dow] about [35 points]"`
    """
    if request.tree and request.explain and not out.for_reading:
        raise InputError(f"--tree and --explain are two tables, and --{out.form} is one; choose one of them")
    if request.tree and request.parts and out.for_reading:
        raise InputError(
            "--parts is a table, which --tree shows only for programs; leave one out, or give --json"
        )
    trees = open_parser(parser) if parser else None
    with options.lookups() as store:
        # Which tags a bag has to have depends on the treebank, which `answer` finds first.
        answers = answer(
            store,
            request,
            lambda notation: _bags(request.bag, input, format, notation),
            parser=trees,
            files=files.options,
        )
        files.write(answers, out)
        show(answers, out)
        if request.explain:
            out.note(describe_caches(store))


def _bags(texts: list[str], file: str | None, form: str | None, notation: Notation) -> list[Bag]:
    """Read the bags that the arguments name."""
    if bool(texts) == bool(file):
        raise InputError("there is nothing to order, or too much; give either bags, or - , or --input FILE")
    if file is not None or texts == ["-"]:
        return read_bags(file or "-", notation, form)
    if form is not None:
        raise InputError("--format is for what comes with --input FILE or - ; arguments are bags")
    return list(map(notation.bag, texts))
