"""`sentgen check`: which verb arguments of a summary its source supports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.held_texts import tell_size
from sentgen.cli.console.option_groups import asking
from sentgen.cli.console.options import ParserOption, check_file_option
from sentgen.cli.console.output import Output, output_options
from sentgen.corpus.parsers import open_parser
from sentgen.errors import InputError
from sentgen.evaluation.check.check import Claim, SupportCheck, claim_table, figure, text_of
from sentgen.evaluation.check.page import page, phrase
from sentgen.evaluation.check.request import CheckRequest
from sentgen.output.files import write_text


@output_options
@asking(
    CheckRequest, parser="against", all_relations="other_words", html="other_words", fail_under="other_words"
)
def check(
    *,
    asked: CheckRequest,
    parser: ParserOption = None,
    all_relations: Annotated[
        bool, typer.Option("--all", help="Show what has support, too; other formats always do.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with the words marked.")
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option("--fail-under", metavar="P", min=0, max=1, help="Exit with 1 if precision is below."),
    ] = None,
    out: Output,
) -> None:
    """Check which verb arguments of a summary have support in its source.

    A verb argument is a verb with a word that depends on it. It has support if a sentence of the source has
    the same two words in that relation and order; a paraphrase has little of that, and needs --other-words.
    Precision is the share that has. Both texts need trees: CoNLL-U, or any text with --parser.

    Example: `sentgen check summary.txt --against article.txt --parser udpipe:ewt.udpipe --html check.html`
    """
    check_file_option("--html", html)
    if asked.summary == asked.against == "-":
        raise InputError("both texts cannot come from standard input; name a file")
    # Before reading: afterwards the memory is gone.
    tell_size([asked.summary, asked.against])
    found = asked.check(open_parser(parser) if parser else None)
    if html is not None:
        write_text(html, page(found, summary=asked.summary, source=asked.against))
        out.note(f"page: {html}")
    _show(found, all_relations, out)
    # None: nothing was claimed, and so nothing is without support.
    if fail_under is not None and found.precision is not None and found.precision < fail_under:
        raise typer.Exit(1)


def _show(found: SupportCheck, all_relations: bool, out: Output) -> None:
    """Print the figure and what is behind it, or one table of all relations."""
    texts = [text_of(sentence) for sentence in found.summary]
    if not out.for_reading:
        out.table(claim_table(found))
        out.note(figure(found))
        return
    typer.echo(figure(found))
    if found.supported < len(found.claims) and not found.other_words:
        out.note(
            "words are compared as they stand; --other-words lets synonyms, other forms and passives match"
        )
    shown = [claim for claim in found.claims if all_relations or claim.words != "same"]
    if not shown:
        return
    typer.echo()
    out.rows(
        ["sentence", "relation", "support", "the verb there has"],
        map(_reading, shown),
        essential=("relation", "support"),
    )
    typer.echo()
    numbers = sorted({claim.sentence for claim in shown})
    out.rows(["sentence", "text"], [(number, texts[number - 1]) for number in numbers], essential=("text",))


def _reading(claim: Claim) -> tuple[object, ...]:
    support = f"source {', '.join(map(str, claim.support))}" if claim.supported else claim.why
    if claim.found is not None:
        support += f" in other words: {' … '.join(claim.found.words)} ({', '.join(claim.found.ways)})"
    return claim.sentence, " … ".join(phrase(claim)), support, ", ".join(claim.instead)
