"""A lake that was counted, in this process: it has counts of the demo treebank, and no sentences."""

from __future__ import annotations

from pathlib import Path

from sentgen.counts.cluster.job import Job
from sentgen.counts.cluster.stages import Inline
from sentgen.counts.settings import Settings
from sentgen.demo import TREEBANK
from sentgen.schema.places import Place


def counted_lake(folder: Path) -> Path:
    """Count the treebank as the corpus ``c`` into a lake below a folder."""
    lake = folder / "lake"
    Job(Place(lake), lake / "_work", Inline(), 1 << 29, Settings(corpus="c")).run([str(TREEBANK)])
    return lake
