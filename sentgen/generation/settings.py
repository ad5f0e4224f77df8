"""The settings of the searches, the defaults of each algorithm, and the literal readings of the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from sentgen.errors import InputError

LmoContext = Literal["phrase", "string"]
Positions = Literal["paper", "learned"]
Padding = Literal["free", "literal"]
Theft = Literal["off", "sum", "printed"]
THEFTS: tuple[Theft, ...] = get_args(Theft)
Paper = Literal["2007", "2009"]
PAPERS: tuple[Paper, ...] = get_args(Paper)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What can be chosen about a search; an algorithm looks at the settings that it knows.

    Attributes:
        order: n of the n-grams, at most the model's.
        lmo_context: what a sibling is joined to: the last chosen `phrase`, or the whole `string` so far.
        q: which argument positions open (`ab`): `paper` for the rule of Wan et al. 2009, `learned` for any
            side on which the tag was seen with modifiers.
        padding: dummies of the assignment (`ab`): `free` for as many as positions, `literal` as in 2009.
        padding_cost: cost of leaving a position empty with `free` padding, in nats.
        verb_root: only a verb may attach to the root, where the bag has one (2007, section 3.1.2).
        noun_under_noun: whether a noun may modify a noun (2007, section 3.1.2 forbids it).
        one_root: whether the root takes one modifier only (`prim`, `prim-ngram`, `prim-arg`, `cle`); in `ab`
            it always does.
        theft: how an edge is scaled that takes a word from another head (`prim-arg`): not at all, by the
            `sum` of the probabilities that the head is satisfied without it, or as `printed` in 2007.
        beam: hypotheses kept a stack (`viterbi`, `beam`).
    """

    order: int = 4
    lmo_context: LmoContext = "phrase"
    q: Positions = "learned"
    padding: Padding = "free"
    padding_cost: float = 1.0
    verb_root: bool = True
    noun_under_noun: bool = False
    one_root: bool = True
    theft: Theft = "sum"
    beam: int = 64

    def changed(self, changes: Mapping[str, Any]) -> SearchSettings:
        """Return the settings with some of them changed; ``None`` changes nothing.

        Raises:
            InputError: there is no such setting, or a value is out of its range.
        """
        unknown = sorted(set(changes) - SETTINGS)
        if unknown:
            raise InputError(f"no setting {unknown[0]!r}; there are: {', '.join(sorted(SETTINGS))}")
        settings = replace(self, **{name: value for name, value in changes.items() if value is not None})
        settings._check()
        return settings

    def _check(self) -> None:
        if self.order < 2:
            raise InputError(f"n-grams of order {self.order} cannot order words; give 2 or more")
        if self.beam < 1:
            raise InputError(f"a beam of {self.beam} holds nothing; give 1 or more")
        if not self.padding_cost >= 0:
            raise InputError(f"padding cost {self.padding_cost} is not 0 or more")
        hints = get_type_hints(SearchSettings)
        for name in ("lmo_context", "q", "padding", "theft"):
            allowed = get_args(hints[name])
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"{name.replace('_', '-')} {getattr(self, name)!r} is neither {' nor '.join(allowed)}"
                )


#: The names of all settings.
SETTINGS = frozenset(field.name for field in fields(SearchSettings))
