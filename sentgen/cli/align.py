"""``sentgen align``: train aligners on pairs, apply them, and show what they know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from sentgen.alignment.choice import Choice, Preset
from sentgen.alignment.pairs.budget import ALIGNMENT_DATABASE_SHARE, Budget
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.tuning import TuningPlan
from sentgen.alignment.stored import application
from sentgen.alignment.stored.extraction import SIZE, Extractor
from sentgen.alignment.stored.model_report import Jump, ModelReport, top_rewrites
from sentgen.alignment.stored.model_store import DIRECTIONS, StoredIteration, remove_model
from sentgen.alignment.stored.stored_model import tune_model
from sentgen.alignment.stored.training import TrainingPlan, train_model
from sentgen.cli.align_text import text
from sentgen.cli.console.listings import listing
from sentgen.cli.console.options import (
    AlignedOption,
    Arrange,
    DbOptions,
    DryRunOption,
    LearnOption,
    LimitOption,
    SizeOption,
    StoreOptions,
    check_plot_option,
    one_more,
)
from sentgen.cli.console.output import Output, StoreOutput, printable
from sentgen.evaluation.alignment.gold_readers import GoldPairs
from sentgen.output.display import NATURAL, decimal
from sentgen.output.plots import write_plot
from sentgen.output.progress import counting_bar, counting_bars, training_bar
from sentgen.output.wording import quantity

app = typer.Typer(help="Align abstracts with the documents that they come from: train, apply, show.")
app.command("text")(text)


@app.command()
def extract(
    *,
    pairs: LearnOption,
    of: Annotated[
        str, typer.Option("--of", metavar="NAME", help="Corpus whose documents are read, of pairs or any.")
    ],
    model: AlignedOption = None,
    size: SizeOption = SIZE,
    limit: LimitOption = 20,
    out: StoreOutput,
) -> None:
    """Learn from aligned pairs which sentences abstracts come from, and print those of other documents.

    Example: `sentgen align extract --pairs papers --of news --size 2`
    """
    with out.store(read_only=True) as store:
        extractor = Extractor.of_pairs(store, pairs, model)
        sentences = extractor.extracts(store, of, size=size, limit=one_more(limit))
        out.table(sentences, limit=limit, none=f"no documents in {of}")


PairsOption = Annotated[str, typer.Option("--pairs", metavar="NAME", help="Corpus of pairs.")]
ModelOption = Annotated[str, typer.Option("--model", "-m", metavar="M", help="Name of the model.")]
AppliedOption = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="M", help="Name of the model; if not given, the priors."),
]
_AFTER = Arrange(after="iterations")
ModelArgument = Annotated[str, typer.Argument(metavar="M", help="Name of the model.")]


@app.command()
def train(
    *,
    pairs: PairsOption,
    model: ModelOption,
    plan: TrainingPlan,
    choice: Annotated[Choice, Arrange(only=("vectors",))],
    preset: Annotated[
        Preset, typer.Option("--preset", help="Settings of the model: the paper's, or better ones."), _AFTER
    ] = "best",
    max_doc_phrase: Annotated[
        int | None,
        typer.Option(
            "--max-doc-phrase", metavar="K", min=1, help="Most words of a document phrase; paper: 4, best: 1."
        ),
        _AFTER,
    ] = None,
    max_abstract_phrase: Annotated[
        int | None,
        typer.Option(
            "--max-abstract-phrase",
            metavar="L",
            min=1,
            help="Most words of an abstract phrase; paper: 4, best: 1.",
        ),
        _AFTER,
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any other setting, such as p0=0.2; may be repeated."
        ),
        _AFTER,
    ] = None,
    options: StoreOptions,
) -> None:
    """Train a model on a corpus of pairs by EM, without links.

    Every iteration is stored as it is done; after an interruption, --resume goes on with the next one. A
    model that decodes in both directions (--preset best) is trained in both.

    Example: `sentgen align train --pairs papers --model papers --iterations 5 --jobs 2`
    """
    if not model.strip():
        raise typer.BadParameter("a model needs a name; give --model NAME")
    settings = PbhmmSettings.for_training(
        preset=preset,
        max_doc_phrase=max_doc_phrase,
        max_abstract_phrase=max_abstract_phrase,
        setting=setting or (),
        vectors=choice.vectors,
    )
    limit = options.memory
    plan = replace(plan, memory=limit)
    with (
        options.store(share=ALIGNMENT_DATABASE_SHARE) as store,
        training_bar(plan.iterations, DIRECTIONS if settings.both else DIRECTIONS[:1]) as progress,
    ):
        for number, done in enumerate(train_model(store, pairs, model, settings, plan, progress=progress)):
            # With the first row, so that an error before it leaves standard output empty.
            if not number:
                typer.echo(_HEAD)
            typer.echo(_line(done))


_HEAD = (
    f"{'direction':<9} {'iteration':>9} {'log10-likelihood':>16} {'log10-posterior':>16} {'P(null)':>8} "
    f"{'table':>6} {'stems':>6} {'ident.':>6} {'cells':>12} {'seconds':>8}"
)


def _line(done: StoredIteration) -> str:
    return (
        f"{done.direction:<9} {done.iteration:>9} {decimal(done.logp):>16,.3f} "
        f"{decimal(done.log_posterior):>16,.3f} {done.p_null:>8.4f} {done.weight_table:>6.3f} "
        f"{done.weight_stem:>6.3f} {done.weight_identity:>6.3f} {done.cells:>12,} {done.seconds:>8.1f}"
    )


@app.command()
def tune(
    name: Annotated[str, typer.Argument(metavar="M", help="Name of the model.")],
    *,
    request: GoldPairs,
    plan: TuningPlan,
    options: StoreOptions,
) -> None:
    """Tune a model on links that people drew, by conditional training of the preset best.

    The model weighs what it knows of words, places and jumps anew, so that the links of the gold standard
    become as probable as they can. The threshold is the one that is best on the same pairs.

    Example: `sentgen align tune news --gold rte2 --format rte`
    """
    if not name.strip():
        raise typer.BadParameter("a model needs a name; give one, such as news")
    examples = request.examples()
    memory = options.memory
    with (
        options.store(create=True, share=ALIGNMENT_DATABASE_SHARE) as store,
        counting_bars() as progress,
    ):
        tuned = tune_model(
            store,
            name,
            examples,
            Path(request.gold).name,
            plan,
            budget=Budget.to_align(memory, with_store=True),
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


@app.command()
def model(
    name: ModelArgument,
    word: Annotated[
        str | None, typer.Argument(metavar="[WORD]", help="Show what this word or phrase becomes.")
    ] = None,
    *,
    direction: Annotated[
        Literal["forward", "reverse"],
        typer.Option("--direction", help="Abstracts from documents, or the reverse."),
    ] = "forward",
    limit: LimitOption = 20,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the jumps: .svg, .png or .pdf (plots extra)."),
    ] = None,
    options: DbOptions,
    out: Output,
) -> None:
    """Show the iterations and the jumps of a model, or the top rewrites of a word.

    In the other formats than a table for reading, only the iterations or the rewrites come out.

    Example: `sentgen align model papers algorithm --limit 10`
    """
    check_plot_option(plot)
    if word is not None and plot is not None:
        raise typer.BadParameter("--plot draws the jumps of the whole model; leave out the word")
    with options.store(read_only=True) as store:
        if word is not None:
            out.table(top_rewrites(store, name, word, direction=direction, limit=limit))
            return
        report = ModelReport.read(store, name)
    if plot is not None:
        write_plot(report.jump_plot(direction), plot)
        out.note(f"plot: {plot}")
    if out.for_reading:
        for name, value in report.facts.items():
            typer.echo(printable(f"{name:<16}{value}"))
        typer.echo()
    out.table(
        report.table(),
        programs=NATURAL,
        essential=("iteration", "log10_likelihood", "log10_posterior"),
    )
    if out.for_reading:
        for way, jumps in report.jumps.items():
            typer.echo(f"\njumps, {way}")
            typer.echo(_text_histogram(jumps))


app.command("models")(listing("alignment-models"))


@app.command()
def remove(
    name: ModelArgument,
    *,
    dry_run: DryRunOption = False,
    options: DbOptions,
) -> None:
    """Remove a model with the alignments that it made.

    Example: `sentgen align remove papers`
    """
    with options.store(read_only=dry_run) as store:
        iterations = remove_model(store, name, dry_run=dry_run)
    typer.echo(
        printable(f"{'would remove' if dry_run else 'removed'} {name}: {quantity(iterations, 'iteration')}")
    )


@app.command()
def apply(
    *,
    pairs: PairsOption,
    choice: Annotated[Choice, Arrange(only=("model", "preset", "vectors", "decode", "threshold"))],
    options: StoreOptions,
) -> None:
    """Align a corpus of pairs, and keep links, states of words and figures in the store.

    Works without --model: the aligner then has its priors only, and the links are those of a model of the
    store that is called priors. What is aligned already, in the same way, is left as it is.

    Example: `sentgen align apply --pairs papers --model papers --threshold 0.5`
    """
    budget = Budget.to_align(options.memory, with_store=True)
    with options.store(share=ALIGNMENT_DATABASE_SHARE) as store, counting_bar("pairs") as progress:
        done = choice.apply(store, pairs, budget=budget, progress=progress)
    unchanged = f" ({done.unchanged:,} unchanged)" if done.unchanged else ""
    for name, value in (
        ("pairs", f"{done.pairs:,}{unchanged}"),
        ("abstract words", f"{done.words:,}"),
        ("links", f"{done.links:,}"),
        ("changed words", f"{done.changed:,}"),
        ("new words", f"{done.new:,}"),
        ("seconds", f"{done.seconds:.1f}"),
    ):
        typer.echo(f"{name:<16}{value}")
    for note in choice.notes(()):
        typer.echo(note, err=True)


@app.command()
def figures(
    *,
    pairs: PairsOption,
    model: AppliedOption = None,
    limit: LimitOption = 0,
    options: DbOptions,
    out: Output,
) -> None:
    """Show the figures of each abstract: coverage, density, new and changed words, longest copied run.

    Example: `sentgen align figures --pairs papers --model papers --csv`
    """
    with options.store(read_only=True) as store:
        rows = application.alignments(store, pairs, model, limit=one_more(limit))
        out.table(rows, limit=limit, programs=NATURAL, essential=("links", "coverage", "density"))


@app.command()
def export(
    *,
    pairs: PairsOption,
    model: AppliedOption = None,
    pharaoh: Annotated[
        bool,
        typer.Option("--pharaoh", help="Print a line a pair with links i-j: document, abstract, from 0."),
    ] = False,
    words: Annotated[
        bool, typer.Option("--words", help="Print a row a word with its state, instead of a row a link.")
    ] = False,
    sentences: Annotated[
        bool,
        typer.Option(
            "--sentences",
            help="Print a row a sentence of an abstract and a sentence of the document that it comes from.",
        ),
    ] = False,
    limit: LimitOption = 0,
    options: DbOptions,
    out: Output,
) -> None:
    """Print the links that a model found in a corpus of pairs, or what became of each word or sentence.

    The lines of --pharaoh are in the order of `sentgen pairs list`.

    Example: `sentgen align export --pairs papers --model papers --pharaoh`
    """
    # The lines are a format of their own.
    if pharaoh and not out.for_reading:
        raise typer.BadParameter("--pharaoh excludes the other formats; choose one")
    if pharaoh and (words or sentences):
        other = "--words words" if words else "--sentences sentences"
        raise typer.BadParameter(f"--pharaoh prints links, and {other}; choose one")
    with options.store(read_only=True) as store:
        if not pharaoh:
            rows = application.found_rows(
                store, pairs, model, words=words, sentences=sentences, limit=one_more(limit)
            )
            out.table(rows, limit=limit)
            return
        for number, (_, alignment) in enumerate(
            application.stored_alignments(store, pairs, model, limit=one_more(limit))
        ):
            if limit and number == limit:
                out.note_more(limit, "pair")
                break
            typer.echo(alignment.pharaoh())


#: Largest distance with a bar of its own; larger ones are summed.
_NEAR = 12
#: Length of the longest bar in signs.
_BAR = 50


def _text_histogram(jumps: list[Jump]) -> str:
    """Return bars for the short jumps, and one bar on each side for all longer ones."""
    rows = [(str(first), prob) for first, last, prob in jumps if first == last and abs(first) <= _NEAR]
    below = sum(prob for _, last, prob in jumps if last < -_NEAR)
    above = sum(prob for first, _, prob in jumps if first > _NEAR)
    rows = [(f"< {-_NEAR}", below), *rows, (f"> {_NEAR}", above)]
    largest = max(prob for _, prob in rows)
    return "\n".join(
        f"{label:>5} {prob:8.5f} {'#' * round(_BAR * prob / largest)}".rstrip() for label, prob in rows
    )
