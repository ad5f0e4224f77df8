"""`sentgen score`: log-probabilities and perplexity of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.options import LOOKUP_SHARE, DbOption, MemoryOption, open_store
from sentgen.cli.output import Output, output_options
from sentgen.corpus.readers.lines import split_tokens
from sentgen.corpus.sources import expand
from sentgen.errors import InputError
from sentgen.models import registry
from sentgen.models.scoring import SentenceScore, Totals, score_sentences

COLUMNS = ["sentence", "log10", "tokens", "oov", "perplexity", "text"]
TOTALS = ["sentences", "tokens", "oov", "log10", "perplexity", "perplexity_without_oov"]


@output_options
def score(
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT|-", help="Sentences, or - for standard input.")
    ] = None,
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME[@VERSION]", help="Language model.")],
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read sentences from here, one a line.")
    ] = None,
    totals: Annotated[
        bool, typer.Option("--totals", help="Print the totals instead of the sentences.")
    ] = False,
    lowercase: Annotated[
        bool | None,
        typer.Option(
            "--lowercase/--keep-case", help="Lower-case first. Default: as the corpora of the model."
        ),
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Score tokenized sentences: log10 probability (with the end of the sentence), unknown words, perplexity.

    The totals go to standard error; `--totals` prints them as the table. Words are separated by blanks.

    Example: `sentgen score --model ewt "the dow was down ."`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit, share=LOOKUP_SHARE) as store:
        chosen = registry.find(store, model)
        if chosen.brackets:
            out.note("the model counts brackets; write base noun phrases as <np> the dow </np>")
        found = score_sentences(
            store,
            chosen,
            map(split_tokens, _lines(text or [], file)),
            lowercase=lowercase,
        )
        sums = Totals()
        if totals:
            for one in found:
                sums.add(one)
            row = (
                sums.sentences,
                sums.tokens,
                sums.oov,
                sums.log10,
                sums.perplexity,
                sums.perplexity_without_oov,
            )
            out.rows(TOTALS, [row])
            return
        out.rows(COLUMNS, _rows(found, sums))
    out.note(
        f"{sums.sentences} sentences, {sums.tokens} tokens with ends, {sums.oov} unknown;"
        f" log10 {sums.log10:.4f}"
    )
    out.note(
        f"perplexity {_readable(sums.perplexity)}, "
        f"without unknown words {_readable(sums.perplexity_without_oov)}"
    )


def _lines(text: list[str], file: Path | None) -> Iterable[str]:
    """Return the lines that the arguments name."""
    if bool(text) == bool(file):
        raise InputError(
            "there is nothing to score, or too much; give either sentences, or - , or --file FILE"
        )
    if text == ["-"]:
        return sys.stdin
    if file is None:
        return [line for argument in text for line in argument.splitlines() or [""]]
    return (line for source in expand([str(file)]) for line in source.lines())


def _rows(found: Iterable[SentenceScore], sums: Totals) -> Iterator[tuple[object, ...]]:
    for one in found:
        sums.add(one)
        yield sums.sentences, one.log10, one.tokens, one.oov, one.perplexity, " ".join(one.words)


def _readable(perplexity: float) -> str:
    return f"{perplexity:.2f}" if perplexity < 1e9 else f"{perplexity:.2e}"
