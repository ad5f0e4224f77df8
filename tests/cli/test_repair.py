"""`sentgen db repair` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from conftest import Sentgen, Told


def damage(store: Path, statement: str) -> None:
    """Do what a torn log did."""
    with duckdb.connect(str(store)) as connection:
        connection.execute(statement)


@pytest.fixture
def damaged(filled: Sentgen, store: Path) -> Sentgen:
    """A store with twelve tokens of no sentence."""
    damage(store, "insert into token select * replace (99 as sentence_id) from token")
    return filled


def test_damage_is_found(damaged: Sentgen) -> None:
    """A check names the cure."""
    checked = damaged("db", "check", "--quick")
    quiet = damaged("db", "check", "--quick", "--quiet")
    assert checked.code == 1
    assert "token.sentence_id without sentence: sentgen db repair" in checked.err
    assert (quiet.code, quiet.err) == (1, checked.err)
    assert quiet.out.count("failed") == checked.out.count("failed") == len(quiet.out.splitlines()) - 1


def test_a_check_is_quiet_if_all_is_well(filled: Sentgen) -> None:
    """Nothing is printed, as a job that runs at night wants it."""
    assert filled("db", "check", "--quick", "--quiet") == Told(0, "", "")


def test_repair(damaged: Sentgen, store: Path) -> None:
    """The cure shows what it would do, and does it."""
    planned = damaged("db", "repair", "--dry-run")
    assert (planned.code, planned.err) == (0, "would remove 12 rows that nothing accounts for\n")
    assert "token    12  token.sentence_id without sentence" in planned.out
    done = damaged("db", "repair", "--json")
    assert done.code == 0
    assert '"rows": 12' in done.out
    (backup,) = store.parent.glob("*.backup-repair-*")
    assert str(backup) in done.err


def test_what_was_repaired_is_whole(damaged: Sentgen) -> None:
    """And needs no second cure."""
    assert damaged("db", "repair").code == 0
    assert damaged("db", "check").code == 0
    assert damaged("db", "repair").err == "nothing to repair\n"


def test_what_is_left_to_do(filled: Sentgen, store: Path, pets: Path) -> None:
    """The commands that it names do it."""
    damage(store, "insert into token select * from token")

    told = filled("db", "repair")

    assert told.code == 1
    assert told.err.splitlines() == [
        "corpus pets: its counts do not add up; sentgen corpora remove pets, and ingest it again",
        "model pets@1: may be wrong; sentgen models remove pets@1, and build it again",
    ]
    assert filled("corpora", "remove", "pets", "--yes").code == 0
    assert filled("models", "remove", "pets@1").code == 0
    assert filled("ingest", pets, "--corpus", "pets").code == 0
    assert filled("models", "build", "pets", "--corpus", "pets").code == 0
    assert filled("db", "check").code == 0
