"""From a bag of words and phrases to a sentence: one algorithm per file."""

from sentgen.generation.algorithms import ALGORITHMS, algorithm_named, settings_for
from sentgen.generation.bags.bag import Unit, broken_up, parse_bag, shuffled, units_of
from sentgen.generation.bags.problem import Algorithm, Problem, SearchSettings
from sentgen.generation.plan import Search, SearchPlan, Treebank
from sentgen.generation.prepare import PreparedBag, prepare
from sentgen.generation.regenerate import RegeneratedSentence, order_bags, regenerate

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "PreparedBag",
    "Problem",
    "RegeneratedSentence",
    "Search",
    "SearchPlan",
    "SearchSettings",
    "Treebank",
    "Unit",
    "algorithm_named",
    "broken_up",
    "order_bags",
    "parse_bag",
    "prepare",
    "regenerate",
    "settings_for",
    "shuffled",
    "units_of",
]
