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


def model_problems(store: Store, *, quick: bool = False) -> dict[str, int]:
    """Return how many rows break which check of models; others than the quick ones count n-grams again."""
    counts = {
        one.name: rows(store, f"select count(*) from ({one.query})")[0][0]
        for one in model_checks(store, quick=quick)
    }
    return {name: count for name, count in counts.items() if count}
