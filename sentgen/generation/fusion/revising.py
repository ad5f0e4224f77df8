"""Global Revision (Wan et al. 2007): the tree of the key grows by units of the related sentences.

As in Prim's algorithm, all links that may be made wait, and the best of them is made: its unit comes into the
tree, and offers places of its own. A link is worth

    log prob(head, unit, side) + log p_arg(head, n + 1, side) + log salience

with the models of the paper: the probability of the link, and that the head, which has n modifiers on that
side by now, has one more. Salience is the mean share of the sentences that have the content words of the
unit; a clause has nothing else, and a unit that replaces another adds no modifier. Which links may be made,
`between`, `adding`, `replacing` and `clauses` say. What is linked at several places stands where n-grams find
it most probable.

Of equal links the unit with fewer words comes first, then the one from the earlier sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT
from sentgen.generation.fusion.adding import Adding
from sentgen.generation.fusion.between import Between
from sentgen.generation.fusion.clauses import attributions, clauses, frames, tails
from sentgen.generation.fusion.link_weights import LinkWeights
from sentgen.generation.fusion.replacing import replacements
from sentgen.generation.fusion.revised_tree import RevisedTree, Revision, tree_of_key
from sentgen.generation.fusion.sentence_parts import are_versions
from sentgen.generation.fusion.word_bag import WordBag
from sentgen.models.dependency.dependencies import FLOOR

#: The log-probability of the words of a tree in order.
Fluency = Callable[[tuple[int, ...]], float]


def revised_keys(
    bag: WordBag, weights: LinkWeights, fluency: Fluency, *, words: int, nbest: int = 1
) -> list[RevisedTree]:
    """Return trees of the key with units of the related sentences, the best one first; none if none fits.

    Each begins with another link, the first one with the best.

    Args:
        bag: the key and its related sentences.
        weights: of links.
        fluency: of words in order.
        words: to add, at most.
        nbest: trees to give, at most.
    """
    key = tree_of_key(bag)
    versions = are_versions(bag)

    def grown(tree: RevisedTree) -> list[RevisedTree]:
        room = words - (len(tree.words) - len(key.words))
        return _ranked(bag, tree, weights, fluency, versions=versions, room=room)

    found: dict[tuple[int, ...], RevisedTree] = {}
    for tree in grown(key):
        while larger := grown(tree):
            tree = larger[0]
        found.setdefault(tree.order, tree)
        if len(found) == nbest:
            break
    return list(found.values())


def possible(bag: WordBag, tree: RevisedTree, *, versions: bool) -> Iterator[Revision]:
    """Yield all links that may be made to a tree.

    Where the sentences are no versions of each other, a shared verb or neighbor says nothing, but a clause of
    another sentence says something else.
    """
    if versions:
        yield from Between(bag, tree).revisions()
        yield from attributions(bag, tree)
        yield from frames(bag, tree)
        yield from tails(bag, tree)
    else:
        yield from clauses(bag, tree)
    yield from Adding(bag, tree).revisions(verbs=versions)
    yield from replacements(bag, tree, versions=versions)


def _ranked(
    bag: WordBag, tree: RevisedTree, weights: LinkWeights, fluency: Fluency, *, versions: bool, room: int
) -> list[RevisedTree]:
    """Return a tree with each link that may be made, the best one first, each unit at its best place."""
    best: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[float, float], RevisedTree]] = {}
    for one in possible(bag, tree, versions=versions):
        # No word twice: part of a clause may have been added by itself.
        if len(one.words) - len(one.gone) > room or not tree.heads.keys().isdisjoint(one.words):
            continue
        weight = link_weight(bag, tree, one, weights)
        larger = tree.revised(bag, one, weight)
        rank = weight, fluency(larger.order)
        known = best.get((one.words, one.gone))
        if known is None or rank > known[0]:
            best[one.words, one.gone] = rank, larger
    ranked = sorted(best.items(), key=lambda item: (-item[1][0][0], len(item[0][0]), item[0]))
    return [larger for _, (_, larger) in ranked]


def link_weight(bag: WordBag, tree: RevisedTree, revision: Revision, weights: LinkWeights) -> float:
    """Return what a link is worth, a natural logarithm."""
    weight, head = math.log(salience(bag, revision.words)), revision.anchor
    if head == ROOT or revision.kind == "conjoined":
        return weight
    there = tree.order.index(head)
    side = LEFT if revision.at <= there else RIGHT
    weight += weights.link(head, revision.top, side)
    if revision.gone:
        return weight
    count = sum((tree.order.index(n) > there) == (side == RIGHT) for n in tree.modifiers(head))
    return weight + math.log(max(weights.arguments(head, side, count + 1), FLOOR))


def salience(bag: WordBag, words: tuple[int, ...]) -> float:
    """Return the mean share of the sentences that have the content words of a unit."""
    having = [bag.found_in[lemma] for lemma in bag.content(words)]
    return sum(having) / max(1, len(having)) / (1 + len(bag.related))
