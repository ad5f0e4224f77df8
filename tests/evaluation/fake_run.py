"""A run of two systems over six sentences, without a store, with hostile text in every place for text."""

from __future__ import annotations

from dataclasses import replace

from sentgen.evaluation.regeneration.answers import SystemAnswers
from sentgen.evaluation.regeneration.experiment import RegenerationResult, summarize
from sentgen.evaluation.regeneration.measures import statistics
from sentgen.generation import RegeneratedSentence, Unit
from sentgen.generation.regenerate import Gold

SCRIPT = "<script>alert(1)</script>"
SENTENCES = [
    [("the", "dog"), ("barks",), ("at",), ("a", "cat"), (".",)],
    [(SCRIPT,), ("is",), ("no",), ('"word"',), ("&amp;",)],
    [("$x^2$",), ("costs",), ("$",), ("5",), ("now",)],
    [("\u202eevil",), ("text",), ("turns",), ("{{ 7 * 7 }}",), ("around",)],
    [("short",), ("one",)],
    [("|",), ("a",), ("b",), ("c",), ("d",), ("e",)],
]


def fake_run() -> RegenerationResult:
    """Return the result of `good`, which swaps the last two units, and `<b>bad</b>`, which reverses sentences."""
    golds = [tuple(Unit(words) for words in sentence) for sentence in SENTENCES]
    good = [(*units[:-2], units[-1], units[-2]) for units in golds]
    bad = [units[::-1] for units in golds]
    cases = [Gold(units) for units in golds]
    result = summarize(
        {"good": _answered(good, cases), "<b>bad</b>|": _answered(bad, cases)},
        cases,
        seed=1,
        by_length=True,
    )
    return replace(result, parameters={"test": f"{SCRIPT}|*x*", "sentences": 6})


def _answered(orders: list[tuple[Unit, ...]], cases: list[Gold]) -> SystemAnswers:
    answers = [_answer(units) for units in orders]
    return SystemAnswers(answers, statistics(answers, cases))


def _answer(units: tuple[Unit, ...]) -> RegeneratedSentence:
    return RegeneratedSentence(
        item=1,
        rank=1,
        units=units,
        tree=None,
        given=units,
        score=0.0,
        gold_score=0.0,
        logp=0.0,
        unknown=0,
        guessed=0,
        lookup=0.001,
        search=0.002,
    )
