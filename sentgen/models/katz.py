"""Katz back-off with Good-Turing discounts.

Katz 1987 ("Estimation of probabilities from sparse data for the language model component of a speech
recognizer"), with k = 5 as in the paper. With r the count of c w, n_r the number of n-grams of the order with
count r, c' the context c without its first word:

    p(w | c) = d_r r / sum_v count(c v)      if r is at least the lowest count kept
             = alpha(c) p(w | c')            otherwise
    d_r = (r* / r - q) / (1 - q),  r* = (r + 1) n_{r+1} / n_r,  q = (k + 1) n_{k+1} / n_1    for r <= k
    d_r = 1                                                                                 for r > k
    alpha(c) = (1 - sum of p(w | c) over the w kept after c) / (1 - sum of p(w | c') over the same w)

What the paper leaves open, and what we do:

* Counts of counts too thin, so that some d_r is not between 0 and 1: that order takes absolute discounting
  instead, d_r = (r - 0.5) / r for all r. It leaves mass in every context, which no discounting would not.
* No mass left after c because every r > k: the sum gets one more, as in SRILM, and that one is left over.
* Every word of the vocabulary kept after c: p(w | c) is normalised to one, there is nothing to back off to.
* What unigrams leave over goes to <unk>; without <unk> they are normalised to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.models import sql
from sentgen.schema.corpus import BOS, EOS, UNK

#: Counts above are reliable and not discounted (Katz 1987, section II).
K = 5
#: Subtracted from every count where Good-Turing fails.
ABSOLUTE = 0.5

_FILE = "katz.sql"
Parameters = list[tuple[int, str, float]]
Progress = Callable[[str], None]


def good_turing(counts: Sequence[int]) -> list[float] | None:
    """Return d_1 to d_k from n_1 to n_{k+1} (Katz 1987, eq. 13 and 15), ``None`` if one is not in (0, 1).

    >>> [round(d, 3) for d in good_turing([120, 40, 20, 12, 8, 5]) or []]
    [0.556, 0.667, 0.733, 0.778, 0.667]
    """
    if 0 in counts:
        return None
    k = len(counts) - 1
    common = (k + 1) * counts[k] / counts[0]
    if common >= 1:
        return None
    found = [((r + 1) * counts[r] / (r * counts[r - 1]) - common) / (1 - common) for r in range(1, k + 1)]
    return found if all(0 < discount < 1 for discount in found) else None


@dataclass(frozen=True, slots=True)
class _Order:
    """What the statements need to know about one order; the n-grams are called ``g``."""

    n: int
    min_count: int
    discounts: list[float] | None

    @property
    def discounted(self) -> str:
        if self.discounts is None:
            return f"(count - {ABSOLUTE})"
        return f"(count * {sql.by_count(self.discounts, count='count', otherwise='1.0')})"

    @property
    def kept(self) -> str:
        return f"(count >= {self.min_count}{f' or w1 in ({UNK}, {EOS})' if self.n == 1 else ''})"


def smooth(
    connection: Connection, *, order: int, min_count: Sequence[int], unknown: bool, progress: Progress
) -> Parameters:
    """Smooth the temporary tables ``counted_1`` and up into ``smoothed_1`` and up.

    The arguments are those of `sentgen.models.kneser_ney.smooth`.

    Returns:
        By order: counts of counts ``n1`` to ``n6``, and ``d1`` to ``d5`` or, where they fail, ``absolute``.
    """
    parameters: Parameters = []
    vocabulary = 0
    for n in range(1, order + 1):
        progress(f"discounting order {n}")
        this = _estimate(connection, n, min_count[n - 1], parameters)
        if n == 1:
            vocabulary = _discount_unigrams(connection, this, unknown)
        else:
            _discount(connection, this, vocabulary)
    for n in range(1, order + 1):
        _combine(connection, n, order)
    return parameters


def _estimate(connection: Connection, n: int, min_count: int, parameters: Parameters) -> _Order:
    counts = [int(value) for value in sql.run(connection, _FILE, "statistics", n=n, bos=BOS)[0]]
    discounts = good_turing(counts)
    parameters += [(n, f"n{r}", float(value)) for r, value in enumerate(counts, start=1)]
    if discounts is None:
        parameters.append((n, "absolute", ABSOLUTE))
    else:
        parameters += [(n, f"d{r}", value) for r, value in enumerate(discounts, start=1)]
    return _Order(n, min_count, discounts)


def _discount_unigrams(connection: Connection, this: _Order, unknown: bool) -> int:
    """Make ``probability_1`` and return the size of the vocabulary."""
    values = {"discounted": this.discounted, "kept": this.kept, "unknown": str(unknown).lower()}
    sql.run(connection, _FILE, "unigrams", unk=UNK, bos=BOS, **values)
    return int(sql.run(connection, _FILE, "vocabulary", bos=BOS)[0][0])


def _discount(connection: Connection, this: _Order, vocabulary: int) -> None:
    """Make ``probability_n``, and ``weight_n`` of its contexts."""
    n = this.n
    values = {"n": n, "vocabulary": vocabulary, "discounted": this.discounted, "kept": this.kept}
    sql.run(connection, _FILE, "contexts", context=sql.words(n - 1), **values)
    same_context = sql.matching("g", "k", n - 1)
    words = sql.words(n, prefix="g.")
    sql.run(connection, _FILE, "discount", words=words, same_context=same_context, **values)
    same_suffix = sql.matching("g", "l", n - 1, skip=1)
    context = sql.words(n - 1, prefix="g.")
    sql.run(connection, _FILE, "weights", context=context, shorter=n - 1, same_suffix=same_suffix, **values)


def _combine(connection: Connection, n: int, highest: int) -> None:
    weight, longer = "null::double", ""
    if n < highest:
        weight, longer = "b.weight", f"left join weight_{n + 1} b on {sql.matching('g', 'b', n)}"
    words = sql.words(n, prefix="g.")
    sql.run(connection, _FILE, "combine", n=n, words=words, weight=weight, longer_context=longer)
