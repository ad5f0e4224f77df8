"""Stores, snapshots and lakes that `sentgen.open` opens, and its refusals."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sentgen
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, NotFoundError, StoreError
from sentgen.schema import Store
from sentgen.schema.lake_transfer import export
from sentgen.schema.places import Place


@pytest.fixture
def path(relief: Path, tmp_path: Path) -> Path:
    """A store of its own."""
    return Path(shutil.copy(relief, tmp_path / "relief.duckdb"))


def test_importing_takes_nothing_with_it() -> None:
    """Importing sentgen is fast: DuckDB, numpy and other packages are imported at the first use."""
    code = """
import sys, time
before = set(sys.modules)
began = time.perf_counter()
import sentgen
print(time.perf_counter() - began, *sorted(set(sys.modules) - before))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, *modules = found.stdout.split()

    assert float(seconds) < 0.05
    assert not {"duckdb", "numpy", "pyarrow", "sqlalchemy", "rich"} & set(modules)


def test_every_name_of_the_package_can_be_imported() -> None:
    """All names of `sentgen.__all__` can be imported, and help lists them."""
    assert all(getattr(sentgen, name) for name in sentgen.__all__)
    assert set(sentgen.__all__) <= set(dir(sentgen))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = sentgen.nothing  # type: ignore[attr-defined]


def test_errors_are_importable() -> None:
    """`sentgen.errors` and `sentgen.SentgenError` need no import of their own."""
    assert issubclass(sentgen.errors.InputError, sentgen.SentgenError)


def test_a_store_is_made_only_if_asked_for(tmp_path: Path) -> None:
    """A mistyped name makes no file."""
    with pytest.raises(NotFoundError, match=r"make one with: sentgen\.open\(.*create=True\)"):
        sentgen.open(tmp_path / "new.duckdb")
    assert not (tmp_path / "new.duckdb").exists()

    with sentgen.open(str(tmp_path / "new.duckdb"), create=True) as db:
        assert list(db.corpora()) == []


def test_what_is_closed_says_so(path: Path) -> None:
    """After `close` every method is refused in one line; closing again does nothing."""
    with sentgen.open(path) as db:
        lm = db.model("relief")
    db.close()

    assert repr(db) == f"<sentgen.Database {path}, closed>"
    for used in (db.corpora, lambda: db.match("pattern { V [] }"), lambda: lm.score("a")):
        with pytest.raises(StoreError, match="closed; open it again with: sentgen"):
            used()


def test_others_read_while_nothing_is_written(path: Path) -> None:
    """A terminal can read a store that a notebook has open."""
    code = f"import sentgen; print(len(sentgen.open({str(path)!r}, read_only=True).ngrams('the *', limit=3)))"
    with sentgen.open(path) as db:
        db.ngrams("the *")
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (found.stdout, found.stderr) == ("3\n", "")


def test_what_is_read_only_refuses_to_write(path: Path) -> None:
    """Writing is refused in a read-only store, with how to open it instead."""
    with sentgen.open(path, read_only=True) as db:
        assert db.read_only
        for write in (
            lambda: db.ingest(TREEBANK, "new"),
            lambda: db.remove_corpus("relief"),
            lambda: db.build_model("new", "relief"),
            lambda: db.apply_model("relief", "relief"),
            lambda: db.remove_model("relief"),
        ):
            with pytest.raises(StoreError, match="opened with `read_only=True`, and this writes"):
                write()
        assert len(db.corpora()) == 1


def test_a_snapshot_is_opened_by_its_file_or_its_folder(path: Path, tmp_path: Path) -> None:
    """After publishing the store stays open, and the newest snapshot of a folder opens read-only."""
    with sentgen.open(path) as db:
        done = db.publish(tmp_path / "snapshots")
        assert db.remove_corpus("relief") == (149, 2506)

    for place in (tmp_path / "snapshots", done.snapshot.path):
        with sentgen.open(place) as snapshot:
            assert [row.corpus for row in snapshot.corpora()] == ["relief"]
            cited = snapshot.cite('db.kwic("home")')
            assert (cited.sha256, cited.query) == (done.snapshot.sha256, 'db.kwic("home")')
            assert 'db.kwic("home")' in cited.bibtex
            with pytest.raises(StoreError, match="a snapshot is never changed"):
                snapshot.remove_corpus("relief")
    with pytest.raises(InputError, match=r"a snapshot is never changed.*leave out `create`"):
        sentgen.open(tmp_path / "snapshots", create=True)


def test_a_lake_is_only_read_and_takes_models_that_read_counts(relief: Path, tmp_path: Path) -> None:
    """A lake opens without `read_only`; a model that reads counts adds a file, and can be used at once."""
    with Store(relief, read_only=True) as store:
        export(store, Place(tmp_path / "lake"))
    with sentgen.open(tmp_path / "lake") as lake, sentgen.open(relief, read_only=True) as db:
        assert list(lake.ngrams("in the *")) == list(db.ngrams("in the *"))
        with pytest.raises(StoreError, match="a lake is only read"):
            lake.ingest(TREEBANK, "new")
        with pytest.raises(StoreError, match="a lake is only read"):
            lake.build_model("new", "relief")
        assert lake.build_model("counts", "relief", smoothing="stupid-backoff").name == "counts@1"
        with pytest.raises(StoreError, match="build the model without `companions`"):
            lake.build_model("more", "relief", smoothing="stupid-backoff", companions=True)
        assert lake.model("counts").score("the camp").sums["oov"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"create": True, "read_only": True}, "leave out `create` or `read_only`"),
        ({"memory_limit": "much"}, "'much' is no size; write it like 2GB"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    relief: Path, options: dict[str, object], message: str
) -> None:
    """Wrong options are refused in one line, before anything is opened."""
    with pytest.raises(InputError, match=message):
        sentgen.open(relief, **options)  # type: ignore[arg-type]


def test_duckdb_beside_an_open_store(path: Path) -> None:
    """DuckDB refuses a file that is open with other settings; the second one gets a clear error."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)), pytest.raises(StoreError, match="open in this process already"):
        sentgen.open(path)
    with sentgen.open(path) as db:
        with pytest.raises(duckdb.ConnectionException):
            duckdb.connect(str(path))
        counts = db.ngrams("the *", limit=0)
        # As in the docs: DuckDB reads an answer by the name of its variable.
        assert duckdb.sql("select count(*) from counts").fetchall() == [(len(counts),)]


def test_threads_come_in_turn(path: Path) -> None:
    """Several threads with one database get the answers that one alone would get; one of them writes."""
    patterns = ["the *", "in the *", "* camp", "of *"] * 4
    with sentgen.open(path) as db:
        alone = [list(db.ngrams(pattern)) for pattern in patterns]
        with ThreadPoolExecutor(8) as pool:
            writing = pool.submit(db.ingest, TREEBANK, "again")
            lines = pool.submit(db.kwic, "camp")
            together = list(pool.map(lambda pattern: list(db.ngrams(pattern, corpus="relief")), patterns))
            assert writing.result().sentences == 149
            # Before the other thread has stored its copy of the treebank, or after.
            assert len(lines.result()) in (13, 20)
        assert together == alone
        assert len(db.corpora()) == 2


BROKEN = """
import resource, sys, sentgen

db = sentgen.open(sys.argv[1], read_only=True)
size = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (size * 1024 + 2**30, -1))
for query in ("select reservoir_quantile(i, 0.5, 2000000000) from range(10) t(i)", "select 6 * 7 as n"):
    try:
        print(list(db.sql(query)))
    except sentgen.SentgenError as error:
        print(error)
print(len(db.corpora()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sets a limit of Linux")
def test_a_query_that_breaks_duckdb_is_the_only_one_that_fails(relief: Path) -> None:
    """The query fails in one line; the next query has another connection."""
    command = [sys.executable, "-c", BROKEN, str(relief)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "the query cannot be answered here; write it in another way",
        "[Row(n=42)]",
        "1",
    ]


@pytest.mark.parametrize(
    ("make", "by"),
    [
        (lambda: sentgen.Database("x.duckdb"), r"sentgen\.open\(path\)"),  # type: ignore[arg-type]
        (lambda: sentgen.Hits("x", None), r"Database\.match"),  # type: ignore[arg-type]
        (lambda: sentgen.LanguageModel("x", None), r"Database\.model"),  # type: ignore[arg-type]
        (lambda: sentgen.LineSet("x", None, "a"), r"Database\.lines"),  # type: ignore[arg-type]
    ],
)
def test_what_a_path_does_not_make_says_what_does(make: Callable[[], object], by: str) -> None:
    """Making such an object from a path is refused at once, with the method that returns one."""
    with pytest.raises(TypeError, match=f"^{by} gives one"):
        make()
