"""Clusters for `Database.generate`: a text, a file, or what the store has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sentgen.api.door import StoreSession
from sentgen.api.sentences import Sentences
from sentgen.api.texts import as_file
from sentgen.corpus.parsers import Parser
from sentgen.corpus.sources import expand
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.generation.clusters.clusters import Clusters, Generated, parse_lengths, temporary_clusters
from sentgen.generation.clusters.generate import generate
from sentgen.generation.clusters.request import ClusterRequest
from sentgen.models.related.cluster_counts import cluster_names
from sentgen.output.progress import counted

#: Share of the memory for the DuckDB of a store that holds the clusters alone.
_SHARE = 0.15


def generated(
    door: StoreSession,
    file: str | Path | None,
    asked: ClusterRequest,
    *,
    weights: Mapping[str, float] | None = None,
    parser: Parser | None = None,
) -> Sentences:
    """Make the most probable sentences of each length from the words of clusters.

    Args:
        door: the store; with ``corpus`` and ``file``, the clusters become a corpus of it.
        file: the clusters, a document each, as a text or a file.
        asked: everything else.
        weights: of words, in place of a kind of salience.
        parser: for sentences without trees.
    """
    lengths = parse_lengths(asked.lengths)
    with door.reading() as store, _clusters(door, file, asked, parser) as clusters:
        models = asked.models(store)
        found, done = [], set[str]()
        with counted("clusters") as progress:
            for one in generate(
                clusters.store,
                clusters.corpus,
                lengths=lengths,
                settings=asked.settings(weights or asked.salience),
                clusters=clusters.chosen,
                nbest=asked.nbest,
                best=asked.best,
                lm=models.lm,
                reranker=models.reranker,
            ):
                found.append(one)
                if progress is not None and one.cluster not in done:
                    done.add(one.cluster)
                    progress(len(done), len(clusters.chosen))
        return Sentences(Generated(asked, len(clusters.chosen), found, clusters.tags))


@contextmanager
def _clusters(
    door: StoreSession, file: str | Path | None, asked: ClusterRequest, parser: Parser | None
) -> Iterator[Clusters]:
    """Open the clusters: those of the store with ``corpus``, else ones that are removed afterward."""
    names = asked.cluster or None
    if file is None:
        if asked.corpus is None:
            raise InputError("there is nothing to generate from; give a cluster, or the name of a `corpus`")
        if asked.format is not None or parser is not None:
            raise InputError("`format` and `parser` are for a text; clusters of a `corpus` are read already")
        with door.reading() as store:
            yield Clusters(store, asked.corpus, cluster_names(store, asked.corpus, names=names), kept=True)
        return
    with as_file(file, "cluster") as path:
        if asked.corpus is None:
            limit = int(door.memory * _SHARE)
            with temporary_clusters(
                path, names=names, form=asked.format, parser=parser, memory_limit=limit
            ) as temporary:
                yield temporary
            return
        if not isinstance(file, Path):
            raise InputError("a text cannot be kept as a corpus; give a pathlib.Path, or leave `corpus` out")
        # By content: the corpus may have clusters of other files, and this one may be in it already.
        sources = [source.sha256() for source in expand([path])]
        with door.writing() as store:
            ingest(store, [path], Settings(asked.corpus, asked.format, kind="cluster"), parser=parser)
        chosen = cluster_names(store, asked.corpus, names=names, sources=sources)
        yield Clusters(store, asked.corpus, chosen, kept=True)
