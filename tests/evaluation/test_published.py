"""The papers' figures in the store."""

from __future__ import annotations

import json
from pathlib import Path

from sentgen.evaluation.papers import PAPERS
from sentgen.schema import Store
from sentgen.schema.store import raw

#: Of two papers.
TABLES = [*PAPERS["wan2007"].tables, *PAPERS["wan2009"].tables]


def test_published_figures_are_rows(tmp_path: Path) -> None:
    """Three columns of the two papers are rows, with the name `published` and their test data."""
    with Store(tmp_path / "p.duckdb", create=True) as store:
        numbers = [table.record(store) for table in TABLES]
        with store.connect() as connection:
            duck = raw(connection)
            runs = duck.execute("select id, command, seed, parameters from run order by id").fetchall()
            figures = duck.execute(
                "select system, value, signature from score where run_id = ? order by value", [numbers[2]]
            ).fetchall()

    assert [run[:3] for run in runs] == [(number, "published", None) for number in numbers]
    assert [json.loads(run[3])["paper"] for run in runs] == ["wan2007", "wan2009", "wan2009"]
    assert [row[:2] for row in figures] == [("viterbi", 18.0), ("lmo", 26.0), ("cle", 26.8), ("ab", 33.7)]
    assert all("Wan et al. 2009, table 2, BLLIP-LM; PTB WSJ 02-22 -> 23" in row[2] for row in figures)


def test_once_per_store(tmp_path: Path) -> None:
    """A second time nothing is written, and the same numbers come back."""
    with Store(tmp_path / "p.duckdb", create=True) as store:
        first = [table.record(store) for table in TABLES]

        assert [table.record(store) for table in TABLES] == first
        with store.connect() as connection:
            counted = raw(connection).execute("select count(*) from score").fetchone()
    assert counted == (sum(len(table.figures) for table in TABLES),)
