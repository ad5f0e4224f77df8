"""The reference for smoothing: plain SQL over whole tables, a statement for each formula.

Both methods turn the temporary tables ``counted_1`` and up into ``smoothed_1`` and up, with the words, the
probability ``p`` and the back-off ``weight``, null if the n-gram is no context. The statements lie in
``kneser_ney.sql`` and ``katz.sql`` beside this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from sentgen.models.base import sql
from sentgen.models.building.katz import ABSOLUTE, good_turing
from sentgen.models.building.kneser_ney import FALLBACK, estimate_discounts
from sentgen.schema.tables.corpus import BOS, EOS, UNK

Parameters = list[tuple[int, str, float]]
#: Words of an n-gram to its natural logarithms of probability and back-off weight.
Smoothed = dict[tuple[int, ...], tuple[float, float]]


def smooth(
    connection: Connection, smoothing: str, *, order: int, min_count: Sequence[int], unknown: bool
) -> tuple[Smoothed, Parameters]:
    """Return the model of the counts, and its parameters."""
    method = {"kneser-ney": _KneserNey, "katz": _Katz}[smoothing](connection, order, min_count, unknown)
    parameters = method.smooth()
    found: Smoothed = {}
    for n in range(1, order + 1):
        for *words, p, weight in sql.rows(connection, f"select {sql.words(n)}, p, weight from smoothed_{n}"):
            backoff = math.log(max(1.0 if weight is None else weight, 1e-100))
            found[tuple(words)] = min(math.log(p), 0.0), backoff
    return found, sorted(parameters)


def _by_count(values: Sequence[float], *, count: str, otherwise: str) -> str:
    """Return the expression that chooses a value by a count: ``values[0]`` for 1, and so on."""
    cases = " ".join(f"when {r} then {float(value)!r}" for r, value in enumerate(values, start=1))
    return f"case {count} {cases} else {otherwise} end"


def _shifted(n: int) -> str:
    """Return the last n words of an n-gram of order n + 1 under the names of the first ones."""
    return ", ".join(f"w{i + 1} as w{i}" for i in range(1, n + 1))


def _kept(n: int, min_count: int, count: str) -> str:
    return f"({count} >= {min_count}{f' or w1 in ({UNK}, {EOS})' if n == 1 else ''})"


@dataclass
class _Method:
    connection: Connection
    order: int
    min_count: Sequence[int]
    unknown: bool
    file = ""

    def run(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        text = (Path(__file__).parent / self.file).read_text(encoding="utf-8")
        bodies = {part.partition("\n")[0]: part.partition("\n")[2] for part in text.split("-- name: ")[1:]}
        return sql.rows(self.connection, bodies[statement].format(**values))

    def longer(self, n: int, table: str, weight: str) -> dict[str, str]:
        """Return the expression for the weight of an n-gram as a context of the next order."""
        if n == self.order:
            return {"weight": "null::double", "longer_context": ""}
        joined = f"left join {table}_{n + 1} b on {sql.matching('g', 'b', n)}"
        return {"weight": weight, "longer_context": joined}


class _KneserNey(_Method):
    file = "kneser_ney.sql"

    def smooth(self) -> Parameters:
        parameters: Parameters = []
        discounts = {}
        for n in range(self.order, 0, -1):
            discounts[n] = self.prepare(n, parameters)
        for n in range(1, self.order + 1):
            values = {"kept": _kept(n, self.min_count[n - 1], "c"), "discount": discounts[n]}
            longer = self.longer(n, "context", "b.gamma")
            if n == 1:
                self.run("unigrams", unknown=str(self.unknown).lower(), unk=UNK, bos=BOS, **values)
                self.run("unigram_weights", **longer)
                continue
            same = {
                "same_context": sql.matching("g", "k", n - 1),
                "same_suffix": sql.matching("g", "l", n - 1, skip=1),
            }
            words = sql.words(n, prefix="g.")
            self.run("interpolate", n=n, shorter=n - 1, words=words, **values, **same, **longer)
        return parameters

    def prepare(self, n: int, parameters: Parameters) -> str:
        """Make ``adjusted_n`` and ``context_n``; return the discount of a count as an expression."""
        statement = "adjust" if n < self.order else "adjust_highest"
        self.run(statement, n=n, words=sql.words(n), shifted=_shifted(n), longer=n + 1, bos=BOS)
        counts = [int(value) for value in self.run("statistics", n=n)[0]]
        found = estimate_discounts(*counts)
        parameters += [(n, f"n{r}", float(value)) for r, value in enumerate(counts, start=1)]
        parameters += [(n, f"d{r}", value) for r, value in enumerate(found or FALLBACK, start=1)]
        if found is None:
            parameters.append((n, "fallback", 1.0))
        *low, high = found or FALLBACK
        discount = _by_count(low, count="a", otherwise=repr(high))
        if n > 1:
            kept = _kept(n, self.min_count[n - 1], "c")
            self.run("contexts", n=n, context=sql.words(n - 1), kept=kept, discount=discount)
        return discount


class _Katz(_Method):
    file = "katz.sql"

    def smooth(self) -> Parameters:
        parameters: Parameters = []
        vocabulary = 0
        for n in range(1, self.order + 1):
            values: dict[str, Any] = {
                "discounted": self.discounted(n, parameters),
                "kept": _kept(n, self.min_count[n - 1], "count"),
            }
            if n == 1:
                self.run("unigrams", unk=UNK, bos=BOS, unknown=str(self.unknown).lower(), **values)
                vocabulary = int(self.run("vocabulary", bos=BOS)[0][0])
                continue
            values |= {"n": n, "vocabulary": vocabulary}
            self.run("contexts", context=sql.words(n - 1), **values)
            same_context = sql.matching("g", "k", n - 1)
            self.run("discount", words=sql.words(n, prefix="g."), same_context=same_context, **values)
            same_suffix = sql.matching("g", "l", n - 1, skip=1)
            context = sql.words(n - 1, prefix="g.")
            self.run("weights", context=context, shorter=n - 1, same_suffix=same_suffix, **values)
        for n in range(1, self.order + 1):
            words = sql.words(n, prefix="g.")
            self.run("combine", n=n, words=words, **self.longer(n, "weight", "b.weight"))
        return parameters

    def discounted(self, n: int, parameters: Parameters) -> str:
        counts = [int(value) for value in self.run("statistics", n=n, bos=BOS)[0]]
        discounts = good_turing(counts)
        parameters += [(n, f"n{r}", float(value)) for r, value in enumerate(counts, start=1)]
        if discounts is None:
            parameters.append((n, "absolute", ABSOLUTE))
            return f"(count - {ABSOLUTE})"
        parameters += [(n, f"d{r}", value) for r, value in enumerate(discounts, start=1)]
        return f"(count * {_by_count(discounts, count='count', otherwise='1.0')})"
