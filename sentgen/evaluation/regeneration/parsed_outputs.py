"""How grammatical outputs are, by a parser: do their verbs have the arguments that they have in the original?

Wan et al. 2005, section 5.1: verbs are crucial for the grammaticality of a clause. A parser reads outputs and
originals, the same one, so that what it always gets wrong counts for nobody. A relation is a verb with a word
that depends on it (`sentgen.evaluation.check.verb_arguments`), and the same as one of the original with the
same two words in the same order. Of relations that a sentence has several times, as many are the same as both
have. The figure is 2 * same / (relations of the output + relations of the original): with all the words of
the original at hand, what is missing weighs as much as what is wrong. An output that is the original has 1.

Not GLEU (Mutton et al. 2007), which the papers name: it learns from fragments and probabilities of parsers
that may fail; those here always give a whole tree, and no probability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sentgen.corpus.parsers import Parser
from sentgen.evaluation.check.verb_arguments import RelationKey, arguments, parse_once
from sentgen.evaluation.figures.measurement import Measurement, ratio
from sentgen.evaluation.regeneration.answers import SystemAnswers
from sentgen.evaluation.regeneration.cases import Case

VERB_ARGUMENTS = "verb-arguments"
Relations = Counter[RelationKey]


def verb_argument_figures(
    answered: Mapping[str, SystemAnswers], cases: Sequence[Case], parser: Parser
) -> dict[str, Measurement]:
    """Return the figure of each system; nothing where neither outputs nor originals have verbs.

    Args:
        answered: of each system, an answer a case.
        cases: the test set.
        parser: what reads both; the same sentence once.

    Raises:
        InputError: the parser is `gold`, or gives no tags.
    """
    originals = [tuple(case.words) for case in cases]
    outputs = {name: [tuple(answer.words) for answer in found.answers] for name, found in answered.items()}
    trees = parse_once((words for mine in (originals, *outputs.values()) for words in mine if words), parser)
    relations: dict[tuple[str, ...], Relations] = {(): Counter()}
    for words, tree in trees.items():
        relations[words] = Counter(argument.key for argument in arguments(tree))
    signature = f"verb arguments, F1|word:form|case:lc|parser:{parser.name}@{parser.version}"
    figures = {}
    for name, mine in outputs.items():
        pairs = zip(mine, originals, strict=True)
        parts = np.array([_parts(relations[one], relations[other]) for one, other in pairs], np.float64)
        counted = np.count_nonzero(parts[:, 1])
        if counted:
            told = f"{signature}|sentences:{counted}/{len(parts)}"
            figures[name] = Measurement(VERB_ARGUMENTS, told, parts, ratio)
    return figures


def _parts(output: Relations, original: Relations) -> tuple[int, int]:
    """Return what a sentence adds to both parts of the figure."""
    return 2 * (output & original).total(), output.total() + original.total()
