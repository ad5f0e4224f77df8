"""`sentgen generate` and `sentgen fuse`: new sentences from related ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from sentgen.cli.console.options import (
    LOOKUP_SHARE,
    Arrange,
    ParserOption,
    StoreOptions,
    mistakes,
)
from sentgen.cli.console.output import Output, StoreOutput, printable
from sentgen.cli.regenerate import TreeFiles, show_generated
from sentgen.corpus.parsers import Parser, open_parser
from sentgen.corpus.paths import expand
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.evaluation.fusion.texts import FusionTexts
from sentgen.generation.clusters.clusters import Clusters, parse_lengths
from sentgen.generation.clusters.request import FILES_PANEL, ClusterRequest, Models
from sentgen.generation.clusters.settings import read_salience
from sentgen.generation.fusion.answer import FusionAnswer
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.models.dependency.cluster_counts import cluster_names
from sentgen.output.display import closed_up
from sentgen.output.progress import counting_bar

#: Share of the memory for the DuckDB of a temporary store of clusters, in addition to that of the model.
_CLUSTER_SHARE = 0.15


def generate(
    *,
    request: ClusterRequest,
    parser: Annotated[ParserOption, Arrange(after="format")] = None,
    files: Annotated[TreeFiles, Arrange(panel=FILES_PANEL)],
    out: StoreOutput,
) -> None:
    """Make the most probable sentences of each length from the words of a cluster of related sentences.

    `log10` is the decimal log-probability of the path through the words, and `exact` says whether it is
    proven to be the highest of its length; formats for programs have the natural one, too: `logp`. The
    sentences are invented, and may be false: see `sentgen check`.

    Example: `sentgen generate cluster.conllu --lengths 5-12 --trace`
    """
    settings = request.settings(read_salience(request.salience), request.algorithm)
    with mistakes("--lengths"):
        lengths = parse_lengths(request.lengths)
    trees = open_parser(parser) if parser else None
    with (
        _clusters(request, trees, out) as clusters,
        _models(clusters, request, out) as models,
        counting_bar("clusters") as progress,
    ):
        generated = clusters.generate_all(lengths, request, settings, models, progress)
    files.write(generated, out)
    show_generated(generated, out)


@contextmanager
def _clusters(request: ClusterRequest, parser: Parser | None, options: StoreOptions) -> Iterator[Clusters]:
    """Open the store with the clusters: the user's with --corpus, else a temporary one."""
    file, corpus, names, form = request.file, request.corpus, request.cluster or None, request.format
    if file is None:
        if corpus is None:
            raise InputError("there is nothing to generate from; give FILE, - , or --corpus NAME")
        if form is not None or parser is not None:
            raise InputError("--format and --parser are for FILE; clusters of --corpus are read already")
        with options.lookups() as store:
            yield Clusters(store, corpus, cluster_names(store, corpus, names=names), kept=True)
    elif corpus is None:
        limit = options.database_memory(_CLUSTER_SHARE)
        with Clusters.temporary(file, names=names, form=form, parser=parser, memory_limit=limit) as temporary:
            yield temporary
    else:
        if file == "-":
            raise InputError("standard input cannot be kept; name a file, or leave --corpus out")
        # By hash, as the corpus may have clusters of other files, and may have this file already.
        sources = [source.sha256() for source in expand([file])]
        with options.store(create=True, share=LOOKUP_SHARE) as store:
            ingest(store, [file], Settings(corpus, form, kind="cluster"), parser=parser)
            store.downgrade_to_read()
            yield Clusters(
                store, corpus, cluster_names(store, corpus, names=names, sources=sources), kept=True
            )


@contextmanager
def _models(clusters: Clusters, request: ClusterRequest, options: StoreOptions) -> Iterator[Models]:
    """Find the models of the request, in the user's store."""
    if not request.asks_models:
        yield Models()
    elif clusters.kept:
        yield request.models(clusters.store)
    else:
        with options.lookups() as store:
            yield request.models(store)


def fuse(
    *,
    request: FusionTexts,
    parser: Annotated[ParserOption, Arrange(after="related")] = None,
    out: StoreOutput,
) -> None:
    """Make one new sentence of a key sentence and units of related ones (Global Revision, 2007).

    Phrases of the related sentences are added to words of the key sentence that they share, or replace what
    names the same thing less precisely, and a clause about something else is conjoined; where nothing fits,
    there is no sentence, and the exit code is 1. Nothing checks whether the result is true: `sentgen check`
    does. All sentences need trees: CoNLL-U, or any text with --parser.

    Example: `sentgen fuse 1 --with cluster.conllu`
    """
    request.check()
    trees = open_parser(parser) if parser else None
    file = str(request.key)
    key, related = request.sentences(trees, file=file if os.path.exists(file) else None)
    if request.model is None:
        answer = fused_sentences(key, related, request)
    else:
        with out.lookups() as store:
            answer = fused_sentences(key, related, request, store)
    _show(answer, out)


def _show(answer: FusionAnswer, out: Output) -> None:
    if not out.for_reading:
        out.table(answer.table())
    for each in answer.sentences if out.for_reading else ():
        typer.echo(printable(closed_up(each.text)))
    for note in answer.notes():
        out.note(note)
    if not answer.sentences:
        raise typer.Exit(1)
