"""Whatever writes to a store commits without a log that a crash could cut short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import Sentgen

from sentgen.schema.durability.duckdb_faults import WITHOUT_LOG, log_of

#: Commands that write, in an order in which each has something to write.
WRITING = (
    ("ingest", "pets.conllu", "--corpus", "pets"),
    ("ingest", "more.lines", "--corpus", "pets"),
    ("pairs", "ingest", "pairs.jsonl", "--corpus", "pairs"),
    ("subcorpora", "define", "short", "--where", "length < 9"),
    ("models", "build", "lm", "--corpus", "pets", "--order", "2"),
    ("align", "train", "--pairs", "pairs", "--model", "hmm", "--iterations", "1", "--jobs", "1"),
    ("db", "compact"),
    ("db", "upgrade"),
    ("publish", "--to", "snapshots"),
    ("align", "remove", "hmm"),
    ("corpora", "remove", "pets", "--yes"),
    ("db", "repair"),
)


def test_no_command_writes_a_log(
    sentgen: Sentgen, pets: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nightly: bool
) -> None:
    """The settings are in force wherever a file is opened for writing, drafts and backups among them."""
    (tmp_path / "more.lines").write_text("the dog slept .\n")
    (tmp_path / "pairs.jsonl").write_text(
        '{"id": "p", "document": "The dog slept.", "abstract": "It slept."}\n'
    )
    connect, wrong, opened = duckdb.connect, [], set()

    def spy(database: Any = ":memory:", read_only: bool = False, **options: Any) -> duckdb.DuckDBPyConnection:
        connection = connect(database, read_only=read_only, **options)
        if not read_only and database != ":memory:":
            opened.add(Path(database).name)
            for name in WITHOUT_LOG:
                (value,) = connection.execute(f"select current_setting('{name}')").fetchone() or ("",)
                if str(value) not in ("0", "0 bytes"):
                    wrong.append((database, name, value))
        return connection

    monkeypatch.setattr(duckdb, "connect", spy)
    by_day = (WRITING[0], *(command for command in WRITING if command[0] in ("db", "publish")))
    for command in WRITING if nightly else by_day:
        words = [str(pets) if word == pets.name else word for word in command]  # snapshots rename that
        assert sentgen(*words).code == 0, command
        assert not log_of(store).exists(), command

    assert wrong == []
    assert opened == {"corpora.duckdb", "packed.duckdb", ".sentgen-draft.tmp"}
