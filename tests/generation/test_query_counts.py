"""No probability is asked of the database by itself: the queries of a batch are few, whatever is in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from sentgen.demo import TREEBANK
from sentgen.generation import ALGORITHMS, Unit, regenerate
from sentgen.models import find
from sentgen.schema import Store
from sentgen.schema.store import raw

#: Of one batch: the corpora of the model, tags, n-grams, and counts of trees; joint decoding uses all of them.
MOST = 21


@contextmanager
def logged(store: Store) -> Iterator[list[str]]:
    """Collect the queries that DuckDB itself saw, without ends of transactions and dropped views."""
    queries: list[str] = []
    with store.connect() as connection:
        raw(connection).execute("call enable_logging('QueryLog')")
    yield queries
    with store.connect() as connection:
        raw(connection).execute("call disable_logging()")
        rows = raw(connection).execute(
            "select message from duckdb_logs where type = 'QueryLog' order by timestamp"
        )
        seen = [message.strip() for (message,) in rows.fetchall()]
    ignored = ("", "ROLLBACK", "COMMIT", "BEGIN", "call", "DROP VIEW")
    queries += [query for query in seen if not query.startswith(ignored[1:]) and query not in ignored]


def bags(number: int, size: int) -> list[list[Unit]]:
    """Return bags of words and phrases that the model knows, and one that it does not know."""
    words = TREEBANK.read_text().split("\n")
    forms = sorted(
        {line.split("\t")[1] for line in words if line[:1].isdigit() and "-" not in line.split("\t")[0]}
    )
    chosen = np.random.default_rng(1)
    found = []
    for _ in range(number):
        picked = [str(form) for form in chosen.choice(forms, size)]
        found.append([Unit(("the", picked[0])), Unit(("zebras",)), *(Unit((form,)) for form in picked[2:])])
    return found


def queries_for(path: Path, algorithm: str, given: list[list[Unit]]) -> list[str]:
    """Return the queries for some bags; in a store opened anew, so that no cache helps."""
    with Store(path, read_only=True) as store:
        model = find(store, "relief")
        with logged(store) as queries:
            answers = list(regenerate(store, model, given, algorithm=algorithm))
    assert len(answers) == len(given)
    return queries


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_queries_do_not_depend_on_the_bags(relief: Path, algorithm: str) -> None:
    """One bag of three units and a hundred of twelve cost the same few queries."""
    one = queries_for(relief, algorithm, bags(1, 3))
    many = queries_for(relief, algorithm, bags(100, 12))

    assert 0 < len(one) <= MOST
    assert len(many) == len(one), many


def test_queries_grow_with_the_batches(relief: Path) -> None:
    """Two batches cost at most twice what one costs."""
    one, two = (len(queries_for(relief, "lmo", bags(number, 5))) for number in (100, 200))

    assert one <= two <= 2 * one
