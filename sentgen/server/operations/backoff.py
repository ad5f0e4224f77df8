"""How a model backs off on the way to a probability, for the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentgen.lookups.base.statement import literal
from sentgen.models import registry
from sentgen.models.lookup import BackoffStep, explain
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.server.operations.operation import Context, Operation, Result

_COLUMNS = ("ngram", "order", "known", "log10p", "log10_backoff", "log10_total")
_SQL = """\
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


def backoff(context: Context, asked: Backoff) -> Result:
    """Give each n-gram that the model tries for the last word, longest first, with its part of the sum."""
    model = registry.find(context.opened, asked.model)
    steps = explain(context.opened, model, asked.ngram.split())
    rows = [
        (" ".join(step.ngram), step.order, step.known, step.log10, step.backoff, step.total) for step in steps
    ]
    sql = _SQL.format(model=literal(model.name), version=model.version, ngrams=literal(_looked_up(steps)))
    return Result(Rows(_COLUMNS, rows), sql=(sql,))


def _looked_up(steps: list[BackoffStep]) -> list[str]:
    """Return the n-grams that were tried, and the contexts whose weights were taken."""
    tried = [" ".join(step.ngram) for step in steps]
    contexts = [" ".join(step.ngram[:-1]) for step in steps if not step.known and step.order > 1]
    return list(dict.fromkeys([*tried, *contexts]))


OPERATIONS = (Operation("backoff", "How a model backs off.", "sql", Backoff, backoff, api=False),)
