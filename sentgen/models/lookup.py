"""Explain the probability of a word: which n-grams a model has for it, and how it backs off.

Each step is a query, which is readable but slow; programs use `sentgen.models.submodel`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from sentgen.errors import InputError, ModelError
from sentgen.models.base.registry import DYNAMIC, STUPID_BACKOFF, ModelCounts, ModelInfo
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.ngrams.ngram_cache import NgramCache
from sentgen.models.ngrams.ngram_table import MISSING_UNK
from sentgen.output.display import decimal
from sentgen.schema import Store
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import BOS, RESERVED_WORDS, UNK
from sentgen.schema.tables.corpus import word as word_table
from sentgen.schema.tables.models import model_ngram


@dataclass(frozen=True, slots=True)
class BackoffStep:
    """One n-gram that was looked up: ``log10`` if it is known, else the back-off weight of its context.

    ``total`` is the sum up to this step; the last step's is the answer.
    """

    ngram: tuple[str, ...]
    order: int
    known: bool
    log10: float | None
    backoff: float | None
    total: float


def explain(store: Store, model: ModelInfo, words: Sequence[str]) -> list[BackoffStep]:
    """Return the back-off steps by which the model computes log10 p(last word | the words before it).

    Words that the model does not know are read as ``<unk>``; only as many words of context as the model has
    are used.

    Raises:
        InputError: there are no words.
    """
    if not words:
        raise InputError("there is no word to look up; give one, and its context before it")
    if model.smoothing == DYNAMIC:
        labels = ", ".join(part.label for part, _ in model.looked_up(store))
        raise ModelError(f"{model.name} sums what its models give, each of which backs off; ask for {labels}")
    if model.smoothing == STUPID_BACKOFF:
        return _explain_counts(store, model, words)
    with store.connect() as connection:
        # No more than the order of the model: it has no n-gram that is longer.
        gram = [_known(connection, model, word) for word in words[-model.order :]]
        steps: list[BackoffStep] = []
        total = 0.0
        while True:
            forms = tuple(form for form, _ in gram)
            ids = [number for _, number in gram]
            row = _find(connection, model, ids)
            # Rounded as in the sub-model, so that the steps sum to the score.
            if row is None and ids == [UNK]:
                row = (MISSING_UNK, 0.0)
            if row is not None:
                log10 = decimal(row[0])
                return [*steps, BackoffStep(forms, len(gram), True, log10, None, total + log10)]
            context = _find(connection, model, ids[:-1])
            weight = decimal(context[1]) if context else 0.0
            total += weight
            steps.append(BackoffStep(forms, len(gram), False, None, weight, total))
            gram = gram[1:]


def _explain_counts(store: Store, model: ModelInfo, words: Sequence[str]) -> list[BackoffStep]:
    """Return the steps of a model that reads counts; an unseen context costs as much as a seen one."""
    with store.connect() as connection, translated_errors(store.path):
        duck = raw(connection)
        ids = NgramCache(0).word_ids(duck, model, set(words))
        counts = ModelCounts.of_model(duck, model)
        wanted = sorted({BOS, UNK, *ids.values()})
        rows = stupid_backoff.count_rows(duck, model, counts, model.order, wanted)
    count_of = {
        tuple(gram[:n]): count
        for gram, n, count in zip(rows.words.tolist(), rows.lengths, rows.logp.tolist(), strict=True)
    }
    forms = [form if (ids.get(form, UNK),) in count_of else RESERVED_WORDS[UNK] for form in words]
    padding = [RESERVED_WORDS[BOS]] * (model.order - len(forms)) if forms[0] == RESERVED_WORDS[BOS] else []
    gram = [*padding, *forms][-model.order :]
    steps: list[BackoffStep] = []
    total = 0.0
    while True:
        numbers = stupid_backoff.counted_as([ids.get(form, UNK) for form in gram])
        if (count := count_of.get(numbers)) or len(gram) == 1:
            before = count_of.get(stupid_backoff.counted_as(numbers[:-1]), counts.total)
            log10 = decimal(math.log(count / before) if count else MISSING_UNK)
            return [*steps, BackoffStep(tuple(gram), len(gram), True, log10, None, total + log10)]
        total += decimal(stupid_backoff.LOG_ALPHA)
        weight = decimal(stupid_backoff.LOG_ALPHA)
        steps.append(BackoffStep(tuple(gram), len(gram), False, None, weight, total))
        gram = gram[1:]


def _known(connection: Connection, model: ModelInfo, form: str) -> tuple[str, int]:
    """Return a word and its id, those of <unk> if the model does not know the word."""
    query = select(word_table.c.id).where(word_table.c.form == form).order_by(word_table.c.id)
    number = connection.execute(query).scalar()
    if number is None or _find(connection, model, [number]) is None:
        return RESERVED_WORDS[UNK], UNK
    return form, int(number)


def _find(connection: Connection, model: ModelInfo, ids: Sequence[int]) -> tuple[float, float] | None:
    """Return log-probability and back-off weight of one n-gram, None if the model does not have it."""
    columns = model_ngram.c
    query = select(columns.logp, columns.backoff).where(
        columns.model_id == model.id,
        # The table is sorted by anchor, so that a condition on it prunes row groups.
        columns.anchor == max(ids),
        columns.n == len(ids),
        *(columns[f"w{i}"] == number for i, number in enumerate(ids, 1)),
    )
    row = connection.execute(query).first()
    return (float(row[0]), float(row[1])) if row else None
