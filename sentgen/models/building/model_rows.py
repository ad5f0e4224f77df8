"""The rows that say what a model is, beside those of its n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, func, insert, select

from sentgen.models.base.registry import BRACKETS, CONDITION, SYMBOLS
from sentgen.models.building.chosen import BuiltFrom, Chosen
from sentgen.models.building.recipe import Recipe
from sentgen.schema import metadata
from sentgen.schema.store import scalar
from sentgen.schema.tables import models as tables
from sentgen.schema.tables.corpus import BOS

Parameters = Sequence[tuple[int, str, float]]


def record(
    connection: Connection,
    model_id: int,
    label: tuple[str, int],
    settings: Recipe,
    corpora: Sequence[BuiltFrom],
    parameters: Parameters,
    chosen: Chosen | None = None,
    looked_up: Sequence[int] = (),
) -> None:
    """Store what there is to know of a model whose n-grams are stored; ``label`` is its name and version.

    Imported models have no corpora; ``chosen`` are the sentences of them that were counted, if not all;
    ``looked_up`` are the models that have the n-grams, if it has none of its own.
    """
    ngrams = tables.model_ngram.c
    unigrams = (ngrams.model_id.in_(looked_up or [model_id]), ngrams.n == 1, ngrams.w1 != BOS)
    words = scalar(connection, select(func.count(ngrams.w1.distinct())).where(*unigrams))
    rows = rows_of(model_id, label, settings, corpora, words)
    notes = {BRACKETS: 1.0} if settings.brackets else {}
    if not settings.symbols.are_words:
        notes[f"{SYMBOLS}{settings.symbols.over}"] = float(settings.symbols.kept)
    if chosen is not None:
        rows[tables.model.name][0] |= {"sentences": chosen.sentences, "tokens": chosen.tokens}
        if chosen.condition:
            notes[f"{CONDITION}{chosen.condition}"] = 1.0
    parameters = [*parameters, *((0, note, value) for note, value in notes.items())]
    rows[tables.model_parameter.name] = [
        {"model_id": model_id, "n": n, "name": key, "value": value} for n, key, value in parameters
    ]
    insert_rows(connection, rows)


def rows_of(
    model_id: int,
    label: tuple[str, int],
    settings: Recipe,
    corpora: Sequence[BuiltFrom],
    words: int,
    created_at: datetime | None = None,
) -> dict[str, list[dict[str, object]]]:
    """Return the rows that say what a model is, by table; it is made now unless a time is given."""
    name, version = label
    model = {
        "id": model_id,
        "name": name,
        "version": version,
        "max_order": settings.order,
        "smoothing": settings.smoothing,
        "min_count": ",".join(map(str, settings.min_count)),
        "unknown": settings.unknown,
        "vocabulary": words,
        "sentences": sum(each.sentences for each in corpora),
        "tokens": sum(each.tokens for each in corpora),
        "created_at": created_at or datetime.now(UTC).replace(tzinfo=None),
    }
    of = [
        {"model_id": model_id, "corpus_id": each.id, "corpus_name": each.name, "tokens": each.tokens}
        for each in corpora
    ]
    return {tables.model.name: [model], tables.model_corpus.name: of}


def insert_rows(connection: Connection, rows: dict[str, list[dict[str, object]]]) -> None:
    """Store rows by table."""
    for table, new in rows.items():
        if new:
            connection.execute(insert(metadata.tables[table]), new)
