"""`sentgen align tune`: a model that learns from links that people drew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sentgen.alignment.pairs.budget import DATABASE_SHARE, aligning_budget
from sentgen.alignment.phrase_hmm.tuning import TuningPlan
from sentgen.alignment.stored.tuned_models import tune_model
from sentgen.cli.console.option_groups import options_of
from sentgen.cli.console.options import DbOption, MemoryOption, open_store, parse_size
from sentgen.evaluation.alignment.gold_readers import GoldPairs
from sentgen.output.logarithms import decimal
from sentgen.output.progress import counted_each
from sentgen.schema.store import default_memory_limit


@options_of(GoldPairs)
@options_of(TuningPlan, "plan")
def tune(
    name: Annotated[str, typer.Argument(metavar="M", help="Name of the model.")],
    *,
    request: GoldPairs,
    plan: TuningPlan,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Tune a model on links that people drew, by conditional training of the preset best.

    The model weighs what it knows of words, places and jumps anew, so that the links of the gold standard
    become as probable as they can. The threshold is the one that is best on the same pairs.

    Example: `sentgen align tune news --gold rte2 --format rte`
    """
    if not name.strip():
        raise typer.BadParameter("a model needs a name; give one, such as news")
    examples = request.examples()
    memory = parse_size(memory_limit) or default_memory_limit()
    with (
        open_store(db, create=True, memory_limit=str(memory), share=DATABASE_SHARE) as store,
        counted_each() as progress,
    ):
        tuned = tune_model(
            store,
            name,
            examples,
            Path(request.gold).name,
            plan,
            budget=aligning_budget(memory, with_store=True),
            progress=progress,
        )
    typer.echo(
        f"{'direction':<9} {'iterations':>10} {'log10, untuned':>15} {'log10, tuned':>13} {'seconds':>8}"
    )
    for direction, way in zip(("forward", "reverse"), tuned.directions, strict=True):
        before, after = decimal(way.before), decimal(way.after)
        typer.echo(
            f"{direction:<9} {way.iterations:>10} {before:>15,.1f} {after:>13,.1f} {way.seconds:>8.1f}"
        )
    untuned, f1 = tuned.f1
    typer.echo(f"\nthreshold {tuned.settings.threshold:g}")
    typer.echo(f"macro F1 on the same pairs {100 * f1:.1f}; untuned {100 * untuned:.1f}")
