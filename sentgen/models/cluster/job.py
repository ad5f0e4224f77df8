"""Build a model over the counts of a lake, stage by stage; a run that was killed goes on where it stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from sqlalchemy import func, select

from sentgen.counts.cluster.catalogue import EPOCH, JOB, Catalogue, LakeJob, bounds, changed
from sentgen.counts.cluster.stages import disk_note, read_json, write_json
from sentgen.errors import InputError, StoreError
from sentgen.models.base.registry import STUPID_BACKOFF, find_all, next_version, require_name
from sentgen.models.building import kneser_ney
from sentgen.models.building.recipe import BuiltFrom, Recipe
from sentgen.models.building.writing import rows_of
from sentgen.models.cluster.tasks import ModelPlan
from sentgen.schema import Store
from sentgen.schema.lakes import LakeFile, Manifest
from sentgen.schema.places import Place
from sentgen.schema.tables.corpus import source

#: Memory of a task under the smallest limit.
_LEAST_MEMORY = 256 << 20
#: Bytes on the disk for an n-gram, by benchmarks/cluster_models.py: in files between stages, and in the lake.
_WORK_BYTES, _LAKE_BYTES = 70, 13
#: The stages in their order; each has a folder of its name.
STAGES = ("split", "adjust", "unigrams", "smooth", "interpolate", "place", "write")
#: Folders beside those of the stages.
_ARRAYS = ("anchors", "words")
SMOOTHING = ("kneser-ney", STUPID_BACKOFF)
UNKNOWN = ("word", "none")
#: Small tables of models, and the columns with their numbers.
_TABLES = {
    "model": "id",
    "model_corpus": "model_id",
    "model_parameter": "model_id",
    "model_weight": "model_id",
}


@dataclass(frozen=True, slots=True)
class ModelTaskSizes:
    """How work is divided into tasks; of the model, only the boundaries of its files depend on these sizes.

    Attributes:
        rows: minimal number of n-grams of all orders in a range or part.
        most: about how many ranges and parts a model has at most; a large model has larger ones.
        file: minimal number of n-grams in a file of the lake.
    """

    rows: int = 1 << 22
    most: int = 256
    file: int = 1 << 22


@dataclass(slots=True)
class Built:
    """The model that a run made."""

    label: str
    vocabulary: int
    tokens: int
    ngrams: int = 0
    files: int = 0
    bytes: int = 0
    seconds: float = 0.0
    #: Seconds of each stage that had something to do.
    stages: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class ModelJob(LakeJob):
    """One run of a build, in the lake that has the counts."""

    sizes: ModelTaskSizes = field(default_factory=ModelTaskSizes)

    def run(self, name: str, corpora: Sequence[str], settings: Recipe) -> Built:
        """Build the next version of a model, and name it in the manifest.

        Raises:
            InputError: a lake does not support a setting.
            NotFoundError: there is no lake, or no such corpus.
            ModelError: a corpus is not counted to the order.
            InUseError: another process writes the lake.
            StoreError: the disk is full, workers are gone, or something unfinished is in the way.
        """
        check(name, settings)
        Manifest.read(self.lake)
        began = time.monotonic()
        # Stupid back-off has no stages to resume.
        with self.begun("model" if settings.smoothing == SMOOTHING[0] else "") as planned:
            if planned and (done := self._finished(planned, name, corpora, settings)) is not None:
                return done
            built = self._build(name, corpora, settings)
            self.clear()
        built.seconds, built.stages = time.monotonic() - began, self.stages.seconds
        return built

    def _finished(
        self, plan: dict[str, Any], name: str, corpora: Sequence[str], settings: Recipe
    ) -> Built | None:
        """Return the model of a finished plan; None if the plan was for another name, corpora or settings."""
        planned = plan.get("model", {})
        if (planned.get("name"), plan.get("recipe")) != (name, _as_json(settings)):
            return None
        if [each["name"] for each in plan["corpora"]] != list(dict.fromkeys(corpora)):
            return None
        (row,) = (row for row in self.catalogue.rows("model") if row["id"] == planned["id"])
        return Built(f"{name}@{row['version']}", row["vocabulary"], row["tokens"])

    def _build(self, name: str, corpora: Sequence[str], settings: Recipe) -> Built:
        with (
            Store(self.lake.root, read_only=True, memory_limit=max(self.memory // 2, _LEAST_MEMORY)) as store,
            store.connect() as connection,
        ):
            sources = tuple(BuiltFrom.find(connection, each) for each in dict.fromkeys(corpora))
            settings.check(sources)
            number, version = next_version(connection, name)
            of_sources = source.c.corpus_id.in_([each.id for each in sources])
            # When their last source was stored: a lake knows no other times.
            made = connection.execute(select(func.max(source.c.ingested_at)).where(of_sources)).scalar()
            words = settings.vocabulary(connection, sources) if settings.smoothing != SMOOTHING[0] else 0
        built = Built(f"{name}@{version}", words, sum(each.tokens for each in sources))
        rows = rows_of(number, (name, version), settings, sources, words, made or EPOCH)
        tables: list[LakeFile] = []
        if settings.smoothing == SMOOTHING[0]:
            plan = self._plan(name, number, version, sources, settings)
            tables, estimated = self._smooth(plan, number)
            rows["model"][0]["vocabulary"] = built.vocabulary = estimated["vocabulary"]
            rows["model_parameter"] = [
                {"model_id": number, "n": n, "name": key, "value": value}
                for n, key, value in sorted(map(tuple, estimated["parameters"]))
            ]
            built.ngrams = sum(file.rows for file in tables)
        self._add(rows, tables)
        built.files, built.bytes = len(tables), sum(file.bytes for file in tables)
        return built

    def _plan(
        self, name: str, number: int, version: int, corpora: tuple[BuiltFrom, ...], settings: Recipe
    ) -> ModelPlan:
        """Return the plan of the model: that of an interrupted run for the same model, else a new one."""
        what = {
            "model": {"id": number, "name": name, "version": version},
            "recipe": _as_json(settings),
            "corpora": [{**asdict(each), "segments": list(each.segments)} for each in corpora],
        }
        plan = self.plan(what)
        if plan is None:
            segments = [segment for each in corpora for segment in each.segments]
            firsts, parts, ngrams = _ranges(self.catalogue, segments, settings.order, self.sizes)
            plan = {**what, "stages": STAGES, "ranges": firsts, "parts": parts, "ngrams": ngrams}
            plan["file"] = self.sizes.file
            write_json(self.work / JOB, plan)
        ngrams = plan["ngrams"]
        self.say(disk_note(self.work, "builds", ngrams * _WORK_BYTES, ngrams * _LAKE_BYTES))
        for folder in _ARRAYS:
            (self.work / folder).mkdir(exist_ok=True)
        cut, memory = (tuple(plan["ranges"]), plan["parts"]), self.task_memory(_LEAST_MEMORY)
        return ModelPlan(self.lake, str(self.work), settings, corpora, *cut, memory)

    def _smooth(self, plan: ModelPlan, number: int) -> tuple[list[LakeFile], dict[str, Any]]:
        """Run the stages; return the files that they wrote into the lake, and the estimates of order 1."""
        run, order = self.stages.run, plan.recipe.order
        every = [(plan, task) for task in range(len(plan.ranges))]
        parts = [(plan, task) for task in range(plan.parts)] if order > 1 else []
        counts = [task["counts"] for task in run("split", ModelPlan.split, every)]
        counts += [task["counts"] for task in run("adjust", ModelPlan.adjust, parts)]
        plan_file = read_json(self.work / JOB)
        (estimated,) = run("unigrams", ModelPlan.unigrams, [(plan, plan_file["file"])])
        discounts = []
        for n in plan.orders:
            # The parts have no counts of the highest order.
            known = [task[n - 2] for task in counts if len(task) > n - 2]
            parameters, steps = kneser_ney.estimated(n, [sum(each) for each in zip(*known, strict=True)])
            estimated["parameters"] += parameters
            discounts.append(steps.tolist())
        run("smooth", ModelPlan.smooth, [(*call, discounts) for call in every])
        run("interpolate", ModelPlan.interpolate, parts)
        anchors = estimated["anchors"]
        run("place", ModelPlan.divide_by_anchor, [(*call, anchors) for call in every])
        first = len(self.catalogue.files("model_ngram"))
        calls = [(plan, task, number, first + task) for task in range(len(anchors))]
        written = run("write", ModelPlan.write, calls)
        return [LakeFile(**task["file"]) for task in written], estimated

    def _add(self, rows: dict[str, list[dict[str, object]]], files: Sequence[LakeFile]) -> None:
        """Add the model to the manifest, which makes it visible to readers."""
        catalogue = self.catalogue
        tables = catalogue.tables()
        if files:
            tables["model_ngram"] = [*tables.get("model_ngram", ()), *files]
        for name, new in rows.items():
            # In a new file: processes that have the lake open go on reading the old ones.
            there = tables.get(name, [])
            tables[name] = [*there, catalogue.write(name, new, len(there))]
        catalogue.commit(tables)


def check(name: str, settings: Recipe) -> None:
    """Refuse settings that need the text, which a lake does not have.

    Raises:
        InputError: the build has such a setting.
    """
    require_name(name)
    if settings.smoothing not in SMOOTHING:
        raise InputError(
            f"{settings.smoothing} is not built in a lake; choose {' or '.join(SMOOTHING)}, "
            "or build it in a store: sentgen models build"
        )
    if settings.unknown not in UNKNOWN or settings.brackets:
        raise InputError(
            "classes of unknown words and brackets are counted from the text, which a lake may not have; "
            "build such a model in a store: sentgen models build"
        )


def _as_json(settings: Recipe) -> dict[str, object]:
    """Return the settings as JSON keeps them."""
    values = {**asdict(settings), "min_count": list(settings.min_count)}
    del values["symbols"]  # all are over words, and plans of earlier versions lack the key
    return values


def remove_model(lake: Place, work: Path, label: str) -> list[str]:
    """Remove one version (``NAME@VERSION``) or all versions of a model, with its files; return their labels.

    Neither their numbers nor their versions are used again, as in a store.

    Raises:
        NotFoundError: there is no such model.
        StoreError: something is not finished; or a file has n-grams of other models, too, since the lake was
            made of a store.
    """
    Manifest.read(lake)
    with changed(lake, work) as catalogue:
        with Store(lake.root, read_only=True) as store:
            models = find_all(store, label)
        gone = {model.id for model in models}
        tables = catalogue.tables()
        tables["model_ngram"] = [file for file in catalogue.files("model_ngram") if not _of(lake, file, gone)]
        for table, column in _TABLES.items():
            tables[table] = catalogue.without(table, column, gone)
        removed = catalogue.rows("removed_model") + [
            {"id": one.id, "name": one.name, "version": one.version, "removed_at": EPOCH} for one in models
        ]
        tables["removed_model"] = [catalogue.write("removed_model", removed, 0)]
        catalogue.drop_unused(tables)
        catalogue.commit(tables)
        return [model.label for model in models]


def _of(lake: Place, file: LakeFile, models: set[int]) -> bool:
    """Return whether a file has n-grams of these models, and of no others.

    Raises:
        StoreError: the file has n-grams of these models and of others.
    """
    least, most = bounds(lake, file, "model_id")
    within = models & set(range(least, most + 1))
    if within and (least != most):
        raise StoreError(
            f"{lake}: the lake was made of a store, with several models in a file; "
            "remove the model there, and export it again"
        )
    return bool(within)


def _ranges(
    catalogue: Catalogue, segments: Sequence[int], order: int, sizes: ModelTaskSizes
) -> tuple[list[int], int, int]:
    """Divide the first words into ranges of about equal numbers of n-grams, by the statistics of row groups.

    Returns:
        The first word of each range, the number of parts, and an upper bound on the number of n-grams.
    """
    groups = sorted(_groups(catalogue, segments, order))
    total = sum(rows for _, rows in groups)
    most = max(sizes.rows, total // sizes.most)
    firsts, rows = [0], 0
    for word, size in groups:
        if rows >= most and word > firsts[-1]:
            firsts.append(word)
            rows = 0
        rows += size
    return firsts, max(1, -(-total // most)), total


def _groups(catalogue: Catalogue, segments: Sequence[int], order: int) -> Iterator[tuple[int, int]]:
    """Yield the least first word and the rows of each row group of the segments."""
    for n in range(1, order + 1):
        for file in catalogue.files(f"ngram_{n}"):
            with catalogue.lake.open(file.path) as opened:
                about = pq.read_metadata(opened)
            for group in (about.row_group(number) for number in range(about.num_row_groups)):
                # Its first two columns: segment_id and w1.
                segment, word = group.column(0).statistics, group.column(1).statistics
                if any(segment.min <= one <= segment.max for one in segments):
                    yield int(word.min), int(group.num_rows)
