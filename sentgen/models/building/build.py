"""Build a model: sum the counts of its corpora, smooth them, and store the probabilities.

Counts are summed by DuckDB, which spills to the disk under the memory limit of the store; smoothing and
sorting are passes over arrays, which lie in files without names where they do not fit
(`sentgen.models.smoothing`, `sentgen.models.building.writing`). Others may read the store until the rows are
written, which is one transaction: a build that fails or is interrupted leaves no trace.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection

from sentgen import temporary
from sentgen.counts.batch import COUNTING_SHARE, DATABASE_SHARE
from sentgen.errors import InputError, ModelError, StoreError
from sentgen.models.building.chosen import Chosen, built_from, choose, selected
from sentgen.models.building.model_rows import insert_rows, record, rows_of
from sentgen.models.building.recipe import ESTIMATORS, Recipe, recipe
from sentgen.models.building.summed_counts import Progress, check_corpora, count, drop_temporary, vocabulary
from sentgen.models.building.symbols import Symbols
from sentgen.models.building.writing import anchors_of, smoothed, write_sorted
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.registry import ModelInfo, find, find_in, next_version
from sentgen.schema import Store
from sentgen.space import Space

#: Shares of the memory of the whole process: what n-grams may take that are smoothed, what sorting them for
#: the store may take, and where pages of files are given back. DuckDB has its own (`DATABASE_SHARE`).
ROWS_SHARE, SORTING_SHARE, FULL_SHARE = 0.65 * COUNTING_SHARE, 0.35 * COUNTING_SHARE, 0.8
#: Bytes that numba and the code that it has compiled take from that of the n-grams.
_COMPILED = 64 << 20


def build(
    store: Store,
    name: str,
    corpora: Sequence[str],
    *,
    order: int,
    smoothing: str = "kneser-ney",
    min_count: Sequence[int] | None = None,
    unknown: str = "word",
    brackets: bool = False,
    symbols: Symbols | None = None,
    condition: str | None = None,
    progress: Progress | None = None,
) -> ModelInfo:
    """Build the next version of a model from the counts of the given corpora.

    Args:
        store: the store, open for writing.
        name: name of the model; older versions of it stay.
        corpora: names of the corpora whose counts are summed; sentences of subcorpora are counted anew.
        order: highest order of n-grams, 1 to 5.
        smoothing: ``kneser-ney`` (as lmplz), ``katz``, or ``stupid-backoff``, for which nothing is built:
            look-ups read the counts.
        min_count: lowest count kept per order; must not fall; the last one also holds for higher orders.
        unknown: ``word`` gives <unk> a probability; ``none`` does not; ``tag`` also maps words seen once to
            ``<unk:TAG>``, with the language-specific tag where there is one, else the universal one.
        brackets: count the brackets of base noun phrases as words, ``<np>`` and ``</np>``.
        symbols: what the n-grams are made of, if not of words (see `sentgen.models.building.symbols`).
        condition: count only sentences whose metadata meet this (see `sentgen.lookups.metadata`).
        progress: called with one line a step.

    Raises:
        InputError: a setting is out of range, or the condition cannot be read.
        NotFoundError: there is no such corpus.
        ModelError: a corpus has no counts, too low an order, no tags where they are needed, or no base
            noun phrases.
        StoreError: the store is a lake, which takes models of ``stupid-backoff`` alone.
    """
    if not name.strip():
        raise InputError("a model needs a name")
    settings = recipe(order, smoothing, min_count, unknown, brackets, symbols)
    report = progress or (lambda _: None)
    if smoothing == stupid_backoff.NAME:
        _refuse_chosen(store, corpora, condition)
        of_counts = _build_in_lake if store.lake else _build_of_counts
        return of_counts(store, name, corpora, settings)
    if store.lake:
        raise StoreError(
            f"{store.lake}: a lake is only read; a model of kneser-ney is built in it with: "
            f"sentgen cluster models {shlex.quote(name)} --in {shlex.quote(str(store.lake))}"
        )
    made = _Build(store, settings, condition, report)
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


def _refuse_chosen(store: Store, corpora: Sequence[str], condition: str | None) -> None:
    """Refuse what has no counts to be read."""
    with store.connect() as connection:
        if selected(connection, corpora, condition)[1] is not None:
            raise ModelError(
                f"{stupid_backoff.NAME} reads the counts of whole corpora;"
                " for chosen sentences take kneser-ney or katz"
            )


def _build_of_counts(store: Store, name: str, corpora: Sequence[str], settings: Recipe) -> ModelInfo:
    """Store a model that reads the counts of its corpora."""
    with store.begin() as connection:
        found = [built_from(connection, each) for each in dict.fromkeys(corpora)]
        check_corpora(found, settings)
        words = vocabulary(connection, found, settings)
        model_id, version = next_version(connection, name)
        insert_rows(connection, rows_of(model_id, (name, version), settings, found, words))
        return find_in(connection, f"{name}@{version}")


def _build_in_lake(store: Store, name: str, corpora: Sequence[str], settings: Recipe) -> ModelInfo:
    """Add such a model to a lake, by a file more."""
    lake, memory = store.lake, store.memory_limit
    assert lake is not None
    # Here: every command that takes a model imports this module, and none of them writes Parquet.
    from sentgen.counts.cluster.engine import Inline
    from sentgen.models.cluster.job import ModelJob

    with temporary.folder() as folder:
        work = Path(lake.root) / "_work" if lake.files is None else folder / "work"
        built = ModelJob(lake, work, Inline(), memory).run(name, corpora, settings)
    # What is open names the files that were there.
    with Store(lake.root, read_only=True, memory_limit=memory) as opened:
        return find(opened, built.label)


class _Build:
    """A model on its way from counts to rows."""

    def __init__(self, store: Store, settings: Recipe, condition: str | None, report: Progress) -> None:
        self.settings, self.condition, self.report = settings, condition, report
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
        if condition is not None:
            self.chosen = choose(connection, condition, [each.id for each in self.corpora])
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
