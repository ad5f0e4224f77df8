"""``sentgen cluster``: work on several machines: lakes, their counts and their models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from sentgen.cli.console.options import Arrange, StoreOptions, mistakes, parse_size
from sentgen.cli.console.output import Output
from sentgen.counts.cluster import job
from sentgen.counts.cluster.catalogue import SETTINGS
from sentgen.counts.cluster.job import ClusterSummary, Job
from sentgen.counts.cluster.machines import DaskEngine, Machines, Slurm, cluster
from sentgen.counts.cluster.stages import Progress
from sentgen.counts.settings import Settings
from sentgen.errors import InputError
from sentgen.models.build_request import parse_counts
from sentgen.models.building.recipe import Recipe
from sentgen.models.cluster.job import ModelJob, check, remove_model
from sentgen.output.progress import bars
from sentgen.output.wording import quantity
from sentgen.schema.lake_transfer import export as write
from sentgen.schema.lakes import Manifest
from sentgen.schema.places import Place
from sentgen.schema.store import default_memory_limit

app = typer.Typer(help="Count beyond one machine, into lakes: stores as Parquet files in a folder or bucket.")

PathsArgument = Annotated[
    list[str], typer.Argument(metavar="PATH...", help="Files, folders, globs or zip archives.")
]
CorpusOption = Annotated[
    list[str], typer.Option("--corpus", metavar="NAME", help="Corpus to count; may be repeated.")
]
OrderOption = Annotated[int, typer.Option("--order", min=1, max=5, help="Highest order of n-grams.")]
MinCountOption = Annotated[
    str | None,
    typer.Option(
        "--min-count", metavar="N,N,...", help="Lowest count kept per order; the last one for the rest."
    ),
]
ToOption = Annotated[
    str, typer.Option("--to", metavar="LAKE", help="Folder or URL of the lake; made if need be.")
]
WorkOption = Annotated[
    str | None, typer.Option("--work", metavar="FOLDER", help="Shared folder of the work, if it had one.")
]
#: Bytes of memory of a worker of a scheduler, which runs on other machines.
_REMOTE_MEMORY = 2 << 30
_SHOWN = 20
_WORK = "_work"
WorkerMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory of each worker. Default: its share of a quarter of RAM; 2GB with --scheduler.",
    ),
]


@app.command()
def count(
    *,
    paths: PathsArgument,
    to: ToOption,
    settings: Annotated[Settings, Arrange(only=SETTINGS)],
    machines: Machines,
    memory_limit: WorkerMemoryOption = None,
) -> None:
    """Count corpora on many processes or machines into a lake, which DuckDB reads.

    Sources that the corpus has already, by content, are not counted again: after an interruption, run it
    again. Counts are those of `sentgen ingest`; sentences are not kept. Workers have to see the same files.

    Example: `sentgen cluster count texts/ --to lake --corpus web --local 4`
    """
    if settings.on_error == "collect":
        raise InputError("--on-error collect is for `sentgen ingest`; take raise or skip")
    lake = Place(to)
    work = _work(lake, machines.work)
    with _running(machines, memory_limit) as (engine, memory, report):
        summary = Job(lake, work, engine, memory, settings, report=report, say=_note).run(paths)
    _report(summary, to)


@app.command()
def models(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the model.")],
    lake: Annotated[str, typer.Option("--in", metavar="LAKE", help="Folder or URL of the lake.")],
    corpus: CorpusOption,
    order: OrderOption = 4,
    smoothing: Annotated[
        str, typer.Option("--smoothing", metavar="METHOD", help="kneser-ney or stupid-backoff.")
    ] = "kneser-ney",
    min_count: MinCountOption = None,
    unknown: Annotated[
        str, typer.Option("--unknown", metavar="HOW", help="Unknown words: word (one `<unk>`) or none.")
    ] = "word",
    machines: Machines,
    memory_limit: WorkerMemoryOption = None,
) -> None:
    """Build the next version of a model from the counts of a lake, on many processes or machines.

    The model is that of `sentgen models build` for the same counts, and goes into the lake. After an
    interruption, run it again. Workers have to see the same files.

    Example: `sentgen cluster models news --in lake --corpus web --order 5 --local 4`
    """
    with mistakes():
        counts = parse_counts(min_count)
    settings = Recipe.checked(order, smoothing, counts, unknown, False)
    check(name, settings)
    lake_place = Place(lake)
    work = _work(lake_place, machines.work)
    Manifest.read(lake_place)
    with _running(machines, memory_limit) as (engine, memory, report):
        built = ModelJob(lake_place, work, engine, memory, report=report, say=_note).run(
            name, corpus, settings
        )
    lines = (
        ("model", built.label),
        ("lake", lake),
        ("tokens", f"{built.tokens:,}"),
        ("words", f"{built.vocabulary:,}"),
        ("n-grams", f"{built.ngrams:,}"),
        ("files", f"{built.files:,}"),
        ("bytes", f"{built.bytes:,}"),
        ("seconds", f"{built.seconds:.1f}"),
    )
    _lines(lines, built.stages)


@app.command()
def status(
    *,
    lake: Annotated[str, typer.Argument(metavar="LAKE", help="Folder or URL of the lake.")],
    work: WorkOption = None,
    out: Output,
) -> None:
    """Show what a lake holds: corpora and tables with files and bytes, and how far unfinished work is.

    Rows of a corpus are its tokens; files of an unfinished stage are tasks that are done.

    Example: `sentgen cluster status lake`
    """
    lake_place = Place(lake)
    lines = list(job.status(lake_place, _work(lake_place, work)))
    out.rows(["what", "name", "files", "rows", "bytes"], lines)
    if any(what == job.STAGE for what, *_ in lines):
        out.note("a count or a model is not finished; run the same command again, and it goes on")


@app.command()
def remove(
    *,
    corpus: Annotated[str | None, typer.Argument(metavar="CORPUS", help="Corpus to remove.")] = None,
    lake: Annotated[str, typer.Option("--from", metavar="LAKE", help="Folder or URL of the lake.")],
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME[@VERSION]", help="Remove a model or one version, no corpus."),
    ] = None,
    unfinished: Annotated[
        bool,
        typer.Option("--unfinished", help="Drop the count or model that is not finished, and no corpus."),
    ] = False,
    work: WorkOption = None,
) -> None:
    """Remove a corpus with all its counts from a lake, or a model, or what is not finished.

    Models that were built from a corpus stay as they are; `sentgen models list` calls them stale.

    Example: `sentgen cluster remove web --from lake`
    """
    if [corpus is not None, model is not None, unfinished].count(True) != 1:
        raise typer.BadParameter("give one of CORPUS, --model and --unfinished")
    lake_place = Place(lake)
    if model is not None:
        for label in remove_model(lake_place, _work(lake_place, work), model):
            typer.echo(f"removed {label}")
        return
    if corpus is None:
        typer.echo(f"dropped the unfinished {job.drop_unfinished(lake_place, _work(lake_place, work))}")
        return
    sentences, tokens = job.remove(lake_place, _work(lake_place, work), corpus)
    typer.echo(f"removed {corpus}: {quantity(sentences, 'sentence')}, {quantity(tokens, 'token')}")


@app.command()
def script(
    *,
    paths: PathsArgument,
    to: ToOption,
    corpus: Annotated[str, typer.Option("--corpus", metavar="NAME", help="Corpus to make or to add to.")],
    slurm: Annotated[bool, typer.Option("--slurm", help="For Slurm, the only one so far.")] = False,
    request: Slurm,
) -> None:
    """Print a job script that counts on a cluster: submit it with sbatch, and again if it is cut short.

    Example: `sentgen cluster script --slurm texts/ --to lake --corpus web --workers 64`
    """
    if not slurm:
        raise typer.BadParameter("say for which system: --slurm")
    typer.echo(request.script(paths, to, corpus, parse_size(request.memory) or 0), nl=False)


@app.command()
def export(
    *,
    to: ToOption,
    options: StoreOptions,
) -> None:
    """Write the store as a lake: Parquet files that every command reads with --db LAKE.

    A lake has what the store has, its models and sentences too, and is only read.

    Example: `sentgen cluster export --to lake`
    """
    with options.store(read_only=True) as opened:
        manifest = write(opened, Place(to), progress=lambda line: typer.echo(line, err=True))
    size = sum(file.bytes for file in manifest.files)
    typer.echo(f"{to}: {quantity(len(manifest.files), 'file')}, {quantity(size, 'byte')}", err=True)


def _work(lake: Place, given: str | None) -> Path:
    """Return the folder for intermediate files: a new one in the given folder, or in the lake.

    Raises:
        InputError: the lake is in a bucket, and no folder is given.
    """
    if given is not None:
        return Path(given).absolute() / _WORK
    if lake.files is not None:
        raise InputError(f"{lake}: a bucket is no place for files between; give a shared folder with --work")
    return Path(lake.root) / _WORK


def _note(text: str) -> None:
    typer.echo(text, err=True)


def _report(summary: ClusterSummary, to: str) -> None:
    for name, reason in summary.passed_over[:_SHOWN]:
        _note(f"passed over: {name}: {reason}")
    if len(summary.passed_over) > _SHOWN:
        _note(f"... and {quantity(len(summary.passed_over) - _SHOWN, 'more file')}")
    lines = (
        ("corpus", summary.corpus),
        ("lake", to),
        ("sources", f"{summary.sources:,} ({summary.unchanged:,} unchanged)"),
        ("sentences", f"{summary.sentences:,}"),
        ("tokens", f"{summary.tokens:,}"),
        ("new words", f"{summary.new_words:,}"),
        ("rejected", f"{summary.rejected:,}"),
        ("files", f"{summary.files:,}"),
        ("bytes", f"{summary.bytes:,}"),
        ("seconds", f"{summary.seconds:.1f}"),
    )
    _lines(lines, summary.stages)
    _lines([("tokens/s", f"{summary.tokens / summary.seconds:,.0f}")], {})


def _lines(lines: Iterable[tuple[str, str]], stages: Mapping[str, float]) -> None:
    """Print the results, and the time of each stage."""
    for name, value in (*lines, *((f"  {stage}", f"{seconds:.1f}") for stage, seconds in stages.items())):
        typer.echo(f"{name:<16}{value}")


@contextmanager
def _running(machines: Machines, memory_limit: str | None) -> Iterator[tuple[DaskEngine, int, Progress]]:
    """Open an engine for tasks; yield it, the bytes of memory of a worker, and the function for progress."""
    processes = None if machines.scheduler else machines.local or os.cpu_count() or 1
    memory = parse_size(memory_limit)
    memory = memory or (default_memory_limit() // processes if processes else _REMOTE_MEMORY)
    with cluster(local=processes, scheduler=machines.scheduler) as engine, _progress() as report:
        if engine.dashboard:
            _note(f"dashboard: {engine.dashboard}")
        if not engine.workers:
            _note("no workers yet; waiting for them")
        yield engine, memory, report or (lambda *_: None)


def _progress() -> AbstractContextManager[Progress | None]:
    """Show a bar for each stage, with its tasks, tokens per second, and the time left."""

    def start(progress: Bars) -> Progress:
        tasks = {}

        def show(stage: str, done: int, total: int, tokens: int) -> None:
            if not total:
                return
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total, rate="")
            elapsed = progress.tasks[tasks[stage]].elapsed or 0.0
            rate = f"{tokens / elapsed:,.0f} tokens/s" if elapsed and tokens else ""
            progress.update(tasks[stage], completed=done, total=total, rate=rate)

        return show

    return bars(start, MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
