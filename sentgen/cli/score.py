"""`sentgen score`: log-probabilities and perplexity of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import Arrange
from sentgen.cli.console.output import DeskOutput
from sentgen.corpus.paths import expand
from sentgen.corpus.readers.table import refuse_table
from sentgen.errors import InputError
from sentgen.models.base import registry
from sentgen.models.request import ScoreRequest
from sentgen.models.scored_text import ScoredText
from sentgen.models.scoring import model_notes, split_lines
from sentgen.output.display import NATURAL


def score(
    *,
    request: ScoreRequest,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Read sentences from here, one a line."),
        Arrange(after="model"),
    ] = None,
    out: DeskOutput,
) -> None:
    """Score tokenized sentences: log10 probability (with the end of the sentence), unknown words, perplexity.

    The totals go to standard error; `--totals` prints them as the table. Words are separated by blanks;
    `--tokenize` is for text as people write it, `--corpus` for what is stored.

    Example: `sentgen score --model ewt "the dow was down ."`
    """
    texts = _texts(request, file)
    with out.lookups() as store:
        chosen = registry.find(store, request.model)
        for note in model_notes(chosen):
            out.note(note)
        scored = ScoredText(store, chosen, request, texts, str(file or "-"))
        if request.keep_below is not None and out.for_reading:
            sys.stdout.writelines(f"{line}\n" for line in scored.lines_below())
        else:
            out.rows(scored.columns, scored.rows(), programs=NATURAL, essential=scored.essential)
    # After the rows are written, when the sums are complete.
    for note in scored.warnings if request.totals else scored.notes:
        out.note(note)


def _texts(request: ScoreRequest, file: Path | None) -> Iterable[str]:
    """Return the texts that the arguments name, each of some lines; none for stored sentences."""
    if bool(request.text) + bool(file) + bool(request.corpus) != 1:
        raise InputError(
            "there is nothing to score, or too much; give either sentences, or - , or --file FILE, or"
            " --corpus NAME"
        )
    if file is None and request.text != ["-"]:
        return split_lines(request.text)
    return _texts_of(str(file or "-"), request.tokenize)


def _texts_of(path: str, raw: bool) -> Iterator[str]:
    """Yield the text of sources in pieces, as standard input may not fit into memory."""
    sources = list(expand([path]))
    for source in sources:
        refuse_table(source)
    for source in sources:
        lines = source.open()
        lines.controls_are_blanks = raw
        yield from lines.texts()
