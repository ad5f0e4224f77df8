"""`sentgen generate`: new sentences from clusters of related ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sentgen.cli.console.files import check_file_option
from sentgen.cli.console.generated import Shown, show, write_files
from sentgen.cli.console.lengths import parse_lengths
from sentgen.cli.console.options import (
    LOOKUP_SHARE,
    DbOption,
    MemoryOption,
    ParserOption,
    database_memory,
    open_store,
)
from sentgen.cli.console.output import Output, output_options
from sentgen.cli.console.progress import counted
from sentgen.cli.console.waiting import told_when_slow
from sentgen.corpus.parsers import Parser, open_parser
from sentgen.corpus.sources import expand
from sentgen.counts import corpora
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.generation.bag_reader import TagKind
from sentgen.generation.clusters.clusters import Clusters, temporary_clusters
from sentgen.generation.clusters.depviterbi import BEAM
from sentgen.generation.clusters.generate import Generated, GenerationSettings, LanguageModel
from sentgen.generation.clusters.generate import generate as run
from sentgen.generation.clusters.salience import KINDS, parse_weights
from sentgen.models import registry
from sentgen.models.cluster_counts import cluster_names

_MODEL = "Model"
_FILES = "Trees and traces"
#: The language model of the paper: the cluster alone.
_OWN = "cluster"
#: Share of the memory for the DuckDB of a store that holds the clusters alone, beside that of the model.
_CLUSTER_SHARE = 0.15


@output_options
def generate(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE|-", help="Clusters: a document each, in any format with trees."),
    ] = None,
    *,
    lengths: Annotated[
        str, typer.Option("--lengths", metavar="LIST", help="Words of a sentence, such as 1-40 or 5,10-12.")
    ] = "1-40",
    nbest: Annotated[
        int, typer.Option("--nbest", min=1, help="Sentences to give for each length, at most.")
    ] = 1,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus", metavar="NAME", help="Keep FILE as this corpus; without FILE, take what is there."
        ),
    ] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option("--cluster", metavar="NAME", help="Only this document; may be repeated."),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="Format of FILE; detected if not given.")
    ] = None,
    parser: ParserOption = None,
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            "-a",
            metavar="depviterbi|bigram",
            help="With dependencies, or without: the baseline.",
            rich_help_panel=_MODEL,
        ),
    ] = "depviterbi",
    weight: Annotated[
        float,
        typer.Option(
            "--weight",
            metavar="0..1",
            help="Weight of dependencies against bigrams, below 1.",
            rich_help_panel=_MODEL,
        ),
    ] = 0.5,
    reuse: Annotated[
        str,
        typer.Option(
            "--reuse",
            metavar="none|counts|free",
            help="Each token once, a word as often as in one sentence, or without limit.",
            rich_help_panel=_MODEL,
        ),
    ] = "none",
    transitions: Annotated[
        str,
        typer.Option(
            "--transitions",
            metavar="all|seen",
            help="A word may follow any other, or only one that it follows in the cluster.",
            rich_help_panel=_MODEL,
        ),
    ] = "all",
    smoothing: Annotated[
        str,
        typer.Option(
            "--smoothing",
            metavar="none|collins",
            help="Of dependencies: none, or back-off to tags.",
            rich_help_panel=_MODEL,
        ),
    ] = "none",
    lm: Annotated[
        str,
        typer.Option(
            "--lm",
            metavar="cluster|MODEL",
            help="Bigrams of the cluster alone, or mixed with those of a model.",
            rich_help_panel=_MODEL,
        ),
    ] = _OWN,
    lm_weight: Annotated[
        float,
        typer.Option(
            "--lm-weight",
            metavar="0..1",
            help="Weight of the cluster's own bigrams beside --lm MODEL.",
            rich_help_panel=_MODEL,
        ),
    ] = 0.5,
    salience: Annotated[
        str,
        typer.Option(
            "--salience",
            metavar=f"{'|'.join(KINDS)}|FILE",
            help="Which words are chosen: all alike, by frequency, or by the weights of a file.",
            rich_help_panel=_MODEL,
        ),
    ] = "uniform",
    beam: Annotated[
        int | None,
        typer.Option(
            "--beam",
            metavar="N",
            min=1,
            help=f"Paths for each length and last word; 1 is the paper's search. Default: {BEAM}, and with"
            " --reuse free as many as prove the answer.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    punct: Annotated[
        bool, typer.Option("--punct/--no-punct", help="Keep punctuation.", rich_help_panel=_MODEL)
    ] = True,
    lowercase: Annotated[
        bool, typer.Option("--lowercase/--keep-case", help="Lower-case words.", rich_help_panel=_MODEL)
    ] = False,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show the dependency trees.", rich_help_panel=_FILES)
    ] = False,
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Show probabilities and head stack by word.", rich_help_panel=_FILES),
    ] = False,
    conllu: Annotated[
        Path | None,
        typer.Option("--conllu", metavar="FILE", help="Write the trees as CoNLL-U.", rich_help_panel=_FILES),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw the trees.", rich_help_panel=_FILES)
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Make the most probable sentences of each length from the words of a cluster of related sentences.

    `logp` is the natural log-probability of the path through the words, and `exact` says whether it is proven
    to be the highest of its length. Sentences are new, and nothing makes them true: see `sentgen check`.

    Example: `sentgen generate cluster.conllu --lengths 5-12 --trace`
    """
    check_file_option("--conllu", conllu)
    check_file_option("--svg", svg)
    settings = GenerationSettings(
        **cast(
            Any,
            {
                "algorithm": algorithm,
                "weight": weight,
                "reuse": reuse,
                "transitions": transitions,
                "smoothing": smoothing,
                "salience": _salience(salience),
                "beam": beam,
                "punctuation": punct,
                "lowercase": lowercase,
            },
        )
    )
    wanted = parse_lengths(lengths)
    shown = Shown(tree, trace, conllu, svg)
    trees = open_parser(parser) if parser else None
    with _clusters(file, corpus, cluster or None, format, trees, db, memory_limit) as clusters:
        with _language_model(clusters, lm, lm_weight, db, memory_limit) as model:
            found = _generate(clusters, wanted, settings, nbest, model)
        with clusters.store.connect() as connection:
            tags = cast(TagKind, corpora.find(connection, clusters.corpus).tags)
    write_files(found, shown, tags, out)
    show(found, shown, len(clusters.chosen), wanted, out)


@contextmanager
def _clusters(
    file: str | None,
    corpus: str | None,
    names: Sequence[str] | None,
    form: str | None,
    parser: Parser | None,
    db: Path | None,
    memory_limit: str | None,
) -> Iterator[Clusters]:
    """Open the store with the clusters: the user's with --corpus, else one that is removed afterward."""
    if file is None:
        if corpus is None:
            raise InputError("there is nothing to generate from; give FILE, - , or --corpus NAME")
        if form is not None or parser is not None:
            raise InputError("--format and --parser are for FILE; clusters of --corpus are read already")
        with open_store(db, read_only=True, memory_limit=memory_limit, share=LOOKUP_SHARE) as store:
            yield Clusters(store, corpus, cluster_names(store, corpus, names=names), kept=True)
    elif corpus is None:
        limit = database_memory(memory_limit, _CLUSTER_SHARE)
        with temporary_clusters(file, names=names, form=form, parser=parser, memory_limit=limit) as temporary:
            yield temporary
    else:
        if file == "-":
            raise InputError("standard input cannot be kept; name a file, or leave --corpus out")
        sources = [source.sha256() for source in expand([file])]
        with open_store(db, create=True, memory_limit=memory_limit, share=LOOKUP_SHARE) as store:
            ingest(store, [file], Settings(corpus, form, kind="cluster"), parser=parser)
            yield Clusters(
                store, corpus, cluster_names(store, corpus, names=names, sources=sources), kept=True
            )


@contextmanager
def _language_model(
    clusters: Clusters, name: str, weight: float, db: Path | None, memory_limit: str | None
) -> Iterator[LanguageModel | None]:
    """Find the model to mix in, in the user's store."""
    if name == _OWN:
        yield None
    elif clusters.kept:
        yield LanguageModel(clusters.store, registry.find(clusters.store, name), weight)
    else:
        with open_store(db, read_only=True, memory_limit=memory_limit, share=LOOKUP_SHARE) as store:
            yield LanguageModel(store, registry.find(store, name), weight)


def _generate(
    clusters: Clusters,
    lengths: Sequence[int],
    settings: GenerationSettings,
    nbest: int,
    lm: LanguageModel | None,
) -> list[Generated]:
    """Generate from all clusters, and show how many are done."""
    found: list[Generated] = []
    done: set[str] = set()
    with told_when_slow(), counted("clusters") as progress:
        for one in run(
            clusters.store,
            clusters.corpus,
            lengths=lengths,
            settings=settings,
            clusters=clusters.chosen,
            nbest=nbest,
            lm=lm,
        ):
            found.append(one)
            if progress is not None and one.cluster not in done:
                done.add(one.cluster)
                progress(len(done), len(clusters.chosen))
    return found


def _salience(text: str) -> str | dict[str, float]:
    """Return a kind of salience, or the weights of the file that is named.

    Raises:
        InputError: it is neither.
    """
    if text in KINDS:
        return text
    if not Path(text).is_file():
        raise InputError(f"{text!r} is neither a file with weights nor one of: {', '.join(KINDS)}")
    (source,) = expand([text])
    return parse_weights(source.lines(), path=source.name)
