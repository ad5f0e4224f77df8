"""Check which verb arguments of a summary its source supports."""

from __future__ import annotations

from dataclasses import replace

from sentgen.alignment.budget import Budget
from sentgen.evaluation.check.check import check_table, figures
from sentgen.evaluation.check.request import CheckRequest
from sentgen.evaluation.check.words import WordLimits, word_counts
from sentgen.server.operations.operation import Context, Operation, Result

#: Share of the memory of a worker for aligning: DuckDB has most of the rest.
_SHARE = 0.55
_EXAMPLE = """\
1\tTrucks\ttruck\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tarrived\tarrive\tVERB\tVBD\t_\t0\troot\t_\t_

"""


def check(context: Context, asked: CheckRequest) -> Result:
    """Answer `sentgen check`."""
    with context.file("summary", asked.summary) as summary, context.file("against", asked.against) as source:
        limits = context.opening.limits
        words = WordLimits(Budget.of_limit(limits.memory, share=_SHARE), limits.align_cells)
        found = replace(asked, summary=summary, against=source).check(context.parser, limits=words)
    more: dict[str, object] = {}
    if found.relations:
        more |= {"supported": found.supported, "claims": len(found.claims), "precision": found.precision}
    if found.other_words:
        more["other_words"] = found.reworded
    if found.words or not found.relations:
        more |= word_counts(found.words)
    return Result(check_table(found), notes=[*figures(found), *found.notes], more=more)


OPERATIONS = (
    Operation(
        "check",
        "Which words and verb arguments of a summary its source supports.",
        "check",
        CheckRequest,
        check,
        method="POST",
        example={"summary": _EXAMPLE, "against": _EXAMPLE},
    ),
)
