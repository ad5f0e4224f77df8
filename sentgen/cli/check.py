"""`sentgen check`: which words and verb arguments of a summary its source supports."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from sentgen.alignment.pairs.budget import Budget
from sentgen.cli.console.options import Arrange, ParserOption, check_file_option
from sentgen.cli.console.output import Output
from sentgen.corpus.parsers import open_parser
from sentgen.errors import InputError
from sentgen.evaluation.check.check import CheckedWord, CheckRequest, Claim, SupportCheck, WordLimits, text_of
from sentgen.evaluation.check.page import page
from sentgen.output.files import write_text
from sentgen.schema.store import default_memory_limit


def check(
    *,
    request: CheckRequest,
    parser: Annotated[ParserOption, Arrange(after="against")] = None,
    all_relations: Annotated[
        bool,
        typer.Option("--all", help="Show what has support, too; other formats always do."),
        Arrange(after="words"),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with the words marked."),
        Arrange(after="words"),
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option("--fail-under", metavar="P", min=0, max=1, help="Exit with 1 if precision is below."),
        Arrange(after="words"),
    ] = None,
    out: Output,
) -> None:
    """Check which words and verb arguments of a summary have support in its source.

    A word has none if it is new, or changed: the source has something else in its place, such as another
    number.

    A verb argument is a verb with a word that depends on it. It has support if a sentence of the source has
    the same two words in that relation and order; a paraphrase has little of that, and needs --other-words.
    Precision is the share that has. For this, and for --fail-under, both texts need trees: CoNLL-U, or any
    text with --parser; without them, words alone are checked.

    Example: `sentgen check summary.txt --against article.txt --parser udpipe:ewt.udpipe --html check.html`
    """
    check_file_option("--html", html)
    if request.summary == request.against == "-":
        raise InputError("both texts cannot come from standard input; name a file")
    if request.words and fail_under is not None:
        raise typer.BadParameter("--fail-under is about verb arguments, which --words leaves out; choose one")
    # Before the files are read, while there is still memory.
    _tell_size([request.summary, request.against])
    limits = WordLimits(Budget.to_align(default_memory_limit(), with_store=False))
    checked = request.check(
        open_parser(parser) if parser else None, limits=limits, need_trees=fail_under is not None
    )
    if html is not None:
        write_text(html, page(checked, summary=request.summary, source=request.against))
        out.note(f"page: {html}")
    _show(checked, all_relations, out)
    # Precision is `None` if the summary has no claims, so that none is unsupported.
    if fail_under is not None and checked.precision is not None and checked.precision < fail_under:
        raise typer.Exit(1)


def _show(checked: SupportCheck, everything: bool, out: Output) -> None:
    """Print the figures and their relations or words, or one table of all relations or words."""
    for note in checked.notes:
        out.note(note)
    if not out.for_reading:
        out.table(checked.table())
        for line in checked.figures():
            out.note(line)
        return
    typer.echo("\n".join(checked.figures()))
    if checked.supported < len(checked.claims) and not checked.other_words:
        out.note(
            "words are compared as they stand; --other-words lets synonyms, other forms and passives match"
        )
    claims = [claim for claim in checked.claims if everything or claim.words != "same"]
    words = checked.words if everything else checked.listed_words()
    if claims:
        typer.echo()
        out.rows(
            ["sentence", "relation", "support", "the verb there has"],
            map(_reading, claims),
            essential=("relation", "support"),
        )
    if words:
        typer.echo()
        out.rows(
            ["sentence", "word", "state", "there", "source", "why"],
            map(_reading_word, words),
            essential=("word", "state", "there"),
        )
    if numbers := sorted({claim.sentence for claim in claims} | {word.sentence for word in words}):
        typer.echo()
        texts = [(number, text_of(checked.summary[number - 1])) for number in numbers]
        out.rows(["sentence", "text"], texts, essential=("text",))


def _reading_word(word: CheckedWord) -> tuple[object, ...]:
    places = ", ".join(map(str, word.support))
    if word.state.elsewhere:
        places = f"elsewhere: {', '.join(map(str, word.state.elsewhere))}"
    return word.sentence, word.state.word, word.state.state, word.there, places, word.state.why


def _reading(claim: Claim) -> tuple[object, ...]:
    support = f"source {', '.join(map(str, claim.support))}" if claim.supported else claim.why
    if claim.found is not None:
        support += f" in other words: {' … '.join(claim.found.words)} ({', '.join(claim.found.ways)})"
    return claim.sentence, " … ".join(claim.phrase()), support, ", ".join(claim.instead)


#: Bytes of memory for a byte of CoNLL-U: 243 MB for the 28.4 MB of UD English EWT train, read twice.
_PER_BYTE = 9


def _tell_size(paths: Iterable[str]) -> None:
    """Print the memory that these files need, if that is more than a quarter of the machine's.

    Standard input is not counted, and compressed files by their compressed size.
    """
    files = [file for path in map(Path, paths) for file in (path.rglob("*") if path.is_dir() else [path])]
    size = sum(file.stat().st_size for file in files if file.is_file())
    if size * _PER_BYTE > default_memory_limit():
        megabytes, needed = size / 1e6, size * _PER_BYTE / 1e9
        note = f"holds {megabytes:,.0f} MB of text as a whole, in about {needed:.1f} GB of memory"
        print(f"sentgen: {note}", file=sys.stderr, flush=True)
