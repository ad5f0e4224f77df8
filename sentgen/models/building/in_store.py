"""Build a model in a store: sum the counts of its corpora, smooth them, and store the probabilities.

Counts are summed by DuckDB, which spills to the disk under the memory limit of the store; smoothing and
sorting are passes over arrays, which lie in files without names where they do not fit
(`sentgen.models.smoothing`, `sentgen.models.building.writing`). Others may read the store until the rows are
written, which is one transaction: a build that fails or is interrupted leaves no trace.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from sentgen.counts.shares import COUNTING_SHARE, DATABASE_SHARE
from sentgen.models.building.chosen import Chosen, Draw, built_from, choose, selected
from sentgen.models.building.model_rows import insert_rows, record, rows_of
from sentgen.models.building.recipe import ESTIMATORS, Recipe
from sentgen.models.building.summed_counts import Progress, check_corpora, count, drop_temporary, vocabulary
from sentgen.models.building.writing import anchors_of, smoothed, write_sorted
from sentgen.models.registry import ModelInfo, find_in, next_version
from sentgen.schema import Store
from sentgen.space import Space

#: Shares of the memory of the whole process: what n-grams may take that are smoothed, what sorting them for
#: the store may take, and where pages of files are given back. DuckDB has its own (`DATABASE_SHARE`).
ROWS_SHARE, SORTING_SHARE, FULL_SHARE = 0.65 * COUNTING_SHARE, 0.35 * COUNTING_SHARE, 0.8
#: Bytes that numba and the code that it has compiled take from that of the n-grams.
_COMPILED = 64 << 20


def build_smoothed(
    store: Store,
    name: str,
    corpora: Sequence[str],
    settings: Recipe,
    condition: str | None,
    draw: Draw | None,
    report: Progress,
) -> ModelInfo:
    """Store a model of the sentences of some corpora that meet a condition or are drawn, or of all."""
    made = _Build(store, settings, condition, draw, report)
    if not settings.as_counted:
        # Classes, brackets and symbols become words of the store before they are counted.
        with store.begin() as connection:
            made.smooth(connection, corpora)
            drop_temporary(connection)
            return made.write(connection, name)
    store.downgrade_to_read()
    with store.connect() as connection:
        made.smooth(connection, corpora)
    with store.begin() as connection:
        return made.write(connection, name)


def build_of_counts(store: Store, name: str, corpora: Sequence[str], settings: Recipe) -> ModelInfo:
    """Store a model that reads the counts of its corpora."""
    with store.begin() as connection:
        found = [built_from(connection, each) for each in dict.fromkeys(corpora)]
        check_corpora(found, settings)
        words = vocabulary(connection, found, settings)
        model_id, version = next_version(connection, name)
        insert_rows(connection, rows_of(model_id, (name, version), settings, found, words))
        return find_in(connection, f"{name}@{version}")


class _Build:
    """A model on its way from counts to rows."""

    def __init__(
        self,
        store: Store,
        settings: Recipe,
        condition: str | None,
        draw: Draw | None,
        report: Progress,
    ) -> None:
        self.settings, self.condition, self.draw, self.report = settings, condition, draw, report
        memory = store.memory_limit / DATABASE_SHARE
        self.sorting = int(memory * SORTING_SHARE)
        room = max(0, int(memory * ROWS_SHARE) - _COMPILED)
        self.space = Space(room, store.path.parent, most=int(memory * FULL_SHARE))

    def smooth(self, connection: Connection, corpora: Sequence[str]) -> None:
        """Sum the counts of the corpora, and smooth them."""
        settings = self.settings
        names, condition = selected(connection, corpora, self.condition)
        self.corpora = [built_from(connection, each) for each in names]
        check_corpora(self.corpora, settings)
        self.chosen: Chosen | None = None
        if condition is not None or self.draw is not None:
            self.chosen = choose(connection, condition, self.draw, [each.id for each in self.corpora])
        count(connection, self.corpora, settings, self.report, chosen=self.chosen is not None)
        self.orders, self.parameters = ESTIMATORS[settings.smoothing](
            connection,
            order=settings.order,
            min_count=settings.min_count,
            unknown=settings.unknown != "none",
            space=self.space,
            progress=self.report,
        )
        self.anchors, self.source = anchors_of(self.orders, self.space), smoothed(self.orders, self.space)

    def write(self, connection: Connection, name: str) -> ModelInfo:
        """Store it as the next version of its name."""
        self.report("writing the model")
        model_id, version = next_version(connection, name)
        write_sorted(connection, model_id, self.anchors, self.source, memory=self.sorting)
        label, parameters = (name, version), self.parameters
        record(connection, model_id, label, self.settings, self.corpora, parameters, self.chosen)
        return find_in(connection, f"{name}@{version}")
