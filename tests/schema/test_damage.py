"""A changed byte on the disk is found, wherever in the store it is."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path

import duckdb
import pytest

from sentgen.cli import build
from sentgen.errors import DamagedError
from sentgen.schema import Store, maintenance, metadata
from sentgen.schema.checks import Check
from sentgen.schema.maintenance import block_checks

#: Bytes before the blocks: the header of the file and two of the database, of which one is current.
HEADERS = 3 * 4096


def flip(path: Path, place: int) -> None:
    """Change one bit of one byte."""
    with path.open("rb+") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 0x10]))


def tables_of_blocks(duck: duckdb.DuckDBPyConnection) -> dict[int, str]:
    """Return the table with values in each block; further blocks have long strings."""
    found: dict[int, str] = {}
    for table in metadata.tables:
        query = f"select block_id, additional_block_ids from pragma_storage_info('{table}')"
        for block, others in duck.execute(query).fetchall():
            found |= {
                number: table for number in (block, *(others or ())) if number is not None and number >= 0
            }
    return found


def first_failure(path: Path) -> str:
    """Return the name of the first check that fails, or the error of opening the store; empty if it is sound."""
    try:
        with Store(path, read_only=True, threads=1) as store:
            results = maintenance.check(store, quick=True)
            return next((one.check.name for one in results if one.problems), "")
    except DamagedError:
        return "opening"


def test_every_byte_counts(full: Path, tmp_path: Path, nightly: bool) -> None:
    """A flipped byte in a block of 256 KiB is found, and the table with values there is named.

    By day, some blocks are tested, at night all. Other blocks have the catalog, without which the store does not
    open, or indexes, or are free: exactly as many flips are unnoticed as DuckDB says that blocks are free.
    """
    path = tmp_path / "store.duckdb"
    shutil.copy(full, path)
    with duckdb.connect(str(path), read_only=True) as duck:
        size, free = duck.execute("select block_size, free_blocks from pragma_database_size()").fetchall()[0]
        owners = tables_of_blocks(duck)
        catalog = {row[0] for row in duck.execute("select block_id from pragma_metadata_info()").fetchall()}
        assert set(owners.values()) == set(metadata.tables)
    seen: defaultdict[str, set[int]] = defaultdict(set)

    blocks = range((path.stat().st_size - HEADERS) // size)[:: 1 if nightly else 12]
    for block in blocks:
        place = HEADERS + block * size + (7919 * block + 4321) % size
        flip(path, place)
        seen[first_failure(path)].add(block)
        flip(path, place)

    assert any(block in blocks for block in owners)
    for block, table in owners.items():
        assert block in seen[f"blocks of {table}"] or block not in blocks
    assert catalog & {*blocks} <= seen["opening"]
    assert len(seen[""]) == free if nightly else len(seen[""]) <= free
    assert first_failure(path) == ""


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("table", "cure", "still_run"),
    [
        ("model_ngram", "build the models again", "tokens of models"),
        pytest.param(
            "model",
            "build the models again",
            "n-grams of order 1 sum to those of the sentences",
            marks=pytest.mark.nightly,
        ),
        ("score", "evaluate again", "n-grams of order 1 recounted"),
        ("alignment_rewrite", "train the model again", "jumps sum to one"),
        ("token", "ingest everything into a new store", "katz@1: probabilities of order 4 sum to one"),
        pytest.param(
            "corpus",
            "ingest everything into a new store",
            "n-grams of models are whole",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_damage_is_one_line(
    full: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, cure: str, still_run: str
) -> None:
    """One check fails, with a cure; those that need the table are skipped, the others run; exit code 1."""
    path = tmp_path / "store.duckdb"
    shutil.copy(full, path)
    with duckdb.connect(str(path), read_only=True) as duck:
        size = duck.execute("select block_size from pragma_database_size()").fetchall()[0][0]
        block = next(number for number, owner in tables_of_blocks(duck).items() if owner == table)
    flip(path, HEADERS + block * size + size // 2)

    code = build()(["db", "check", "--db", str(path), "--json"], standalone_mode=False)

    told = capsys.readouterr()
    status = {row["check"]: row["status"] for row in json.loads(told.out)}
    assert code == 1
    assert [check for check, found in status.items() if found == "failed"] == [f"blocks of {table}"]
    assert status[still_run] == "ok"
    lines = told.err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"blocks of {table}: restore a backup; if there is none, ")
    assert cure in lines[0]
    assert lines[1].startswith(f"{len(status)} checks, 1 failed")


def test_an_index_that_lost_rows_is_found(tmp_path: Path) -> None:
    """The query for an index reads it and not the table: with a wrong bound, it finds too few rows."""
    path = tmp_path / "store.duckdb"
    with Store(path, create=True, threads=1) as store:
        (of_tag,) = (one for one in block_checks() if one.name == "blocks of tag")
        short = Check("short", of_tag.query.replace("id >= -1", "id >= 1"), settings=of_tag.settings)

        found = [one.example for one in maintenance.check(store, [of_tag, short]) if one.problems]

    assert found == ["part index of id, found 1"]
