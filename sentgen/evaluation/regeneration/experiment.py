"""String regeneration: shuffle the units of real sentences, order them again, and compare.

The task of Bangalore et al. 2000, as Wan et al. 2007 and 2009 evaluate on it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import func, select

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.figures.measurement import Score
from sentgen.evaluation.figures.record import recorded
from sentgen.evaluation.figures.results import with_intervals
from sentgen.evaluation.figures.significance import compare_all
from sentgen.evaluation.regeneration.answers import Progress, SystemAnswers, answer_all
from sentgen.evaluation.regeneration.cases import Case, Preparation, case_of
from sentgen.evaluation.regeneration.measures import measurements
from sentgen.evaluation.regeneration.results import (
    PRIMARY,
    OrderingResult,
    RegenerationResult,
    length_buckets,
    outputs_of,
    rows_of,
    sentence_rows,
)
from sentgen.evaluation.regeneration.systems import parse_systems
from sentgen.generation import Search, plan_search
from sentgen.generation.algorithms import settings_record
from sentgen.generation.bag_reader import TagKind
from sentgen.models.submodel import ModelLike, lowercases
from sentgen.models.tagging import tag_set
from sentgen.schema import Store
from sentgen.schema.corpus import corpus

COMMAND = "evaluate regeneration"


def evaluate_regeneration(
    store: Store,
    model: ModelLike,
    sentences: Iterable[Sentence],
    algorithms: Sequence[str],
    search: Search | None = None,
    *,
    punctuation: bool = True,
    by_length: bool = False,
    jobs: int = 1,
    source: str = "",
    progress: Progress | None = None,
    **asked: Any,
) -> RegenerationResult:
    """Regenerate every sentence with every system, score the results, and record all of it as a run.

    See `case_of` for what is made of a sentence, `measurements` for the figures, `intervals` and
    `compare_all` for how sure they are, `rows_of` for what is recorded. Sentences without words are left out.

    Args:
        store: where the model lives and the run is recorded, so not read-only.
        model: the language model.
        sentences: the test set.
        algorithms: names of algorithms, with settings where wanted (see `parse_systems`).
        search: what all of them share; its seed is that of the samples and tests, too, and it says whether to
            lower-case the test set. With `word` units, trees are over words, too.
        punctuation: whether punctuation stays in.
        by_length: whether to give the main figure for sentences of some lengths, too.
        jobs: threads that search. The milliseconds of a search include its waiting for the others, so that
            they are to be taken with one.
        source: where the sentences come from, for the record.
        progress: called after every sentence.
        asked: fields of ``search``, by name.

    Raises:
        InputError: an algorithm or setting is unknown, a sentence too long for it, or there is no sentence.
        ModelError: an algorithm needs trees, and no corpus has any.
    """
    started, clock = datetime.now(UTC).replace(tzinfo=None), time.perf_counter()
    if jobs < 1:
        raise InputError(f"{jobs} jobs do nothing; give 1 or more")
    search = replace(search or Search(), **asked)
    # The test set is lower-cased at once, for the references and the look-ups alike.
    systems = parse_systems(algorithms, replace(search, lowercase=False))
    plans = {name: plan_search(store, model, one) for name, one in systems.items()}
    corpora = sorted({number for plan in plans.values() if plan.treebank for number in plan.treebank.corpora})
    preparation = _preparation(store, model, search, corpora, punctuation=punctuation)
    cases = [case for case in (case_of(sentence, preparation) for sentence in sentences) if case.gold.units]
    if not cases:
        raise InputError("nothing of the test set is left to put in order; give sentences with words")
    answered = answer_all(store, cases, plans, jobs=jobs, progress=progress)
    result = summarize(answered, cases, seed=search.seed, by_length=by_length)
    parameters = {
        "model": f"{model.name}@{model.version}",
        "test": source,
        "sha256": hashlib.sha256("\n".join(result.references).encode()).hexdigest(),
        "sentences": len(cases),
        "systems": {name: settings_record(plan.settings) for name, plan in plans.items()},
        "dependencies": _names(store, corpora),
        "jobs": jobs,
        **asdict(preparation),
    }
    result = replace(result, parameters=parameters, seconds=time.perf_counter() - clock)
    return recorded(
        store,
        COMMAND,
        result,
        started=started,
        seed=search.seed,
        scores=(*rows_of(result), *sentence_rows(result)),
        outputs=outputs_of(result),
    )


def _preparation(
    store: Store, model: ModelLike, search: Search, corpora: Sequence[int], *, punctuation: bool
) -> Preparation:
    """Return what is made of a sentence before its units are shuffled; ``corpora`` have the trees, if any."""
    return Preparation(
        units=search.units,
        punctuation=punctuation,
        lowercase=lowercases(store, model) if search.lowercase is None else search.lowercase,
        tags=cast(TagKind, tag_set(store, corpora)) if corpora else None,
        function_heads=_function_heads(store, corpora),
    )


def _names(store: Store, corpora: Sequence[int]) -> list[str]:
    """Return the names of corpora."""
    query = select(corpus.c.name).where(corpus.c.id.in_(corpora)).order_by(corpus.c.id)
    with store.connect() as connection:
        return [str(name) for name in connection.execute(query).scalars()]


def _function_heads(store: Store, corpora: Sequence[int]) -> bool:
    """Return whether function words are heads in the counts that are used, so that the gold trees fit."""
    query = select(func.bool_or(corpus.c.function_heads)).where(corpus.c.id.in_(corpora))
    with store.connect() as connection:
        return bool(connection.execute(query).scalar())


def summarize(
    answered: Mapping[str, SystemAnswers],
    cases: Sequence[Case],
    *,
    seed: int,
    by_length: bool = False,
) -> RegenerationResult:
    """Compute all figures of a run that has no number, parameters and time yet.

    Args:
        answered: of each system, an answer a case.
        cases: the test set.
        seed: of the samples and the tests.
        by_length: whether to tell lengths apart.
    """
    systems = with_intervals([_ordering_result(name, found) for name, found in answered.items()], seed)
    references = [case.reference for case in cases]
    return RegenerationResult(
        systems=systems,
        comparisons=compare_all({one.system: one.measurements[PRIMARY] for one in systems}, seed=seed),
        lengths=length_buckets(references) if by_length else (),
        references=references,
        seed=seed,
    )


def _ordering_result(name: str, found: SystemAnswers) -> OrderingResult:
    seconds = {
        "lookup-ms": [answer.lookup for answer in found.answers],
        "search-ms": [answer.search for answer in found.answers],
    }
    times = [
        Score(metric, 1000 * sum(each) / max(1, len(each)), "milliseconds a sentence, mean")
        for metric, each in seconds.items()
    ]
    return OrderingResult(name, found.answers, measurements(found.statistics), times)
