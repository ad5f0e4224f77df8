"""Concordance lines without duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meta_treebank import sentences, store_of
from sqlalchemy import Connection

from sentgen.lookups.concordances import line_search
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.schema import Store
from sentgen.schema.engine import raw
from sentgen.schema.guard import require_harmless


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path = store_of(tmp_path_factory.mktemp("dedupe") / "s.duckdb", sentences())
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def unique(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first of the lines with each text."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        found.setdefault((row["left"], row["node"], row["right"]), row)
    return list(found.values())


@settings(max_examples=settings.default.max_examples // 7)
@given(
    asked=st.fixed_dictionaries(
        {
            "pattern": st.sampled_from(("the", '[upos="NOUN"]', "[]{1,2}", "old *", "none")),
            "context": st.sampled_from((0, 1, 2, "1s", "2s")),
            "across": st.booleans(),
            "filter": st.sampled_from(([], ["cat"])),
        }
    ),
    sort=st.sampled_from(("none", "-1L,node")),
    sample=st.sampled_from((None, 3, 500)),
    limit=st.sampled_from((0, 2, 100)),
    large=st.booleans(),
)
def test_each_text_is_shown_once(
    connection: Connection,
    asked: dict[str, Any],
    sort: str,
    sample: int | None,
    limit: int,
    large: bool,
) -> None:
    every = Kwic(**asked, limit=0).ask(connection).table.to_pylist()
    sorted_ones = Kwic(**asked, sort=sort, limit=0).lines(connection, placed=True).table.to_pylist()
    once = unique(every)
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr("sentgen.lookups.base.tokens.SIZE", 9)
            patch.setattr(line_search, "LINES", 7)
        answer = Kwic(**asked, dedupe=True, sort=sort, sample=sample, limit=limit).ask(connection)
        counted = Kwic(**asked, dedupe=True, sample=sample, count=True).ask(connection)

    rows, left = answer.table.to_pylist(), min(len(once), sample or len(once))
    assert (answer.total, counted.total, counted.query.value(connection)) == (left, left, left)
    assert len(rows) == min(left, limit or left)
    assert answer.query.run(connection).to_pylist() == rows
    require_harmless(raw(connection), answer.query.with_values())  # as `sentgen sql` does
    out = len(every) - len(once)
    said = f"{out} line{'s' * (out != 1)} left out, as others show the same"
    assert said in answer.remarks
    assert said in counted.remarks
    if sample is None:
        # The first line of each text in the corpus, in the order of hits.
        order = [{name: row[name] for name in once[0]} for row in sorted_ones] if once else []
        kept = [row for row in order if row in once]
        assert rows == [row for n, row in enumerate(kept) if row not in kept[:n]][: limit or None]
    else:
        assert all(row in once for row in rows)
