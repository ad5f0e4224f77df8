"""Counting into lakes, with tasks in this process: the counts are those of a store, also after interruptions."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.paths import expand
from sentgen.counts.cluster import job, shards
from sentgen.counts.cluster.job import ClusterSummary, Job, TaskSizes
from sentgen.counts.cluster.machines import Slurm
from sentgen.counts.cluster.shards import PieceReader, SourcePart, pack, survey
from sentgen.counts.cluster.stages import ClusterTask, Inline
from sentgen.counts.ingestion import ingest
from sentgen.counts.settings import Settings
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, NotFoundError, StoreError
from sentgen.schema import Store, lakes
from sentgen.schema.durability import write_lock
from sentgen.schema.lake_transfer import export
from sentgen.schema.lakes import Manifest
from sentgen.schema.places import Place

#: Many shards, partitions and ranges of a small text.
SMALL = TaskSizes(shard=300, most=1 << 20, words=500, range=60)
TABLES = (*(f"ngram_{order}" for order in range(1, 6)), "dependency_event", "argument_count", "sibling_count")
LINES = [
    f"the {a} {b} the {a} of {b} ."
    for a in ("cat", "dog", "Ärger", "x")
    for b in ("saw", "İs", "ran", "5%", "—")
]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A file with twenty lines of repeated words."""
    path = tmp_path / "text.lines"
    path.write_text("\n".join(LINES) + "\n")
    return path


def count(
    lake: Path, *paths: Path, corpus: str = "c", engine: Any = None, sizes: TaskSizes = SMALL, **settings: Any
) -> ClusterSummary:
    """Count paths into a lake."""
    asked = Settings(corpus=corpus, **settings)
    return Job(Place(lake), lake / "_work", engine or Inline(), 1 << 29, asked, sizes=sizes).run(
        [str(p) for p in paths]
    )


def files(lake: Path) -> dict[str, bytes]:
    """Return all files of a lake."""
    return {
        path.relative_to(lake).as_posix(): path.read_bytes() for path in lake.rglob("*") if path.is_file()
    }


def views(lake: Path) -> duckdb.DuckDBPyConnection:
    """Open the tables of a lake as views by its manifest; a table without files is empty."""
    duck = duckdb.connect()
    for table, found in Manifest.read(Place(lake)).tables.items():
        duck.execute(
            f"create view {table} as select * from read_parquet({[str(lake / f.path) for f in found]})"
        )
    return duck


def counts(duck: duckdb.DuckDBPyConnection, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table of counts with strings for ids, summed over segments."""
    if not duck.execute(f"from (show tables) where name = '{table}'").fetchall():
        return []
    names = [
        name
        for name, *_ in duck.execute(f"describe {table}").fetchall()
        if name not in ("segment_id", "anchor", "count")
    ]
    words = [name for name in names if name.endswith("word_id") or name == "word_id" or name[1:].isdigit()]
    of = {name: f"(select form from word where id = {name})" for name in words}
    of |= {name: f"(select name from tag where id = {name})" for name in names if name.endswith("tag_id")}
    columns = ", ".join(f"{of.get(name, name)} as {name}" for name in names)
    return sorted(
        duck.execute(f"select {columns}, sum(count)::bigint from {table} group by all").fetchall(), key=str
    )


def stored(tmp_path: Path, *paths: Path, **settings: Any) -> duckdb.DuckDBPyConnection:
    """Ingest paths into a store, and open it."""
    with Store(tmp_path / "same.duckdb", create=True) as store:
        ingest(store, [str(path) for path in paths], Settings(corpus="c", **settings))
    return duckdb.connect(str(tmp_path / "same.duckdb"), read_only=True)


def assert_same_counts(lake: Path, store: duckdb.DuckDBPyConnection) -> None:
    """Compare every row of every table of counts."""
    with views(lake) as duck, store:
        for table in TABLES:
            assert counts(duck, table) == counts(store, table), table
        if duck.execute("from (show tables) where name = 'dependency_event'").fetchall():
            # The numbers of the words are the lake's.
            wrong = "coalesce(greatest(head_word_id, modifier_word_id), 0) <> anchor"
            assert not duck.execute(f"from dependency_event where {wrong}").fetchall()


def test_letters_are_folded_as_in_a_store(tmp_path: Path) -> None:
    """Sigmas, dotted and dotless i, sharp and long s, and Cherokee, whose capitals came first."""
    file = tmp_path / "odd.lines"
    file.write_text("ΟΔΟΣ Οδοσ ΣΑΣ\nİl Il ıl STRAẞE ſo\nᎠᎡ ꭰꭱ ǅ µ ΜΑ\n" * 2, "utf-8")

    count(tmp_path / "lake", file, lowercase=True)

    assert_same_counts(tmp_path / "lake", stored(tmp_path, file, lowercase=True))


@pytest.mark.parametrize("settings", [{}, {"lowercase": True, "order": 3}])
def test_lines_are_counted_as_in_a_store(tmp_path: Path, text: Path, settings: dict[str, Any]) -> None:
    summary = count(tmp_path / "lake", text, **settings)
    assert (summary.sentences, summary.tokens) == (20, 160)
    assert_same_counts(tmp_path / "lake", stored(tmp_path, text, **settings))
    parts = Manifest.read(Place(tmp_path / "lake")).tables["ngram_2"]
    assert len(parts) > 2, "the ranges are what is tested"


def test_trees_are_counted_as_in_a_store(tmp_path: Path) -> None:
    count(tmp_path / "lake", TREEBANK, sizes=TaskSizes(shard=90_000, words=50_000, range=2_000), tags="upos")
    assert_same_counts(tmp_path / "lake", stored(tmp_path, TREEBANK, tags="upos"))


def test_raw_text_and_archives_are_counted_as_in_a_store(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("It is a test. He didn't see it, though. " * 3)
    (folder / "README").write_text("About this corpus.")
    shutil.make_archive(str(tmp_path / "packed"), "zip", folder)
    packed = tmp_path / "packed.zip"
    assert count(tmp_path / "lake", packed).passed_over
    assert_same_counts(tmp_path / "lake", stored(tmp_path, packed))


def test_vertical_files_are_counted_as_in_a_store(tmp_path: Path) -> None:
    """Files with trees, named columns or another encoding are counted, and are not cut into shards."""
    rows = "".join(
        f"<s>\nMädchen\t2\tnsubj\tN\n<hi>\nsehen{i % 7}\t0\troot\tV\n</hi>\n<g/>\n.\t2\tpunct\tP\n</s>\n"
        for i in range(200)
    )
    file = tmp_path / "a.vert"
    file.write_bytes(f"<doc>\n{rows}</doc>\n<p>\nOhne\t_\t_\tX\n.\t_\t_\tP\n</p>\n".encode("latin-1"))
    settings = {"columns": "word,head,deprel,pos", "encoding": "latin-1"}
    summary = count(tmp_path / "lake", file, **settings)
    assert (summary.sentences, summary.tokens) == (201, 602)
    assert_same_counts(tmp_path / "lake", stored(tmp_path, file, **settings))


@pytest.mark.parametrize("name", ["a.xml", "a.jsonl"])
def test_what_is_a_file_is_counted_as_in_a_store(tmp_path: Path, name: str) -> None:
    """A TEI file of any size is one shard: its regions, documents and header belong together."""
    if name == "a.xml":
        words = "".join(f"<p>It is <hi>word {i % 9}</hi>. He saw it.</p>\n" for i in range(100))
        content = f"<TEI xmlns='http://www.tei-c.org/ns/1.0'><text><body>{words}</body></text></TEI>"
    else:
        content = '{"text": "It is a test. He saw it."}\n{"tokens": ["It", "is"]}\n' * 20
    (tmp_path / name).write_text(content)
    summary = count(tmp_path / "lake", tmp_path / name)
    assert summary.sentences == (200 if name == "a.xml" else 60)
    assert_same_counts(tmp_path / "lake", stored(tmp_path, tmp_path / name))


@pytest.mark.data
@pytest.mark.nightly
@pytest.mark.parametrize(("part", "tokens"), [("dev", 10_000), ("train", 100_000)])
def test_treebanks_are_counted_as_in_a_store(tmp_path: Path, data_dir: Path, part: str, tokens: int) -> None:
    paths = [data_dir / "ud" / f"en_{name}-ud-{part}.conllu" for name in ("ewt", "gum")]
    count(tmp_path / "lake", *paths, sizes=TaskSizes(range=tokens))
    store = stored(tmp_path, *paths)
    with views(tmp_path / "lake") as duck, store:
        for table in TABLES:
            assert counts(duck, table) == counts(store, table), table
        if duck.execute("from (show tables) where name = 'dependency_event'").fetchall():
            # The numbers of the words are the lake's.
            wrong = "coalesce(greatest(head_word_id, modifier_word_id), 0) <> anchor"
            assert not duck.execute(f"from dependency_event where {wrong}").fetchall()


def test_rows_lie_as_the_manifest_says(tmp_path: Path, text: Path) -> None:
    count(tmp_path / "lake", text)
    count(tmp_path / "lake", TREEBANK, corpus="trees", sizes=TaskSizes(range=2_000))
    manifest = Manifest.read(Place(tmp_path / "lake"))
    for table in ("ngram_3", "word"):
        rows: list[tuple[int, ...]] = []
        for file in manifest.tables[table]:
            query = f"from read_parquet('{tmp_path / 'lake' / file.path}')"
            rows += [row[:-1] for row in duckdb.sql(query).fetchall()]
        assert rows == sorted(rows)
    # Frequent words first, ties by the string.
    words = duckdb.sql(
        f"from read_parquet('{tmp_path / 'lake' / manifest.tables['word'][0].path}')"
    ).fetchall()
    assert words[:6] == [(0, "<unk>"), (1, "<s>"), (2, "</s>"), (3, "<root>"), (4, "the"), (5, ".")]


class Backwards:
    """Runs tasks in reverse order, each twice, as a cluster may."""

    workers = 2

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, dict[str, Any]]]:
        for number in reversed(range(len(tasks))):
            tasks[number].function(*tasks[number].arguments, **tasks[number].named)
            yield number, tasks[number]()


def test_the_lake_does_not_depend_on_the_order_of_tasks_or_the_size_of_shards(
    tmp_path: Path, text: Path
) -> None:
    count(tmp_path / "one", text)
    count(tmp_path / "two", text, engine=Backwards())
    count(tmp_path / "three", text, sizes=TaskSizes(words=700, range=60))
    assert files(tmp_path / "one") == files(tmp_path / "two") == files(tmp_path / "three")


class Killed(BaseException):
    """An exception in the place of SIGKILL, which no code catches."""


class Dies:
    """Dies after some tasks, or within a task, between its files and its receipt."""

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


def test_a_count_goes_on_wherever_it_was_interrupted(tmp_path: Path, text: Path, nightly: bool) -> None:
    count(tmp_path / "whole", text, TREEBANK, sizes=TaskSizes(shard=150_000, range=3_000))
    done = 0
    for after in range(3, 100, 3) if nightly else (6,):  # all of them would take a minute
        lake = tmp_path / f"lake-{after}"
        try:
            count(lake, text, TREEBANK, sizes=TaskSizes(shard=150_000, range=3_000), engine=Dies(after))
        except Killed:
            assert not (lake / "manifest.json").exists()
            count(lake, text, TREEBANK, sizes=TaskSizes(shard=150_000, range=3_000))
            assert files(lake) == files(tmp_path / "whole")
            done += 1
            shutil.rmtree(lake)
        else:
            break
    assert done > (3 if nightly else 0)


def test_what_is_done_is_not_done_again(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Killed):
        count(tmp_path / "lake", text, engine=Dies(10))
    lines = [
        (what, name, files)
        for what, name, files, *_ in job.status(Place(tmp_path / "lake"), tmp_path / "lake" / "_work")
    ]
    assert ("unfinished stage", "read", 2) in lines
    monkeypatch.setattr(job, "read_shard", lambda *_: pytest.fail("read again"))
    count(tmp_path / "lake", text)


def test_killed_after_the_manifest(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(_: Job) -> None:
        raise Killed

    count(tmp_path / "whole", text)
    with monkeypatch.context() as patch:
        patch.setattr(Job, "clear", killed)
        with pytest.raises(Killed):
            count(tmp_path / "lake", text)
    (tmp_path / "lake" / f".sentgen-{'0' * 32}.tmp").touch()  # a draft
    content = b"not named"
    name = lakes.LakeFile.name_of("word", 7, hashlib.sha256(content).hexdigest())
    (tmp_path / "lake" / name).write_bytes(content)
    assert count(tmp_path / "lake", text).unchanged == 1
    assert files(tmp_path / "lake") == files(tmp_path / "whole")


def test_more_sources_cost_what_they_cost(tmp_path: Path, text: Path) -> None:
    more = tmp_path / "more.lines"
    more.write_text("a new word of the cat .\n")
    count(tmp_path / "lake", text)
    before = files(tmp_path / "lake")
    summary = count(tmp_path / "lake", text, more)
    assert (summary.unchanged, summary.sources, summary.tokens, summary.new_words) == (1, 1, 7, 3)
    after = files(tmp_path / "lake")
    kept = {name for name in before if name.startswith(("ngram", "word", "source"))}
    assert {name: before[name] for name in kept} == {name: after[name] for name in kept}
    assert_same_counts(tmp_path / "lake", stored(tmp_path, text, more))


def test_removing_restores_the_lake(tmp_path: Path, text: Path) -> None:
    lake, work = Place(tmp_path / "lake"), tmp_path / "lake" / "_work"
    count(tmp_path / "lake", text)
    before = files(tmp_path / "lake")
    count(tmp_path / "lake", TREEBANK, corpus="trees", sizes=TaskSizes(range=2_000))
    job.remove(lake, work, "trees")
    assert files(tmp_path / "lake") == before
    with pytest.raises(NotFoundError, match="no corpus 'trees'; there are: c"):
        job.remove(lake, work, "trees")
    # The words of a removed corpus stay while other corpora use them.
    count(tmp_path / "lake", TREEBANK, corpus="trees", sizes=TaskSizes(range=2_000))
    assert job.remove(lake, work, "c") == (20, 160)
    assert_same_counts(tmp_path / "lake", stored(tmp_path, TREEBANK))
    job.remove(lake, work, "trees")
    assert list(files(tmp_path / "lake")) == ["manifest.json"]


def test_a_lake_of_a_store_takes_more_and_gives_nothing_back(tmp_path: Path, text: Path) -> None:
    lake = Place(tmp_path / "lake")
    stored(tmp_path, TREEBANK).close()
    with Store(tmp_path / "same.duckdb", read_only=True) as store:
        export(store, lake)
    count(tmp_path / "lake", text, corpus="more")
    assert_same_counts(tmp_path / "lake", stored(tmp_path, TREEBANK, text))
    with pytest.raises(StoreError, match="the lake was made of a store; remove the corpus there"):
        job.remove(lake, tmp_path / "lake" / "_work", "more")


def test_a_bucket_takes_a_lake(tmp_path: Path, text: Path) -> None:
    bucket, work = Place(f"memory://{tmp_path.name}/lake"), tmp_path / "work"
    for _ in range(2):
        Job(bucket, work, Inline(), 1 << 29, Settings(corpus="c"), sizes=SMALL).run([str(text)])
    count(tmp_path / "lake", text)
    found = {
        path.removeprefix(f"/{tmp_path.name}/lake/"): bucket.files.cat(path)
        for path in bucket.files.find(bucket.root)
    }
    assert found == files(tmp_path / "lake")
    job.remove(bucket, work, "c")
    assert bucket.files.find(bucket.root) == [f"/{tmp_path.name}/lake/manifest.json"]


def test_a_bad_sentence_is_told_with_its_line_or_left_out(tmp_path: Path, text: Path) -> None:
    with text.open("a") as file:
        file.write("<s> here\n")
    with pytest.raises(InputError, match=r"text\.lines:21: "):
        count(tmp_path / "lake", text)
    job.drop_unfinished(Place(tmp_path / "lake"), tmp_path / "lake" / "_work")
    assert count(tmp_path / "lake", text, on_error="skip").rejected == 1
    trees = tmp_path / "bad.conllu"
    lines = TREEBANK.read_text().splitlines(keepends=True)
    bad = max(number for number, line in enumerate(lines) if line.startswith("1\t"))
    lines[bad] = lines[bad].replace("\t", "\t\t", 1)
    trees.write_text("".join(lines))
    with pytest.raises(InputError, match=rf"bad\.conllu:{bad + 1}: "):
        count(tmp_path / "other", trees, sizes=TaskSizes(shard=100_000))


def test_a_file_that_cannot_be_read(tmp_path: Path, text: Path) -> None:
    with pytest.raises(Killed):
        count(tmp_path / "lake", text, engine=Dies(1))
    piece = SourcePart(0, str(text), str(tmp_path / "gone.lines"), "", "", 0, 10, 1, 10)
    with pytest.raises(InputError, match=r"text\.lines: cannot read this file: No such file"):
        list(PieceReader(piece))


def test_a_full_disk_is_told_in_one_line(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> list[int]:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shards, "write_batches", full)
        with pytest.raises(StoreError, match="the disk is full") as caught:
            count(tmp_path / "lake", text)
    assert "\n" not in str(caught.value)
    count(tmp_path / "lake", text)
    assert_same_counts(tmp_path / "lake", stored(tmp_path, text))


def test_another_count_is_not_dropped_unasked(tmp_path: Path, text: Path) -> None:
    lake, work = Place(tmp_path / "lake"), tmp_path / "lake" / "_work"
    with pytest.raises(Killed):
        count(tmp_path / "lake", text, engine=Dies(8))
    for again in (lambda: count(tmp_path / "lake", TREEBANK), lambda: job.remove(lake, work, "c")):
        with pytest.raises(StoreError, match="an unfinished count of corpus 'c'"):
            again()
    assert str(job.drop_unfinished(lake, work)) == "count of corpus 'c'"
    with pytest.raises(NotFoundError, match="no unfinished count or model"):
        job.drop_unfinished(lake, work)
    assert files(tmp_path / "lake") == {}


def test_settings_of_a_corpus_stay(tmp_path: Path, text: Path) -> None:
    count(tmp_path / "lake", text)
    with pytest.raises(InputError, match="was made without `lowercase`"):
        count(tmp_path / "lake", text, lowercase=True)


def test_empty_sources_and_streams_are_refused(tmp_path: Path) -> None:
    (tmp_path / "blank.lines").write_text("\n \n")
    with pytest.raises(InputError, match=r"blank\.lines: (has no sentences|is empty)"):
        count(tmp_path / "lake", tmp_path / "blank.lines", format="lines")


@given(
    st.lists(st.text("ab \r", max_size=6), min_size=1, max_size=30),
    st.sampled_from(["lines", "conllu"]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 40),
)
def test_pieces_are_whole_sentences(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], form: str, end: str, most: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "pieces.txt"
    content = "".join(row.replace("\r", "") + end for row in rows).encode()
    path.write_bytes(content)
    (source,) = expand([str(path)])
    pieces = [SourcePart(**one) for one in survey(source, form, 0, most)["pieces"]]  # type: ignore[attr-defined]
    assert b"".join(content[one.start : one.end] for one in pieces) == content
    for one in pieces[:-1]:
        before = content[: one.end].replace(b"\r", b"")
        assert before.endswith(b"\n" if form == "lines" else b"\n\n")
        assert one.bytes >= most
    assert [one.first_line for one in pieces] == [content.count(b"\n", 0, one.start) + 1 for one in pieces]
    packed = pack([(form, one) for one in pieces], most * 3)
    assert [one for shard in packed for one in shard.pieces] == pieces


def test_a_second_client_is_refused(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(path: Path) -> None:
        raise write_lock.in_use(path)

    monkeypatch.setattr(write_lock.WriteLock, "take", taken)
    with pytest.raises(StoreError, match="in use by another process"):
        count(tmp_path / "lake", text)


def test_the_script_names_everything(tmp_path: Path) -> None:
    script = Slurm(workers=8, partition="long").script(["a b.lines"], "/lakes/web", "web", 2 << 30)
    assert "#SBATCH --ntasks=8\n" in script
    assert "#SBATCH --partition=long\n" in script
    assert "--mem-per-cpu=2560M" in script  # 2 GB and a quarter
    assert (
        "sentgen cluster count 'a b.lines' --to /lakes/web --corpus web --memory-limit 2GB --scheduler"
        in script
    )
    with pytest.raises(InputError, match="line feed"):
        Slurm().script(["a\nb"], "lake", "c", 1)
