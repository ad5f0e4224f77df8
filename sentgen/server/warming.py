"""Compile what a worker will need, before somebody waits for it."""

from __future__ import annotations

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.pbhmm import untrained
from sentgen.errors import SentgenError
from sentgen.generation import ALGORITHMS, parse_bag, regenerate
from sentgen.models.base import registry
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store


def warm_up(store: Store) -> None:
    """Run every algorithm once on a few words; numba keeps the machine code on the disk, if it can.

    With the code on the disk this takes seconds, the first time up to a minute or two.
    """
    words = ("the", "people", "said", "the", "people", "arrived")
    list(untrained().align([Pair("", words, words[:3])]))
    models = registry.list_models(store)
    if not models:
        return
    # Phrase, words and a mark: what the algorithms treat differently, so that all of it is compiled.
    bag = parse_bag("the [the people] said in .")
    list(score_sentences(store, models[-1], [["the", "people"]]))
    for name in ALGORITHMS:
        try:
            list(regenerate(store, models[-1], [bag], algorithm=name, nbest=2))
        except SentgenError:
            continue  # such as trees where the corpora of the model have none
