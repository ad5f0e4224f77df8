"""One sentence of a corpus with its tree, for the pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from sentgen.generation.drawing import corpus_tree_svg
from sentgen.lookups.browsing import find_sentence
from sentgen.options import Option
from sentgen.server.operations.operation import Context, Operation, Result, result_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentenceByName:
    """A sentence by its name."""

    corpus: Annotated[str, Option("Name of the corpus.")]
    document: Annotated[str, Option("Name of the document.")]
    sentence: Annotated[str, Option("Name of the sentence.")]
    marked: Annotated[
        list[int], Option("Positions of tokens to be marked in the drawing.", api={"max_length": 1000})
    ] = field(default_factory=list)


def sentence(context: Context, request: _SentenceByName) -> Result:
    """Give the tokens of a sentence, its text, its neighbors, and its tree as SVG if it has one."""
    with context.opened.connect() as connection:
        answer, about = find_sentence(connection, request.corpus, request.document, request.sentence)
    tokens = answer.rows.to_pylist()
    result = result_of(answer)
    heads = [token["head"] for token in tokens]
    drawing = None
    if tokens and None not in heads:
        drawing = corpus_tree_svg(
            request.sentence,
            [token["form"] for token in tokens],
            [token["upos"] or token["xpos"] or "" for token in tokens],
            heads,
            [token["deprel"] or "" for token in tokens],
            marked=request.marked,
        )
    return Result(result.table, result.truncated, result.notes, result.sql, {**about, "svg": drawing})


OPERATIONS = (
    Operation("sentence", "A sentence with its tree.", "sql", _SentenceByName, sentence, api=False),
)
