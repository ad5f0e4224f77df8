"""String regeneration: shuffle the units of real sentences, order them again, and compare.

The task of Bangalore et al. 2000, as Wan et al. 2007 and 2009 evaluate on it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import compress
from operator import eq

import pyarrow as pa
from sqlalchemy import func, insert, select

import sentgen
from sentgen.corpus.base_np import mark_base_nps
from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.bleu import Score, corpus_bleu, sentence_bleu
from sentgen.generation.algorithms import algorithm_named
from sentgen.generation.bag import Unit, UnitKind, units_of
from sentgen.generation.regenerate import Regenerated, regenerate
from sentgen.models.submodel import ModelLike, lowercases
from sentgen.schema import Store
from sentgen.schema.runs import output as output_table
from sentgen.schema.runs import run as run_table
from sentgen.schema.runs import score as score_table
from sentgen.schema.store import append, scalar

_PUNCTUATION_TAGS = frozenset({"PUNCT", ".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "#"})


@dataclass(frozen=True, slots=True)
class SystemResult:
    """How one algorithm did on the whole set; milliseconds are per sentence."""

    system: str
    scores: list[Score]
    sentences: int
    lookup_ms: float
    search_ms: float
    outputs: list[str] = field(repr=False)

    def value(self, metric: str) -> float:
        """Return a figure by its name."""
        return next(score.value for score in self.scores if score.metric == metric)


@dataclass(frozen=True, slots=True)
class RegenerationResult:
    """A run: its number in the store, and what each algorithm reached."""

    run_id: int
    systems: list[SystemResult]
    references: list[str] = field(repr=False)
    seconds: float


@dataclass(frozen=True, slots=True)
class _Case:
    """A test sentence: its units in order, and the reference."""

    units: list[Unit]
    reference: str


def evaluate_regeneration(
    store: Store,
    model: ModelLike,
    sentences: Iterable[Sentence],
    algorithms: Sequence[str],
    *,
    seed: int = 1,
    units: UnitKind = "np",
    order: int = 4,
    punctuation: bool = True,
    lowercase: bool | None = None,
    source: str = "",
) -> RegenerationResult:
    """Regenerate every sentence with every algorithm, score the results, and record all of it as a run.

    Base noun phrases are those of the sentence, else found from its tags and relations; where neither is
    there, words are the units. Sentences without words are left out.

    Args:
        store: where the model lives and the run is recorded, so not read-only.
        model: the language model.
        sentences: the test set.
        algorithms: names of algorithms.
        seed: of the shuffle.
        units: `np` to keep base noun phrases whole, or `word`.
        order: n of the n-grams.
        punctuation: whether punctuation stays in.
        lowercase: lower-case the test set; as the corpora of the model were if ``None``.
        source: where the sentences come from, for the record.

    Raises:
        InputError: an algorithm is unknown, or a sentence too long for it.
    """
    started, clock = datetime.now(UTC).replace(tzinfo=None), time.perf_counter()
    for name in algorithms:
        algorithm_named(name)
    lower = lowercases(store, model) if lowercase is None else lowercase
    cases = [case for case in (_case(s, units, punctuation, lower) for s in sentences) if case.units]
    references = [case.reference for case in cases]
    _warm_up(store, model, cases, algorithms, order)
    results, tables = [], []
    for name in algorithms:
        bags = [case.units for case in cases]
        answers = list(
            regenerate(
                store, model, bags, algorithm=name, seed=seed, changes={"order": order}, lowercase=False
            )
        )
        results.append(_measure(name, answers, references))
        tables.append(answers)
    parameters = {
        "model": f"{model.name}@{model.version}",
        "test": source,
        "sha256": _fingerprint(references),
        "sentences": len(cases),
        "algorithms": list(algorithms),
        "units": units,
        "order": order,
        "punctuation": punctuation,
        "lowercase": lower,
    }
    seconds = time.perf_counter() - clock
    run_id = _record(store, parameters, seed, started, seconds, results, tables, references)
    return RegenerationResult(run_id, results, references, seconds)


def _case(sentence: Sentence, kind: UnitKind, punctuation: bool, lower: bool) -> _Case:
    """Prepare one sentence: find its base noun phrases, drop what is not wanted."""
    if kind == "np":
        mark_base_nps(sentence)
    tags = sentence.upos or sentence.xpos
    keep = [
        punctuation or not _is_punctuation(form, tags[i] if tags else None)
        for i, form in enumerate(sentence.forms)
    ]
    if not all(keep):
        sentence = _filtered(sentence, keep)
    if lower:
        sentence = replace(sentence, forms=[form.lower() for form in sentence.forms])
    return _Case(units_of(sentence, kind), " ".join(sentence.forms))


def _is_punctuation(form: str, tag: str | None) -> bool:
    """Whether a token is punctuation, by its tag, or without one by its characters."""
    return tag in _PUNCTUATION_TAGS if tag else not any(character.isalnum() for character in form)


def _filtered(sentence: Sentence, keep: list[bool]) -> Sentence:
    """Return the sentence with some tokens only: forms, tags and base noun phrases."""
    return Sentence(
        forms=list(compress(sentence.forms, keep)),
        upos=sentence.upos and list(compress(sentence.upos, keep)),
        xpos=sentence.xpos and list(compress(sentence.xpos, keep)),
        nps=sentence.nps and list(compress(sentence.nps, keep)),
        sent_id=sentence.sent_id,
    )


def _warm_up(
    store: Store, model: ModelLike, cases: Sequence[_Case], algorithms: Sequence[str], order: int
) -> None:
    """Run every algorithm once, so that no sentence pays for compiling."""
    for name in algorithms:
        for case in cases[:1]:
            list(
                regenerate(
                    store, model, [case.units], algorithm=name, changes={"order": order}, lowercase=False
                )
            )


def _measure(system: str, answers: Sequence[Regenerated], references: Sequence[str]) -> SystemResult:
    outputs = [answer.text for answer in answers]
    size = max(1, len(outputs))
    exact = sum(map(eq, outputs, references)) / size
    return SystemResult(
        system=system,
        scores=[*corpus_bleu(outputs, references), Score("exact-match", exact, "fraction of sentences")],
        sentences=len(outputs),
        lookup_ms=1000 * sum(answer.lookup for answer in answers) / size,
        search_ms=1000 * sum(answer.search for answer in answers) / size,
        outputs=outputs,
    )


def _fingerprint(references: Sequence[str]) -> str:
    """Return the SHA-256 of the test set as it was used."""
    return hashlib.sha256("\n".join(references).encode()).hexdigest()


def _record(
    store: Store,
    parameters: dict[str, object],
    seed: int,
    started: datetime,
    seconds: float,
    results: Sequence[SystemResult],
    answers: Sequence[Sequence[Regenerated]],
    references: Sequence[str],
) -> int:
    """Store the run, its figures and its sentences in one transaction; return its number."""
    scores: list[tuple[str, int | None, Score]] = []
    outputs: list[tuple[str, int, str, str, str]] = []
    for result, found in zip(results, answers, strict=True):
        scores += [(result.system, None, score) for score in result.scores]
        scores += [
            (result.system, None, Score(name, value, "milliseconds a sentence"))
            for name, value in (("lookup-ms", result.lookup_ms), ("search-ms", result.search_ms))
        ]
        each = sentence_bleu(result.outputs, references)
        scores += [(result.system, item, score) for item, score in enumerate(each, 1)]
        for item, (answer, reference) in enumerate(zip(found, references, strict=True), 1):
            given = " ".join(map(str, answer.given))
            outputs.append((result.system, item, given, answer.text, reference))
    with store.begin() as connection:
        run_id: int = scalar(connection, select(func.coalesce(func.max(run_table.c.id), 0))) + 1
        connection.execute(
            insert(run_table).values(
                id=run_id,
                command="evaluate regeneration",
                parameters=json.dumps(parameters, sort_keys=True),
                seed=seed,
                version=sentgen.__version__,
                started_at=started,
                seconds=seconds,
            )
        )
        append(connection, score_table.name, _score_rows(run_id, scores))
        append(connection, output_table.name, _output_rows(run_id, outputs))
    return run_id


def _score_rows(run_id: int, scores: Sequence[tuple[str, int | None, Score]]) -> pa.Table:
    return pa.table(
        {
            "run_id": pa.array([run_id] * len(scores), pa.int32()),
            "system": [system for system, _, _ in scores],
            "item": pa.array([item for _, item, _ in scores], pa.int32()),
            "metric": [score.metric for _, _, score in scores],
            "value": [score.value for _, _, score in scores],
            "signature": [score.signature for _, _, score in scores],
        }
    )


def _output_rows(run_id: int, rows: Sequence[tuple[str, int, str, str, str]]) -> pa.Table:
    columns = {
        name: [row[i] for row in rows]
        for i, name in enumerate(("system", "item", "input", "output", "reference"))
    }
    table = pa.table(
        {
            name: pa.array(values, pa.int32() if name == "item" else pa.string())
            for name, values in columns.items()
        }
    )
    return table.append_column("run_id", pa.array([run_id] * len(rows), pa.int32()))
