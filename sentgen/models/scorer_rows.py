"""Scorers of plug-ins among the models of a store, which has their surprisal under a number and a version."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select

from sentgen.errors import ModelError
from sentgen.models.registry import PACKAGE, SCORER, ModelInfo, list_scorers, next_version
from sentgen.models.scorer import Scorer, ScoreWords
from sentgen.schema import Store
from sentgen.schema.store import now
from sentgen.schema.tables.models import model, model_parameter


def words_of(scorer: Scorer) -> ScoreWords:
    """Return what scores the words of sentences.

    Raises:
        ModelError: the scorer knows whole sentences only.
    """
    if scorer.score_words is None:
        raise ModelError(
            f"the scorer {scorer.name!r} of {scorer.package} has no score_words, and surprisal is that of"
            " words; its authors may add it"
        )
    return scorer.score_words


def stored_scorer(store: Store, scorer: Scorer) -> ModelInfo:
    """Return a scorer as the store has it, or will have it; another version of its package is another one."""
    there = [one for one in list_scorers(store) if (one.name, one.package) == (scorer.name, scorer.package)]
    if there:
        return there[-1]
    with store.connect() as connection:
        number, version = next_version(connection, scorer.name)
    return ModelInfo(
        id=number,
        name=scorer.name,
        version=version,
        order=0,
        smoothing=SCORER,
        min_count=(),
        unknown="none",
        brackets=False,
        vocabulary=0,
        sentences=0,
        tokens=0,
        created_at=now(),
        corpora=(),
        package=scorer.package,
    )


def add_scorer(connection: Connection, one: ModelInfo) -> None:
    """Write a scorer that the store does not have yet; of what is no scorer, nothing."""
    there = connection.execute(select(model.c.id).where(model.c.id == one.id)).first()
    if one.smoothing != SCORER or there:
        return
    row = {
        "id": one.id,
        "name": one.name,
        "version": one.version,
        "max_order": one.order,
        "smoothing": one.smoothing,
        "min_count": "",
        "unknown": one.unknown,
        "vocabulary": 0,
        "sentences": 0,
        "tokens": 0,
        "created_at": one.created_at,
    }
    connection.execute(insert(model), row)
    noted = {"model_id": one.id, "n": 0, "name": f"{PACKAGE}{one.package}", "value": 0.0}
    connection.execute(insert(model_parameter), noted)
