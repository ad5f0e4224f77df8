"""Clusters for `Database.generate`: a text, a file, or what the store has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sentgen.api.arguments import declared
from sentgen.api.door import StoreSession
from sentgen.api.options import GenerateOptions
from sentgen.api.sentences import Sentences
from sentgen.api.texts import as_file, parser_of
from sentgen.corpus.parsers import Parser
from sentgen.corpus.paths import expand
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.generation.clusters.clusters import Clusters, generate_all, parse_lengths, temporary_clusters
from sentgen.generation.clusters.request import ClusterRequest
from sentgen.models.related.cluster_counts import cluster_names
from sentgen.output.progress import counted

#: Share of the memory for the DuckDB of a store that holds the clusters alone.
_SHARE = 0.15


def generated(door: StoreSession, file: str | Path | None, options: GenerateOptions) -> Sentences:
    """Make the most probable sentences of each length from the words of clusters.

    Args:
        door: the store; with ``corpus`` and ``file``, the clusters become a corpus of it.
        file: the clusters, a document each, as a text or a file.
        options: everything else; ``salience`` may have weights of words.
    """
    parser = parser_of(options.get("parser"))
    given: dict[str, object] = {**options, "lengths": lengths_of(options.get("lengths", "1-40"))}
    given.pop("parser", None)
    salience = options.get("salience", "uniform")
    if isinstance(salience, Mapping):
        del given["salience"]
    asked = declared(ClusterRequest, given)
    lengths = parse_lengths(asked.lengths)
    settings = asked.settings(salience if isinstance(salience, Mapping) else asked.salience)
    with (
        door.reading() as store,
        _clusters(door, file, asked, parser) as clusters,
        counted("clusters") as progress,
    ):
        return Sentences(generate_all(clusters, lengths, asked, settings, asked.models(store), progress))


def lengths_of(lengths: str | int | Iterable[int]) -> str:
    """Return lengths as the command line has them: a pair is a range, anything else is each by itself.

    >>> lengths_of((5, 20)), lengths_of([5, 10, 12]), lengths_of(7), lengths_of("5-20")
    ('5-20', '5,10,12', '7', '5-20')
    """
    if isinstance(lengths, (str, int)):
        return str(lengths)
    between = "-" if isinstance(lengths, tuple) and len(lengths) == 2 else ","
    return between.join(map(str, lengths))


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
