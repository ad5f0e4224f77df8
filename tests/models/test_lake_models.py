"""Models of lakes, with tasks in this process: they equal those of a store, after interruptions, too."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from stored import model_problems

from sentgen.counts.cluster import job
from sentgen.counts.cluster.catalogue import Catalogue
from sentgen.counts.cluster.job import Job
from sentgen.counts.cluster.job import TaskSizes as CountSizes
from sentgen.counts.cluster.stages import ClusterTask, Inline
from sentgen.counts.ingestion import ingest
from sentgen.counts.settings import Settings
from sentgen.errors import DamagedError, InputError, ModelError, NotFoundError, StoreError
from sentgen.models.base import registry
from sentgen.models.build_request import build
from sentgen.models.building.recipe import Recipe
from sentgen.models.checks import model_checks
from sentgen.models.cluster.job import STAGES, Built, ModelJob, ModelTaskSizes, remove_model
from sentgen.models.cluster.tasks import ModelPlan
from sentgen.schema import Store, maintenance
from sentgen.schema.durability import write_lock
from sentgen.schema.lake_transfer import export
from sentgen.schema.lakes import Manifest
from sentgen.schema.places import Place
from sentgen.schema.store import raw

#: Several ranges, parts and files of a small text.
SMALL = ModelTaskSizes(rows=800, file=900)
COUNTED = CountSizes(shard=900, most=1 << 20, words=1_000, range=400)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three hundred sentences, and eighty others with some of their words."""
    folder, rng = tmp_path_factory.mktemp("texts"), random.Random(7)
    found = []
    for name, sentences in (("a", 300), ("b", 80)):
        found.append(folder / f"{name}.lines")
        lines = (
            " ".join(f"w{int(rng.paretovariate(0.6)) % 97}" for _ in range(rng.randint(1, 12)))
            for _ in range(sentences)
        )
        found[-1].write_text("\n".join([*lines, "<unk> w1 ."]) + "\n")
    return found


@pytest.fixture(scope="module")
def counted(texts: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of both as two corpora, the first in two segments."""
    lake = tmp_path_factory.mktemp("counted") / "lake"
    half = lake.parent / "half.lines"
    lines = texts[0].read_text().splitlines(keepends=True)
    half.write_text("".join(lines[:150]))
    rest = lake.parent / "rest.lines"
    rest.write_text("".join(lines[150:]))
    for corpus, path in (("a", half), ("a", rest), ("b", texts[1])):
        settings = Settings(corpus=corpus)
        Job(Place(lake), lake / "_work", Inline(), 1 << 29, settings, sizes=COUNTED).run([str(path)])
    return lake


@pytest.fixture(scope="module")
def stored(texts: list[Path], empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of both texts."""
    path = tmp_path_factory.mktemp("stored") / "store.duckdb"
    shutil.copyfile(empty_store, path)
    with Store(path) as store:
        for corpus, text in zip("ab", texts, strict=True):
            ingest(store, [str(text)], Settings(corpus=corpus))
    return path


@pytest.fixture
def lake(counted: Path, tmp_path: Path) -> Path:
    """A copy of the counted lake."""
    return Path(shutil.copytree(counted, tmp_path / "lake"))


@pytest.fixture(scope="module")
def whole(counted: Path) -> Path:
    """The counted lake with a model; no test changes it."""
    lake = Path(shutil.copytree(counted, counted.parent / "whole"))
    built(lake)
    return lake


def built(
    lake: Path,
    corpora: Sequence[str] = ("a", "b"),
    order: int = 3,
    min_count: Sequence[int] | None = None,
    unknown: str = "word",
    *,
    smoothing: str = "kneser-ney",
    engine: Any = None,
    sizes: ModelTaskSizes = SMALL,
) -> Built:
    """Build a model in a lake."""
    settings = Recipe.checked(order, smoothing, min_count, unknown, False)
    job = ModelJob(Place(lake), lake / "_work", engine or Inline(), 1 << 29, sizes=sizes)
    return job.run("m", corpora, settings)


def files(lake: Path) -> dict[str, bytes]:
    """Return all files of a lake."""
    return {
        path.relative_to(lake).as_posix(): path.read_bytes() for path in lake.rglob("*") if path.is_file()
    }


def rows(path: Path) -> tuple[dict[tuple[str | None, ...], tuple[float, float]], list[Any]]:
    """Return the n-grams of the newest model by their words, with decimal logarithms, and all else of it."""
    with Store(path, read_only=True) as store, store.connect() as connection:
        duck = raw(connection)
        newest = "(select max(id) from model)"
        words = ", ".join(f"(select form from word where id = w{i})" for i in range(1, 6))
        query = f"select {words}, logp / ln(10), backoff / ln(10) from model_ngram where model_id = {newest}"
        ngrams = {row[:5]: row[5:] for row in duck.execute(query).fetchall()}
        about = "name, max_order, smoothing, min_count, unknown, vocabulary, sentences, tokens"
        rest = duck.execute(f"select {about} from model where id = {newest}").fetchall()
        rest += duck.execute(
            f"select * exclude model_id from model_parameter where model_id = {newest} order by all"
        ).fetchall()
        rest += duck.execute(
            f"select corpus_name, tokens from model_corpus where model_id = {newest} order by 1"
        ).fetchall()
        return ngrams, rest


def assert_same(lake: Path, store: Path) -> None:
    """Compare the newest models of both: n-grams, back-off weights, parameters."""
    (here, about), (there, expected) = rows(lake), rows(store)
    assert about == expected
    assert here.keys() == there.keys()
    for ngram, values in here.items():
        assert all(
            one is other or abs(one - other) <= 1e-9 for one, other in zip(values, there[ngram], strict=True)
        ), ngram


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize(
    ("corpora", "order", "min_count", "unknown"),
    [
        ("a", 1, [2], "word"),
        ("b", 2, None, "none"),
        ("a", 4, [1, 1, 2], "word"),
        ("ab", 5, None, "word"),
        ("ab", 5, [2, 2, 3], "none"),
    ],
)
def test_a_model_is_that_of_a_store(
    lake: Path,
    stored: Path,
    tmp_path: Path,
    corpora: str,
    order: int,
    min_count: list[int] | None,
    unknown: str,
) -> None:
    store = Path(shutil.copyfile(stored, tmp_path / "store.duckdb"))
    with Store(store) as opened:
        build(opened, "m", list(corpora), order=order, min_count=min_count, unknown=unknown)
    told = built(lake, corpora, order, min_count, unknown)
    assert_same(lake, store)
    assert told.ngrams == len(rows(lake)[0])
    with Store(lake, read_only=True) as opened:
        assert not registry.find(opened, "m").is_stale(opened)


def test_a_model_of_a_lake_of_a_store(stored: Path, tmp_path: Path) -> None:
    """Words of a lake have the numbers of the store then, and sources have times."""
    store = Path(shutil.copyfile(stored, tmp_path / "store.duckdb"))
    with Store(store, read_only=True) as opened:
        export(opened, Place(tmp_path / "lake"))
    built(tmp_path / "lake", order=4)
    with Store(store) as opened:
        build(opened, "m", ["a", "b"], order=4)
    assert_same(tmp_path / "lake", store)
    with Store(tmp_path / "lake", read_only=True) as opened:
        assert not registry.find(opened, "m").is_stale(opened)
        assert model_problems(opened) == {}


def test_rows_are_sorted_and_cut_into_files(lake: Path) -> None:
    built(lake, order=4)
    found = Manifest.read(Place(lake)).tables["model_ngram"]
    assert len(found) > 2, "the files are what is tested"
    with Store(lake, read_only=True) as store, store.connect() as connection:
        query = "select anchor, n, w1, w2, w3, w4 from model_ngram"
        keys = [
            tuple(-1 if one is None else one for one in row)
            for row in raw(connection).execute(query).fetchall()
        ]
    assert keys == sorted(keys)
    assert all(max(words) == anchor for anchor, _, *words in keys)


class Backwards:
    """Runs tasks in another order, each twice, as a cluster may."""

    workers = 2

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, dict[str, Any]]]:
        for number in reversed(range(len(tasks))):
            tasks[number].function(*tasks[number].arguments, **tasks[number].named)
            yield number, tasks[number]()


@pytest.mark.nightly
def test_the_lake_does_not_depend_on_the_order_of_tasks_or_their_size(
    lake: Path, whole: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(lake, tmp_path / "other")
    built(lake, engine=Backwards())
    assert files(lake) == files(whole)
    built(other, sizes=ModelTaskSizes(rows=3_000, file=900))
    assert files(other) == files(whole)


class Killed(BaseException):
    """Simulates SIGKILL: no code catches it."""


class Dies:
    """Dies after so many tasks, within the next one, whose files are written and whose receipt is not."""

    workers = 1

    def __init__(self, after: int) -> None:
        self.left = after

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, task in enumerate(tasks):
            if not self.left:
                task.function(*task.arguments, **task.named)
                raise Killed
            self.left -= 1
            yield number, task()


@pytest.mark.nightly
def test_a_build_goes_on_wherever_it_was_interrupted(
    lake: Path, whole: Path, tmp_path: Path, nightly: bool
) -> None:
    stages = set()
    for after in range(0, 200, 7) if nightly else (0, 14):
        copy = shutil.copytree(lake, tmp_path / "copy")
        try:
            built(copy, engine=Dies(after))
        except Killed:
            stages.add(max(STAGES.index(path.parent.name) for path in (copy / "_work").glob("*/*.arrow")))
            assert "model" not in Manifest.read(Place(copy)).tables
            built(copy)
            assert files(copy) == files(whole)
            shutil.rmtree(copy)
        else:
            break
    assert len(stages) >= (4 if nightly else 2), "it was interrupted in most stages"


def test_what_is_done_is_not_done_again(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Killed):
        built(lake, engine=Dies(12))
    shown = {(what, name) for what, name, *_ in job.status(Place(lake), lake / "_work")}
    assert {(job.STAGE, "split"), (job.STAGE, "adjust"), (job.STAGE, "write")} <= shown
    monkeypatch.setattr(ModelPlan, "split", lambda *_: pytest.fail("split again"))
    built(lake)


@pytest.fixture(scope="module")
def killed(counted: Path) -> Path:
    """The counted lake, killed after a model was in its manifest; no test changes it."""
    lake = Path(shutil.copytree(counted, counted.parent / "killed"))

    def die(_: ModelJob) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelJob, "clear", die)
        with pytest.raises(Killed):
            built(lake)
    assert (lake / "_work").exists()
    return lake


def test_killed_after_the_manifest(killed: Path, tmp_path: Path) -> None:
    lake = shutil.copytree(killed, tmp_path / "lake")
    assert built(lake).label == "m@1", "it is there already"


def test_another_model_after_such_a_kill(killed: Path, whole: Path, tmp_path: Path) -> None:
    lake, two = (Path(shutil.copytree(one, tmp_path / one.name)) for one in (killed, whole))
    for one in (lake, two):
        built(one, ["b"])
    assert files(lake) == files(two)


def test_other_work_is_refused_while_a_model_is_not_finished(lake: Path, texts: list[Path]) -> None:
    place, work, before = Place(lake), lake / "_work", files(lake)
    with pytest.raises(Killed):
        built(lake, engine=Dies(3))
    for again in (
        lambda: built(lake, ["a"]),
        lambda: built(lake, smoothing="stupid-backoff"),
        lambda: job.remove(place, work, "a"),
        lambda: Job(place, work, Inline(), 1 << 29, Settings(corpus="c")).run([str(texts[0])]),
    ):
        with pytest.raises(
            StoreError, match="an unfinished model 'm', of other corpora or settings; run that again"
        ):
            again()
    assert str(job.drop_unfinished(place, work)) == "model 'm'"
    assert files(lake) == before


def test_a_model_is_refused_while_a_count_is_not_finished(lake: Path, texts: list[Path]) -> None:
    with pytest.raises(Killed):
        Job(Place(lake), lake / "_work", Dies(3), 1 << 29, Settings(corpus="c"), sizes=COUNTED).run(
            [str(texts[0])]
        )
    with pytest.raises(StoreError, match="an unfinished count of corpus 'c'"):
        built(lake)


def test_a_second_client_is_refused(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(path: Path) -> None:
        raise write_lock.in_use(path)

    monkeypatch.setattr(write_lock.WriteLock, "take", taken)
    for start in (lambda: built(lake), lambda: remove_model(Place(lake), lake / "_work", "m")):
        with pytest.raises(StoreError, match="in use by another process"):
            start()


def test_a_full_disk_is_told_in_one_line(lake: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> list[int]:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("sentgen.models.cluster.tasks._send", full)
        with pytest.raises(StoreError, match="the disk is full") as caught:
            built(lake)
    assert "\n" not in str(caught.value)
    built(lake)
    assert files(lake) == files(whole)


def test_damaged_counts_are_told(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sentgen.models.cluster.tasks._link", lambda *_: False)
    with pytest.raises(
        DamagedError, match="the counts of order 3 do not fit those of order 2; see: sentgen db check"
    ):
        built(lake)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"smoothing": "katz"},
            InputError,
            "katz is not built in a lake; choose kneser-ney or stupid-backoff",
        ),
        ({"unknown": "tag"}, InputError, "counted from the text"),
        ({"corpora": ["c"]}, NotFoundError, "no corpus 'c'; there are: a, b"),
    ],
)
def test_refusals(lake: Path, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    before = files(lake)
    with pytest.raises(error, match=message):
        built(lake, **settings)
    assert files(lake) == before


def test_an_order_that_was_not_counted(tmp_path: Path, texts: list[Path]) -> None:
    lake = tmp_path / "lake"
    with pytest.raises(NotFoundError, match="no lake here"):
        built(lake)
    Job(Place(lake), lake / "_work", Inline(), 1 << 29, Settings(corpus="a", order=2)).run([str(texts[0])])
    with pytest.raises(ModelError, match="counted up to order 2"):
        built(lake, ["a"])


def test_models_of_removed_corpora_stay_with_their_words(
    whole: Path, tmp_path: Path, texts: list[Path]
) -> None:
    lake = Path(shutil.copytree(whole, tmp_path / "lake"))
    place, work = Place(lake), lake / "_work"
    before = rows(lake)
    for corpus in "ab":
        job.remove(place, work, corpus)
        assert rows(lake) == before
    with Store(lake, read_only=True) as store:
        assert registry.find(store, "m").is_stale(store)
    # A new corpus of the same name is another one, even with the same number of tokens.
    for corpus, text in zip("ab", texts, strict=True):
        Job(place, work, Inline(), 1 << 29, Settings(corpus=corpus)).run([str(text)])
    assert rows(lake) == before
    with Store(lake, read_only=True) as store:
        assert registry.find(store, "m").is_stale(store)


@pytest.mark.nightly
def test_removing_models(lake: Path) -> None:
    place, work, before = Place(lake), lake / "_work", files(lake)
    built(lake)
    built(lake, smoothing="stupid-backoff")
    assert remove_model(place, work, "m@1") == ["m@1"]
    assert built(lake, ["b"], order=2).label == "m@3"
    assert remove_model(place, work, "m") == ["m@2", "m@3"]
    after = files(lake)
    assert {name for name in after if name not in before} == {
        name for name in after if name.startswith("removed_model/")
    }
    assert {row["version"] for row in Catalogue.read(place).rows("removed_model")} == {1, 2, 3}
    with pytest.raises(NotFoundError, match="no model 'm'"):
        remove_model(place, work, "m")


def test_a_file_of_several_models_is_not_cut(stored: Path, tmp_path: Path) -> None:
    store = Path(shutil.copyfile(stored, tmp_path / "store.duckdb"))
    with Store(store) as opened:
        for name in ("x", "y"):
            build(opened, name, ["a"], order=2)
        export(opened, Place(tmp_path / "lake"))
    with pytest.raises(StoreError, match="made of a store, with several models in a file"):
        remove_model(Place(tmp_path / "lake"), tmp_path / "lake" / "_work", "x")


def test_a_bucket_takes_a_model(lake: Path, whole: Path, tmp_path: Path) -> None:
    bucket = Place(f"memory://{tmp_path.name}/lake")
    bucket.files.put(f"{lake}/", bucket.root, recursive=True)
    settings = Recipe.checked(3, "kneser-ney", None, "word", False)
    ModelJob(bucket, tmp_path / "work", Inline(), 1 << 29, sizes=SMALL).run("m", ["a", "b"], settings)
    prefix = f"/{tmp_path.name}/lake/"
    assert {
        path.removeprefix(prefix): bucket.files.cat(path) for path in bucket.files.find(bucket.root)
    } == files(whole)


def test_a_counted_lake_passes_its_checks(whole: Path, tmp_path: Path) -> None:
    """Checks that need sentences are left out; inconsistent counts are found."""
    lake = Path(shutil.copytree(whole, tmp_path / "lake"))
    with Store(lake, read_only=True) as store:
        results = list(maintenance.check(store, model_checks(store)))
        assert maintenance.corpora_without_sentences(store) == [(1, "a"), (2, "b")]
    assert [one.check.name for one in results if one.problems] == []
    assert {"segments sum to the sources", "n-grams of order 5 sum to those of the segments"} <= {
        one.check.name for one in results
    }
    catalogue = Catalogue.read(Place(lake))
    tables = {name: list(found) for name, found in catalogue.manifest.tables.items()}
    del tables["ngram_5"][0], tables["ngram_1"][-1]
    catalogue.commit(tables)
    with Store(lake, read_only=True) as store:
        failed = {one.check.name for one in maintenance.check(store, quick=True) if one.problems}
    assert failed == {f"n-grams of order {order} sum to those of the segments" for order in (1, 5)}


def test_a_counted_corpus_beside_sentences(stored: Path, texts: list[Path], tmp_path: Path) -> None:
    """In a lake of a store with one more, counted corpus, each corpus is checked by its own data."""
    lake = tmp_path / "lake"
    with Store(stored, read_only=True) as store:
        export(store, Place(lake))
    Job(Place(lake), lake / "_work", Inline(), 1 << 29, Settings(corpus="c")).run([str(texts[0])])
    with Store(lake, read_only=True) as store:
        assert [name for _, name in maintenance.corpora_without_sentences(store)] == ["c"]
        results = list(maintenance.check(store))
    assert [one.check.name for one in results if one.problems] == []
    assert "posting of a recounted" in {one.check.name for one in results}
