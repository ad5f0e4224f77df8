"""Check which verb arguments of a summary its source supports."""

from __future__ import annotations

from dataclasses import replace

from sentgen.evaluation.check.check import claim_table, figure
from sentgen.evaluation.check.request import CheckRequest
from sentgen.server.operations.operation import Context, Operation, Result

_EXAMPLE = """\
1\tTrucks\ttruck\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tarrived\tarrive\tVERB\tVBD\t_\t0\troot\t_\t_

"""


def check(context: Context, asked: CheckRequest) -> Result:
    """Answer `sentgen check`."""
    with context.file("summary", asked.summary) as summary, context.file("against", asked.against) as source:
        found = replace(asked, summary=summary, against=source).check(context.parser)
    more = {"supported": found.supported, "claims": len(found.claims), "precision": found.precision}
    if found.other_words:
        more["other_words"] = found.reworded
    return Result(claim_table(found), notes=[figure(found)], more=more)


OPERATIONS = (
    Operation(
        "check",
        "Which verb arguments of a summary its source supports.",
        "check",
        CheckRequest,
        check,
        method="POST",
        example={"summary": _EXAMPLE, "against": _EXAMPLE},
    ),
)
