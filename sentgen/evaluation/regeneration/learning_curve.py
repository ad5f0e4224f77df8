"""Learning curves: one test set, with systems learnt from more and more of the sentences of a model.

Each size has a store of its own, with the drawn sentences as corpora, so that n-grams, dependencies,
arguments and companions are all counted in the same sentences. ``models build --sentences`` draws the same
ones with the same seed; the sentences of a size are among those of every larger size.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from sentgen import temporary
from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.settings import CountedCorpus
from sentgen.errors import InputError, ModelError, spell
from sentgen.evaluation.figures.results import Recorder, compare_systems
from sentgen.evaluation.regeneration.experiment import (
    COMMAND,
    PRIMARY,
    LearningPoint,
    OrderingResult,
    RegenerationResult,
)
from sentgen.generation import Search
from sentgen.models import ModelInfo
from sentgen.models.base.registry import list_models
from sentgen.models.build_request import build
from sentgen.models.building.recipe import SMOOTHING, BuiltFrom, Chosen, Draw, Recipe, apart, selected
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import raw

#: The drawn sentences of a corpus, in their order, with all annotation that is counted.
_SENTENCES = """
with wanted as (
    select t.sentence_id, t.position, w.form, l.form as lemma, u.name as upos, x.name as xpos, t.head,
        r.name as deprel, t.np
    from token t
    semi join chosen c on c.id = t.sentence_id
    join word w on w.id = t.word_id
    left join word l on l.id = t.lemma_id
    left join tag u on u.id = t.upos_id
    left join tag x on x.id = t.xpos_id
    left join tag r on r.id = t.deprel_id
    where t.corpus_id = $corpus
)
select
    list(form order by position) as tokens,
    if(count(lemma) > 0, list(coalesce(lemma, '_') order by position), null) as lemmas,
    if(count(upos) > 0, list(coalesce(upos, '_') order by position), null) as upos,
    if(count(xpos) > 0, list(coalesce(xpos, '_') order by position), null) as xpos,
    if(count(head) = count(*), list(head order by position), null) as heads,
    if(count(head) = count(*) and count(deprel) = count(*), list(deprel order by position), null) as deprels,
    if(count(np) = count(*), list(np order by position), null) as nps
from wanted
group by sentence_id
order by sentence_id
"""
#: Sentences that are copied at a time.
_BLOCK = 1000


@dataclass(frozen=True, slots=True)
class _Size:
    """A size as the user wrote it, and the draw that it asks for."""

    text: str
    draw: Draw


def learning_curve(
    store: Store,
    model: ModelInfo,
    sizes: str,
    search: Search,
    evaluate: Callable[[Store, ModelInfo], RegenerationResult],
) -> RegenerationResult:
    """Evaluate systems learnt from samples of the sentences of a model, and record all sizes as one run.

    The names of the systems have the size of the sample, such as ``joint@1000``. Companions of the model are
    built for each size, too; models of more text and learnt weights are not used.

    Args:
        store: the store with the model and its corpora, not read-only.
        model: the model whose corpora are sampled, and whose recipe is used for each size.
        sizes: numbers of sentences, or percents of all, separated by commas, such as ``1000,2000,100%``.
        search: options that the systems share; its seed is that of the draw, too.
        evaluate: evaluates the systems with a model of the given store, as `evaluate_regeneration` does.

    Raises:
        InputError: a size cannot be read, two sizes are the same number, or ``search`` names treebanks.
        ModelError: there are fewer sentences than a size, or the model was not built from corpora, or these
            have changed since.
    """
    recorder = Recorder(store, COMMAND)
    store.downgrade_to_read()
    wanted = _sizes(sizes, search.seed)
    if search.dependencies:
        raise InputError(
            f"the trees of a curve are those of the drawn sentences; leave {spell('dependencies')} out"
        )
    _refuse_others(store, model)
    parts: dict[int, RegenerationResult] = {}
    with temporary.folder() as folder:
        for number, size in enumerate(wanted):
            with Store(folder / f"{number}.duckdb", create=True, memory_limit=store.memory_limit) as drawn:
                with store.connect() as connection:
                    chosen = _draw(connection, model, size)
                    _copy(connection, model, drawn, folder)
                if chosen.sentences in parts:
                    raise InputError(
                        f"{size.text} comes to {quantity(chosen.sentences, 'sentence')}, as another size does"
                    )
                built = _built(drawn, model, _companions(store, model))
                parts[chosen.sentences] = evaluate(drawn, built)
    return recorder.record(_together(model, parts))


def _sizes(text: str, seed: int) -> list[_Size]:
    sizes = []
    for size in (each.strip() for each in text.split(",")):
        number = size.removesuffix("%")
        whole = number.isascii() and number.isdecimal() and len(number) < 10
        share = int(number) / 100 if whole and size.endswith("%") else None
        if not whole or (share is not None and share > 1):
            raise InputError(f"curve {size!r} is no number of sentences and no percent, such as 1000 or 50%")
        sizes.append(_Size(size, Draw(None if share is not None else int(number), share, seed)))
    return sizes


def _refuse_others(store: Store, model: ModelInfo) -> None:
    """Refuse a model that cannot be built again from some of its sentences."""
    if model.smoothing not in SMOOTHING or not model.corpora or model.parts:
        raise ModelError(f"{model.label} was not built from corpora ({model.smoothing}); name one that was")
    if apart(model.condition)[1]:
        raise ModelError(f"{model.label} is of drawn sentences itself; name a model of all of them")
    if changed := model.changes(store):
        raise ModelError(f"{model.label} is stale: {changed[0]}; build it again")


def _draw(connection: Connection, model: ModelInfo, size: _Size) -> Chosen:
    """Draw sentences of the corpora of a model into the temporary table ``chosen``."""
    names, condition = selected(connection, model.corpora, model.condition or None)
    numbers = [BuiltFrom.find(connection, name).id for name in names]
    return Chosen.choose(connection, condition, size.draw, numbers)


def _copy(connection: Connection, model: ModelInfo, drawn: Store, folder: Path) -> None:
    """Ingest the drawn sentences of each corpus into a new store, with the settings of that corpus."""
    for name in model.corpora:
        counted = CountedCorpus.find(connection, name)
        assert counted is not None  # a model of a corpus that is gone is stale
        path = folder / "drawn.jsonl"
        if not _write(connection, counted.id, path):
            continue
        settings = Settings(
            name,
            format="jsonl",
            lowercase=counted.lowercase,
            order=counted.max_order,
            tags=counted.tags,
            function_heads=counted.function_heads,
        )
        ingest(drawn, [str(path)], settings)


def _write(connection: Connection, corpus: int, path: Path) -> bool:
    """Write the drawn sentences of a corpus as JSON Lines; return whether there are any."""
    rows = raw(connection).execute(_SENTENCES, {"corpus": corpus})
    names = [column[0] for column in rows.description]
    with path.open("w", encoding="utf-8") as file:
        while block := rows.fetchmany(_BLOCK):
            for row in block:
                known = {key: value for key, value in zip(names, row, strict=True) if value is not None}
                file.write(f"{json.dumps(known, ensure_ascii=False)}\n")
    return path.stat().st_size > 0


def _companions(store: Store, model: ModelInfo) -> list[ModelInfo]:
    """Return the companions over tags, classes and items that were built with a model."""
    return [
        companion
        for companion in list_models(store)
        if not companion.symbols.are_words
        and companion.name == f"{model.name}-{companion.symbols.over}"
        and companion.condition == model.condition
        and set(companion.corpora) <= set(model.corpora)
    ]


def _built(drawn: Store, model: ModelInfo, companions: Sequence[ModelInfo]) -> ModelInfo:
    """Build a model and its companions again from the corpora of a store; return the model."""
    with drawn.connect() as connection:
        there = {name for name in model.corpora if CountedCorpus.find(connection, name) is not None}
    made: dict[str, ModelInfo] = {}
    for old in (model, *companions):
        corpora = [name for name in old.corpora if name in there]
        if corpora:
            made[old.name] = build(drawn, old.name, corpora, Recipe.of_model(old))
    return made[model.name]


def _together(model: ModelInfo, parts: dict[int, RegenerationResult]) -> RegenerationResult:
    """Return the results of all sizes as one result, with every system compared with every other."""
    systems: list[OrderingResult] = []
    points, settings = [], {}
    for size, part in parts.items():
        named: Any = part.parameters["systems"]
        for system in part.systems:
            name = f"{system.system}@{size}"
            systems.append(replace(system, system=name))
            points.append(LearningPoint(name, system.system, size))
            settings[name] = {**named[system.system], "learnt from": size}
    first = next(iter(parts.values()))
    return replace(
        first,
        systems=systems,
        comparisons=compare_systems(systems, PRIMARY, first.seed),
        parameters={**first.parameters, "model": model.label, "systems": settings, "curve": list(parts)},
        curve=points,
    )
