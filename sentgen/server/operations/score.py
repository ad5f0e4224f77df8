"""Log-probabilities and perplexities of sentences, and models compared by them."""

from __future__ import annotations

from dataclasses import replace

from sentgen.errors import InputError
from sentgen.evaluation.perplexity import CompareRequest
from sentgen.models import registry
from sentgen.models.raw_text import words_of
from sentgen.models.request import ScoreRequest
from sentgen.models.scored_text import ScoredText
from sentgen.models.scoring import TOTALS, model_notes, split_lines
from sentgen.server.operations.operation import Context, Operation, Result


def score(context: Context, asked: ScoreRequest) -> Result:
    """Answer `sentgen score`; of what is stored, as many rows as the server gives."""
    store = context.opened
    chosen, lines = registry.find(store, asked.model), split_lines(asked.text)
    if not asked.corpus:
        if not lines:
            raise InputError("there is nothing to score; give text, or a corpus")
        sentences = words_of(store, chosen, lines, tokenize=asked.tokenize)
        context.check_size(map(len, sentences), "sentence")
    found, most = ScoredText(store, chosen, asked, lines), context.limit(0)
    rows = found.table(most)
    totals = dict(zip(TOTALS, found.totals.row, strict=True))
    more = most < found.number
    return Result(rows, truncated=more, notes=[*model_notes(chosen), *found.notes], more={"totals": totals})


def compare(context: Context, asked: CompareRequest) -> Result:
    """Answer `sentgen models compare`, about a text that was sent or a corpus of the store."""
    context.check_size((1 for _ in asked.labels), "model")
    if asked.test is None:
        rows, notes = asked.compare(context.opened)
    else:
        with context.file("test", asked.test) as test:
            rows, notes = replace(asked, test=test).compare(context.opened)
    return Result(rows, notes=notes)


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
    Operation(
        "compare_models",
        "Perplexities of models on a text, with intervals.",
        "models compare",
        CompareRequest,
        compare,
        method="POST",
        path="models/compare",
        example={"models": "relief", "corpus": "relief"},
    ),
)
