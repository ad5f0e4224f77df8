"""`sentgen score`: log-probabilities and perplexity of sentences."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.option_groups import asking
from sentgen.cli.console.options import DbOption, MemoryOption, open_for_lookups
from sentgen.cli.console.output import Output, output_options
from sentgen.corpus.paths import expand
from sentgen.errors import InputError
from sentgen.models import registry
from sentgen.models.raw_text import words_of
from sentgen.models.request import ScoreRequest
from sentgen.models.scoring import (
    COLUMNS,
    TOTALS,
    Totals,
    model_notes,
    score_rows,
    score_sentences,
    split_lines,
)
from sentgen.output.logarithms import NATURAL


@output_options
@asking(ScoreRequest, file="model")
def score(
    *,
    asked: ScoreRequest,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read sentences from here, one a line.")
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Score tokenized sentences: log10 probability (with the end of the sentence), unknown words, perplexity.

    The totals go to standard error; `--totals` prints them as the table. Words are separated by blanks;
    `--tokenize` is for text as people write it.

    Example: `sentgen score --model ewt "the dow was down ."`
    """
    with open_for_lookups(db, memory_limit) as store:
        chosen = registry.find(store, asked.model)
        for note in model_notes(chosen):
            out.note(note)
        lines = _lines(asked.text, file)
        words = words_of(store, chosen, lines, tokenize=asked.tokenize, path=str(file or "-"))
        found = score_sentences(store, chosen, words, lowercase=asked.lowercase)
        sums = Totals()
        if asked.totals:
            for one in found:
                sums.add(one)
            out.rows(TOTALS, [sums.row], programs=NATURAL)
        else:
            out.rows(COLUMNS, score_rows(found, sums), programs=NATURAL, essential=("log10", "text"))
    # Only now: the sums are complete when the rows are written.
    for note in (*([] if asked.totals else sums.notes), *sums.warnings):
        out.note(note)


def _lines(text: list[str], file: Path | None) -> Iterable[str]:
    """Return the lines that the arguments name."""
    if bool(text) == bool(file):
        raise InputError(
            "there is nothing to score, or too much; give either sentences, or - , or --file FILE"
        )
    if file is None and text != ["-"]:
        return split_lines(text)
    # Line by line: standard input may be longer than memory.
    return (line for source in expand([str(file or "-")]) for line in source.lines())
