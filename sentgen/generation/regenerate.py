"""Order bags of units: look up a batch at a time, search each bag, and put the answers into words."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sentgen.errors import InputError
from sentgen.generation.algorithms import ALGORITHMS, algorithm_named
from sentgen.generation.bag import Unit, broken_up
from sentgen.generation.prepare import Prepared, Treebank, prepare
from sentgen.generation.problem import ROOT, Algorithm, Problem, Tree, sentence_logp
from sentgen.generation.settings import PAPERS, Paper, SearchSettings
from sentgen.models.dependencies import Layer
from sentgen.models.submodel import ModelLike, lowercases
from sentgen.models.treebanks import treebanks_of
from sentgen.schema import Store


@dataclass(frozen=True, slots=True)
class Gold:
    """The order that a sentence really has; ``heads`` are places of units, -1 for the root, if it has any."""

    units: tuple[Unit, ...]
    heads: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Regenerated:
    """One sentence that an algorithm made of a bag.

    ``score`` is what the algorithm optimized, ``logp`` the log-probability of the sentence with its end (both
    natural). ``tree`` is over the places of ``units``, if the algorithm makes one. ``given`` is the bag as
    the algorithm saw it, shuffled; of its words ``unknown`` are not in the language model, and ``guessed``
    came without a tag. ``gold_score`` is the score of the order that the sentence really has,
    where that was given and can be told. ``lookup`` and ``search`` are seconds.
    """

    item: int
    rank: int
    units: tuple[Unit, ...]
    tree: Tree | None
    given: tuple[Unit, ...]
    score: float
    gold_score: float | None
    logp: float
    unknown: int
    guessed: int
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


def settings_for(
    algorithm: Algorithm, as_published: Paper | None = None, changes: Mapping[str, Any] | None = None
) -> SearchSettings:
    """Return the settings of a search: the algorithm's defaults, or a paper's reading, with changes.

    Raises:
        InputError: the paper does not have the algorithm, the algorithm does not look at a setting that is
            changed, or a change makes no sense.
    """
    settings = algorithm.defaults
    changes = {name: value for name, value in (changes or {}).items() if value is not None}
    if as_published is not None:
        if as_published not in PAPERS:
            raise InputError(f"no paper {as_published!r}; there are: {', '.join(PAPERS)}")
        if as_published not in algorithm.published:
            has = ", ".join(algorithm.published) or "none"
            raise InputError(f"{algorithm.name} is not in the paper of {as_published}; papers with it: {has}")
        settings = settings.changed(algorithm.published[as_published])
    changed = settings.changed(changes)
    for name in sorted(changes.keys() - algorithm.options):
        users = ", ".join(one.name for one in ALGORITHMS.values() if name in one.options)
        raise InputError(f"{algorithm.name} does not look at {name.replace('_', '-')}; it is for: {users}")
    return changed


def regenerate(
    store: Store,
    model: ModelLike,
    bags: Sequence[Sequence[Unit]],
    *,
    algorithm: str = "lmo",
    as_published: Paper | None = None,
    changes: Mapping[str, Any] | None = None,
    seed: int = 1,
    nbest: int = 1,
    lowercase: bool | None = None,
    dependencies: Sequence[str] | None = None,
    layer: Layer = "unit",
) -> Iterator[Regenerated]:
    """Order the units of each bag; yields at most ``nbest`` sentences a bag, the best one first.

    The order of the input never matters: bags are sorted and shuffled by the seed. The words come out as
    given, and are looked up lower-cased if the corpora of the model were (``lowercase`` says otherwise).

    Args:
        store: where the model lives.
        model: the language model.
        bags: the units of each sentence; an empty bag gives an empty sentence.
        algorithm: a name of `ALGORITHMS`.
        as_published: take every literal reading of a paper.
        changes: settings that differ from the algorithm's defaults (see `SearchSettings`).
        seed: of the shuffle.
        nbest: how many sentences to give at most.
        lowercase: whether to look words up lower-cased.
        dependencies: names of the corpora whose trees are used; those of the model that have any if ``None``.
        layer: `unit` for trees over base noun phrases and words, `word` for trees over words.

    Raises:
        InputError: the algorithm is unknown, a setting makes no sense, or a bag is too large.
        ModelError: the algorithm needs trees, and the corpora have none.
    """
    chosen = algorithm_named(algorithm)
    settings = settings_for(chosen, as_published, changes)
    if nbest < 1:
        raise InputError(f"{nbest} sentences a bag is too few; give 1 or more")
    check_sizes(bags, chosen)
    treebank = treebank_of(store, model, chosen, dependencies, layer)
    lower = lowercases(store, model) if lowercase is None else lowercase
    batches = prepare(
        store,
        model,
        bags,
        settings=settings,
        seed=seed,
        lowercase=lower,
        treebank=treebank,
        words=chosen.words,
    )
    return (
        one for batch in batches for prepared in batch for one in solve(prepared, chosen, settings, nbest)
    )


def check_sizes(bags: Sequence[Sequence[Unit]], algorithm: Algorithm) -> None:
    """Refuse bags that are too large for an algorithm.

    Raises:
        InputError: with the number of the bag.
    """
    for number, bag in enumerate(bags, 1):
        size = sum(len(unit.words) for unit in bag) if algorithm.words else len(bag)
        if size > algorithm.max_units:
            raise InputError(
                f"bag {number} has {size} units, and {algorithm.name} takes at most"
                f" {algorithm.max_units}; split it, or keep phrases together in brackets"
            )


def treebank_of(
    store: Store,
    model: ModelLike,
    algorithm: Algorithm,
    dependencies: Sequence[str] | None = None,
    layer: Layer = "unit",
) -> Treebank | None:
    """Return the dependency counts for an algorithm; None if it makes no trees.

    Raises:
        NotFoundError: there is no corpus of a name.
        ModelError: no corpus has trees.
    """
    if not algorithm.trees:
        return None
    return Treebank(tuple(treebanks_of(store, model, dependencies, layer)), layer)


def solve(
    prepared: Prepared,
    algorithm: Algorithm,
    settings: SearchSettings,
    nbest: int = 1,
    gold: Gold | None = None,
) -> Iterator[Regenerated]:
    """Order one bag whose probabilities are at hand."""
    started = time.perf_counter()
    problem = prepared.under(settings)
    orderings = algorithm.order(problem, nbest)
    search = time.perf_counter() - started
    gold_score = _gold_score(prepared, problem, algorithm, gold) if gold else None
    for rank, found in enumerate(orderings, 1):
        yield Regenerated(
            item=prepared.item,
            rank=rank,
            units=tuple(prepared.bag[place] for place in found.units),
            tree=found.tree.reordered(found.units) if found.tree else None,
            given=prepared.bag,
            score=found.score,
            gold_score=gold_score,
            logp=sentence_logp(problem, found.units),
            unknown=prepared.unknown,
            guessed=prepared.guessed,
            lookup=prepared.lookup,
            search=search,
        )


def _gold_score(prepared: Prepared, problem: Problem, algorithm: Algorithm, gold: Gold) -> float | None:
    """Return what the algorithm would have scored the real order with."""
    units = broken_up(gold.units) if algorithm.words else gold.units
    tagged = any(unit.tags for unit in units)  # else the bag has guessed tags
    places: defaultdict[tuple[tuple[str, ...], ...], list[int]] = defaultdict(list)
    for place, unit in enumerate(prepared.bag):
        places[unit.words, unit.tags if tagged else ()].append(place)
    order = tuple(places[unit.words, unit.tags].pop(0) for unit in units)
    if gold.heads is None or algorithm.words:
        return algorithm.value(problem, order, None)
    heads = [ROOT] * len(order)
    for place, head in zip(order, gold.heads, strict=True):
        heads[place] = order[head] if head >= 0 else ROOT
    return algorithm.value(problem, order, tuple(heads))
