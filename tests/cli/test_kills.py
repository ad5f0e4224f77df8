"""SIGKILL at any moment of any command that writes: its transaction is there as a whole or not at all.

Every transaction is so large that DuckDB writes rows in advance. Two of three kills fall while one is committed.
"""

from __future__ import annotations

import random
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import next_revision
import pytest
from killing import Course, Zygote, moments
from large_texts import ROW_GROUP, write_lines, write_pairs

from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.models import build
from sentgen.schema import Store, maintenance, migrate, snapshots
from sentgen.schema.manifests import Snapshot
from sentgen.schema.store import raw

pytestmark = pytest.mark.slow

#: Settings of the aligner that are fast to train.
PLAIN = ("--preset", "paper", "--max-doc-phrase", "1", "--max-abstract-phrase", "1", "--jobs", "1")
Digest = dict[str, Any]
_COLUMNS = """
select table_name, string_agg(column_name, ', ' order by column_index)
from duckdb_columns()
where not internal
    and table_name not like 'v\\_%' escape '\\'
    and data_type <> 'TIMESTAMP'
    and column_name <> 'seconds'
group by all
"""


@dataclass(frozen=True)
class Job:
    """A command, the store that it starts from, and a table that gets, or loses, more than a row group."""

    words: tuple[str, ...]
    base: str
    table: str


JOBS = {
    "ingest": Job(("ingest", "b.lines", "--corpus", "novels"), "base", "token"),
    "ingest --replace": Job(("ingest", "a.lines", "--corpus", "novels", "--replace"), "base", "token"),
    "models build": Job(
        ("models", "build", "lm", "--corpus", "novels", "--order", "3"), "base", "model_ngram"
    ),
    "models apply": Job(("models", "apply", "lm", "--corpus", "novels"), "modeled", "surprisal"),
    "align train": Job(
        ("align", "train", "--pairs", "pairs", "--model", "hmm", "--iterations", "1", *PLAIN),
        "base",
        "alignment_rewrite",
    ),
    "corpora remove": Job(("corpora", "remove", "novels", "--yes"), "base", "token"),
    "corpora remove --source": Job(
        ("corpora", "remove", "novels", "--yes", "--source", "a.lines"), "base", "token"
    ),
    "corpora sync": Job(("corpora", "sync", "novels", "--yes"), "base", "token"),
    "db compact": Job(("db", "compact"), "segments", "ngram_3"),
    "publish": Job(("publish", "--to", "snapshots"), "base", ""),
    "db upgrade": Job(("db", "upgrade"), "older", "later"),
}
BY_DAY = ("ingest", "models apply")


@pytest.fixture(scope="module")
def migrations(
    tmp_path_factory: pytest.TempPathFactory, copied_stores: Callable[..., None]
) -> Iterator[Path]:
    """One more revision than there is, for an upgrade to be killed; new stores are of that one."""
    folder = next_revision.write(tmp_path_factory.mktemp("next") / "migrations")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "REVISIONS", (*migrate.REVISIONS, next_revision.NEXT))
        patch.setattr(Store, "__init__", copied_stores)
        yield folder


@pytest.fixture(scope="module")
def zygote(migrations: Path) -> Iterator[Zygote]:
    with Zygote(migrations) as one:
        yield one


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory, migrations: Path) -> Path:
    """Stores to start from: two corpora; the same with a second segment, or a model, or of an older revision."""
    folder = tmp_path_factory.mktemp("bases")
    for name, seed in (("a", 1), ("b", 2)):
        write_lines(folder / f"{name}.lines", 9_600, seed=seed)
    write_pairs(folder / "p.jsonl", 6, words=400)
    base = folder / "base.duckdb"
    with Store(base, create=True) as store:
        ingest(store, [str(folder / "a.lines")], Settings("novels"))
        ingest_pairs(store, [str(folder / "p.jsonl")], "pairs")
    write_lines(folder / "a.lines", 19_200, seed=3)  # what takes its place
    for copy in ("segments", "modeled", "older"):
        shutil.copy(base, folder / f"{copy}.duckdb")
    with Store(folder / "modeled.duckdb") as store:
        build(store, "lm", ["novels"], order=2)
    with Store(folder / "segments.duckdb") as store:
        ingest(store, [str(folder / "b.lines")], Settings("novels"))
    with duckdb.connect(str(folder / "older.duckdb")) as duck:
        duck.execute("update alembic_version set version_num = ?", [next_revision.NEWEST])
    return folder


def digest(path: Path) -> Digest:
    """Return number and hash of the rows of each table, without what tells when; of an older store, its revision."""
    with duckdb.connect(str(path), read_only=True) as duck:
        (revision,) = duck.execute("select version_num from alembic_version").fetchone() or ("",)
    if revision == next_revision.NEWEST:
        return {"revision": revision}
    found: Digest = {}
    with Store(path, read_only=True) as store, store.connect() as connection:
        duck = raw(connection)
        for table, columns in duck.execute(_COLUMNS).fetchall():
            found[table] = duck.execute(f"select count(*), sum(hash({columns})) from {table}").fetchone()
    return found


@pytest.mark.parametrize(
    "name", [*BY_DAY, *(pytest.param(one, marks=pytest.mark.nightly) for one in JOBS if one not in BY_DAY)]
)
def test_killed_at_any_moment(name: str, zygote: Zygote, bases: Path, tmp_path: Path, nightly: bool) -> None:
    """After each kill the store is as before or as after, and the same command ends in the undisturbed store.

    One kill by day, into a commit, and ten at night.
    """
    job, rng = JOBS[name], random.Random(name)
    kills = 10 if nightly else 1
    base, store = bases / f"{job.base}.duckdb", tmp_path / "store.duckdb"
    folder = tmp_path / "snapshots"
    words = [str(bases / word) if word.endswith(".lines") else word for word in job.words]
    command = [str(folder) if word == "snapshots" else word for word in words] + ["--db", str(store)]

    def start() -> Digest:
        for leftover in tmp_path.glob("store.duckdb*"):
            leftover.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copy(base, store)
        return before

    def run(**moment: Any) -> Course:
        begun = name == "align train" and state["alignment_model"][0]
        return zygote.run([*command, "--resume"] if begun else command, **moment)

    def kill(commit: int | None, after: float) -> None:
        """Kill the process, earlier if it was faster than before."""
        nonlocal state
        for _ in range(9):
            ended = run(commit=commit, after=after)
            if ended.code == -signal.SIGKILL:
                return
            assert ended.code == 0
            state, after = start(), after / 2
        pytest.fail("it cannot be killed")

    before = digest(base)
    state = start()
    course = run()
    after = digest(store)
    assert course.code == 0
    if job.table:
        changed = after[job.table][0] - before.get(job.table, (0,))[0]
        assert abs(changed) > ROW_GROUP or name == "db compact", job.table

    state = start()
    for moment in moments(course, kills, rng):
        if state == after != before:
            state = start()
        kill(*moment)
        if name == "align train":  # a transaction for every iteration, and some for what is around them
            with Store(store, read_only=True) as opened:
                assert [r.check.name for r in maintenance.check(opened, quick=True) if r.problems] == []
        state = digest(store)
        assert state in (before, after) or name == "align train"
        if folder.exists():
            for snapshot in Snapshot.all_in(folder):
                snapshots.verify(snapshot)
    again = state != after or folder.exists() or name in ("db compact", "db upgrade")
    if again:  # it removes the draft of a killed one
        assert run().code == 0

    assert digest(store) == after
    if name == "publish":
        published = digest(Snapshot.newest(folder).path)
        # it names sources and documents without their folders, and knows no files
        named = {table: before[table] for table in ("source", "source_file", "document")}
        assert published | named == before
    leftovers = {path.name for path in tmp_path.glob("*store.duckdb*")}
    # Killed between its last commit and its end, it leaves the log of DuckDB, which is a part of the store.
    logs = set[str]() if again else {"store.duckdb.wal"}
    assert {one for one in leftovers - logs if f".backup-{next_revision.NEWEST}-" not in one} == {
        "store.duckdb"
    }
