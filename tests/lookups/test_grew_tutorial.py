"""The requests of the tutorial of grew-match, with the numbers of hits that Grew itself finds."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.grew.matches import Match
from sentgen.schema import Store


@pytest.mark.data
def test_the_tutorial_agrees_with_grew(data_dir: Path, tmp_path: Path) -> None:
    """All 33 requests have the hits of Grew, with as many lines in context as are counted."""
    with open(data_dir / "requests" / "grew-tutorial.tsv", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    wanted = {row["request"]: int(row["count"]) for row in rows}
    with Store(tmp_path / "fr.duckdb", create=True) as store:
        ingest(store, [str(data_dir / "ud" / "fr_gsd-sud-test-r2.14.conllu")], Settings("fr", order=1))
        with store.connect() as connection:
            counted = {
                one: Match(request=one, count=True).ask(connection).table["count"][0].as_py()
                for one in wanted
            }
            shown = {one: Match(request=one, limit=20).ask(connection).rows.num_rows for one in wanted}

    assert len(wanted) == 33
    assert counted == wanted
    assert shown == {one: min(count, 20) for one, count in wanted.items()}
