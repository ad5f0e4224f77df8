"""A repair removes or reports every trace of half a transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import ARRAY, Boolean, DateTime, Double, String, Table
from stored import problems

from sentgen.errors import NotFoundError, StoreError
from sentgen.schema import Store, metadata
from sentgen.schema.base import OneOf
from sentgen.schema.checks import OrphanRows
from sentgen.schema.maintenance import RemovedRows, repair

#: Rows without owners, as a torn log leaves them of an ingestion, a model, and a merge.
TORN = (
    "insert into token select * replace (9 as sentence_id) from token",
    "insert into sentence select * replace (id + 9 as id, 9 as document_id) from sentence",
    "insert into ngram_4 select * replace (9 as segment_id) from ngram_4",
    "insert into posting select * replace (9 as segment_id) from posting",
    "insert into occurrence select * replace (9 as segment_id) from occurrence",
    "insert into model_ngram values (9, 4, 1, 4, null, null, null, null, -1, 0)",
    "insert into alignment_rewrite values (9, false, false, 1, 0, 0, 0, 1)",
)
#: Faults that a repair cannot cure: an ingestion after half of another, and a merge that kept the old segments.
DOUBLED = (
    "insert into token select * from token",
    "insert into ngram_5 select * from ngram_5",
    "insert into argument_count select * from argument_count where segment_id = 1",
    "insert into ngram_2 select * replace (1 as segment_id) from ngram_2 where segment_id = 2",
    "insert into occurrence select * replace (1 as segment_id) from occurrence where segment_id = 2",
)


def content(path: Path) -> dict[str, Any]:
    """Return the number of rows of each table, and their hash."""
    with duckdb.connect(str(path), read_only=True) as duck:
        return {
            table.name: duck.execute(f"select count(*), sum(hash(t)) from {table.name} t").fetchone()
            for table in metadata.sorted_tables
        }


def damage(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as duck:
        for statement in statements:
            duck.execute(statement)


def sound(path: Path) -> bool:
    with Store(path, read_only=True) as store:
        return problems(store) == {}


def stray(table: Table) -> str:
    """Return the statement that inserts a row into a table, with 77 for every number."""
    values: dict[type, str] = {
        String: "'77'",
        DateTime: "now()",
        Boolean: "false",
        Double: "0.5",
        ARRAY: "[0.5]",
    }
    row = ", ".join(
        f"'{column.type.strings[0]}'"
        if isinstance(column.type, OneOf)
        else values.get(type(column.type), "77")
        for column in table.columns
    )
    return f"insert into {table.name} values ({row})"


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("statement", TORN)
def test_half_a_transaction_is_repaired(path: Path, statement: str) -> None:
    """Rows without an owner are removed, and the store is sound again."""
    before = content(path)
    damage(path, statement)

    done = repair(path)

    assert done.sound
    assert [one.rows for one in done.removed] != []
    assert content(path) == before


def test_all_that_nothing_accounts_for_is_removed(path: Path) -> None:
    """A row without an owner is removed from every table whose rows have owners; all others stay."""
    owned = list(dict.fromkeys(rows.table for rows in OrphanRows.all()))
    before = content(path)
    damage(path, *(stray(metadata.tables[table]) for table in owned))

    planned = repair(path, dry_run=True)
    assert content(path) != before
    done = repair(path)

    assert done.removed == planned.removed
    assert {one.table for one in done.removed} == set(owned)
    assert sum(one.rows for one in done.removed) == len(owned)
    assert content(path) == before
    assert done.backup is not None
    with duckdb.connect(str(done.backup)) as duck:
        assert duck.execute("select count(*) from source where id = 77").fetchone() == (1,)


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("statement", DOUBLED)
def test_what_was_doubled_is_named(path: Path, statement: str) -> None:
    """Which half is right is unknown: the corpus is reported, with the models built from its counts."""
    damage(
        path,
        statement,
        "insert into model values (1, 'lm', 2, 1, 'katz', '1', 'none', 0, 2, 8, now())",
        "insert into model_corpus values (1, 1, 'demo', 8)",
        "insert into alignment_model values (1, 'hmm', 1, 'demo', 1, '', '{}', 2, '0', now())",
    )
    damaged = content(path)

    done = repair(path)

    assert (done.corpora, done.models, done.alignment_models) == (["demo"], ["lm@2"], ["hmm"])
    assert not done.sound
    assert (done.removed, done.backup, content(path)) == ([], None, damaged)
    Store(path).close()  # the store opens, so that the recommended commands can run


def test_sentences_beyond_their_document(path: Path) -> None:
    """After half an ingestion, a whole one gave a document the id of the lost one, which has other sentences."""
    before = content(path)
    damage(
        path,
        "insert into sentence select * replace (id + 2 as id) from sentence",
        "insert into token select * replace (sentence_id + 2 as sentence_id) from token",
    )

    done = repair(path, backup=False)

    assert done.removed == [
        RemovedRows("sentence", 2, "sentences beyond their document"),
        RemovedRows("token", 8, "token.sentence_id without sentence"),
    ]
    assert (content(path), done.backup) == (before, None)
    assert sound(path)


def test_a_model_that_was_built_over_half_a_one(path: Path) -> None:
    """A model with the id of a half-written one has two sets of n-grams."""
    damage(
        path,
        "insert into model values (1, 'lm', 1, 1, 'katz', '1', 'none', 1, 2, 8, now())",
        "insert into model_ngram select 1, 4, 1, 4, null, null, null, null, -1, 0 from range(2)",
    )

    assert repair(path).models == ["lm@1"]


def test_a_repair_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is interrupted after the last removal, or if the backup fails, the store is unchanged."""

    def fail(*_: object) -> None:
        raise StoreError("stop")

    damage(path, *TORN)
    damaged = content(path)
    with monkeypatch.context() as patched:
        patched.setattr("sentgen.schema.maintenance._look_for_the_rest", fail)
        with pytest.raises(StoreError, match="stop"):
            repair(path, backup=False)
    assert content(path) == damaged

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy2", full)
    with pytest.raises(StoreError, match="the disk is full"):
        repair(path)
    assert content(path) == damaged


def test_a_store_is_needed(tmp_path: Path) -> None:
    """Repairing a missing store is refused, and makes none."""
    with pytest.raises(NotFoundError, match="no store here"):
        repair(tmp_path / "none.duckdb")
    assert list(tmp_path.iterdir()) == []
