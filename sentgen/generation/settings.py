"""The settings of the searches, the defaults of each algorithm, and the literal readings of the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from sentgen.errors import InputError
from sentgen.options import Option, parameters_of

LmoContext = Literal["phrase", "string"]
Positions = Literal["paper", "learned"]
Padding = Literal["free", "literal"]
Theft = Literal["off", "sum", "printed"]
THEFTS: tuple[Theft, ...] = get_args(Theft)
Paper = Literal["2007", "2009"]
PAPERS: tuple[Paper, ...] = get_args(Paper)


#: The part of the help that tells of searches.
SEARCH_PANEL = "Search; defaults are the algorithm's own"
#: In `ab`, the last of them, there is always one root.
_TREES = ("prim", "prim-ngram", "prim-arg", "cle", "ab")


@dataclass(frozen=True, slots=True)
class Setting(Option):
    """What is told of a setting; ``of`` are the algorithms that look at it, all if there are none."""

    of: tuple[str, ...] = ()
    panel: str | None = SEARCH_PANEL


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What can be chosen about a search; an algorithm looks at the settings that it knows.

    A new setting is a field here, and what the algorithms do that look at it.

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

    #: As help lists them; the order of the fields is that of the records of experiments.
    ORDER: ClassVar = (
        *("order", "beam", "lmo_context", "verb_root", "noun_under_noun", "one_root"),
        *("theft", "q", "padding", "padding_cost"),
    )

    order: Annotated[int, Setting("Order of the n-grams.", least=2, most=5)] = 4
    lmo_context: Annotated[
        LmoContext,
        Setting(
            "What a unit joins: the last one, or all so far.",
            of=("lmo", "prim-ngram", "prim-arg", "cle", "ab"),
        ),
    ] = "phrase"
    q: Annotated[Positions, Setting("Argument positions: by the paper's rule, or as seen.", of=("ab",))] = (
        "learned"
    )
    padding: Annotated[Padding, Setting("Let any position stay empty, or as in the paper.", of=("ab",))] = (
        "free"
    )
    padding_cost: Annotated[
        float,
        Setting(
            "Cost of a position that stays empty, in nats.",
            shell="Cost of a position that stays empty.",
            metavar="NATS",
            api={"ge": -1e6, "le": 1e6},
            of=("ab",),
        ),
    ] = 1.0
    verb_root: Annotated[
        bool, Setting("Only a verb may be the root, if there is one.", off="--any-root", of=_TREES)
    ] = True
    noun_under_noun: Annotated[
        bool, Setting("A noun may modify a noun.", off="--no-noun-under-noun", of=_TREES)
    ] = False
    one_root: Annotated[
        bool, Setting("Only one unit may be the root.", off="--many-roots", of=_TREES[:-1])
    ] = True
    theft: Annotated[Theft, Setting("How an edge is scaled that robs another head.", of=("prim-arg",))] = (
        "sum"
    )
    beam: Annotated[
        int,
        Setting(
            "Hypotheses kept a stack.",
            shell="Hypotheses kept a stack, such as 64 or 512.",
            metavar="N",
            least=1,
            api={"le": 2048},
            of=("viterbi", "beam"),
        ),
    ] = 64

    def changed(self, changes: Mapping[str, Any]) -> SearchSettings:
        """Return the settings with some of them changed; ``None`` changes nothing.

        Raises:
            InputError: there is no such setting, or a value is out of its range.
        """
        unknown = sorted(set(changes) - SETTINGS.keys())
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
        for name in (name for name, kind in hints.items() if get_origin(kind) is Literal):
            allowed = get_args(hints[name])
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"{name.replace('_', '-')} {getattr(self, name)!r} is neither {' nor '.join(allowed)}"
                )


#: The settings by name.
SETTINGS: dict[str, Setting] = {one.name: one.option for one in parameters_of(SearchSettings)}  # type: ignore[misc]
