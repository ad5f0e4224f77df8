"""Compare systems of recorded runs by the answers in the store, without running the systems again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import Connection, select

from sentgen.errors import InputError, NotFoundError
from sentgen.evaluation.figures.results import Recorder
from sentgen.evaluation.regeneration.answers import given_answer, given_answers
from sentgen.evaluation.regeneration.experiment import COMMAND, RegenerationResult, set_record, summarize
from sentgen.generation.regenerate import Gold
from sentgen.schema import Store
from sentgen.schema.tables.runs import output, run

COMPARE = "evaluate compare"


class _Texts(NamedTuple):
    """The outputs of a system of a run, and their references."""

    outputs: list[str]
    references: list[str]


def compare_runs(store: Store, runs: Sequence[str], *, seed: int = 1) -> RegenerationResult:
    """Measure and compare systems of recorded runs over the same sentences, and record the comparison.

    Args:
        store: the store with the runs, not read-only.
        runs: the number of a run, for all its systems, or ``NUMBER:SYSTEM`` for one of them.
        seed: seed of the samples and the tests.

    Returns:
        systems by the names ``NUMBER:SYSTEM``, with the figures that need only outputs and references.

    Raises:
        InputError: a run is not of this form or not of regeneration, runs are over different sentences, or
            there is only one system.
        NotFoundError: there is no such run, or no such system in it.
    """
    recorder = Recorder(store, COMPARE)
    with store.connect() as connection:
        systems: dict[str, _Texts] = {}
        for text in runs:
            systems |= _systems(connection, text)
    if len(systems) < 2:
        raise InputError(f"{', '.join(runs)}: one system compares with nothing; name another run, too")
    _check_same(systems)
    references = next(iter(systems.values())).references
    cases = [Gold(given_answer(text).units) for text in references]
    answered = given_answers({name: texts.outputs for name, texts in systems.items()}, cases)
    result = summarize(answered, cases, seed=seed)
    parameters = {"systems": {name: {} for name in systems}, **set_record("", result.references)}
    return recorder.record(replace(result, parameters=parameters), items=False)


def _systems(connection: Connection, text: str) -> dict[str, _Texts]:
    """Return the texts of the systems that ``NUMBER`` or ``NUMBER:SYSTEM`` names."""
    written, _, wanted = text.partition(":")
    if not (written.isascii() and written.isdecimal() and len(written) < 10):
        raise InputError(f"run {text!r} is not written NUMBER or NUMBER:SYSTEM, such as 3 or 3:joint")
    number = int(written)
    command = connection.execute(select(run.c.command).where(run.c.id == number)).scalar()
    if command is None:
        raise NotFoundError(f"no run {number}; see: sentgen sql 'select run, command from v_runs'")
    if command != COMMAND:
        raise InputError(f"run {number} is one of {command}; only those of {COMMAND} can be compared")
    query = select(output.c.system, output.c.output, output.c.reference).where(output.c.run_id == number)
    systems: dict[str, _Texts] = {}
    for row in connection.execute(query.order_by(output.c.item)):
        texts = systems.setdefault(str(row.system), _Texts([], []))
        texts.outputs.append(str(row.output))
        texts.references.append(str(row.reference))
    if wanted and wanted not in systems:
        raise NotFoundError(f"run {number} has no system {wanted!r}; it has: {', '.join(sorted(systems))}")
    return {f"{number}:{name}": systems[name] for name in sorted(systems) if wanted in ("", name)}


def _check_same(systems: Mapping[str, _Texts]) -> None:
    """Refuse systems over different sentences, as their figures cannot be compared."""
    (first, texts), *others = systems.items()
    for name, other in others:
        if other.references == texts.references:
            continue
        numbers = len(texts.references), len(other.references)
        pairs = enumerate(zip(texts.references, other.references, strict=False), 1)
        number = next((item for item, (one, two) in pairs if one != two), min(numbers) + 1)
        raise InputError(
            f"{first} and {name} are not over the same sentences: {numbers[0]:,} and {numbers[1]:,}, from"
            f" sentence {number:,} on others; evaluate both on one test set, in the same case and punctuation"
        )
