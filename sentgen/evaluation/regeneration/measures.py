"""All figures of one system on one test set, from its answers and the gold orders.

Theft, greed and shortage are errors of a tree in the numbers of arguments (Wan et al. 2007, section 4.1). A
tree is compared with the gold tree over the same units, and the number of modifiers of a head on a side with
the numbers in the dependency counts.

The metrics of orders compare an output with the gold order of the same words or units of one sentence, as
plain lists. Identical words cannot be distinguished; each docstring says how they are matched, never in favor
of the output.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats
from sentgen.corpus.parsers import Parser
from sentgen.evaluation.check.verb_arguments import RelationKey, arguments, parse_once
from sentgen.evaluation.figures.measurement import Measurement, ratio
from sentgen.evaluation.regeneration.bleu import overlap_metrics
from sentgen.generation import Problem, RegeneratedSentence, Unit
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, TreeModel
from sentgen.generation.regenerate import Gold

#: A number of modifiers is unusual if it and more extreme numbers have less than this share of the counts.
_UNUSUAL = 0.05


class ArgumentErrors(NamedTuple):
    """Number of errors of each kind in a tree, or in several."""

    theft: int = 0
    greed: int = 0
    shortage: int = 0


def argument_errors(
    heads: Sequence[int],
    sides: Sequence[int],
    gold_heads: Sequence[int],
    gold_sides: Sequence[int],
    kinds: Sequence[int],
    model: TreeModel,
) -> ArgumentErrors:
    """Return the number of errors of each kind in a tree.

    * Theft: a unit hangs on another head than in the gold tree, and its gold head has fewer modifiers on that
      side than in the gold tree, so that the lost modifier was not replaced.
    * Greed: a head has more modifiers on a side than in the gold tree, and so many or more are unusual.
    * Shortage: a head has fewer than in the gold tree, and so few or fewer are unusual.

    The root is a head, too. Equal units are interchangeable as heads, not as modifiers.

    Args:
        heads, sides: head of each unit, and the side of the head on which it is, as in `Tree`.
        gold_heads, gold_sides: heads and sides of the units in the gold tree.
        kinds: a number for each unit, the same for equal units.
        model: the model with p_arg of each unit.
    """
    had, has = Counter(zip(gold_heads, gold_sides, strict=True)), Counter(zip(heads, sides, strict=True))

    def same(first: int, second: int) -> bool:
        return first == second or (ROOT not in (first, second) and kinds[first] == kinds[second])

    thefts = sum(
        not same(head, gold) and has[gold, side] < had[gold, side]
        for head, gold, side in zip(heads, gold_heads, gold_sides, strict=True)
    )
    greed = shortage = 0
    for head in range(ROOT, len(heads)):
        for side in (LEFT, RIGHT):
            seen, number = model.arguments[head + 1, side], has[head, side]
            # The last entry is the probability of its number or more.
            at = min(number, len(seen) - 1)
            greed += number > had[head, side] and seen[at:].sum() < _UNUSUAL
            shortage += number < had[head, side] and seen[: at + 1].sum() < _UNUSUAL
    return ArgumentErrors(int(thefts), int(greed), int(shortage))


#: Contributions of a sentence to numerator and denominator of a ratio.
Parts = tuple[float, float]


def statistics(
    answers: Sequence[RegeneratedSentence], cases: Sequence[Gold], problems: Sequence[Problem] | None = None
) -> dict[str, Floats]:
    """Return the statistics of each metric, a row a sentence, which depends on that sentence alone.

    Argument errors are counted only if ``problems`` has the search problem of each answer.
    """
    outputs, references = [answer.text for answer in answers], [case.reference for case in cases]
    parts = {
        name: np.array([of(*pair) for pair in zip(answers, cases, strict=True)], np.float64).reshape(-1, 2)
        for name, (of, _) in _FRACTIONS.items()
    }
    known: Sequence[Problem | None] = problems or [None] * len(cases)
    errors = [_argument_errors(*case) for case in zip(answers, cases, known, strict=True)]
    parts |= {
        name: np.array([(counts[k], counts[-1]) for counts in errors], np.float64).reshape(-1, 2)
        for k, name in enumerate(ARGUMENT_ERRORS)
    }
    overlap = overlap_metrics().items()
    return {name: metric.statistics(outputs, references) for name, metric in overlap} | parts


def measurements(statistics: Mapping[str, Floats]) -> dict[str, Measurement]:
    """Return the figures by metric: overlap 0 to 100, the others fractions (Kendall's tau -1 to 1).

    Only answers that were not searched in this run have `other-words`, only algorithms that can score any
    order `search-error`, only algorithms that build trees, on test sets with trees, `attachment`. The
    signature has the number of sentences on which a figure is based.
    """
    meanings = {name: meaning for name, (_, meaning) in _FRACTIONS.items()} | ARGUMENT_ERRORS
    fractions = {
        name: Measurement(
            name, f"{meaning}|sentences:{counted}/{len(statistics[name])}", statistics[name], ratio
        )
        for name, meaning in meanings.items()
        # A figure to which no sentence contributes is left out, not 0.
        if (counted := np.count_nonzero(statistics[name][:, 1]))
    }
    overlap = {
        name: Measurement(name, metric.signature, statistics[name], metric.figure)
        for name, metric in overlap_metrics().items()
    }
    return overlap | fractions


def _exact(answer: RegeneratedSentence, case: Gold) -> Parts:
    return float(answer.text == case.reference), 1.0


def _tau(answer: RegeneratedSentence, case: Gold) -> Parts:
    tau = kendall_tau(answer.words, case.words)
    # With both parts 0, the sentence does not count.
    return (0.0, 0.0) if tau is None else (tau, 1.0)


def _adjacency(answer: RegeneratedSentence, case: Gold) -> Parts:
    words, gold = answer.words, case.words
    # Both have the same number of pairs, unless an answer from a file lacks words, which must not gain by it.
    return float(sum(adjacencies_found(words, gold))), float(max(len(words), len(gold)) + 1)


def _other_words(answer: RegeneratedSentence, case: Gold) -> Parts:
    # The order of a bag always has the words of the sentence.
    if answer.given:
        return 0.0, 0.0
    return float(Counter(answer.words) != Counter(case.words)), 1.0


def _search_error(answer: RegeneratedSentence, _: Gold) -> Parts:
    if answer.gold_score is None:
        return 0.0, 0.0
    return float(is_search_error(answer.score, answer.gold_score)), 1.0


def _attachment(answer: RegeneratedSentence, gold: Gold) -> Parts:
    if answer.tree is None or gold.heads is None:
        return 0.0, 0.0
    same = _comparable(gold.units)
    right = attachments_found(
        list(map(same, answer.units)), answer.tree.heads, list(map(same, gold.units)), gold.heads
    )
    return float(right), float(len(gold.units))


def _argument_errors(
    answer: RegeneratedSentence, gold: Gold, problem: Problem | None
) -> tuple[int, int, int, int]:
    """Return theft, greed and shortage of a tree, and the number of its units; zeros without a tree."""
    if answer.tree is None or gold.heads is None or problem is None or problem.trees is None:
        return 0, 0, 0, 0
    order, heads = gold.places(answer.given)
    if heads is None:
        return 0, 0, 0, 0
    at = {unit: position for position, unit in enumerate(order)}
    sides = [LEFT if head != ROOT and at[unit] < at[head] else RIGHT for unit, head in enumerate(heads)]
    # Heads and sides by positions in the output become those by positions in the bag.
    own_heads, own_sides = [ROOT] * len(heads), [RIGHT] * len(heads)
    for position, unit in enumerate(answer.order):
        head = answer.tree.heads[position]
        own_heads[unit] = answer.order[head] if head != ROOT else ROOT
        own_sides[unit] = answer.tree.sides[position]
    errors = argument_errors(own_heads, own_sides, heads, sides, problem.kinds.tolist(), problem.trees)
    return *errors, len(heads)


def _comparable(gold: Sequence[Unit]) -> Callable[[Unit], object]:
    """Return the key by which units are equal: words and tags, or words only if the test set has no tags."""
    if all(unit.tags for unit in gold):
        return lambda unit: unit
    return lambda unit: unit.words


#: Meaning of the argument errors, and their denominator; the terms are those of Wan et al. 2007, section 4.1.
ARGUMENT_ERRORS = {
    "theft": "units that hang elsewhere while their gold head has fewer on that side, per unit",
    "greed": f"heads with more on a side than gold, so many being unusual (p < {_UNUSUAL}), per unit",
    "shortage": f"heads with fewer on a side than gold, so few being unusual (p < {_UNUSUAL}), per unit",
}
#: Contributions of a sentence to both parts of a ratio, and what it is a ratio of. A sentence that adds
#: nothing to the denominator does not count.
_FRACTIONS: dict[str, tuple[Callable[[RegeneratedSentence, Gold], Parts], str]] = {
    "exact-match": (_exact, "share of sentences"),
    "kendall-tau": (_tau, "mean over sentences of 2 words and more"),
    "adjacency": (_adjacency, "share of pairs of neighbors, boundaries included"),
    "other-words": (_other_words, "share of sentences with other words than the original"),
    "search-error": (_search_error, "share of sentences whose gold order scores higher"),
    "attachment": (_attachment, "share of units on their gold head"),
}


def kendall_tau(output: Sequence[Hashable], gold: Sequence[Hashable]) -> float | None:
    """Return Kendall's tau between two orders of the same words: 1 for the same order, -1 for the reverse.

    The k-th occurrence of a word in the output is matched with its k-th occurrence in the gold order.
    Tau is 1 - 4 * (pairs in the wrong order) / (n * (n - 1)) for n words (Lapata 2006, "Automatic evaluation
    of information ordering: Kendall's tau"); ``None`` for less than two words, and for different words. Time
    and memory: n^2.

    >>> kendall_tau("abc", "abc"), round(kendall_tau("acb", "abc"), 3)
    (1.0, 0.333)
    """
    size = len(gold)
    if size < 2 or Counter(output) != Counter(gold):
        return None
    places = defaultdict(list)
    # From the right, so that pop() gives the places of a word from the left.
    for position in range(size - 1, -1, -1):
        places[gold[position]].append(position)
    order = np.fromiter((places[word].pop() for word in output), np.int64, size)
    # Above the diagonal: pairs in the order of the output.
    inversions = np.count_nonzero(np.triu(order[:, None] > order[None, :]))
    return 1 - 4 * int(inversions) / (size * (size - 1))


def adjacencies_found(output: Sequence[Hashable], gold: Sequence[Hashable]) -> list[bool]:
    """Return for each adjacency of the output whether the gold order has it.

    The adjacencies are the pairs of neighboring words; beginning and end of the sentence are neighbors, too,
    so that n words have n + 1 adjacencies. If the output has a pair more often than the gold order, its first
    occurrences are found, as many as the gold order has. Adjacency accuracy is the share of adjacencies that
    are found; as both orders have the same number, it is precision and recall at once.

    Returns:
        n + 1 values: before the first word, between the words, after the last.

    >>> adjacencies_found(["the", "dog", "barks"], ["barks", "the", "dog"])
    [False, True, False, False]
    """
    left = Counter(_pairs(gold))
    in_gold = []
    for pair in _pairs(output):
        in_gold.append(left[pair] > 0)
        # Below 0 all further occurrences of the pair are unfound.
        left[pair] -= 1
    return in_gold


def _pairs(words: Sequence[Hashable]) -> list[tuple[object, object]]:
    """Return the pairs of neighbors; a word is wrapped, so that no word looks like a boundary."""
    wrapped = [(word,) for word in words]
    return list(zip([None, *wrapped], [*wrapped, None], strict=True))


def attachments_found(
    units: Sequence[Hashable],
    heads: Sequence[int],
    gold_units: Sequence[Hashable],
    gold_heads: Sequence[int],
) -> int:
    """Return the number of units of a tree that have the same head as in the gold tree.

    Identical units are interchangeable, so that two multisets of pairs of head and modifier are compared. The
    order of the units does not matter, nor do relations.

    Args:
        units: the units of the output, or keys by which they are equal (words and tags).
        heads: index in ``units`` of the head of each unit, from 0; -1 for the root.
        gold_units, gold_heads: units and heads of the gold tree.

    >>> attachments_found(["dog", "barks"], [1, -1], ["barks", "dog"], [-1, 0])
    2
    """
    return (_attachments(units, heads) & _attachments(gold_units, gold_heads)).total()


def _attachments(units: Sequence[Hashable], heads: Sequence[int]) -> Counter[tuple[object, object]]:
    # Heads in tuples, so that no unit looks like the root.
    return Counter(
        ((units[head],) if head >= 0 else None, unit) for unit, head in zip(units, heads, strict=True)
    )


def is_search_error(score: float, gold_score: float) -> bool:
    """Return whether a search missed a better answer: the gold order scores higher than the answer.

    The scores of orders that differ only by identical units may differ by rounding; a difference below a
    millionth (of the score, where that is above 1) is no error.
    """
    return gold_score > score + 1e-6 * max(1.0, abs(score))


VERB_ARGUMENTS = "verb-arguments"


def verb_argument_figures(
    answers: Mapping[str, Sequence[RegeneratedSentence]], cases: Sequence[Gold], parser: Parser
) -> dict[str, Measurement]:
    """Return the agreement of each system's verb arguments with the originals, as a figure of grammaticality.

    Wan et al. 2005, section 5.1: verbs are crucial for the grammaticality of a clause. The same parser parses
    outputs and originals, so that its constant errors favor no system. A relation is a verb with a word that
    depends on it (`sentgen.evaluation.check.verb_arguments`); it equals a relation of the original with the
    same two words in the same order. Repeated relations match as often as both sentences have them. The
    figure is 2 * same / (relations of the output + relations of the original): the output has all words of
    the original, so that missing relations weigh as much as wrong ones. An output equal to the original has
    1. A system for which neither outputs nor originals have verbs has no figure.

    This is not GLEU (Mutton et al. 2007), which the papers name: GLEU learns from fragments and probabilities
    of parsers that may fail, while these parsers always give a whole tree, and no probability. ``answers``
    has for each system an answer a case; equal sentences are parsed once.

    Raises:
        InputError: the parser is `gold`, or gives no tags.
    """
    originals = [tuple(case.words) for case in cases]
    outputs = {name: [tuple(answer.words) for answer in answered] for name, answered in answers.items()}
    trees = parse_once((words for mine in (originals, *outputs.values()) for words in mine if words), parser)
    relations: dict[tuple[str, ...], Counter[RelationKey]] = {(): Counter()}
    for words, tree in trees.items():
        relations[words] = Counter(argument.key for argument in arguments(tree))
    signature = f"verb arguments, F1|word:form|case:lc|parser:{parser.name}@{parser.version}"
    figures = {}
    for name, mine in outputs.items():
        pairs = zip(mine, originals, strict=True)
        both = [(relations[one], relations[other]) for one, other in pairs]
        parts = np.array([(2 * (a & b).total(), a.total() + b.total()) for a, b in both], np.float64)
        counted = np.count_nonzero(parts[:, 1])
        if counted:
            described = f"{signature}|sentences:{counted}/{len(parts)}"
            figures[name] = Measurement(VERB_ARGUMENTS, described, parts, ratio)
    return figures
