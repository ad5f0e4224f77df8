"""Interpolated modified Kneser-Ney smoothing, as KenLM's lmplz estimates it.

Chen and Goodman 1998 ("An empirical study of smoothing techniques for language modeling", section 4.1.6 and
eq. 26), Heafield et al. 2013 ("Scalable modified Kneser-Ney language model estimation"). With a(g) the
adjusted count of an n-gram g (its count where g is of the highest order or begins with <s>, else the number
of different words before it), c a context, c' the context without its first word, and D(1), D(2), D(3+) the
discounts of the order:

    p(w | c) = (a(c w) - D(a(c w))) / sum_v a(c v) + gamma(c) p(w | c')
    gamma(c) = (sum_v D(a(c v)) + adjusted counts of the pruned c v) / sum_v a(c v)

The recursion ends in the uniform distribution over the vocabulary: <unk> and </s> included, <s> not. What is
pruned still counts in the sums and in the counts of counts, and its mass goes to the lower order.

lmplz differs in one detail that we do not copy: for the very last n-gram of each order it takes the count
in place of the adjusted count into the counts of counts. On any real text that changes nothing it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.models import sql
from sentgen.schema.corpus import BOS, EOS, UNK

#: Discounts where the counts of counts give none, those of ``lmplz --discount_fallback``.
FALLBACK = (0.5, 1.0, 1.5)

_FILE = "kneser_ney.sql"
Parameters = list[tuple[int, str, float]]
Progress = Callable[[str], None]


def estimate_discounts(n1: int, n2: int, n3: int, n4: int) -> tuple[float, float, float] | None:
    """Return D1, D2 and D3+ from the counts of counts (Chen and Goodman 1998, eq. 26).

    ``None`` if one of n1 to n3 is zero or a discount leaves the range from 0 to its count, as in lmplz.

    >>> estimate_discounts(4, 2, 1, 1)
    (0.5, 1.25, 1.0)
    """
    if 0 in (n1, n2, n3):
        return None
    y = n1 / (n1 + 2 * n2)
    counts = (n1, n2, n3, n4)
    found = [j - (j + 1) * y * counts[j] / counts[j - 1] for j in (1, 2, 3)]
    if any(not 0 <= discount <= j for j, discount in enumerate(found, start=1)):
        return None
    return found[0], found[1], found[2]


@dataclass(frozen=True, slots=True)
class _Order:
    """What the statements need to know about one order; the n-grams are called ``g``."""

    n: int
    highest: int
    min_count: int
    discounts: tuple[float, float, float]

    @property
    def discount(self) -> str:
        return sql.by_count(self.discounts[:2], count="a", otherwise=repr(self.discounts[2]))

    @property
    def kept(self) -> str:
        return f"(c >= {self.min_count}{f' or w1 in ({UNK}, {EOS})' if self.n == 1 else ''})"

    def longer(self) -> dict[str, str]:
        """Return how to find the weight of an n-gram as a context of the next order."""
        if self.n == self.highest:
            return {"weight": "null::double", "longer_context": ""}
        condition = sql.matching("g", "b", self.n)
        return {"weight": "b.gamma", "longer_context": f"left join context_{self.n + 1} b on {condition}"}


def smooth(
    connection: Connection, *, order: int, min_count: Sequence[int], unknown: bool, progress: Progress
) -> Parameters:
    """Smooth the temporary tables ``counted_1`` and up into ``smoothed_1`` and up.

    Args:
        connection: where the tables are; a row of ``smoothed_n`` is the words, the probability ``p`` and the
            back-off ``weight``, null if the n-gram is no context.
        order: the highest order.
        min_count: lowest count that is kept, per order, not falling.
        unknown: whether <unk> gets its share of the uniform distribution.
        progress: called with one line a step.

    Returns:
        By order: counts of counts ``n1`` to ``n4``, discounts ``d1`` to ``d3``, and ``fallback`` 1 where the
        discounts are `FALLBACK`.
    """
    parameters: Parameters = []
    orders: list[_Order] = []
    for n in range(order, 0, -1):
        progress(f"adjusting the counts of order {n}")
        orders.insert(0, _prepare(connection, n, order, min_count[n - 1], parameters))
    for this in orders:
        progress(f"interpolating order {this.n}")
        (_interpolate if this.n > 1 else _interpolate_unigrams)(connection, this, unknown)
    return sorted(parameters)


def _prepare(connection: Connection, n: int, highest: int, min_count: int, parameters: Parameters) -> _Order:
    """Make ``adjusted_n`` and ``context_n`` and estimate the discounts."""
    statement = "adjust" if n < highest else "adjust_highest"
    columns = {"words": sql.words(n), "shifted": sql.shifted(n), "longer": n + 1, "bos": BOS}
    sql.run(connection, _FILE, statement, n=n, **columns)
    counts = [int(value) for value in sql.run(connection, _FILE, "statistics", n=n)[0]]
    discounts = estimate_discounts(*counts)
    parameters += [(n, f"n{r}", float(value)) for r, value in enumerate(counts, start=1)]
    parameters += [(n, f"d{r}", value) for r, value in enumerate(discounts or FALLBACK, start=1)]
    if discounts is None:
        parameters.append((n, "fallback", 1.0))
    this = _Order(n, highest, min_count, discounts or FALLBACK)
    if n > 1:
        context = sql.words(n - 1)
        sql.run(connection, _FILE, "contexts", n=n, context=context, kept=this.kept, discount=this.discount)
    return this


def _interpolate_unigrams(connection: Connection, this: _Order, unknown: bool) -> None:
    sql.run(
        connection,
        _FILE,
        "unigrams",
        kept=this.kept,
        discount=this.discount,
        unknown=str(unknown).lower(),
        unk=UNK,
        bos=BOS,
    )
    sql.run(connection, _FILE, "unigram_weights", **this.longer())


def _interpolate(connection: Connection, this: _Order, unknown: bool) -> None:
    n = this.n
    sql.run(
        connection,
        _FILE,
        "interpolate",
        n=n,
        shorter=n - 1,
        words=sql.words(n, prefix="g."),
        discount=this.discount,
        kept=this.kept,
        same_context=sql.matching("g", "k", n - 1),
        same_suffix=sql.matching("g", "l", n - 1, skip=1),
        **this.longer(),
    )
