"""`sentgen evaluate`: experiments whose figures are kept in the store."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from sentgen.cli.options import DbOption, MemoryOption, open_store
from sentgen.cli.output import Output, output_options
from sentgen.evaluation.regeneration import RegenerationResult, evaluate_regeneration
from sentgen.evaluation.testset import read_test_set
from sentgen.generation.bag import UnitKind
from sentgen.models import registry

app = typer.Typer(help="Run experiments; every figure is recorded in the store.", no_args_is_help=True)

COLUMNS = ["system", "metric", "value", "sentences", "signature"]


@app.callback()
def main() -> None:
    """Run experiments; every figure is recorded in the store."""


@app.command()
@output_options
def regeneration(
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME[@VERSION]", help="Language model.")],
    test: Annotated[
        str, typer.Option("--test", metavar="PATH", help="Sentences to regenerate, in any format.")
    ],
    algorithms: Annotated[
        str, typer.Option("--algorithms", "-a", metavar="NAME,NAME...", help="Algorithms to compare.")
    ] = "lmo,greedy",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the shuffle.")] = 1,
    units: Annotated[
        str,
        typer.Option("--units", metavar="np|word", help="Keep base noun phrases whole, or break them up."),
    ] = "np",
    order: Annotated[int, typer.Option("--order", min=2, max=5, help="Order of the n-grams to use.")] = 4,
    punct: Annotated[bool, typer.Option("--punct/--no-punct", help="Keep punctuation.")] = True,
    lowercase: Annotated[
        bool | None,
        typer.Option("--lowercase/--keep-case", help="Lower-case the test. Default: as the model's corpora."),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="Format of the test; detected if not given.")
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Shuffle the units of test sentences, order them again, and compare with the original.

    Prints corpus BLEU (lower-cased with 13a tokens, and as it stands), exact matches, and milliseconds.
    Sentences, outputs and all figures go into the tables run, score and output.

    Example: `sentgen evaluate regeneration --model ewt --test en_ewt-ud-dev.conllu --algorithms lmo,greedy`
    """
    if units not in ("np", "word"):
        raise typer.BadParameter(f"{units!r} is neither np nor word", param_hint="--units")
    with open_store(db, memory_limit=memory_limit) as store:
        result = evaluate_regeneration(
            store,
            registry.find(store, model),
            read_test_set(test, form=format),
            [name.strip() for name in algorithms.split(",") if name.strip()],
            seed=seed,
            units=cast(UnitKind, units),
            order=order,
            punctuation=punct,
            lowercase=lowercase,
            source=test,
        )
    out.rows(COLUMNS, _rows(result))
    out.note(f"run {result.run_id}: seed {seed}, {result.seconds:.1f} s; sentences are in the table output")


def _rows(result: RegenerationResult) -> list[tuple[object, ...]]:
    return [
        (system.system, name, value, system.sentences, signature)
        for system in result.systems
        for name, value, signature in (
            *((score.metric, score.value, score.signature) for score in system.scores),
            ("lookup-ms", system.lookup_ms, "mean of a sentence"),
            ("search-ms", system.search_ms, "mean of a sentence"),
        )
    ]
