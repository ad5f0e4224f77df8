"""Order bags of units: look up a batch at a time, search each bag, and return sentences."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from sentgen.generation.bags.bag import Unit, broken_up, places_of
from sentgen.generation.bags.problem import ROOT, Ordering, Problem, Tree
from sentgen.generation.plan import CANDIDATES, Search, SearchPlan, scores_of
from sentgen.generation.prepare import PreparedBag, prepare
from sentgen.generation.trees.factors import FACTORS, Factors, FactorSettings, factor_sums
from sentgen.models.base.registry import ModelInfo
from sentgen.models.ngrams.ngram_table import table_at
from sentgen.schema import Store


def _parts_of(plan: SearchPlan, problem: Problem, orderings: Sequence[Ordering]) -> list[dict[str, float]]:
    """Return the parts of the score of each ordering: models by their labels, then factors.

    Natural logarithms. The scores of rerankers are added later.
    """
    tables, names = problem.tables, plan.model_labels()
    factors = (
        Factors.of_problem(problem) if FactorSettings in plan.algorithm.groups and problem.size else None
    )
    all_parts = []
    for ordering in orderings:
        strings = problem.strings_of(ordering.units)
        logps = [table_at(tables, model).sentence_logp(string) for model, string in enumerate(strings)]
        parts = dict(zip(names, logps, strict=True))
        if factors is not None and ordering.tree:
            heads = np.array(ordering.tree.reordered(ordering.units).heads, np.int32)
            sums = factor_sums(factors, np.array(ordering.units, np.int32), heads)
            parts |= zip(FACTORS, sums.tolist(), strict=True)
        all_parts.append(parts)
    return all_parts


@dataclass(frozen=True, slots=True)
class Gold:
    """The real order of a sentence; ``heads`` are positions of units, -1 for the root, if it has a tree."""

    units: tuple[Unit, ...]
    heads: tuple[int, ...] | None = None

    @property
    def words(self) -> list[str]:
        """Return the words of the sentence."""
        return [word for unit in self.units for word in unit.words]

    @property
    def reference(self) -> str:
        """Return the sentence, words separated by blanks."""
        return " ".join(self.words)

    def places(
        self, bag: Sequence[Unit], *, broken: bool = False
    ) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        """Return the real order as positions in a bag, and the heads of the bag's units, if there is a tree.

        Equal units cannot be distinguished. There is no tree over the words of ``broken`` phrases.
        """
        units = broken_up(self.units) if broken else self.units
        tagged = any(unit.tags for unit in units)  # else the bag has guessed tags
        order = tuple(places_of(units, [unit if tagged else replace(unit, tags=()) for unit in bag]))
        if self.heads is None or broken:
            return order, None
        heads = [ROOT] * len(order)
        for position, head in zip(order, self.heads, strict=True):
            heads[position] = order[head] if head >= 0 else ROOT
        return order, tuple(heads)


@dataclass(frozen=True, slots=True)
class RegeneratedSentence:
    """One sentence that an algorithm made from a bag.

    ``score`` is the optimized score, with those of rerankers, ``logp`` the log-probability of the sentence
    with its end (both natural). ``tree`` is over the positions of ``units``, if the algorithm makes one.
    ``given`` is the bag as the algorithm saw it, shuffled, and ``order`` has the places of ``units`` there;
    of its words ``unknown`` are not in the language model, and ``guessed`` came without a tag. ``gold_score``
    is the score of the order that the sentence really has, where that was given and can be told. ``lookup``
    and ``search`` are seconds. ``parts`` are what models, factors of trees and scorers say of the sentence,
    natural logarithms without weights, where asked for.
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
    order: tuple[int, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """Return the words of the sentence."""
        return [word for unit in self.units for word in unit.words]

    @property
    def text(self) -> str:
        """Return the sentence, words separated by blanks."""
        return " ".join(self.words)


def regenerate(
    store: Store, model: ModelInfo, bags: Sequence[Sequence[Unit]], **fields: Any
) -> Iterator[RegeneratedSentence]:
    """Order the units of each bag as the fields of `Search` ask; see `plan_search` and `order_bags`."""
    return order_bags(store, Search(**fields).plan(store, model), bags)


def order_bags(
    store: Store, plan: SearchPlan, bags: Sequence[Sequence[Unit]]
) -> Iterator[RegeneratedSentence]:
    """Order the units of each bag; yield at most ``nbest`` sentences a bag, the best first.

    The order of the input never matters: bags are sorted and shuffled by the seed. Words are not changed. An
    empty bag gives an empty sentence.

    Raises:
        InputError: a bag is too large, or has no tags where features need them.
    """
    plan.check_bags(bags)
    batches = prepare(store, plan, bags)
    return (sentence for batch in batches for sentences in solve_all(batch, plan) for sentence in sentences)


def solve_all(
    bags: Sequence[PreparedBag], plan: SearchPlan, golds: Sequence[Gold | None] = ()
) -> Iterator[list[RegeneratedSentence]]:
    """Yield the best sentences of prepared bags; ``golds`` are their real orders.

    Rerankers are called once, for all sentences of these bags.
    """
    given = list(zip(bags, golds or [None] * len(bags), strict=True))
    if not plan.rerankers:
        yield from (list(solve(prepared, plan, gold)) for prepared, gold in given)
        return
    wide = replace(plan, nbest=max(plan.nbest, CANDIDATES))
    solved = [list(solve(prepared, wide, gold)) for prepared, gold in given]
    started = time.perf_counter()
    texts = [
        [*(sentence.words for sentence in sentences), *([gold.words] if gold else [])]
        for sentences, (_, gold) in zip(solved, given, strict=True)
    ]
    scores = iter(scores_of(plan.rerankers, list(chain.from_iterable(texts))))
    share = (time.perf_counter() - started) / max(1, len(given))
    for sentences, mine in zip(solved, texts, strict=True):
        yield _reranked(sentences, list(islice(scores, len(mine))), plan, share)


def _reranked(
    sentences: Sequence[RegeneratedSentence],
    scores: Sequence[Sequence[float]],
    plan: SearchPlan,
    share: float,
) -> list[RegeneratedSentence]:
    """Return the best sentences by all scores; the last scores are those of the real order, if given."""
    weights = [weight for _, weight in plan.rerankers]
    added = [sum(w * score for w, score in zip(weights, mine, strict=True)) for mine in scores]
    gold = added[-1] if len(scores) > len(sentences) else 0.0
    names = [scorer.name for scorer, _ in plan.rerankers]
    rescored = [
        replace(
            sentence,
            score=sentence.score + more,
            gold_score=None if sentence.gold_score is None else sentence.gold_score + gold,
            search=sentence.search + share,
            parts={**sentence.parts, **dict(zip(names, mine, strict=True))} if plan.parts else sentence.parts,
        )
        for sentence, more, mine in zip(sentences, added, scores, strict=False)
    ]
    # Stable: ties go to the better one by the algorithm.
    best = sorted(rescored, key=lambda sentence: -sentence.score)[: plan.nbest]
    return [replace(sentence, rank=rank) for rank, sentence in enumerate(best, 1)]


def solve(prepared: PreparedBag, plan: SearchPlan, gold: Gold | None = None) -> Iterator[RegeneratedSentence]:
    """Order one prepared bag by the algorithm alone; yield different sentences."""
    started = time.perf_counter()
    problem = prepared.under(plan.settings)
    orderings = _different(plan.algorithm.order(problem, plan.nbest), prepared.bag)
    search = time.perf_counter() - started
    gold_score = None
    if gold:
        own = gold.places(prepared.bag, broken=plan.algorithm.words)
        gold_score = plan.algorithm.value(problem, *own)
    parts = _parts_of(plan, problem, orderings) if plan.parts else [{}] * len(orderings)
    for rank, (ordering, mine) in enumerate(zip(orderings, parts, strict=True), 1):
        yield RegeneratedSentence(
            item=prepared.item,
            rank=rank,
            units=tuple(prepared.bag[unit] for unit in ordering.units),
            tree=ordering.tree.reordered(ordering.units) if ordering.tree else None,
            given=prepared.bag,
            score=ordering.score,
            gold_score=gold_score,
            logp=problem.sentence_logp(ordering.units),
            unknown=prepared.unknown,
            guessed=prepared.guessed,
            lookup=prepared.lookup,
            search=search,
            order=ordering.units,
            parts=mine,
        )


def _different(orderings: Sequence[Ordering], bag: Sequence[Unit]) -> list[Ordering]:
    """Return the orderings with different words: an unknown word with two tags may yield duplicates."""
    texts: dict[tuple[str, ...], Ordering] = {}
    for ordering in orderings:
        texts.setdefault(tuple(chain.from_iterable(bag[unit].words for unit in ordering.units)), ordering)
    return list(texts.values())
