"""`sentgen fuse`: one new sentence from a key sentence and related ones."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.cli.console.options import Arrange, ParserOption
from sentgen.cli.console.output import Output, StoreOutput, printable
from sentgen.corpus.parsers import open_parser
from sentgen.evaluation.fusion.texts import FusionTexts, file_named
from sentgen.generation.fusion.answer import FusionAnswer, fusion_notes, fusion_table
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.output.typography import closed_up


def fuse(
    *,
    request: FusionTexts,
    parser: Annotated[ParserOption, Arrange(after="related")] = None,
    out: StoreOutput,
) -> None:
    """Make one new sentence of a key sentence and units of related ones (Global Revision, 2007).

    Phrases of the related sentences are added to words of the key sentence that they share, or replace what
    names the same thing less precisely, and a clause about something else is conjoined; where nothing fits,
    there is no sentence, and the exit code is 1. Nothing checks whether the result is true: `sentgen check`
    does. All sentences need trees: CoNLL-U, or any text with --parser.

    Example: `sentgen fuse 1 --with cluster.conllu`
    """
    request.check()
    trees = open_parser(parser) if parser else None
    key, related = request.sentences(trees, file=file_named(request.key))
    if request.model is None:
        answer = fused_sentences(key, related, request)
    else:
        with out.lookups() as store:
            answer = fused_sentences(key, related, request, store)
    _show(answer, out)


def _show(answer: FusionAnswer, out: Output) -> None:
    if not out.for_reading:
        out.table(fusion_table(answer))
    for each in answer.sentences if out.for_reading else ():
        typer.echo(printable(closed_up(each.text)))
    for note in fusion_notes(answer):
        out.note(note)
    if not answer.sentences:
        raise typer.Exit(1)
