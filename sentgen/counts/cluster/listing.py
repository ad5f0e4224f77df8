"""What a lake holds, and how far an unfinished count or model of it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sentgen.counts.cluster.catalogue import Catalogue, Unfinished, changed, locked
from sentgen.counts.cluster.job import STAGES
from sentgen.errors import NotFoundError
from sentgen.schema.lakes.layout import is_lake
from sentgen.schema.lakes.places import Place

STAGE = "unfinished stage"


@dataclass(frozen=True, slots=True)
class _LakeEntry:
    """A corpus, a table or a stage, with its files and bytes; rows are tokens of a corpus, or none."""

    what: str
    name: str
    files: int
    rows: int | None
    bytes: int


def status(lake: Place, work: Path) -> Iterator[_LakeEntry]:
    """Yield corpora, tables, and the stages of an unfinished count or model.

    Raises:
        NotFoundError: there is neither a lake nor an unfinished count.
    """
    catalogue = Catalogue.read(lake)
    unfinished = catalogue.unfinished(work)
    if not is_lake(lake) and unfinished is None:
        raise NotFoundError(f"{lake}: no lake here; make one with: sentgen cluster count PATH --to {lake}")
    for row in sorted(catalogue.rows("corpus"), key=lambda row: str(row["name"])):
        files = catalogue.files_of(row["id"])
        tokens = sum(one["tokens"] for one in catalogue.rows("segment") if one["corpus_id"] == row["id"])
        yield _LakeEntry("corpus", row["name"], len(files), tokens, sum(file.bytes for file in files))
    for table, found in sorted(catalogue.manifest.tables.items()):
        yield _LakeEntry(
            "table", table, len(found), catalogue.manifest.rows(table), sum(file.bytes for file in found)
        )
    for stage in (unfinished.stages or STAGES) if unfinished else ():
        done = len(list((work / stage).glob("[!.]*.json")))
        size = sum(file.stat().st_size for file in (work / stage).glob("[!.]*") if file.is_file())
        yield _LakeEntry(STAGE, stage, done, None, size)


def remove(lake: Place, work: Path, name: str) -> tuple[int, int]:
    """Take a corpus out of a lake, and its files with it; return its sentences and tokens.

    Raises:
        NotFoundError: there is no such corpus.
        StoreError: a count is not finished, which goes on from the lake as it is; or the lake was
            made of a store.
    """
    with changed(lake, work) as catalogue:
        return catalogue.remove(name)


def drop_unfinished(lake: Place, work: Path) -> Unfinished:
    """Drop a count or a model that is not finished; the lake stays as it is. Return what it was.

    Raises:
        NotFoundError: there is none.
    """
    with locked(lake, work):
        catalogue = Catalogue.read(lake)
        unfinished = catalogue.unfinished(work)
        if unfinished is None:
            raise NotFoundError(f"{work}: no unfinished count or model here")
        catalogue.clear(work)
        return unfinished
