"""Training, tuning and applying models that align, for methods of `Database`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sentgen.alignment.choice import Choice, apply_chosen
from sentgen.alignment.pairs.budget import aligning_budget
from sentgen.alignment.phrase_hmm.settings import training_settings
from sentgen.alignment.phrase_hmm.tuning import TuningPlan
from sentgen.alignment.stored.application import ApplicationSummary
from sentgen.alignment.stored.model_store import DIRECTIONS
from sentgen.alignment.stored.stored_model import tune_model
from sentgen.alignment.stored.training import TrainingPlan, train_model
from sentgen.api.arguments import declare
from sentgen.api.options import ApplyOptions, TrainOptions, TuneOptions
from sentgen.api.session import StoreSession
from sentgen.api.tables import Table
from sentgen.errors import InputError
from sentgen.evaluation.alignment.gold_readers import GoldPairs
from sentgen.options import parameters_of
from sentgen.output.logarithms import decimal
from sentgen.output.progress import counting_bar, counting_bars
from sentgen.output.progress import training_bar as trained_bars
from sentgen.output.tabular import Rows

_SETTINGS = ("preset", "max_doc_phrase", "max_abstract_phrase", "setting", "vectors")
_TUNED = ("direction", "iterations", "log10_untuned", "log10_tuned", "seconds", "threshold")


def train(session: StoreSession, pairs: str, model: str, options: TrainOptions) -> None:
    """Train a model on pairs, iteration by iteration."""
    given: dict[str, Any] = {**options}
    chosen = {name: given.pop(name) for name in _SETTINGS if name in given}
    if isinstance(chosen.get("setting"), str):
        chosen["setting"] = [chosen["setting"]]
    settings = training_settings(**chosen)
    plan = replace(declare(TrainingPlan, given), memory=session.memory)
    directions = DIRECTIONS if settings.both else DIRECTIONS[:1]
    with session.write() as store, trained_bars(plan.iterations, directions) as report:
        for _ in train_model(store, pairs, _require_name(model), settings, plan, progress=report):
            pass


def tune(session: StoreSession, name: str, gold: str | Path, options: TuneOptions) -> Table:
    """Tune a model on links that people drew."""
    plan_names = {part.name for part in parameters_of(TuningPlan)}
    given: dict[str, Any] = {**options}
    plan = declare(TuningPlan, {key: given.pop(key) for key in plan_names & given.keys()})
    with session.write() as store, counting_bars() as report:
        examples = declare(GoldPairs, {**given, "gold": str(gold)}).examples()
        budget = aligning_budget(session.memory, with_store=True)
        source = Path(gold).name
        made = tune_model(store, _require_name(name), examples, source, plan, budget=budget, progress=report)
    rows = [
        (direction, part.iterations, decimal(part.before), decimal(part.after), part.seconds)
        for direction, part in zip(DIRECTIONS, made.directions, strict=True)
    ]
    return Table(Rows(_TUNED, [(*row, made.settings.threshold) for row in rows]))


def apply(session: StoreSession, pairs: str, model: str | None, options: ApplyOptions) -> ApplicationSummary:
    """Align a corpus of pairs."""
    with session.write() as store, counting_bar("pairs") as report:
        choice = declare(Choice, {**options, "model": model})
        with store.begin():  # to write before pairs are read, as each batch is kept while others are read
            pass
        budget = aligning_budget(session.memory, with_store=True)
        return apply_chosen(choice, store, pairs, budget=budget, progress=report)


def _require_name(name: str) -> str:
    if not name.strip():
        raise InputError("a model needs a name; give one, such as news")
    return name
