"""The union of the n-grams of several models, from which mixtures and pruned models are made.

With h the words before w, and h' the same without the first one, the probability in one model is

    p(w | h) = its stored probability    if it has the n-gram h w
             = backoff(h) p(w | h')      otherwise; backoff(h) = 1 if it does not have h

A word of h that the model does not know is read as <unk>, as in scoring; a word w that it does not know has
probability 0, so that its probabilities of all words of the union sum to one. Suffixes that a pruned model
lacks are added to the union, so that p(w | h') is in the row of the suffix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from sentgen.arrays import Bools, Floats, Ints, Space, compiled
from sentgen.errors import ModelError, StoreError
from sentgen.models.base import sql
from sentgen.models.base.registry import DYNAMIC, LATER, STUPID_BACKOFF, ModelInfo, find, require_name
from sentgen.models.building.recipe import BuiltFrom, Chosen, Recipe, drop_temporary
from sentgen.models.building.rows import NgramRows, damaged
from sentgen.models.building.writing import Parameters, anchors_of, record, smoothed
from sentgen.schema import Store
from sentgen.schema.engine import arrow_reader
from sentgen.schema.store import raw
from sentgen.schema.tables.corpus import BOS, UNK
from sentgen.schema.tables.models import PARTS, model_corpus


def parts_named(store: Store, name: str, labels: Sequence[str]) -> list[ModelInfo]:
    """Return the models from which another one is to be made.

    Raises:
        InputError: the new model has no name.
        NotFoundError: there is no such model.
        ModelError: a model has no n-grams with probabilities, or a corpus of its own was read again since.
        StoreError: the store is a lake.
    """
    require_name(name)
    if store.lake:
        raise StoreError(f"{store.lake}: a lake is only read; make the model in a store")
    parts = [find(store, label) for label in labels]
    for part in parts:
        if part.smoothing == STUPID_BACKOFF:
            raise ModelError(
                f"{part.label}: scores of {part.smoothing} are no probabilities; take a model of kneser-ney"
            )
        if part.smoothing == DYNAMIC:
            named = ",".join(label for label, _ in part.parts)
            raise ModelError(
                f"{part.label} has no n-grams of its own; name the models that it looks up: {named}"
            )
        # By its number of tokens alone, the new model could not be recognized as stale.
        if later := [line for line in part.changes(store) if line.endswith(LATER)]:
            raise ModelError(f"{part.label}: {later[0]}; build it again first")
    return parts


def store_model(
    store: Store,
    name: str,
    smoothing: str,
    parts: Sequence[tuple[ModelInfo, float]],
    orders: Sequence[NgramRows] = (),
    parameters: Parameters = (),
    space: Space | None = None,
) -> ModelInfo:
    """Store a model made from others as the next version of its name; without n-grams, it looks those up."""
    models = [part for part, _ in parts]
    unknown = {part.unknown for part in models} - {"none"}
    settings = Recipe(
        max(part.order for part in models),
        smoothing,
        (),
        unknown.pop() if unknown else "none",
        models[0].brackets,
        models[0].symbols,
    )
    notes = [(0, f"{PARTS}{part.label}", weight) for part, weight in parts]
    looked_up = [] if space else [part.id for part in models]
    with store.begin() as connection:
        corpora, chosen = _counted(connection, models)
        drop_temporary(connection)
        ngrams = (anchors_of(orders, space), smoothed(orders, space)) if space else None
        described = [*parameters, *notes]
        return record(store, connection, name, settings, corpora, described, ngrams, chosen, looked_up)


def _counted(connection: Connection, parts: Sequence[ModelInfo]) -> tuple[list[BuiltFrom], Chosen]:
    """Return the corpora of some models as they were when built, and the sentences that were counted."""
    table, counted = model_corpus.c, {}
    for part in parts:
        rows = connection.execute(select(model_corpus).where(table.model_id == part.id)).all()
        sources = frozenset((row.corpus_id, row.corpus_name, row.tokens) for row in rows)
        # Sentences that several models share are counted once.
        counted[sources, part.condition] = (part.sentences, part.tokens)
    corpora = sorted(frozenset().union(*(sources for sources, _ in counted)))
    sentences, tokens = map(sum, zip(*counted.values(), strict=True))
    most = sum(size for _, _, size in corpora)
    built = [BuiltFrom(number, name, 0, (), 0, size) for number, name, size in corpora]
    return built, Chosen(_condition(parts), sentences, min(tokens, most))


def _condition(parts: Sequence[ModelInfo]) -> str:
    """Return the condition that all models share, else the condition of each model with its label."""
    conditions = {part.condition for part in parts}
    if len(conditions) == 1:
        return conditions.pop()
    return "; ".join(f"{part.label}: {part.condition}" for part in parts if part.condition)


_FILE = "union.sql"
_READ = 1 << 17
#: Mass left for unseen words below this is rounding.
_NOTHING = 1e-12


class _UnionScores(NamedTuple):
    """The scores of one model for the n-grams of an order; as read, logarithms, and NaN where it has none."""

    p: Floats  # (rows,) probability of the last word after the others
    backoff: Floats  # (rows,) back-off weight of the n-gram, with <unk> for unknown words
    row: Ints  # (rows,) row of the n-gram with <unk> for the words that the model does not know; -1 if none


#: The scores of the empty context.
_EMPTY = _UnionScores(np.zeros(1), np.ones(1), np.zeros(1, np.int32))


def read_union(
    connection: Connection,
    models: Sequence[int],
    weights: Sequence[float],
    *,
    order: int,
    space: Space,
    progress: Callable[[str], None],
) -> list[NgramRows]:
    """Return the union of n-grams by order; their value is the weighted sum of the models' probabilities.

    Args:
        connection: connection of the store; gets temporary tables.
        weights: weights of the models, above 0, which sum to 1.
        progress: called with one line a step.
    """
    _make_tables(connection, models, order)
    orders: list[NgramRows] = []
    known: list[Bools] = []
    below, words = [_EMPTY] * len(models), np.empty((0, 1), np.int32)
    for n in range(1, order + 1):
        progress(f"reading order {n}")
        rows, words, scores = _read(connection, n, words, len(models), space)
        if orders:
            rows.find_suffixes(orders[-1], space)
        known = known or [_known(rows, each) for each in scores]
        for each, lower, its_words, weight in zip(scores, below, known, weights, strict=True):
            _compute_scores(rows, each, lower, its_words, space)
            rows.value += weight * each.p
        orders.append(rows)
        below = scores
    orders[0].value[slice(*orders[0].begins)] = 1.0  # <s> is always there
    return orders


def _make_tables(connection: Connection, models: Sequence[int], order: int) -> None:
    """Make the temporary tables ``union_1`` and up: the n-grams of all models by order."""
    for n in range(order, 0, -1):
        columns = [
            sql.statements(_FILE)["column"].format(value=value, model=model, place=number)
            for number, model in enumerate(models)
            for value in ("logp", "backoff")
        ]
        longer = {"words": sql.words(n, start=2), "longer": n + 1}
        sql.run(
            connection,
            _FILE,
            "union",
            n=n,
            words=sql.words(n),
            columns=", ".join(columns),
            models=", ".join(map(str, models)),
            suffixes=sql.statements(_FILE)["suffixes"].format(**longer) if n < order else "",
        )


def _read(
    connection: Connection, n: int, below: Ints, models: int, space: Space
) -> tuple[NgramRows, Ints, list[_UnionScores]]:
    """Read the n-grams of an order, their words (n, rows), and their stored scores in each model.

    Unlike counted n-grams, n-grams of models may be no context whatever their last word: each is compared
    with those of the order below, ``below``.
    """
    ((size,),) = sql.run(connection, _FILE, "size", n=n)
    rows, words = (
        NgramRows.allocate(n, size, below.shape[1], space),
        space.array(n * size, np.int32).reshape(n, size),
    )
    scores = [
        _UnionScores(
            space.array(size, np.float64), space.array(size, np.float64), space.array(size, np.int32)
        )
        for _ in range(models)
    ]
    columns = [f"{value}_{number}" for number in range(models) for value in ("logp", "backoff")]
    values = {"columns": ", ".join(columns), "n": n, "words": sql.words(n)}
    at, context = 0, -1
    for batch in arrow_reader(raw(connection), sql.statements(_FILE)["columns"].format(**values), rows=_READ):
        end = at + batch.num_rows
        read = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        words[:, at:end] = read[:n]
        rows.last[at:end], rows.anchor[at:end] = read[n - 1], np.max(words[:, at:end], axis=0)
        for each, logp, backoff in zip(scores, read[n::2], read[n + 1 :: 2], strict=True):
            each.p[at:end], each.backoff[at:end] = logp, backoff
        context = _find_prefixes(words, at, end, below, rows.first, context)
        if context < 0:
            raise damaged(n)
        at = end
        space.relax()
    rows.first[context + 1 :] = size
    if n == 1:
        start, end = np.searchsorted(rows.last, [BOS, BOS + 1]).tolist()
        rows.begins = (start, end)
    return rows, words, scores


@compiled
def _find_prefixes(words: Ints, at: int, end: int, below: Ints, first: Ints, context: int) -> int:
    """Set the first row of each context; return the last context, or -1 if one is missing.

    Args:
        words: (n, rows) of the order.
        at, end: the rows to look at.
        below: (n - 1, contexts) words of the order below.
        first: (contexts + 1,) is set to the first row of each context.
        context: context of the row before, -1 if there is none.
    """
    for row in range(at, end):
        while context < 0 or not np.array_equal(below[:, context], words[:-1, row]):
            context += 1
            if context == below.shape[1]:
                return -1
            first[context] = row
    return context


def _known(rows: NgramRows, stored: _UnionScores) -> Bools:
    """Return for each word of the store whether a model has it as a unigram."""
    known = np.zeros(int(rows.last[-1]) + 1, np.bool_)
    known[rows.last[~np.isnan(stored.p)]] = True
    return known


def _compute_scores(
    rows: NgramRows, scores: _UnionScores, lower: _UnionScores, known: Bools, space: Space
) -> None:
    """Replace the stored scores of a model by its probabilities; ``lower`` has those of the order below."""
    for kernel in (_find_rows, _score_own, _score_mapped):
        for start, end in rows.spans():
            contexts = slice(start, end)
            below = _UnionScores(lower.p, lower.backoff[contexts], lower.row[contexts])
            kernel(rows.first, start, rows.last, rows.suffix, below, known, scores)
            space.relax()


@compiled
def _find_rows(
    first: Ints, start: int, last: Ints, suffix: Ints, lower: _UnionScores, known: Bools, scores: _UnionScores
) -> None:
    """Find for n-grams of some contexts the row of the n-gram with <unk> in place of unknown words.

    Args:
        first, last, suffix: as in `NgramRows`.
        start: the first context.
        lower: the scores of the order below: p of all rows, the other arrays of these contexts.
        known: whether the model has a word.
        scores: the scores of the n-grams; their ``row`` is set.
    """
    for c in range(len(lower.row)):
        for row in range(first[start + c], first[start + c + 1]):
            word = last[row] if known[last[row]] else UNK
            if lower.row[c] == start + c and word == last[row]:
                scores.row[row] = row
                continue
            scores.row[row] = -1
            if lower.row[c] >= 0:
                low, high = first[lower.row[c]], first[lower.row[c] + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if last[middle] < word:
                        low = middle + 1
                    else:
                        high = middle
                if low < first[lower.row[c] + 1] and last[low] == word:
                    scores.row[row] = low


@compiled
def _score_own(
    first: Ints, start: int, last: Ints, suffix: Ints, lower: _UnionScores, known: Bools, scores: _UnionScores
) -> None:
    """Compute the scores of n-grams whose words are all known; the arguments are those of `_find_rows`."""
    for c in range(len(lower.row)):
        for row in range(first[start + c], first[start + c + 1]):
            if scores.row[row] == row:
                if not known[last[row]]:
                    scores.p[row] = 0.0
                elif np.isnan(scores.p[row]):
                    scores.p[row] = lower.backoff[c] * lower.p[suffix[row]]
                else:
                    scores.p[row] = np.exp(scores.p[row])
                scores.backoff[row] = 1.0 if np.isnan(scores.backoff[row]) else np.exp(scores.backoff[row])


@compiled
def _score_mapped(
    first: Ints, start: int, last: Ints, suffix: Ints, lower: _UnionScores, known: Bools, scores: _UnionScores
) -> None:
    """Copy the scores of the other n-grams from their ``row``; the arguments are those of `_find_rows`."""
    for c in range(len(lower.row)):
        for row in range(first[start + c], first[start + c + 1]):
            other = scores.row[row]
            if other != row:
                scores.backoff[row] = scores.backoff[other] if other >= 0 else 1.0
                if not known[last[row]]:
                    scores.p[row] = 0.0
                elif other >= 0:
                    scores.p[row] = scores.p[other]
                else:
                    scores.p[row] = lower.backoff[c] * lower.p[suffix[row]]


def weigh_contexts(orders: Sequence[NgramRows], space: Space) -> None:
    """Set the back-off weights so that the probabilities after each context sum to one.

    An n-gram of value 0 is not in the model: its probability is by back-off from its suffix. With the sums
    over the n-grams h w that are in the model, as in SRILM,

        backoff(h) = (1 - sum_w p(w | h)) / (1 - sum_w p(w | h'))
    """
    lower = orders[0].value
    for below, rows in pairwise(orders):
        below.weight = space.array(len(below.last), np.float64)
        full = space.array(len(rows.last), np.float64)
        for start, end in rows.spans():
            _weigh(rows.first, start, end, rows.value, rows.suffix, lower, below.weight, full)
            space.relax()
        lower = full


@compiled
def left_over(first: Ints, context: int, value: Floats, suffix: Ints, lower: Floats) -> tuple[float, float]:
    """Return the mass that the n-grams of a context leave after it, and after the shorter context."""
    left, shorter = 1.0, 1.0
    for row in range(first[context], first[context + 1]):
        if value[row] > 0:
            left -= value[row]
            shorter -= lower[suffix[row]]
    # A remainder from rounding is 0.
    return (max(left, 0.0), shorter) if shorter > _NOTHING else (0.0, 0.0)


@compiled
def _weigh(
    first: Ints,
    start: int,
    end: int,
    value: Floats,
    suffix: Ints,
    lower: Floats,
    weight: Floats,
    full: Floats,
) -> None:
    """Set the weights of some contexts, and the probability of each of their n-grams in the model."""
    for context in range(start, end):
        left, shorter = left_over(first, context, value, suffix, lower)
        weight[context] = left / shorter if shorter > 0 else 1.0
        for row in range(first[context], first[context + 1]):
            full[row] = value[row] if value[row] > 0 else weight[context] * lower[suffix[row]]
