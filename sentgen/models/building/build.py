"""Build a model where its counts are: in a store, or in a lake."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from sentgen import temporary
from sentgen.errors import ModelError, StoreError
from sentgen.models.building.chosen import Draw, selected
from sentgen.models.building.in_store import build_of_counts, build_smoothed
from sentgen.models.building.recipe import Recipe, recipe
from sentgen.models.building.summed_counts import Progress
from sentgen.models.building.symbols import Symbols
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.registry import ModelInfo, find, require_name
from sentgen.schema import Store


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
    draw: Draw | None = None,
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
        draw: count only some of these, drawn by a seed.
        progress: called with one line a step.

    Raises:
        InputError: a setting is out of range, or the condition cannot be read.
        NotFoundError: there is no such corpus.
        ModelError: fewer sentences than are to be drawn, a corpus has no counts, too low an order, no tags
            where they are needed, or no base noun phrases.
        StoreError: the store is a lake, which takes models of ``stupid-backoff`` alone.
    """
    require_name(name)
    settings = recipe(order, smoothing, min_count, unknown, brackets, symbols)
    report = progress or (lambda _: None)
    if smoothing == stupid_backoff.NAME:
        _refuse_chosen(store, corpora, condition, draw)
        of_counts = _build_in_lake if store.lake else build_of_counts
        return of_counts(store, name, corpora, settings)
    if store.lake:
        raise StoreError(
            f"{store.lake}: a lake is only read; a model of kneser-ney is built in it with: "
            f"sentgen cluster models {shlex.quote(name)} --in {shlex.quote(str(store.lake))}"
        )
    return build_smoothed(store, name, corpora, settings, condition, draw, report)


def _refuse_chosen(store: Store, corpora: Sequence[str], condition: str | None, draw: Draw | None) -> None:
    """Refuse what has no counts to be read."""
    with store.connect() as connection:
        if draw or selected(connection, corpora, condition)[1] is not None:
            raise ModelError(
                f"{stupid_backoff.NAME} reads the counts of whole corpora;"
                " for chosen sentences take kneser-ney or katz"
            )


def _build_in_lake(store: Store, name: str, corpora: Sequence[str], settings: Recipe) -> ModelInfo:
    """Add such a model to a lake, by a file more."""
    # Here: a server holds in memory what its workers import, and none of them counts.
    from sentgen.counts.cluster.engine import Inline
    from sentgen.models.cluster.job import ModelJob

    lake, memory = store.lake, store.memory_limit
    assert lake is not None
    with temporary.folder() as folder:
        work = Path(lake.root) / "_work" if lake.files is None else folder / "work"
        built = ModelJob(lake, work, Inline(), memory).run(name, corpora, settings)
    # What is open names the files that were there.
    with Store(lake.root, read_only=True, memory_limit=memory) as opened:
        return find(opened, built.label)
