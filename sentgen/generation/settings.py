"""The settings of searches: their values, and the group of those that every search looks at.

A group is a declaration of options (see `sentgen.options`); an algorithm names the groups that it looks at,
and those that are its own stand in its file. A value out of its range is refused where its group is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Annotated, Any, Literal, TypeVar, get_args

from sentgen.errors import InputError
from sentgen.options import Option

Paper = Literal["2007", "2009"]
PAPERS: tuple[Paper, ...] = get_args(Paper)

#: The part of the help that tells of searches.
SEARCH_PANEL = "Search; defaults are the algorithm's own"
#: An option of a search.
Setting = partial(Option, panel=SEARCH_PANEL)
Group = TypeVar("Group")


@dataclass(frozen=True, slots=True)
class NgramSettings:
    """What every search looks at; ``order`` is n of the n-grams, at most the model's."""

    order: Annotated[int, Setting("Order of the n-grams.", least=2, most=5)] = 4

    def __post_init__(self) -> None:
        if self.order < 2:
            raise InputError(f"n-grams of order {self.order} cannot order words; give 2 or more")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The settings of a search by name; those that are not there have the defaults of their groups."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def of(self, group: type[Group]) -> Group:
        """Return the settings of a group."""
        mine = (one.name for one in fields(group))  # type: ignore[arg-type]
        return group(**{name: self.values[name] for name in mine if name in self.values})
