"""How well a parser does on a treebank: the measures of the CoNLL 2018 shared task, given gold tokens.

Zeman et al. (2018), "CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies".
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sentgen.corpus.parsers.parser import Parser
from sentgen.corpus.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Percentages of the gold tokens, and the speed.

    ``uas`` counts tokens with the right head, ``las`` those whose relation is right as well, subtypes apart
    (`acl:relcl` is `acl`). Punctuation counts. A column that the treebank does not have is ``None``.
    """

    tokens: int
    uas: float
    las: float
    upos: float | None
    xpos: float | None
    lemma: float | None
    tokens_per_second: float


def accuracy(parser: Parser, gold: Sequence[Sentence]) -> Accuracy:
    """Parse the tokens of sentences with heads and relations, and compare."""
    began = time.perf_counter()
    parsed = list(parser.parse_tokenized([sentence.forms for sentence in gold]))
    seconds = time.perf_counter() - began
    tokens = sum(len(sentence.forms) for sentence in gold)
    heads = labels = 0
    for right, found in zip(gold, parsed, strict=True):
        found_arcs = zip(found.heads or (), map(_universal, found.deprels or ()), strict=True)
        right_arcs = zip(right.heads or (), map(_universal, right.deprels or ()), strict=True)
        for found_arc, right_arc in zip(found_arcs, right_arcs, strict=True):
            heads += found_arc[0] == right_arc[0]
            labels += found_arc == right_arc
    return Accuracy(
        tokens,
        100 * heads / tokens,
        100 * labels / tokens,
        _equal([s.upos for s in gold], [s.upos for s in parsed]),
        _equal([s.xpos for s in gold], [s.xpos for s in parsed]),
        _equal([s.lemmas for s in gold], [s.lemmas for s in parsed]),
        tokens / seconds,
    )


def _universal(relation: str) -> str:
    return relation.partition(":")[0]


def _equal(gold: Sequence[list[str] | None], found: Sequence[list[str] | None]) -> float | None:
    """Return the percentage of equal values among those that the treebank has."""
    pairs = [
        right == (values[place] if values else None)
        for column, values in zip(gold, found, strict=True)
        for place, right in enumerate(column or ())
    ]
    return 100 * sum(pairs) / len(pairs) if pairs else None
