"""Count sources into a lake, stage by stage; show the contents of a lake and the state of a count."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sentgen.corpus.formats import MARKUP_WARNING, choose_reader, takes_tags_for_words
from sentgen.corpus.paths import expand, place_of, unnamable
from sentgen.corpus.reader import Reader
from sentgen.corpus.sources import Source
from sentgen.counts.cluster import merging
from sentgen.counts.cluster.catalogue import (
    JOB,
    SETTINGS,
    Catalogue,
    Counted,
    LakeJob,
    Unfinished,
    changed,
    locked,
)
from sentgen.counts.cluster.shards import TREES, Shard, ShardReading, SourcePart, pack, read_shard, survey
from sentgen.counts.cluster.stages import disk_note, write_json
from sentgen.counts.settings import Settings
from sentgen.errors import InputError, NotFoundError, spell
from sentgen.schema.lakes import LakeFile
from sentgen.schema.places import MANIFEST, Place

#: Bytes of memory for counting the trees of a shard.
_LEAST_MEMORY = 512 << 20
#: Bytes on the disk, measured by benchmarks/cluster.py: intermediate, and in the lake, for a byte of plain
#: text; and for a record of each range that is merged.
_WORK_BYTES, _LAKE_BYTES, _MERGE_BYTES = 2.0, 2.6, 60
#: The fewest bytes of text that a token takes on average, with its blank, for an estimate of records.
_TOKEN_BYTES = 4
#: The stages in their order; each has a folder of its name.
STAGES = ("survey", "read", "known", "words", "number", "fresh", "numbers", "tags", "count", "merge", "trees")


@dataclass(frozen=True, slots=True)
class TaskSizes:
    """The sizes of tasks, on which counts do not depend.

    Attributes:
        shard: minimal size of a shard in bytes of text.
        most: approximate limit of shards, and of ranges, in one run; those of a large corpus are larger.
        words: bytes of text for each partition of the words.
        range: minimal number of records that are merged into one file of each order.
    """

    shard: int = 16 << 20
    most: int = 256
    words: int = 4 << 30
    range: int = 1 << 22


@dataclass(slots=True)
class ClusterSummary:
    """Figures of a run."""

    corpus: str
    sources: int = 0
    unchanged: int = 0
    sentences: int = 0
    tokens: int = 0
    rejected: int = 0
    new_words: int = 0
    files: int = 0
    bytes: int = 0
    seconds: float = 0.0
    #: Seconds of each stage that had tasks to do.
    stages: dict[str, float] = field(default_factory=dict)
    passed_over: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Job(LakeJob):
    """One run of a count."""

    settings: Settings
    sizes: TaskSizes = field(default_factory=TaskSizes)
    _summary: ClusterSummary = field(init=False)

    def run(self, paths: Sequence[str]) -> ClusterSummary:
        """Count the sources that the corpus does not have yet, and add them to the manifest.

        Raises:
            InputError: a path, a setting or a sentence is wrong.
            InUseError: another process writes the lake.
            StoreError: the disk is full, workers are gone, or another job is unfinished.
        """
        began = time.monotonic()
        with self.begun("count"):
            self._summary = ClusterSummary(self.settings.corpus)
            self.catalogue.check(self.settings)
            shards, sources = self._plan(paths)
            if sources:
                self.catalogue.add(self.settings, sources, self._count(shards, sources))
            self.clear()
        self._summary.seconds, self._summary.stages = time.monotonic() - began, self.stages.seconds
        return self._summary

    def _plan(self, paths: Sequence[str]) -> tuple[list[Shard], list[Counted]]:
        """Return the shards to be counted, and their sources."""
        readable = self._sources(paths)
        # The task that surveys a file has another name once the file has changed.
        names = [_name_of(source, reader, self.sizes.shard) for source, reader in readable]
        calls = [(source, reader.name, number) for number, (source, reader) in enumerate(readable)]
        surveys = self.stages.run("survey", survey, calls, names=names, most=self.sizes.shard)
        return self._choose(readable, surveys)

    def _sources(self, paths: Sequence[str]) -> list[tuple[Source, Reader]]:
        readable: list[tuple[Source, Reader]] = []
        for source in expand(paths, encoding=self.settings.encoding):
            if source.is_stream:
                raise InputError("workers cannot read a stream; name a file", path=source.name)
            reader: Reader | str = unnamable(source)
            reader = reader or choose_reader(source, self.settings.format, self.settings.reading)
            if isinstance(reader, Reader):
                readable.append((source, reader))
                if takes_tags_for_words(reader, source):
                    self.say(f"warning: {source.name}: {MARKUP_WARNING}")
            else:
                self._summary.passed_over.append((source.name, reader))
        if not readable:
            raise InputError(f"none of the files found is a corpus; give {spell('format')}")
        return readable

    def _choose(
        self, readable: Sequence[tuple[Source, Reader]], surveys: Sequence[dict[str, Any]]
    ) -> tuple[list[Shard], list[Counted]]:
        """Leave out sources that the corpus has, and pack the pieces of the others into shards."""
        known = self.catalogue.known(self.settings.corpus)
        pieces: list[tuple[str, SourcePart]] = []
        sources: list[Counted] = []
        for (source, reader), surveyed in zip(readable, surveys, strict=True):
            identity = (surveyed["sha256"], reader.name, reader.version)
            if identity in known:
                self._summary.unchanged += 1
                continue
            known.add(identity)
            where = {"source": len(sources), "name": source.name, "path": str(Path(source.path).absolute())}
            pieces += [(reader.name, SourcePart(**{**piece, **where})) for piece in surveyed["pieces"]]
            sources.append(Counted(place_of(source.name), *identity))
        settings = {name: getattr(self.settings, name) for name in SETTINGS}
        plan = {"settings": settings, "sources": [asdict(source) for source in sources]}
        planned = self.plan(plan)
        if not sources:
            return [], []
        if planned is None:
            total = sum(piece.bytes for _, piece in pieces)
            shards = pack(pieces, max(self.sizes.shard, total // self.sizes.most))
            planned = {**plan, "shards": [asdict(shard) for shard in shards]}
            write_json(self.work / JOB, planned)
        self._tell_disk(sum(piece.bytes for _, piece in pieces))
        return [Shard.from_json(shard) for shard in planned["shards"]], sources

    def _tell_disk(self, text: int) -> None:
        tokens = text // _TOKEN_BYTES
        merged = min(tokens, max(self.engine.workers, 1) * max(self.sizes.range, tokens // self.sizes.most))
        needed = int(text * _WORK_BYTES) + merged * _MERGE_BYTES
        self.say(disk_note(self.work, "counts", needed, int(text * _LAKE_BYTES)))

    def _count(self, shards: Sequence[Shard], sources: list[Counted]) -> list[LakeFile]:
        """Run the stages behind the plan; return the files that they wrote to the lake."""
        parts = math.ceil(sum(shard.bytes for shard in shards) / self.sizes.words) or 1
        (self.work / "read").mkdir(exist_ok=True)
        read = ShardReading(self.settings, str(self.work / "read"), parts, self.task_memory(_LEAST_MEMORY))
        receipts = self.stages.run("read", read_shard, [(read, shard) for shard in shards])
        tokens = [sum(tally["tokens"] for tally in receipt["tallies"]) for receipt in receipts]
        self._tally(receipts, sources)
        trees = [number for number, receipt in enumerate(receipts) if receipt["trees"]]
        numbering, files = self._number(read, len(shards), trees)
        calls = [(read, numbering, number, bool(receipt["trees"])) for number, receipt in enumerate(receipts)]
        counted = self.stages.run("count", merging.count_shard, calls, tokens=tokens, shards=len(shards))
        batches = [receipt["batches"] for receipt in counted]
        files += self._merge(read, batches, trees)
        self._summary.files, self._summary.bytes = len(files), sum(file.bytes for file in files)
        return files

    def _tally(self, receipts: Sequence[dict[str, Any]], sources: list[Counted]) -> None:
        for tally in (tally for receipt in receipts for tally in receipt["tallies"]):
            sources[tally["id"]].add(tally)
        for source in sources:
            if not source.sentences and not source.rejected:
                self.clear()
                raise InputError("has no sentences", path=source.path)
        done = self._summary
        done.sources = len(sources)
        done.sentences = sum(source.sentences for source in sources)
        done.tokens = sum(source.tokens for source in sources)
        done.rejected = sum(source.rejected for source in sources)

    def _number(
        self, read: ShardReading, shards: int, trees: Sequence[int]
    ) -> tuple[merging.LakeNumbers, list[LakeFile]]:
        base, lake, every = self.catalogue, self.lake, range(shards)
        word_files = [read.file(number, "words") for number in every]
        stored = [file.path for file in base.files("word")]
        known = [self.stages.file("known", number) for number in range(len(stored))]
        self.stages.run(
            "known",
            merging.split_words,
            [(lake, file, read.parts, to) for file, to in zip(stored, known, strict=True)],
        )
        parts = range(read.parts)
        summed = [self.stages.file("words", part, "parquet") for part in parts]
        self.stages.run(
            "words",
            merging.sum_words,
            [(part, word_files, known, to) for part, to in zip(parts, summed, strict=True)],
        )
        (numbered,) = self.stages.run(
            "number",
            merging.number_words,
            [(lake, summed, base.next_id("word"), len(stored))],
            sentences=self._summary.sentences,
            most=max(self.sizes.range, self._summary.tokens // self.sizes.most),
            memory=read.memory // 2,
        )
        files = _files([numbered["file"]])
        self._summary.new_words = numbered["new"]
        fresh = [self.stages.file("fresh", number) for number in range(len(files))]
        self.stages.run(
            "fresh",
            merging.split_words,
            [(lake, f.path, read.parts, to) for f, to in zip(files, fresh, strict=True)],
        )
        numbers = [self.stages.file("numbers", part) for part in parts]
        known += fresh
        self.stages.run(
            "numbers",
            merging.resolve_words,
            [(part, word_files, known, to) for part, to in zip(parts, numbers, strict=True)],
        )
        tags = self.stages.file("tags", 0, "parquet")
        labels = [file.path for file in base.files("tag")]
        tag_files = [read.file(number, "tags") for number in trees]
        call = (lake, tag_files, labels, base.next_id("tag"), len(labels), tags)
        files += _files(receipt["file"] for receipt in self.stages.run("tags", merging.number_tags, [call]))
        numbering = merging.LakeNumbers(tuple(map(str, numbers)), str(tags), tuple(numbered["ranges"]))
        return numbering, files

    def _merge(
        self, read: ShardReading, batches: Sequence[Sequence[int]], trees: Sequence[int]
    ) -> list[LakeFile]:
        """Merge the counts of the shards, each range by itself."""
        segment, base = self.catalogue.next_segment, self.catalogue
        tables = [f"ngram_{order}" for order in range(1, self.settings.order + 1)]
        calls = []
        for number in range(len(batches[0])):
            runs = [
                (read.file(shard, "records"), range(sum(rows[:number]), sum(rows[: number + 1])))
                for shard, rows in enumerate(batches)
                if rows[number]
            ]
            if runs:
                calls.append(
                    (self.lake, runs, segment, {table: len(base.files(table)) + number for table in tables})
                )
        merged = self.stages.run("merge", merging.merge_range, calls, memory=read.memory, scratch=self.work)
        of_trees = [
            (
                self.lake,
                table,
                [read.file(number, f"{table}-counted") for number in trees],
                segment,
                len(base.files(table)),
            )
            for table in TREES
            if trees
        ]
        merged += self.stages.run("trees", merging.merge_trees, of_trees, memory=read.memory)
        return _files(file for receipt in merged for file in receipt["files"])


def _files(results: Iterable[Mapping[str, Any] | None]) -> list[LakeFile]:
    return [LakeFile(**file) for file in results if file]


def _name_of(source: Source, reader: Reader, most: int) -> str:
    """Return a name that changes with the path, size, time or reader of a source, or the size of pieces."""
    stat = Path(source.path).stat()
    identity = (place_of(source.name), stat.st_size, stat.st_mtime_ns, reader.name, reader.version, most)
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:32]


STAGE = "unfinished stage"


def status(lake: Place, work: Path) -> Iterator[tuple[str, str, int, int | None, int]]:
    """Yield corpora, tables, and the stages of an unfinished count or model.

    Each has its kind, name, number of files, rows (of a corpus its tokens; of a stage None) and bytes.

    Raises:
        NotFoundError: there is neither a lake nor an unfinished count.
    """
    catalogue = Catalogue.read(lake)
    unfinished = catalogue.unfinished(work)
    if not lake.exists(MANIFEST) and unfinished is None:
        raise NotFoundError(f"{lake}: no lake here; make one with: sentgen cluster count PATH --to {lake}")
    for row in sorted(catalogue.rows("corpus"), key=lambda row: str(row["name"])):
        files = catalogue.files_of(row["id"])
        tokens = sum(one["tokens"] for one in catalogue.rows("segment") if one["corpus_id"] == row["id"])
        yield "corpus", row["name"], len(files), tokens, sum(file.bytes for file in files)
    for table, parts in sorted(catalogue.manifest.tables.items()):
        yield "table", table, len(parts), catalogue.manifest.rows(table), sum(file.bytes for file in parts)
    for stage in (unfinished.stages or STAGES) if unfinished else ():
        done = len(list((work / stage).glob("[!.]*.json")))
        size = sum(file.stat().st_size for file in (work / stage).glob("[!.]*") if file.is_file())
        yield STAGE, stage, done, None, size


def remove(lake: Place, work: Path, name: str) -> tuple[int, int]:
    """Remove a corpus and its files from a lake; return its sentences and tokens.

    Raises:
        NotFoundError: there is no such corpus.
        StoreError: a count is unfinished, and needs the lake as it is; or the lake was made from a store.
    """
    with changed(lake, work) as catalogue:
        return catalogue.remove(name)


def drop_unfinished(lake: Place, work: Path) -> Unfinished:
    """Drop an unfinished count or model, and return it; the lake stays as it is.

    Raises:
        NotFoundError: no job is unfinished.
    """
    with locked(lake, work):
        catalogue = Catalogue.read(lake)
        unfinished = catalogue.unfinished(work)
        if unfinished is None:
            raise NotFoundError(f"{work}: no unfinished count or model here")
        catalogue.clear(work)
        return unfinished
