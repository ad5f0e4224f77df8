"""What a store holds, asked in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile
from typing import Any

from sentgen.counts import corpora
from sentgen.models.checks import model_checks
from sentgen.schema import Store
from sentgen.schema.maintenance import block_checks, check, content_checks
from sentgen.schema.store import raw


def rows(store: Store, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query with values for its question marks."""
    with store.connect() as connection:
        return raw(connection).execute(query, list(values)).fetchall()


@contextmanager
def copied(path: Path, folder: Path) -> Iterator[Store]:
    """Open a copy of a store that other tests want as it is."""
    with Store(copyfile(path, folder / path.name)) as opened:
        yield opened


def empty(store: Store) -> None:
    """Take all corpora out of a store."""
    for name in corpora.overview(store).column("corpus"):
        corpora.remove(store, name)


def problems(store: Store) -> dict[str, str]:
    """Return what breaks which check of a store.

    All are asked at once before each is asked: 200 statements take half a second to plan.
    """
    for checks in ([*block_checks()], [*content_checks(store)]):
        settings = checks[0].settings
        at_once = " union all ".join(f"select 1 from ({one.query})" for one in checks)
        with store.connect() as connection:
            duck = raw(connection)
            duck.execute("; ".join(f"set {name} = {value}" for name, value in settings.items()))
            found = duck.execute(at_once).fetchall()
            duck.execute("; ".join(f"reset {name}" for name in settings))
        if found:
            return {one.check.name: one.example for one in check(store) if one.problems}
    return {}


def model_problems(store: Store, *, quick: bool = False) -> dict[str, int]:
    """Return how many rows break which check of models; others than the quick ones count n-grams again."""
    counts = {
        one.name: rows(store, f"select count(*) from ({one.query})")[0][0]
        for one in model_checks(store, quick=quick)
    }
    return {name: count for name, count in counts.items() if count}
