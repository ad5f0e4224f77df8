"""Check which verb arguments of a summary its source supports."""

from __future__ import annotations

from pydantic import Field

from sentgen.corpus.sentences import read_trees
from sentgen.evaluation.check.check import check as run
from sentgen.evaluation.check.check import claim_table, figure
from sentgen.evaluation.check.verb_arguments import Spelling
from sentgen.server.operations.operation import Context, Operation, Parameters, Positional, Result

_EXAMPLE = """\
1\tTrucks\ttruck\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tarrived\tarrive\tVERB\tVBD\t_\t0\troot\t_\t_

"""


class Check(Parameters):
    """Two texts, with trees (CoNLL-U), or any text if the server has a parser."""

    summary: str = Positional("The text to check.", file="summary")
    against: str = Field(
        description="The text that it should follow.", json_schema_extra={"x-file": "against"}
    )
    lemmas: bool = Field(False, description="Compare lemmas instead of forms.")
    match_case: bool = Field(False, description="Tell upper from lower case; it is ignored otherwise.")
    format: str | None = Field(None, description="Format of both texts; detected if not given.")


def check(context: Context, asked: Check) -> Result:
    """Answer `sentgen check`."""
    with context.file("summary", asked.summary) as summary, context.file("against", asked.against) as source:
        found = run(
            read_trees(summary, parser=context.parser, form=asked.format),
            read_trees(source, parser=context.parser, form=asked.format),
            spelling=Spelling(lemmas=asked.lemmas, match_case=asked.match_case),
        )
    more = {"supported": found.supported, "claims": len(found.claims), "precision": found.precision}
    return Result(claim_table(found), notes=[figure(found)], more=more)


OPERATIONS = (
    Operation(
        "check",
        "Which verb arguments of a summary its source supports.",
        "check",
        Check,
        check,
        kind="compute",
        method="POST",
        example={"summary": _EXAMPLE, "against": _EXAMPLE},
    ),
)
