"""Files of other programs in a lake, in a bucket or in a work folder stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentgen.counts.cluster import job
from sentgen.counts.cluster.job import Job
from sentgen.counts.cluster.stages import Inline
from sentgen.counts.settings import Settings
from sentgen.errors import InputError, StoreError
from sentgen.models.building.recipe import Recipe
from sentgen.models.cluster.job import ModelJob, remove_model
from sentgen.schema import Store, folders
from sentgen.schema.lake_transfer import export
from sentgen.schema.places import Place

#: Names of files that are similar to ours: of Hive, of our tables, of drafts.
NAMES = (
    "notes.txt",
    "year/part=00001.parquet",
    "year/part=00001-0123456789abcdef.parquet",
    "word/part=00001-mine.parquet",
    "word/part=00001-0123456789abcdef.parquet",
    "word/part=1/x.parquet",
    ".lake-mine.tmp",
    ".sentgen-mine.tmp",
)
MINE = b"what somebody wrote"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A file with a few words."""
    path = tmp_path / "text.lines"
    path.write_text("the cat saw the dog .\nthe dog ran .\n")
    return path


def fill(folder: Path) -> None:
    """Write files of another program."""
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(MINE)


def left(folder: Path) -> set[str]:
    """Return the names of these files that are unchanged."""
    return {name for name in NAMES if (folder / name).is_file() and (folder / name).read_bytes() == MINE}


def count(lake: Place, work: Path, text: Path) -> None:
    """Count into a lake, in this process."""
    Job(lake, work, Inline(), 1 << 29, Settings(corpus="c")).run([str(text)])


def test_a_lake_keeps_what_others_wrote_in_it(tmp_path: Path, text: Path) -> None:
    """Counting, building, removing and exporting clean up a lake, and remove only their own files."""
    lake, work = Place(tmp_path / "lake"), tmp_path / "lake" / "_work"
    fill(tmp_path / "lake")
    count(lake, work, text)
    before = {path for path in (tmp_path / "lake").rglob("*") if path.is_file()}
    ModelJob(lake, work, Inline(), 1 << 29).run(
        "m", ["c"], Recipe.checked(2, "kneser-ney", None, "word", False)
    )
    remove_model(lake, work, "m")
    job.remove(lake, work, "c")
    gone = before - {path for path in (tmp_path / "lake").rglob("*") if path.is_file()}

    assert left(tmp_path / "lake") == set(NAMES)
    assert gone
    fill(tmp_path / "other")
    with Store(tmp_path / "store.duckdb", create=True) as store:
        export(store, Place(tmp_path / "other"))
    assert left(tmp_path / "other") == set(NAMES)


def test_a_bucket_keeps_what_others_wrote_in_it(tmp_path: Path, text: Path) -> None:
    """A bucket keeps partitioned data of other programs."""
    bucket, work = Place(f"memory://{tmp_path.name}/lake"), tmp_path / "mine" / "_work"
    for name in NAMES:
        bucket.files.pipe(bucket.path(name), MINE)
    fill(tmp_path / "mine")
    count(bucket, work, text)
    job.remove(bucket, work, "c")

    found = {name for name in NAMES if bucket.exists(name) and bucket.read(name) == MINE}
    assert found == set(NAMES)
    assert left(tmp_path / "mine") == set(NAMES)
    assert not work.exists()
    assert len(bucket.files.find(bucket.root)) == len(NAMES) + 1  # the manifest


def test_a_source_without_sentences_ends_a_count_and_nothing_else(tmp_path: Path, text: Path) -> None:
    """Intermediate files are removed; those of others, in the lake and beside the work folder, stay."""
    fill(tmp_path / "lake")
    (tmp_path / "blank.lines").write_text("\n \n")
    with pytest.raises(InputError, match=r"has no sentences|is empty"):
        count(Place(tmp_path / "lake"), tmp_path / "lake" / "_work", tmp_path / "blank.lines")

    assert left(tmp_path / "lake") == set(NAMES)


@pytest.mark.parametrize("name", ["notes.txt", "job.json"])
def test_a_work_folder_of_another_is_refused(tmp_path: Path, text: Path, name: str) -> None:
    """A folder without our mark is refused, even if it has a file with one of our names."""
    lake, work = Place(tmp_path / "lake"), tmp_path / "work"
    work.mkdir()
    (work / name).write_bytes(MINE)
    settings = Recipe.checked(2, "kneser-ney", None, "word", False)

    with pytest.raises(StoreError, match="work: in the way, and sentgen did not write it"):
        count(lake, work, text)
    count(lake, tmp_path / "lake" / "_work", text)
    with pytest.raises(StoreError, match="work: in the way, and sentgen did not write it"):
        ModelJob(lake, work, Inline(), 1 << 29).run("m", ["c"], settings)

    assert [(path.name, path.read_bytes()) for path in work.iterdir()] == [(name, MINE)]


def test_a_folder_with_the_name_of_what_is_spilled(tmp_path: Path) -> None:
    """Temporary files are refused in a folder of others, which is not removed."""
    from sentgen.counts.ngrams import NgramCounter

    runs = tmp_path / "store.duckdb.runs"
    runs.mkdir()
    (runs / "0.records").write_bytes(MINE)
    counter = NgramCounter(highest=2, memory=1, folder=runs)
    with pytest.raises(StoreError, match="runs: in the way"):
        counter._spill()
    counter.close()
    folders.remove(runs)

    assert (runs / "0.records").read_bytes() == MINE
