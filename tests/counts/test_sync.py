"""Synchronizing a corpus with new, changed and removed files, as if these had always been its files."""

from __future__ import annotations

import io
import multiprocessing
import os
import shutil
import signal
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from all_counts import CONLLU, all_counts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored import problems, rows
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.corpus.sources import Source
from sentgen.counts import batch
from sentgen.counts.corpora import Sync
from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.counts.sync import Differences, compare, remove_from
from sentgen.errors import InputError, NotFoundError, SentgenError
from sentgen.schema import Store, snapshots
from sentgen.schema.store import raw

OLD = 1_000_000_000


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder with three files whose times are long before they are read."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in "abc":
        write(folder / f"{name}.lines", f"this is {name}\n")
    return folder


def write(path: Path, text: str | bytes, time: int = OLD) -> None:
    """Write a file with a time of change."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, (time, time))


def sync(store: Store, *folders: Path | str, name: str = "pets") -> Differences:
    found = compare(Sync(name=name, folder=list(map(str, folders))), store)
    found.apply(store)
    return found


def told(found: Differences) -> tuple[set[str], set[str], set[str], int]:
    names = (found.added, found.replaced, found.removed)
    added, replaced, removed = ({Path(name).name for name in each} for each in names)
    return added, replaced, removed, found.unchanged


def paths(store: Store) -> list[str]:
    return [Path(path).name for (path,) in rows(store, "select path from source order by path")]


def nothing_read(self: Source, *_: object) -> str:
    raise AssertionError(f"{self.name} was read")


def test_what_came_changed_and_went(store: Store, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each difference is reported and applied; files with the same size and time are not even read."""
    ingest(store, [str(texts)], Settings("pets"))
    write(texts / "a.lines", "this is A\n", OLD + 1)
    (texts / "b.lines").unlink()
    write(texts / "sub" / "d.lines", "this is d\n")
    assert told(sync(store)) == ({"d.lines"}, {"a.lines"}, {"b.lines"}, 1)

    assert paths(store) == ["a.lines", "c.lines", "d.lines"]
    assert problems(store) == {}
    monkeypatch.setattr(Source, "sha256", nothing_read)
    assert told(sync(store)) == (set(), set(), set(), 3)


def test_the_same_size_at_another_time_is_compared(store: Store, texts: Path) -> None:
    """A touched file is unchanged, and its new time stored; one just written is compared again, as it may change."""
    ingest(store, [str(texts)], Settings("pets"))
    os.utime(texts / "a.lines", (OLD + 9, OLD + 9))
    assert told(sync(store)) == (set(), set(), set(), 3)

    (texts / "a.lines").write_text("this is x\n")
    time = (texts / "a.lines").stat().st_mtime_ns
    assert told(sync(store))[1] == {"a.lines"}
    (texts / "a.lines").write_text("this is y\n")
    os.utime(texts / "a.lines", ns=(time, time))
    assert told(sync(store))[1] == {"a.lines"}


CONTENT = st.none() | st.lists(st.sampled_from(["a b", "b", "c a c"]), max_size=3).map("\n".join)
FILES = st.dictionaries(
    st.sampled_from(["x.lines", "y.lines", "in/z.lines", "t.conllu"]), CONTENT, min_size=1
)


@settings(
    max_examples=max(settings.default.max_examples // 7, 2),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(FILES, FILES)
def test_counts_are_those_of_a_fresh_store(tmp_path_factory, before, after) -> None:  # type: ignore[no-untyped-def]
    """For any files, all counts are those of a store that reads the present files only."""
    base = tmp_path_factory.mktemp("synced")
    folder = base / "texts"
    write(folder / "stays.lines", "a b c\nb b\n")

    def lay_out(files: dict[str, str | None], time: int) -> None:
        for name, text in files.items():
            (folder / name).unlink(missing_ok=True)
            if text is not None:
                write(folder / name, CONLLU * bool(text) if name == "t.conllu" else text, time)

    with (
        Store(base / "a.duckdb", create=True) as synced,
        Store(base / "b.duckdb", create=True) as fresh,
    ):
        lay_out(before, OLD)
        ingest(synced, [str(folder)], Settings("pets"))
        lay_out(after, OLD + 1)
        sync(synced)
        ingest(fresh, [str(folder)], Settings("pets"))

        assert all_counts(synced) == all_counts(fresh)
        assert paths(synced) == paths(fresh)
        assert problems(synced) == {}
        assert not compare(Sync(name="pets"), synced)


READ_AGAIN = {
    "table": (".csv", "id,body\n1,{}\n", {"text": "body"}),
    "encoding": (".txt", "{} caf\xe9 .\n", {"encoding": "latin-1"}),
    "format": (".txt", "{}\tDT\n\n", {"format": "vertical", "columns": "word,pos"}),
    "on error": (".lines", "{}\n<s> is refused\n", {"on_error": "skip"}),
    "lower case": (".lines", "{} HERE\n", {"lowercase": True, "order": 2}),
}


@pytest.mark.parametrize("kind", READ_AGAIN)
def test_files_are_read_as_they_were(store: Store, tmp_path: Path, kind: str) -> None:
    """New and changed files are read with the settings with which their folder was read."""
    ending, text, given = READ_AGAIN[kind]
    folder, taken = tmp_path / "texts", Settings("pets", **given)  # type: ignore[arg-type]

    def put(name: str, word: str, time: int = OLD) -> None:
        write(folder / f"{name}{ending}", text.format(word).encode(given.get("encoding", "utf-8")), time)  # type: ignore[arg-type]

    put("a", "one")
    put("b", "two")
    ingest(store, [str(folder)], taken)
    put("b", "three", OLD + 1)
    put("c", "four")
    assert told(sync(store)) == ({f"c{ending}"}, {f"b{ending}"}, set(), 1)

    with Store(tmp_path / "fresh.duckdb", create=True) as fresh:
        ingest(fresh, [str(folder)], taken)
        assert all_counts(store) == all_counts(fresh)
    assert problems(store) == {}


def test_members_of_an_archive_and_streams(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members are added, changed and removed with their archive; sources from standard input stay."""
    path = tmp_path / "z.zip"

    def pack(time: int, **members: str) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in members.items():
                archive.writestr(f"{name}.lines", text)
        write(path, packed.getvalue(), time)

    pack(OLD, a="one a\n", b="one b\n")
    ingest(store, [str(path)], Settings("pets"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe\n")))
    ingest(store, ["-"], Settings("pets", format="lines"))
    pack(OLD + 1, a="one a\n", c="one c\n")
    found = sync(store)

    names = [
        {name.partition("!")[2] for name in each} for each in (found.added, found.replaced, found.removed)
    ]
    assert names == [{"c.lines"}, set(), {"b.lines"}]
    assert paths(store) == ["-", "z.zip!a.lines", "z.zip!c.lines"]


def _lose(texts: Path) -> None:
    shutil.rmtree(texts)


def _empty(texts: Path) -> None:
    for path in texts.iterdir():
        path.unlink()


@pytest.mark.parametrize("do", [_lose, _empty])
@pytest.mark.parametrize("named", [True, False])
def test_a_folder_that_is_not_there_removes_nothing(store: Store, texts: Path, do: Any, named: bool) -> None:
    """A missing or empty folder, as of a disk that is not mounted, removes nothing."""
    ingest(store, [str(texts)], Settings("pets"))
    do(texts)
    with pytest.raises(InputError, match="no reason to remove"):
        sync(store, *([texts] if named else []))

    assert len(paths(store)) == 3


def test_a_file_that_no_reader_takes_stays(store: Store, texts: Path) -> None:
    """A file that cannot be read, as half a download, keeps its source; one without a sentence removes it."""
    write(texts / "d.txt", "This is a text.")
    ingest(store, [str(texts)], Settings("pets"))
    write(texts / "d.txt", b"\0\1\2", OLD + 1)
    found = sync(store)

    assert [Path(name).name for name, _ in found.kept] == ["d.txt"]
    assert len(paths(store)) == 4


def test_a_store_that_knows_no_files(store: Store, texts: Path) -> None:
    """In a copy of a published store all contents are compared, and a note says how to find new files."""
    ingest(store, [str(texts)], Settings("pets"))
    with store.begin() as connection:
        raw(connection).execute("delete from source_file")
    write(texts / "a.lines", "this is A\n", OLD + 1)
    (texts / "b.lines").unlink()
    write(texts / "d.lines", "this is d\n")
    found = sync(store)
    assert told(found) == (set(), {"a.lines"}, {"b.lines"}, 1)
    assert "sentgen corpora sync pets FOLDER" in found.notes[0]

    assert told(sync(store, texts)) == ({"d.lines"}, set(), set(), 2)


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        (["texts/a.lines"], ["b.lines", "c.lines"]),
        (["texts/a.lines", "texts/c.lines"], ["b.lines"]),
        (["texts"], []),
        (["./texts/../texts/b.lines"], ["a.lines", "c.lines"]),
    ],
)
def test_sources_are_removed(
    store: Store, texts: Path, monkeypatch: pytest.MonkeyPatch, wanted: list[str], left: list[str]
) -> None:
    """Sources are removed with their counts, whether their files exist or not; an unknown one refuses all."""
    monkeypatch.chdir(texts.parent)
    ingest(store, [str(texts)], Settings("pets"))
    with pytest.raises(NotFoundError, match="no source texts/x"):
        remove_from(store, "pets", [*wanted, "texts/x"])
    (texts / "a.lines").unlink()
    # Each has one sentence of three words.
    size = (3 - len(left), 3 * (3 - len(left)))
    assert remove_from(store, "pets", wanted, dry_run=True) == size
    assert len(paths(store)) == 3
    assert remove_from(store, "pets", wanted) == size

    assert paths(store) == left
    assert problems(store) == {}


def test_pairs_and_snapshots_are_refused(store: Store, tmp_path: Path) -> None:
    """Corpora of pairs and published stores are refused, as their sources do not change one by one."""
    pair = tmp_path / "p.jsonl"
    pair.write_text('{"id": "1", "document": ["a b ."], "abstract": ["a ."]}\n')
    ingest_pairs(store, [str(pair)], "pairs")
    for do in (lambda: sync(store, name="pairs"), lambda: remove_from(store, "pairs", [str(pair)])):
        with pytest.raises(InputError, match="corpus of pairs"):
            do()
    store.close()
    published = snapshots.publish(store.path, tmp_path / "snapshots")
    for arguments in (["sync", "pairs", "--yes"], ["remove", "pairs", "--source", "x"]):
        done = CliRunner().invoke(build(), ["corpora", *arguments, "--db", str(published.snapshot.path)])
        assert isinstance(done.exception, SentgenError)
        assert "snapshot" in str(done.exception)


def test_nothing_is_done_unasked(store: Store, texts: Path) -> None:
    """Without a terminal, removal needs `--yes`; a dry run shows the differences."""
    ingest(store, [str(texts)], Settings("pets"))
    (texts / "a.lines").unlink()
    path = str(store.path)
    store.close()

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(build(), ["corpora", "sync", "pets", *arguments, "--db", path])

    refused = run()
    assert "remove 1 of the sources of pets; give --yes" in str(refused.exception)
    assert "removed   " in run("--dry-run").output
    assert refused.stdout == ""
    assert run("--yes").exit_code == 0
    assert run().exit_code == 0  # nothing differs, so that nothing is asked
    with Store(path, read_only=True) as after:
        assert paths(after) == ["b.lines", "c.lines"]


def sync_and_die(path: str, step: int, steps: Any) -> None:
    """Synchronize a corpus, one source per transaction, until a kill before a statement or a commit."""
    batch.BATCH_TOKENS = 1

    def count(*_: object) -> None:
        steps.value += 1
        if steps.value == step:
            os.kill(os.getpid(), signal.SIGKILL)

    with Store(Path(path)) as store:
        sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", count)
        sqlalchemy.event.listen(sqlalchemy.Engine, "commit", count)
        sync(store)


class Syncing:
    """A synchronization in processes that may be killed: one of three files is changed, one gone, two are new."""

    def __init__(self, folder: Path) -> None:
        self.killed, self._base = folder / "killed.duckdb", folder / "base.duckdb"
        texts = folder / "texts"
        for name in "abc":
            write(texts / f"{name}.lines", f"this is {name}\n")
        with Store(self._base, create=True) as store:
            ingest(store, [str(texts)], Settings("pets"))
        write(texts / "a.lines", "this is A\n", OLD + 1)
        (texts / "b.lines").unlink()
        write(texts / "d.lines", "this is d\n")
        write(texts / "e.lines", "this is e\n")
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(["sentgen.counts.sync"])
        self._steps = self._processes.Value("i", 0)
        assert self.run(0) == 0
        self.last = int(self._steps.value)
        with Store(self.killed) as undisturbed:
            self.counts, self.there = all_counts(undisturbed), paths(undisturbed)

    def run(self, step: int) -> int | None:
        """Synchronize a copy of the store, with a kill at a step if that is not 0; return the exit code."""
        for path in self.killed.parent.glob("killed.duckdb*"):
            path.unlink()
        shutil.copy(self._base, self.killed)
        self._steps.value = 0
        child = self._processes.Process(target=sync_and_die, args=(str(self.killed), step, self._steps))
        child.start()
        child.join(120)
        return child.exitcode


@pytest.fixture(scope="module")
def syncing(tmp_path_factory: pytest.TempPathFactory) -> Syncing:
    return Syncing(tmp_path_factory.mktemp("syncing"))


@pytest.mark.parametrize("part", [1 / 3, 1, pytest.param(0, marks=pytest.mark.nightly)])
def test_killed_at_every_step(syncing: Syncing, part: float) -> None:
    """After a kill at any step, the store is sound, and a second run makes it that of an undisturbed run.

    Two steps are tested by day, all at night.
    """
    last = syncing.last
    for step in [int(last * part)] if part else range(1, last + 1):
        assert syncing.run(step) == -signal.SIGKILL
        with Store(syncing.killed) as store:
            assert problems(store) == {}
            sync(store)

            assert all_counts(store) == syncing.counts
            assert paths(store) == syncing.there == ["a.lines", "c.lines", "d.lines", "e.lines"]
            assert problems(store) == {}
