"""The algorithms by name."""

from __future__ import annotations

from sentgen.errors import InputError
from sentgen.generation.ngrams import beam, greedy, lmo
from sentgen.generation.problem import Algorithm
from sentgen.generation.settings import SearchSettings
from sentgen.generation.trees import assignment, cle, prim

#: The hard constraints are those of the paper; in it the root may take several modifiers.
_PRIM = SearchSettings(one_root=False)

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "greedy",
            "greedy n-gram ordering after the string so far (2007)",
            greedy.order_units,
            greedy.value,
            published={"2007": {}},
        ),
        Algorithm(
            "lmo",
            "greedy n-gram ordering after the last phrase (2009)",
            lmo.order_units,
            lmo.value,
            published={"2009": {"lmo_context": "phrase"}},
        ),
        Algorithm(
            "viterbi",
            "4-gram beam search over single words (2007, 2009)",
            beam.order_without_future_cost,
            beam.value,
            defaults=SearchSettings(beam=100),
            published={"2007": {"beam": 100}, "2009": {"beam": 100}},
            words=True,
        ),
        Algorithm(
            "beam",
            "n-gram beam search with a future cost (Schmaltz et al. 2016)",
            beam.order_units,
            beam.value,
            defaults=SearchSettings(order=5, beam=512),
        ),
        Algorithm(
            "prim",
            "Prim's tree, the strongest relation nearest to its head (2007)",
            prim.order_by_relations,
            prim.value,
            defaults=_PRIM,
            published={"2007": {}},
            trees=True,
        ),
        Algorithm(
            "prim-ngram",
            "Prim's tree, siblings ordered by n-grams (2007)",
            prim.order_siblings_by_ngrams,
            prim.value,
            defaults=_PRIM,
            published={"2007": {}},
            trees=True,
        ),
        Algorithm(
            "prim-arg",
            "Prim's tree with argument counts, siblings ordered by n-grams (2007)",
            prim.order_with_arguments,
            prim.value_with_arguments,
            defaults=_PRIM,
            published={"2007": {"theft": "printed"}},
            trees=True,
        ),
        Algorithm(
            "cle",
            "Chu-Liu/Edmonds' best tree, siblings ordered by n-grams (2009)",
            cle.order_units,
            cle.value,
            defaults=SearchSettings(verb_root=False, noun_under_noun=True),
            published={"2009": {"one_root": False}},
            trees=True,
        ),
        Algorithm(
            "ab",
            "assignment of words to argument positions, siblings ordered by n-grams (2009)",
            assignment.order_units,
            assignment.value,
            defaults=SearchSettings(noun_under_noun=True),
            published={"2009": {"q": "paper", "padding": "literal", "verb_root": False}},
            trees=True,
        ),
    )
}


def algorithm_named(name: str) -> Algorithm:
    """Return an algorithm.

    Raises:
        InputError: there is none of that name.
    """
    if name not in ALGORITHMS:
        raise InputError(f"no algorithm {name!r}; there are: {', '.join(sorted(ALGORITHMS))}")
    return ALGORITHMS[name]
