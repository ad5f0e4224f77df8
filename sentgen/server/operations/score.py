"""Log-probabilities and perplexities of sentences, comparisons of models by these, and back-off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from sentgen.errors import InputError
from sentgen.evaluation.perplexity import CompareRequest
from sentgen.lookups.base.statement import literal
from sentgen.models.base import registry
from sentgen.models.lookup import BackoffStep, explain
from sentgen.models.request import ScoreRequest
from sentgen.models.scored_text import ScoredText, words_of
from sentgen.models.scoring import TOTALS, model_notes, split_lines
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.server.operations.operation import Context, Operation, Result


def _score(context: Context, request: ScoreRequest) -> Result:
    """Answer `sentgen score`; of stored sentences, as many rows as the server gives."""
    store = context.opened
    chosen, lines = registry.find(store, request.model), split_lines(request.text)
    if not request.corpus:
        if not lines:
            raise InputError("there is nothing to score; give text, or a corpus")
        sentences = words_of(store, chosen, lines, tokenize=request.tokenize)
        context.check_size(map(len, sentences), "sentence")
    scored, most = ScoredText(store, chosen, request, lines), context.limit(0)
    rows = scored.table(most)
    totals = dict(zip(TOTALS, scored.totals.row, strict=True))
    more = most < scored.number
    return Result(rows, truncated=more, notes=[*model_notes(chosen), *scored.notes], more={"totals": totals})


def _compare(context: Context, request: CompareRequest) -> Result:
    """Answer `sentgen models compare`, about a text that was sent or a corpus of the store."""
    context.check_size((1 for _ in request.labels), "model")
    if request.test is None:
        rows, notes = request.compare(context.opened)
    else:
        with context.file("test", request.test) as test:
            rows, notes = replace(request, test=test).compare(context.opened)
    return Result(rows, notes=notes)


_STEP_COLUMNS = ("ngram", "order", "known", "log10p", "log10_backoff", "log10_total")
_STEP_SQL = """\
select n, ngram, log10p, log10_backoff
from v_model_ngrams
where model = {model}
  and version = {version}
  and ngram in {ngrams}
order by n desc, ngram"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """An n-gram, the last word of which is looked up after the others."""

    model: Annotated[str, Option("Language model.")]
    ngram: Annotated[str, Option("The words of the n-gram.")]


def _backoff(context: Context, request: Backoff) -> Result:
    """Return each n-gram that the model tries for the last word, longest first, with its part of the sum."""
    model = registry.find(context.opened, request.model)
    steps = explain(context.opened, model, request.ngram.split())
    rows = [
        (" ".join(step.ngram), step.order, step.known, step.log10, step.backoff, step.total) for step in steps
    ]
    sql = _STEP_SQL.format(
        model=literal(model.name), version=model.version, ngrams=literal(_looked_up(steps))
    )
    return Result(Rows(_STEP_COLUMNS, rows), sql=(sql,))


def _looked_up(steps: list[BackoffStep]) -> list[str]:
    """Return the n-grams that were tried, and the contexts whose back-off weights were used."""
    tried = [" ".join(step.ngram) for step in steps]
    contexts = [" ".join(step.ngram[:-1]) for step in steps if not step.known and step.order > 1]
    return list(dict.fromkeys([*tried, *contexts]))


OPERATIONS = (
    Operation(
        "score",
        "Log-probability and perplexity of sentences.",
        "score",
        ScoreRequest,
        _score,
        method="POST",
        example={"text": ["the people arrived in the camp ."], "model": "relief"},
    ),
    Operation(
        "compare_models",
        "Perplexities of models on a text, with intervals.",
        "models compare",
        CompareRequest,
        _compare,
        method="POST",
        path="models/compare",
        example={"models": "relief", "corpus": "relief"},
    ),
    Operation("backoff", "How a model backs off.", "sql", Backoff, _backoff, api=False),
)
