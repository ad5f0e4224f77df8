"""The settings of a model: what is counted, and how it is smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sentgen.errors import InputError, spell
from sentgen.models.base.registry import STUPID_BACKOFF, ModelInfo
from sentgen.models.base.symbols import ITEMS, OF_WORDS, Symbols
from sentgen.models.smoothing import katz, kneser_ney
from sentgen.schema.tables.counts import MAX_ORDER

ESTIMATORS = {"kneser-ney": kneser_ney.smooth, "katz": katz.smooth}
SMOOTHING = (*ESTIMATORS, STUPID_BACKOFF)
UNKNOWN = ("word", "none", "tag")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a model; ``min_count`` has one number per order, and is empty for an imported one."""

    order: int
    smoothing: str
    min_count: tuple[int, ...]
    unknown: str
    brackets: bool
    symbols: Symbols = OF_WORDS

    @staticmethod
    def of_model(model: ModelInfo) -> Recipe:
        """Return the settings that a model was built with."""
        how = (model.smoothing, model.min_count, model.unknown, model.brackets, model.symbols)
        return Recipe(model.order, *how)

    @property
    def as_counted(self) -> bool:
        """Return whether its n-grams are those that ingestion counted: no classes, brackets or symbols."""
        return self.unknown != "tag" and not self.brackets and self.symbols.are_words


def recipe(
    order: int,
    smoothing: str = "kneser-ney",
    min_count: Sequence[int] | None = None,
    unknown: str = "word",
    brackets: bool = False,
    symbols: Symbols | None = None,
) -> Recipe:
    """Check the settings of a model.

    Args:
        order: highest order of n-grams, 1 to 5.
        smoothing: ``kneser-ney`` (as lmplz), ``katz``, or ``stupid-backoff``, for which nothing is built:
            look-ups read the counts.
        min_count: lowest count kept per order; must not fall; the last one also holds for higher orders.
        unknown: ``word`` gives <unk> a probability; ``none`` does not; ``tag`` also maps words seen once to
            ``<unk:TAG>``, with the language-specific tag where there is one, else the universal one.
        brackets: count the brackets of base noun phrases as words, ``<np>`` and ``</np>``.
        symbols: what the n-grams are made of, if not of words (see `sentgen.models.base.symbols`).

    Raises:
        InputError: a setting is out of range, or goes with no other one.
    """
    given = tuple(min_count or (1,))
    if not 1 <= order <= MAX_ORDER:
        raise InputError(f"order {order} is not between 1 and {MAX_ORDER}")
    if smoothing not in SMOOTHING:
        raise InputError(f"unknown smoothing {smoothing!r}; there are: {', '.join(SMOOTHING)}")
    if unknown not in UNKNOWN:
        raise InputError(f"unknown words as {unknown!r}; there are: {', '.join(UNKNOWN)}")
    if min(given) < 1 or list(given) != sorted(given):
        listed = ",".join(map(str, given))
        raise InputError(f"min-count {listed}: give counts from 1 that do not fall, such as 1,1,2")
    if len(given) > order:
        raise InputError(f"min-count has {len(given)} numbers for a model of order {order}")
    counts = given + given[-1:] * (order - len(given))
    made = Recipe(order, smoothing, counts, unknown, brackets, symbols or OF_WORDS)
    _check_together(made)
    return made


def _check_together(made: Recipe) -> None:
    """Refuse settings that contradict each other."""
    if made.smoothing == STUPID_BACKOFF and not made.as_counted:
        raise InputError(
            f"{made.smoothing} reads counts as they are, without classes of unknown words, brackets or"
            " symbols; choose kneser-ney or katz for these"
        )
    if made.unknown == "tag" and not made.symbols.are_words:
        raise InputError(
            f"a model over {made.symbols.over} knows rare words by their tags already;"
            f" leave {spell('unknown')} tag out"
        )
    if made.brackets and made.symbols.over == ITEMS:
        raise InputError(f"a phrase is one item, which no brackets go around; leave {spell('brackets')} out")
