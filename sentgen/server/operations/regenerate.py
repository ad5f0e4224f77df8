"""Order the words and phrases of sentences."""

from __future__ import annotations

from sentgen.errors import InputError
from sentgen.generation.answers import OrderingRequest, answer, table_of
from sentgen.generation.notes import notes
from sentgen.server.operations.operation import Context, Operation, Result


def regenerate(context: Context, asked: OrderingRequest) -> Result:
    """Answer `sentgen regenerate`."""
    if asked.tree and asked.explain:
        raise InputError("--tree and --explain are two tables; choose one of them")
    context.check_size((len(bag.split()) for bag in asked.bag), "bag")
    found = answer(context.opened, asked, lambda notation: list(map(notation.bag, asked.bag)))
    more = {"svg": found.svg(), "conllu": found.conllu()} if asked.tree else {}
    return Result(table_of(found), notes=list(notes(found)), more=more)


OPERATIONS = (
    Operation(
        "regenerate",
        "Order the words and phrases of sentences.",
        "regenerate",
        OrderingRequest,
        regenerate,
        method="POST",
        example={"bag": ["[the trucks] reached [the city] ."], "model": "relief", "algorithm": "ab"},
    ),
)
