"""From a bag of words and phrases to a sentence: one algorithm per file."""

from sentgen.generation.algorithms import ALGORITHMS, algorithm_named
from sentgen.generation.bag import Unit, broken_up, parse_bag, shuffled, units_of
from sentgen.generation.prepare import Prepared, Treebank, prepare
from sentgen.generation.problem import Algorithm, Ordering, Problem, Tree, TreeModel
from sentgen.generation.regenerate import (
    Gold,
    Regenerated,
    check_sizes,
    regenerate,
    settings_for,
    solve,
    treebank_of,
)
from sentgen.generation.settings import SearchSettings

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Gold",
    "Ordering",
    "Prepared",
    "Problem",
    "Regenerated",
    "SearchSettings",
    "Tree",
    "TreeModel",
    "Treebank",
    "Unit",
    "algorithm_named",
    "broken_up",
    "check_sizes",
    "parse_bag",
    "prepare",
    "regenerate",
    "settings_for",
    "shuffled",
    "solve",
    "treebank_of",
    "units_of",
]
