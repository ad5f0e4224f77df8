"""Order bags of units, a batch at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from sentgen.errors import InputError
from sentgen.generation.algorithms import algorithm_named
from sentgen.generation.bag import Unit, shuffled
from sentgen.generation.problem import Algorithm, Problem, sentence_logp
from sentgen.models.submodel import ModelLike, SubModel, lowercases, prefetch
from sentgen.schema import Store

BATCH = 100
DEFAULT_ORDER = 4


@dataclass(frozen=True, slots=True)
class Regenerated:
    """One sentence that an algorithm made of a bag.

    ``score`` is what the algorithm optimised, ``logp`` the log-probability of the sentence with its end (both
    natural). ``given`` is the bag as the algorithm saw it, shuffled. ``lookup`` and ``search`` are seconds.
    """

    item: int
    rank: int
    units: tuple[Unit, ...]
    given: tuple[Unit, ...]
    score: float
    logp: float
    unknown: int
    lookup: float
    search: float

    @property
    def words(self) -> list[str]:
        """Return the words of the sentence."""
        return [word for unit in self.units for word in unit.words]

    @property
    def text(self) -> str:
        """Return the sentence, words separated by blanks."""
        return " ".join(self.words)


def regenerate(
    store: Store,
    model: ModelLike,
    bags: Sequence[Sequence[Unit]],
    *,
    algorithm: str = "lmo",
    seed: int = 1,
    order: int = DEFAULT_ORDER,
    nbest: int = 1,
    lowercase: bool | None = None,
) -> Iterator[Regenerated]:
    """Order the units of each bag; yields at most ``nbest`` sentences a bag, the best one first.

    The order of the input never matters: bags are sorted and shuffled by the seed. The words come out as
    given, and are looked up lower-cased if the corpora of the model were (``lowercase`` says otherwise).

    Args:
        store: where the model lives.
        model: the language model.
        bags: the units of each sentence; an empty bag gives an empty sentence.
        algorithm: a name of `ALGORITHMS`.
        seed: of the shuffle.
        order: n of the n-grams, at most the model's.
        nbest: how many sentences to give at most.
        lowercase: whether to look words up lower-cased.

    Raises:
        InputError: the algorithm is unknown, or a bag is too large for it.
    """
    chosen = algorithm_named(algorithm)
    _check(bags, chosen, order, nbest)
    return _regenerate(store, model, bags, chosen, seed, order, nbest, lowercase)


def _check(bags: Sequence[Sequence[Unit]], algorithm: Algorithm, order: int, nbest: int) -> None:
    if order < 2:
        raise InputError(f"n-grams of order {order} cannot order words; give 2 or more")
    if nbest < 1:
        raise InputError(f"{nbest} sentences a bag is too few; give 1 or more")
    for number, bag in enumerate(bags, 1):
        if len(bag) > algorithm.max_units:
            raise InputError(
                f"bag {number} has {len(bag)} units, and {algorithm.name} takes at most"
                f" {algorithm.max_units}; split it, or keep phrases together in brackets"
            )


def _regenerate(
    store: Store,
    model: ModelLike,
    bags: Sequence[Sequence[Unit]],
    algorithm: Algorithm,
    seed: int,
    order: int,
    nbest: int,
    lowercase: bool | None,
) -> Iterator[Regenerated]:
    lower = lowercases(store, model) if lowercase is None else lowercase
    for begin in range(0, len(bags), BATCH):
        batch = [shuffled(bag, seed) for bag in bags[begin : begin + BATCH]]
        forms = [[_cased(word, lower) for unit in bag for word in unit.words] for bag in batch]
        tags = {tag for bag in batch for unit in bag for tag in unit.tags}
        submodel = prefetch(store, model, forms, tags=tags, order=order)
        lookup = submodel.seconds / len(batch)
        for item, (bag, words) in enumerate(zip(batch, forms, strict=True), begin + 1):
            yield from _order(submodel, bag, words, algorithm, nbest, item, lookup)


def _order(
    submodel: SubModel,
    bag: Sequence[Unit],
    forms: Sequence[str],
    algorithm: Algorithm,
    nbest: int,
    item: int,
    lookup: float,
) -> Iterator[Regenerated]:
    """Order one bag whose n-grams are at hand."""
    started = time.perf_counter()
    tags = list(chain.from_iterable(unit.tags or (None,) * len(unit.words) for unit in bag))
    offsets = np.cumsum([0, *(len(unit.words) for unit in bag)], dtype=np.int32)
    problem = Problem(submodel.table, submodel.encode(forms, tags), offsets, submodel.order)
    orderings = algorithm.order(problem, nbest)
    search = time.perf_counter() - started
    unknown = submodel.unknown(forms)
    for rank, found in enumerate(orderings, 1):
        yield Regenerated(
            item=item,
            rank=rank,
            units=tuple(bag[place] for place in found.units),
            given=tuple(bag),
            score=found.score,
            logp=sentence_logp(problem, found.units),
            unknown=unknown,
            lookup=lookup,
            search=search,
        )


def _cased(word: str, lower: bool) -> str:
    return word.lower() if lower else word
