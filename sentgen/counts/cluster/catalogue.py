"""The corpora, sources and segments of a lake, as its small tables describe them, and changes to them.

One process at a time changes a lake. A job adds stage by stage, and goes on behind the last stage if killed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sentgen.counts.cluster.stages import PROGRAM, Engine, Progress, Stages, read_json
from sentgen.counts.settings import OF_READERS, CountedCorpus, Settings
from sentgen.errors import NotFoundError, StoreError
from sentgen.schema import folders
from sentgen.schema.counting import segment_tables
from sentgen.schema.durability import write_lock
from sentgen.schema.lake_transfer import write_file
from sentgen.schema.lakes import LakeFile, Manifest, file_schema
from sentgen.schema.places import MANIFEST, Place
from sentgen.schema.tables.counts import ngram
from sentgen.system.files import remove

#: The file in the work folder that says what is being made: a count, or a model.
JOB = "job.json"
#: The settings of an ingestion on which a count depends, too.
SETTINGS = (
    "corpus",
    "format",
    *OF_READERS,
    "licence",
    "lowercase",
    "order",
    "tags",
    "function_heads",
    "on_error",
)
#: The time of all rows of a lake, so that the same texts make the same bytes.
EPOCH = datetime(1970, 1, 1)
#: Tables whose rows belong to segments.
_OF_SEGMENT = tuple(segment_tables())
#: Tables of a lake that was counted; a lake made from a store has sentences, too, which use its words.
_OURS = {*(f"ngram_{order}" for order in ngram), "dependency_event", "argument_count", "sibling_count"}
_OURS |= {"word", "tag", "corpus", "source", "segment"}
#: The tables of models, which can be built in a counted lake.
_OURS |= {"model", "model_corpus", "model_parameter", "model_weight", "model_ngram", "removed_model"}
#: Tables of strings, and the columns that hold their ids.
_STRINGS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "word": {"ngram_1": ("w1",), "model_ngram": ("anchor",)},
    "tag": {"argument_count": ("tag_id",), "dependency_event": ("head_tag_id", "modifier_tag_id")},
}


@dataclass(slots=True)
class Counted:
    """A source that is counted: its path, the identity of its content, and its figures."""

    path: str
    sha256: str
    format: str
    version: str
    sentences: int = 0
    tokens: int = 0
    rejected: int = 0
    cyclic: int = 0
    empty_nodes: int = 0

    @property
    def row(self) -> dict[str, object]:
        """What the table of sources has of it, but for ids."""
        values = asdict(self)
        values["reader_version"] = values.pop("version")
        return {**values, "ingested_at": EPOCH}

    def add(self, tally: Mapping[str, int]) -> None:
        """Add the figures of a piece of the source."""
        for name in ("sentences", "tokens", "rejected", "cyclic", "empty_nodes"):
            setattr(self, name, getattr(self, name) + tally[name])


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An unfinished job: ``count`` or ``model``, the name of its corpus or model, and its stages if known."""

    what: str
    name: str
    stages: Sequence[str] = ()

    @classmethod
    def from_json(cls, job: Mapping[str, Any]) -> Unfinished:
        """Return the job that a plan describes."""
        if "model" in job:
            return cls("model", job["model"]["name"], tuple(job["stages"]))
        return cls("count", job["settings"]["corpus"])

    def __str__(self) -> str:
        return f"count of corpus {self.name!r}" if self.what == "count" else f"model {self.name!r}"


@dataclass(slots=True)
class Catalogue:
    """The description of a lake: its manifest, and the rows of its small tables."""

    lake: Place
    manifest: Manifest
    #: Files that earlier manifests named.
    _earlier: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, lake: Place) -> Catalogue:
        """Return the catalogue of a lake, an empty one where there is no lake yet."""
        return cls(lake, Manifest.read(lake) if lake.exists(MANIFEST) else Manifest({}))

    def tables(self) -> dict[str, list[LakeFile]]:
        """Return a copy of the files of all tables, for the next manifest."""
        return {table: list(files) for table, files in self.manifest.tables.items()}

    def files(self, table: str) -> Sequence[LakeFile]:
        """Return the files of a table."""
        return self.manifest.tables.get(table, ())

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a small table."""
        rows = []
        for file in self.files(table):
            with self.lake.open(file.path) as opened:
                rows += pq.read_table(opened).to_pylist()
        return rows

    def next_id(self, table: str) -> int:
        """Return the next free id of a table; 0 for a table without rows."""
        return max((bounds(self.lake, file, "id")[1] for file in self.files(table)), default=-1) + 1

    def files_of(self, corpus: int) -> list[LakeFile]:
        """Return the files with the counts of a corpus; a counted lake has files for each segment."""
        segments = {row["id"] for row in self.rows("segment") if row["corpus_id"] == corpus}
        return [
            file
            for table in _OF_SEGMENT
            for file in self.files(table)
            if bounds(self.lake, file, "segment_id")[1] in segments
        ]

    def check(self, settings: Settings) -> None:
        """Refuse settings that differ from those with which the corpus was counted before."""
        for row in self.rows("corpus"):
            if row["name"] == settings.corpus:
                CountedCorpus.of_row(row).check(settings)

    def corpus(self, name: str) -> dict[str, Any]:
        """Return the row of a corpus.

        Raises:
            NotFoundError: there is no such corpus.
        """
        for row in self.rows("corpus"):
            if row["name"] == name:
                return row
        known = ", ".join(row["name"] for row in self.rows("corpus")) or "none"
        raise NotFoundError(f"{self.lake}: no corpus {name!r}; there are: {known}")

    def known(self, corpus: str) -> set[tuple[str, str, str]]:
        """Return the identities of the sources of a corpus: hash, format, and version of the reader."""
        numbers = {row["id"] for row in self.rows("corpus") if row["name"] == corpus}
        return {
            (row["sha256"], row["format"], row["reader_version"])
            for row in self.rows("source")
            if row["corpus_id"] in numbers
        }

    def unfinished(self, work: Path) -> Unfinished | None:
        """Return the unfinished job in a work folder, if there is a plan."""
        job = _planned(work)
        if job is None:
            return None
        unfinished = Unfinished.from_json(job)
        # A job that the manifest names is finished, though it was killed before its folder was removed.
        if unfinished.what == "model":
            done = any(row["id"] == job["model"]["id"] for row in self.rows("model"))
        else:
            known = self.known(unfinished.name)
            done = all((row["sha256"], row["format"], row["version"]) in known for row in job["sources"])
        return None if done else unfinished

    def add(self, settings: Settings, sources: Sequence[Counted], files: Sequence[LakeFile]) -> None:
        """Add the files of a segment, and the rows on its corpus and sources, to the manifest."""
        corpora, segments = self.rows("corpus"), self.rows("segment")
        same_name = [row for row in corpora if row["name"] == settings.corpus]
        if not same_name:
            # Models may have the id of a removed corpus: no other corpus gets this id.
            named = (row["corpus_id"] for row in self.rows("model_corpus"))
            number = max([0, *(row["id"] for row in corpora), *named]) + 1
            same_name = [settings.row(number, EPOCH)]
            corpora += same_name
        number = same_name[0]["id"]
        segments.append(
            {
                "id": self.next_segment,
                "corpus_id": number,
                "sentences": sum(source.sentences for source in sources),
                "tokens": sum(source.tokens for source in sources),
                "created_at": EPOCH,
            }
        )
        first = max(self.next_id("source"), 1)
        described = [
            {"id": source_id, "corpus_id": number, **source.row}
            for source_id, source in enumerate(sources, first)
        ]
        tables = self.tables()
        for file in files:
            tables.setdefault(file.path.split("/")[0], []).append(file)
        tables["corpus"] = [self.write("corpus", corpora, 0)]
        tables["segment"] = [self.write("segment", segments, 0)]
        tables.setdefault("source", []).append(self.write("source", described, len(self.files("source"))))
        self.commit(tables)

    @property
    def of_store(self) -> bool:
        """Whether the lake was made from a store: it has tables other than those of counts and models."""
        return not self.manifest.tables.keys() <= _OURS

    @property
    def next_segment(self) -> int:
        """The number of the segment that is counted next."""
        return max(self.next_id("segment"), 1)

    def remove(self, name: str) -> tuple[int, int]:
        """Remove a corpus, and its words if no other corpus uses them or came later; return its size.

        Models that were built from it stay as they are, with their words; `sentgen models list` calls them
        stale.

        Returns:
            Sentences and tokens.

        Raises:
            NotFoundError: there is no such corpus.
            StoreError: the lake was made of a store.
        """
        number = self.corpus(name)["id"]
        if self.of_store:
            raise StoreError(
                f"{self.lake}: the lake was made of a store; remove the corpus there, and export it again"
            )
        gone = [row for row in self.rows("segment") if row["corpus_id"] == number]
        counted = {file.path for file in self.files_of(number)}
        tables = self.tables()
        for table in _OF_SEGMENT:
            tables[table] = [file for file in self.files(table) if file.path not in counted]
        tables["source"] = [f for f in self.files("source") if bounds(self.lake, f, "corpus_id")[1] != number]
        for table, column in (("corpus", "id"), ("segment", "corpus_id")):
            tables[table] = self.without(table, column, {number})
        self.drop_unused(tables)
        self.commit(tables)
        return sum(row["sentences"] for row in gone), sum(row["tokens"] for row in gone)

    def drop_unused(self, tables: dict[str, list[LakeFile]]) -> None:
        """Remove the last files of words and labels that no counts use; reserved ones stay.

        A lake made from a store has other tables that use words, and keeps all of them.
        """
        if self.of_store:
            return
        stays = bool(tables.get("corpus") or tables.get("model"))
        for table, users in _STRINGS.items():
            used = [
                bounds(self.lake, file, column)[1]
                for user, columns in users.items()
                for file in tables.get(user, ())
                for column in columns
            ]
            most = max(used, default=0)
            tables[table] = [f for f in self.files(table) if stays and bounds(self.lake, f, "id")[0] <= most]

    def write(self, table: str, rows: Sequence[Mapping[str, object]], part: int) -> LakeFile:
        """Write rows of a small table as a file, which no manifest names yet."""
        batch = pa.RecordBatch.from_pylist(list(rows), schema=file_schema(table))
        return write_file(self.lake, table, part, [batch])

    def without(self, table: str, column: str, numbers: Container[int]) -> list[LakeFile]:
        """Write a small table without some rows, and return its files: none if no row is left."""
        rows = [row for row in self.rows(table) if row[column] not in numbers]
        return [self.write(table, rows, 0)] if rows else []

    def commit(self, tables: Mapping[str, Sequence[LakeFile]]) -> None:
        """Replace the manifest, so that the lake has these files."""
        self._earlier |= {file.path for file in self.manifest.files}
        self.manifest = Manifest({name: files for name, files in tables.items() if files})
        self.manifest.write(self.lake)

    def sweep(self) -> int:
        """Remove the files of tables that the manifest does not name, and drafts; return how many.

        Call it only while no other process writes: such files were left by a killed process, or removed from
        the manifest. A file is removed only if an earlier manifest named it, or if its name has its hash.
        """
        named = {file.path for file in self.manifest.files}
        gone = 0
        for path in _below(self.lake):
            if path not in named and (path in self._earlier or _is_ours(self.lake, path)):
                _remove(self.lake, path)
                gone += 1
        return gone

    def clear(self, work: Path) -> None:
        """Remove intermediate files, and files that the manifest does not name."""
        self.sweep()
        folders.remove(work)


@contextmanager
def changed(lake: Place, work: Path) -> Iterator[Catalogue]:
    """Open a lake for a removal; then remove the files that the manifest does not name any more.

    Raises:
        InUseError: another process writes the lake.
        StoreError: a job is unfinished, and needs the lake as it is.
    """
    with locked(lake, work):
        catalogue = Catalogue.read(lake)
        if (unfinished := catalogue.unfinished(work)) is not None:
            raise _in_the_way(lake, work, unfinished)
        yield catalogue
        catalogue.sweep()


def _planned(work: Path) -> Any:
    """Return the plan in a work folder of sentgen, or None."""
    return read_json(work / JOB) if folders.is_ours(work) else None


def _in_the_way(lake: Place, work: Path, unfinished: Unfinished) -> StoreError:
    """Return the error that an unfinished count or model needs the lake as it is."""
    inputs = "sources" if unfinished.what == "count" else "corpora"
    return StoreError(
        f"{work}: an unfinished {unfinished}, of other {inputs} or settings; "
        f"run that again, or drop it: sentgen cluster remove --unfinished --from {lake}"
    )


def bounds(lake: Place, file: LakeFile, column: str) -> tuple[int, int]:
    """Return the least and the greatest number in a column of a file, from its Parquet footer."""
    with lake.open(file.path) as opened:
        about = pq.read_metadata(opened)
    index = about.schema.to_arrow_schema().get_field_index(column)
    statistics = [about.row_group(group).column(index).statistics for group in range(about.num_row_groups)]
    return min(int(each.min) for each in statistics), max(int(each.max) for each in statistics)


@contextmanager
def locked(lake: Place, work: Path) -> Iterator[None]:
    """Lock a lake against other writers; the lock is beside it, or, for a bucket, beside the work folder.

    Raises:
        InUseError: another process writes the lake.
    """
    path = Path(lake.root)
    if lake.files is not None:
        path = work
        work.parent.mkdir(parents=True, exist_ok=True)
    lock = write_lock.wait_for(path, lambda: write_lock.WriteLock.take(path))
    try:
        yield
    finally:
        lock.release()


def _below(lake: Place) -> Iterator[str]:
    """Yield the files that are named like files of tables and drafts."""
    if lake.files is not None:
        below = lake.root.split("://", 1)[1] + "/"
        paths = (str(path).split(below, 1)[1] for path in lake.files.find(lake.root))
        yield from (path for path in paths if LakeFile.hash_in(path))
        return
    root = Path(lake.root)
    yield from (path.name for path in root.glob(".*") if folders.is_draft(path.name))
    paths = (path.relative_to(root).as_posix() for path in root.glob("*/part=*.parquet"))
    yield from (path for path in paths if LakeFile.hash_in(path))


def _is_ours(lake: Place, path: str) -> bool:
    """Return whether a file has the hash that is in its name."""
    if folders.is_draft(path):
        return True
    with lake.open(path) as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()  # type: ignore[arg-type]
    return digest.startswith(LakeFile.hash_in(path))


def _remove(lake: Place, path: str) -> None:
    if lake.files is not None:
        lake.files.rm(lake.path(path))
        return
    file = Path(lake.path(path))
    with suppress(FileNotFoundError):
        remove(file)
    if file.parent != Path(lake.root) and not any(file.parent.iterdir()):
        file.parent.rmdir()


@dataclass(slots=True)
class LakeJob:
    """One run of a job.

    Args:
        lake: the lake to which the job adds.
        work: folder of intermediate files, which all workers see.
        memory: bytes of memory of a worker.
        say: called with notes for the user, such as the disk space that is needed.
    """

    lake: Place
    work: Path
    engine: Engine
    memory: int
    report: Progress = field(default=lambda *_: None, kw_only=True)
    say: Callable[[str], None] = field(default=lambda _: None, kw_only=True)
    catalogue: Catalogue = field(init=False)
    stages: Stages = field(init=False)

    @contextmanager
    def begun(self, what: str) -> Iterator[Any]:
        """Lock the lake and make the work folder; yield the plan of a job that is finished already, or None.

        Raises:
            InUseError: another process writes the lake.
            StoreError: a job is unfinished that is no ``what`` (``count`` or ``model``).
        """
        with locked(self.lake, self.work), _left_if_used(self.work):
            self.stages = Stages(self.work, self.engine, self.report)
            self.catalogue = Catalogue.read(self.lake)
            unfinished = self.catalogue.unfinished(self.work)
            if unfinished and unfinished.what != what:
                raise _in_the_way(self.lake, self.work, unfinished)
            # A job that was killed behind the manifest is finished, but its plan was not removed.
            done = None if unfinished else _planned(self.work)
            if done is not None:
                self.clear()
            folders.make(self.work, lasting=True)
            yield done

    def plan(self, what: Mapping[str, object]) -> Any:
        """Return the plan of an earlier run, or None.

        Raises:
            StoreError: another job was planned.
        """
        before = read_json(self.work / JOB)
        if before is not None and {name: before.get(name) for name in what} != what:
            raise _in_the_way(self.lake, self.work, Unfinished.from_json(before))
        return before

    def task_memory(self, least: int) -> int:
        """Return the bytes of memory of a task: those of a worker without the program, at least ``least``."""
        return max(self.memory - PROGRAM, least)

    def clear(self) -> None:
        """Remove the files between, and those that the manifest does not name."""
        self.catalogue.clear(self.work)


@contextmanager
def _left_if_used(work: Path) -> Iterator[None]:
    """Remove a work folder of sentgen that is empty in the end."""
    try:
        yield
    finally:
        if folders.is_ours(work) and folders.is_empty(work):
            folders.remove(work)
