"""The heads of phrases that nobody has said: those that a parser finds, and which are left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sentgen.corpus.base_np import function_heads, mark_base_nps
from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentence import Sentence
from sentgen.generation.bags.bag import Unit
from sentgen.generation.bags.bag_reader import Bag
from sentgen.generation.prepare import is_preposition, is_verb


def parsed_heads(bags: Sequence[Bag], parser: Parser, *, promoted: bool) -> list[Bag]:
    """Return bags in which phrases without a head have the one that a parser finds, each read by itself.

    What it takes for a base noun phrase is left to its last word, by which such phrases are counted.

    Args:
        bags: of any input.
        parser: what finds the heads.
        promoted: whether function words are heads, as in the counts that are used.

    Raises:
        InputError: the parser is `gold`, and there is such a phrase.
    """
    phrases = sorted({unit.words for bag in bags for unit in bag.units if unit.headless})
    trees = parser.parse_tokenized(phrases)
    found = {words: _root(tree, promoted) for words, tree in zip(phrases, trees, strict=True)}
    return [replace(bag, units=_headed(bag.units, found), others=_headed(bag.others, found)) for bag in bags]


def _root(tree: Sentence, promoted: bool) -> int:
    """Return the place of the root, counted from the end; 0 of a base noun phrase."""
    mark_base_nps(tree)
    if tree.nps and set(tree.nps) == {1}:
        return 0
    heads = function_heads(tree) if promoted and tree.deprels else tree.heads or [0]
    return heads.index(0) - len(heads)


def _headed(units: Sequence[Unit], heads: Mapping[tuple[str, ...], int]) -> tuple[Unit, ...]:
    return tuple(replace(unit, head_place=heads[unit.words]) if unit.headless else unit for unit in units)


def doubtful(units: Sequence[Unit]) -> Iterator[Unit]:
    """Yield phrases without a given head that are no base noun phrases, so that the last word may not do."""
    for unit in units:
        if unit.headless and any(is_verb(tag) or is_preposition(tag) for tag in unit.tags):
            yield unit
