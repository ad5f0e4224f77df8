"""From a bag of words and phrases to a sentence: one algorithm per file."""

from sentgen.generation.algorithms import ALGORITHMS
from sentgen.generation.bag import Unit, parse_bag, shuffled, units_of
from sentgen.generation.problem import Algorithm, Ordering, Problem
from sentgen.generation.regenerate import Regenerated, regenerate

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Ordering",
    "Problem",
    "Regenerated",
    "Unit",
    "parse_bag",
    "regenerate",
    "shuffled",
    "units_of",
]
