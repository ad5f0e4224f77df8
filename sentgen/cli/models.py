"""Commands that build, mix, prune, compare, apply, show, remove, export and import language models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.listings import listing
from sentgen.cli.console.options import DeskOptions, DryRunOption, StoreOptions
from sentgen.cli.console.output import StoreOutput
from sentgen.evaluation.perplexity import CompareRequest
from sentgen.models import arpa
from sentgen.models.base import registry
from sentgen.models.build_request import BuildRequest
from sentgen.models.mix import MixRequest
from sentgen.models.prune import PruneRequest
from sentgen.models.request import Model
from sentgen.models.surprisal import ApplyRequest
from sentgen.output.wording import quantity
from sentgen.schema.engine import DATABASE_SHARE
from sentgen.schema.places import lake_at

app = typer.Typer(help="Build, mix, compare, apply, show, remove, export and import language models.")


def _report(line: str) -> None:
    typer.echo(f"{line} ...", err=True)


@app.command()
def build(*, request: BuildRequest, options: DeskOptions) -> None:
    """Build the next version of a model from the counts of corpora.

    For the best sentences of `regenerate`, build it of a treebank with `--order 5 --unknown tag --brackets
    --companions`.

    Example: sentgen models build news --corpus wsj --corpus ewt --order 4 --min-count 1,1,2
    """
    # A lake is opened for reading only, as its new model is a file of its own.
    lake = lake_at(options.path) is not None
    with options.store(read_only=lake, share=DATABASE_SHARE) as store:
        models = request.build(store, _report)
    for model in models:
        # A companion may have fewer corpora than the model, only those with tags.
        part = "" if model.corpora == models[0].corpora else f", of {' and '.join(model.corpora)} alone"
        typer.echo(f"{model.label}: {model.size}, {quantity(model.tokens, 'token')}{part}", err=True)


@app.command()
def mix(*, request: MixRequest, options: StoreOptions) -> None:
    """Mix models into one, by linear interpolation: the next version of a model with the n-grams of all.

    Weights are given, or learnt from text that no model was built from, or all the same. With `--dynamic` the
    n-grams are not stored again.

    Example: sentgen models mix both --of news,novels --tune dev.conllu
    """
    with options.store(share=DATABASE_SHARE) as store:
        model = request.make(store, _report)
    parts = ", ".join(f"{label} {weight:.4f}" for label, weight in model.parts)
    typer.echo(f"{model.label}: {model.size}, order {model.order}, of {parts}", err=True)


@app.command()
def prune(*, request: PruneRequest, options: StoreOptions) -> None:
    """Make a smaller model: without the n-grams that tell least (Stolcke 1998), or without rare ones.

    Example: sentgen models prune small --of news --entropy 1e-8
    """
    with options.store(share=DATABASE_SHARE) as store:
        before = registry.find(store, request.of).count_ngrams(store)
        model = request.make(store, _report)
        left = sum(model.count_ngrams(store).values())
    typer.echo(f"{model.label}: {model.size}, {left:,} of {sum(before.values()):,} n-grams", err=True)


app.command("list")(listing("models"))


@app.command()
def show(*, model: Model, out: StoreOutput) -> None:
    """Show the settings of a model, its n-grams per order, its discounts, and whether it is stale.

    Example: sentgen models show news@2
    """
    with out.store(read_only=True) as store:
        out.table(registry.find(store, model.name).properties(store))


@app.command()
def compare(*, request: CompareRequest, out: StoreOutput) -> None:
    """Compare models on a text: perplexities with intervals, and how many n-grams of it each knows.

    `perplexity_shared` is of the tokens that all models know, `hit_3` the share of tokens for which a model
    found three words.

    Example: sentgen models compare news,both --test dev.conllu
    """
    with out.lookups() as store:
        rows, notes = request.compare(store)
        out.table(rows, essential=("perplexity", "low", "high", "difference", "oov_rate"))
    for note in notes:
        out.note(note)


@app.command()
def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Model to remove with all versions; or NAME@VERSION.")
    ],
    *,
    dry_run: DryRunOption = False,
    options: StoreOptions,
) -> None:
    """Remove a model with all its versions, or one version.

    Example: sentgen models remove news@1
    """
    with options.store(read_only=dry_run) as store:
        removed = registry.remove(store, name, dry_run=dry_run)
    for model in removed:
        typer.echo(f"{'would remove' if dry_run else 'removed'} {model.label}", err=True)


@app.command()
def apply(*, request: ApplyRequest, options: StoreOptions) -> None:
    """Store the surprisal of each token of corpora, -log2 of its probability, which queries then ask for.

    `kwic '[upos="VERB" & surprisal > 12]' --sort -surprisal`. Again, only new sentences are looked at.

    Example: sentgen models apply news --corpus fiction
    """
    with options.store(share=DATABASE_SHARE) as store:
        done = request.apply(store, _report)
    typer.echo(str(done), err=True)


@app.command()
def export(
    *,
    model: Model,
    arpa_file: Annotated[
        Path, typer.Option("--arpa", metavar="FILE", help="ARPA file to write; gzipped if it ends in .gz.")
    ],
    options: StoreOptions,
) -> None:
    """Write a model to an ARPA file, as KenLM and SRILM read it.

    Example: sentgen models export news --arpa news.arpa.gz
    """
    with options.store(read_only=True) as store:
        arpa.export_arpa(store, registry.find(store, model.name), arpa_file, progress=_report)
    typer.echo(f"{arpa_file}: written", err=True)


@app.command()
def import_arpa(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the model.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="ARPA file, plain or gzipped.")],
    options: StoreOptions,
) -> None:
    """Store an ARPA file as the next version of a model.

    Example: sentgen models import-arpa news news.arpa.gz
    """
    with options.store(create=True) as store:
        model = arpa.import_arpa(store, name, file, progress=_report)
    typer.echo(f"{model.label}: {model.size}, order {model.order}", err=True)
