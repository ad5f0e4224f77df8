"""A model that is written in several ranges of anchors is the model that is written at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.models import build as build_model
from sentgen.models.base import registry
from sentgen.models.building import writing
from sentgen.models.building.writing import _ranges
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow


def ngrams(store: Store, label: str) -> list[dict[str, object]]:
    query = "select * exclude model_id from model_ngram where model_id = ?"
    with store.connect() as connection:
        return fetch_arrow(connection, query, [registry.find(store, label).id]).to_pylist()


def test_parts_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same rows in the same order, sorted by anchor."""
    (tmp_path / "t.lines").write_text("a b c d a b\nb c a e f\ng h a b c\n" * 3)
    with Store(tmp_path / "s.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "t.lines")], Settings("c"))
        build_model(store, "m", ["c"], order=3)
        ranges: list[tuple[int, int]] = []
        monkeypatch.setattr(writing, "_BYTES_A_ROW", store.memory_limit // 30)
        monkeypatch.setattr(writing, "_ranges", lambda *given: ranges.extend(_ranges(*given)) or ranges)
        build_model(store, "m", ["c"], order=3)
        once, in_parts = ngrams(store, "m@1"), ngrams(store, "m@2")

    assert len(ranges) > 3
    assert in_parts == once
    assert [row["anchor"] for row in once] == sorted(row["anchor"] for row in once)
