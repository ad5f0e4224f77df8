"""What is in a corpus, in parts that can be chosen: its facets, and its most frequent words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from sentgen.server.pages.page import Asking, PageAnswer, PageParameters
from sentgen.server.pages.texts import link

#: Words that are looked at, as for examples, and that are shown.
_WORDS, _SHOWN = 200, 24
_ENDS = ("<s>", "</s>")
#: Values of a facet that are shown before the others are unfolded.
_FIRST = 6


_TIME = re.compile(r"[12]\d{3}s?")


class FacetValue(NamedTuple):
    """A value, the texts and tokens with it, and the page of these alone."""

    value: str
    documents: int
    tokens: int
    link: str


class Facet(NamedTuple):
    """A key with its values: the largest ones, and those that are unfolded."""

    key: str
    first: Sequence[FacetValue]
    others: Sequence[FacetValue]


class ChosenPart(NamedTuple):
    """A condition that was chosen, and the page without it."""

    condition: str
    link: str


@dataclass(frozen=True, slots=True)
class PartChoice:
    """The parts of corpora that a page is about, each a condition in its URL.

    Args:
        query: the parameters of the page.
        conditions: what was chosen, one after the other.
    """

    query: PageParameters
    conditions: Sequence[str]

    @property
    def where(self) -> str:
        """All of them in one."""
        one = len(self.conditions) == 1
        return " and ".join(self.conditions if one else [f"({each})" for each in self.conditions])

    @property
    def chosen(self) -> list[ChosenPart]:
        """Each of them with the page without it."""
        return [
            ChosenPart(one, self._page([each for each in self.conditions if each != one]))
            for one in self.conditions
        ]

    def facets(self, answer: PageAnswer) -> list[Facet]:
        """Return the facets with the pages that choose them; not those by which a part was chosen."""
        found = []
        for key, group in groupby(answer.rows, lambda row: str(row["key"])):
            rows = list(group)
            if {row["condition"] for row in rows} & {*self.conditions}:
                continue
            if of_time := all(_TIME.fullmatch(row["value"]) for row in rows):
                rows.sort(key=lambda row: str(row["value"]), reverse=True)
            values = [self._value(row) for row in rows]
            found.append((of_time, Facet(key, values[:_FIRST], values[_FIRST:])))
        # What is said of time comes last, as dates of collection and change are among it.
        return [facet for _, facet in sorted(found, key=lambda one: one[0])]

    def _value(self, row: Mapping[str, Any]) -> FacetValue:
        more = self._page([*self.conditions, str(row["condition"])])
        return FacetValue(row["value"], row["documents"], row["tokens"], more)

    def _page(self, conditions: Sequence[str]) -> str:
        kept = self.query.without("where", "offset", "document")
        return link("/corpus", **kept, where=conditions)


def read_parts(query: PageParameters) -> PartChoice:
    """Read which parts are chosen."""
    return PartChoice(query, [one.strip() for one in query.all("where") if one.strip()])


async def frequent_words(ask: Asking, name: str, where: str) -> list[Mapping[str, Any]]:
    """Return the most frequent words, without what has no letter or figure, such as punctuation."""
    found = await ask("ngrams", pattern="*", corpus=[name] if name else [], where=where, limit=_WORDS)
    words = [row for row in found.rows if row["w1"] not in _ENDS and any(map(str.isalnum, row["w1"]))]
    return words[:_SHOWN]
