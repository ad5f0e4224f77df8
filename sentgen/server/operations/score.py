"""Log-probabilities and perplexities of sentences."""

from __future__ import annotations

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
from sentgen.output.tabular import Rows
from sentgen.server.operations.operation import Context, Operation, Result


def score(context: Context, asked: ScoreRequest) -> Result:
    """Answer `sentgen score`."""
    store, sums = context.opened, Totals()
    chosen = registry.find(store, asked.model)
    sentences = list(words_of(store, chosen, split_lines(asked.text), tokenize=asked.tokenize))
    context.check_size(map(len, sentences), "sentence")
    found = score_sentences(store, chosen, sentences, lowercase=asked.lowercase)
    # All of them, also if only totals are asked for: the sums are made on the way.
    rows = list(score_rows(found, sums))
    table = Rows(TOTALS, [sums.row]) if asked.totals else Rows(COLUMNS, rows)
    totals = dict(zip(TOTALS, sums.row, strict=True))
    return Result(table, notes=[*model_notes(chosen), *sums.notes, *sums.warnings], more={"totals": totals})


OPERATIONS = (
    Operation(
        "score",
        "Log-probability and perplexity of sentences.",
        "score",
        ScoreRequest,
        score,
        method="POST",
        example={"text": ["the people arrived in the camp ."], "model": "relief"},
    ),
)
