"""One sentence of a corpus with its tree, for the pages."""

from __future__ import annotations

from pydantic import Field

from sentgen.generation.drawing.svg import corpus_tree_svg
from sentgen.lookups.concordances.browsing import find_sentence
from sentgen.server.operations.operation import Context, Operation, Parameters, Result, answered


class SentenceByName(Parameters):
    """A sentence by its name; ``marked`` are positions of tokens to be marked in the drawing."""

    corpus: str
    document: str
    sentence: str
    marked: list[int] = Field(default_factory=list, max_length=1000)


def sentence(context: Context, asked: SentenceByName) -> Result:
    """Give the tokens of a sentence, its text, its neighbors, and its tree as SVG if it has one."""
    with context.opened.connect() as connection:
        answer, about = find_sentence(connection, asked.corpus, asked.document, asked.sentence)
    tokens = answer.table.to_pylist()
    found = answered(answer)
    heads = [token["head"] for token in tokens]
    drawing = None
    if tokens and None not in heads:
        drawing = corpus_tree_svg(
            asked.sentence,
            [token["form"] for token in tokens],
            [token["upos"] or token["xpos"] or "" for token in tokens],
            heads,
            [token["deprel"] or "" for token in tokens],
            marked=asked.marked,
        )
    return Result(found.table, found.truncated, found.notes, found.sql, {**about, "svg": drawing})


OPERATIONS = (
    Operation(
        "sentence", "A sentence with its tree.", "sql", SentenceByName, sentence, kind="compute", api=False
    ),
)
