"""Generation from clusters: time of the search, how much of it is proven, and what a wider beam finds.

    python benchmarks/generate.py

The clusters are those of the demo treebank with four sentences, the lengths 1 to 40, as in the papers. Times are
CPU milliseconds a cluster on one thread, after a first cluster that compiles.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from harness import show

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.generation.clusters.generate import LENGTHS, GenerationSettings, generate
from sentgen.models.dependency.cluster_counts import ClusterCounts, cluster_names
from sentgen.output.display import decimal
from sentgen.schema import Store

SYSTEMS = {
    "free": GenerationSettings(reuse="free"),
    "free, the paper's search": GenerationSettings(reuse="free", beam=1),
    "free, bigrams": GenerationSettings(reuse="free", algorithm="bigram"),
    **{f"none, beam {beam}": GenerationSettings(beam=beam) for beam in (1, 8, 32, 128)},
    **{f"counts, beam {beam}": GenerationSettings(reuse="counts", beam=beam) for beam in (1, 8, 32, 128)},
    "none, Collins": GenerationSettings(smoothing="collins"),
}
Clusters = Sequence[tuple[int, str]]


def four_sentences(store: Store) -> Clusters:
    """Return the clusters that have four."""
    clusters = cluster_names(store, "relief")
    counts = ClusterCounts.of_corpus(store, "relief", clusters)
    return [one for one, of in zip(clusters, counts, strict=True) if of.sentences == 4]


def row(store: Store, clusters: Clusters, name: str, settings: GenerationSettings) -> list[object]:
    """Generate from all clusters and sum up."""
    list(generate(store, "relief", settings=settings, clusters=clusters[:1], lengths=[2]))
    began = time.process_time()
    found = list(generate(store, "relief", settings=settings, clusters=clusters))
    cpu = time.process_time() - began
    log10 = decimal(sum(one.logp for one in found) / len(found))
    proven = sum(one.exact is True for one in found)
    return [name, 1000 * cpu / len(clusters), f"{proven} of {len(found)}", log10]


def main() -> None:
    """Print a table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "relief.duckdb", create=True, threads=1) as store,
    ):
        ingest(store, [str(TREEBANK)], Settings("relief", kind="cluster"))
        clusters = four_sentences(store)
        rows = [row(store, clusters, name, settings) for name, settings in SYSTEMS.items()]
    lengths = f"{LENGTHS[0]}-{LENGTHS[-1]}"
    show(
        f"{len(clusters)} clusters of four sentences, lengths {lengths}",
        ["words used again", "CPU ms a cluster", "exact", "mean log10"],
        rows,
    )


if __name__ == "__main__":
    main()
