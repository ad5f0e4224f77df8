"""`sentgen tune`: learn the weights of n-gram models and of factors of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sentgen.cli.console.options import LOOKUP_SHARE
from sentgen.cli.console.output import Output, StoreOutput
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.tuning import TuningResult, TuningSettings, tune
from sentgen.models.base import registry
from sentgen.options import Option
from sentgen.output.progress import counting_bar


@dataclass(frozen=True, slots=True, kw_only=True)
class _TuningOptions(TuningSettings):
    """What is learnt from."""

    ORDER: ClassVar = ("dev", "model", "sentences", "rounds", "candidates", "features", "seed", "format")

    dev: Annotated[
        str,
        Option("Sentences to learn from, none of them in the model.", argument=True, metavar="PATH"),
    ]
    format: Annotated[str | None, Option("Format of the sentences; detected if not given.", short="-f")] = (
        None
    )


def command(
    *,
    request: _TuningOptions,
    out: StoreOutput,
) -> None:
    """Learn what n-gram models and factors of trees weigh for `joint`, from sentences not in the model.

    They are those under which the expected BLEU of the best orders is highest. One sentence of four is held
    out, and the weights that do best on those become the next version of the model's, which `joint` takes
    by default; where none does better than those to start from, nothing is stored. They are
    in the view v_model_weights, and figures in the table score.

    Example: `sentgen tune en_ewt-ud-dev.conllu --model ewt`
    """
    with (
        out.store(share=LOOKUP_SHARE) as store,
        counting_bar("sentences") as progress,
    ):
        model = registry.find(store, request.model)
        sentences = read_test_set(request.dev, form=request.format)
        result = tune(store, model, sentences, request, source=request.dev, progress=progress)
    _show(result, out)
    stored = f"version {result.version} of the weights of {model.label}" if result.version else "nothing"
    out.note(f"run {result.run_id}: stored {stored}; seed {request.seed}, {result.seconds:.1f} s")


def _show(result: TuningResult, out: Output) -> None:
    first = result.rounds[0].weights
    names = [*first.features, *first.factors]
    rows = [
        (
            number,
            tuned.learnt_from,
            tuned.held_out,
            "*" if number == result.best else "",
            *({**tuned.weights.features, **tuned.weights.factors}[name] for name in names),
        )
        for number, tuned in enumerate(result.rounds)
    ]
    out.rows(["round", "BLEU", "held out", "best", *names], rows)
