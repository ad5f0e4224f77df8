"""Small random bags with language and dependency models, for the tests of the tree algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from sentgen.arrays import Floats
from sentgen.generation import Problem, SearchSettings
from sentgen.generation.bags.problem import ROOT, TreeModel
from sentgen.models.ngrams.ngram_table import NgramTable, backoff_logp
from sentgen.schema.tables.corpus import BOS

VOCABULARY = range(4, 10)
FLOOR = np.log(1e-12)


def _ngrams() -> dict[tuple[int, ...], tuple[float, float]]:
    """Return a model of order 4 with random values, so that no two strings are worth the same."""
    rng = np.random.default_rng(7)
    words = [BOS, *VOCABULARY]
    grams: set[tuple[int, ...]] = {(word,) for word in (0, *words)}
    for n in (2, 3, 4):
        shorter = sorted(gram for gram in grams if len(gram) == n - 1)
        grams |= {(*gram, int(rng.choice(VOCABULARY))) for gram in shorter for _ in range(2)}
    return {gram: (-float(rng.uniform(0.1, 9)), -float(rng.uniform(0, 1))) for gram in sorted(grams)}


NGRAMS = _ngrams()


def logp(context: Sequence[int], word: int) -> float:
    """Return log p(word | context) of the toy language model, by definition."""
    return backoff_logp(NGRAMS, tuple(context), word)


def table_of(ngrams: dict[tuple[int, ...], tuple[float, float]]) -> NgramTable:
    words = np.full((len(ngrams), 4), -1, np.int32)
    for row, gram in zip(words, ngrams, strict=True):
        row[: len(gram)] = gram
    lengths = np.array([len(gram) for gram in ngrams], np.int32)
    return NgramTable.build(words, lengths, *(np.array([v[i] for v in ngrams.values()]) for i in (0, 1)))


TABLE = table_of(NGRAMS)


def problem_of(
    prob: Floats,
    *,
    arguments: Floats | None = None,
    tags: str = "",
    strings: Sequence[Sequence[int]] | None = None,
    settings: SearchSettings | None = None,
) -> Problem:
    """Return a bag of n units.

    Args:
        prob: (n + 1, n, 2) log-probabilities; a unit as its own modifier becomes -inf.
        arguments: (n + 1, 2, 8); any number is as probable as any other if ``None``.
        tags: a letter for each unit: v(erb), n(oun), p(reposition), or another one.
        strings: the words of each unit; unit i is the word 4 + i if ``None``.
    """
    size = prob.shape[1]
    prob = prob.copy()
    prob[np.arange(size) + 1, np.arange(size)] = -np.inf
    arguments = np.full((size + 1, 2, 8), 1 / 8) if arguments is None else arguments
    letters = np.array(list(tags.ljust(size, "x")), "U1")
    strings = [[4 + i] for i in range(size)] if strings is None else strings
    return Problem(
        table=TABLE,
        words=np.array([word for string in strings for word in string], np.int32),
        offsets=np.cumsum([0, *map(len, strings)], dtype=np.int32),
        kinds=np.arange(size, dtype=np.int32),
        settings=settings or SearchSettings(),
        order=4,
        trees=TreeModel(prob, arguments, *(letters == letter for letter in "vnp")),
    )


@st.composite
def problems(draw: st.DrawFn, *settings: object, most: int = 6, distinct: bool = False) -> Problem:
    """Draw a bag of up to ``most`` units; probabilities differ, numbers of arguments vary.

    Strings may be equal or join equally well, unless they are to be ``distinct``: of one word each, repeated.
    """
    size = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    prob = rng.uniform(-9, 0, (size + 1, size, 2))
    arguments = rng.dirichlet(np.full(8, 0.3), (size + 1, 2))
    arguments[rng.random((size + 1, 2)) < 0.3] = np.eye(8)[0]
    strings = [rng.choice(VOCABULARY, rng.integers(1, 6)).tolist() for _ in range(size)]
    if distinct:
        strings = [[word] * len(string) for word, string in zip(VOCABULARY, strings, strict=False)]
    return problem_of(
        prob,
        arguments=arguments,
        tags="".join(rng.choice(list("vnpx"), size)),
        strings=strings,
        settings=SearchSettings(settings),
    )


@st.composite
def trees(draw: st.DrawFn, *, most: int = 9) -> tuple[list[int], list[int]]:
    """Draw heads and sides of a tree; units are numbered in any order, the root has its modifiers right."""
    size = draw(st.integers(0, most))
    names = draw(st.permutations(range(size)))
    heads, sides = [ROOT] * size, [1] * size
    for place in range(size):
        above = draw(st.integers(-1, place - 1))
        heads[names[place]] = names[above] if above >= 0 else ROOT
        sides[names[place]] = draw(st.integers(0, 1)) if above >= 0 else 1
    return heads, sides


def permuted(problem: Problem, order: Sequence[int]) -> Problem:
    """Return the same bag with its units in another order: unit i is what was unit ``order[i]``."""
    model = problem.require_trees()
    rows = np.array([0, *(unit + 1 for unit in order)])
    columns = np.array(order, np.int64)
    pieces = [problem.words[problem.offsets[u] : problem.offsets[u + 1]] for u in order]
    return replace(
        problem,
        words=np.concatenate(pieces),
        offsets=np.cumsum([0, *map(len, pieces)], dtype=np.int32),
        kinds=problem.kinds[columns],
        trees=TreeModel(
            model.prob[rows][:, columns],
            model.arguments[rows],
            *(flags[columns] for flags in (model.verb, model.noun, model.preposition)),
        ),
    )
