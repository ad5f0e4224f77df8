"""What a form that takes a corpus offers: the corpora, and the values of their metadata with their sizes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from sentgen.server.pages.page import Asking, PageAnswer, PageParameters
from sentgen.server.pages.texts import link

#: Values of a key that are shown before the others are unfolded.
_FIRST = 6
#: What is counted of a value, and what one of it is called.
_COUNTED = {"documents": "text", "tokens": "token", "lines": "line"}
_YEAR = re.compile(r"[12]\d{3}s?")
#: The parameter with the key of which all values are asked for.
_EVERY = "values"


class TextType(NamedTuple):
    """A value, how much has it (numbers, each of what), and the condition that chooses it."""

    value: str
    sizes: Sequence[tuple[int, str]]
    condition: str


class TextTypeKey(NamedTuple):
    """A key of metadata or labels: its largest values, those that are unfolded, and how many there are."""

    key: str
    first: Sequence[TextType]
    others: Sequence[TextType]
    different: int

    @property
    def values(self) -> Sequence[TextType]:
        """All that are listed."""
        return [*self.first, *self.others]


def read_types(answer: PageAnswer) -> list[TextTypeKey]:
    """Return the facets of corpora; what is said of time comes last, as dates of collection are among it."""
    ordered = []
    for key, group in groupby(answer.rows, lambda row: str(row["key"])):
        rows = list(group)
        if of_time := all(_YEAR.fullmatch(row["value"]) for row in rows):
            rows.sort(key=lambda row: str(row["value"]), reverse=True)
        values = [TextType(row["value"], _sizes(row), row["condition"]) for row in rows]
        ordered.append((of_time, TextTypeKey(key, values[:_FIRST], values[_FIRST:], rows[0]["different"])))
    return [key for _, key in sorted(ordered, key=lambda pair: pair[0])]


def _sizes(row: Mapping[str, Any]) -> Sequence[tuple[int, str]]:
    return [(row[column], noun) for column, noun in _COUNTED.items() if column in row]


@dataclass(frozen=True, slots=True)
class TextTypes:
    """The text types of a form.

    Args:
        name: of the parameter that has what is chosen, each a condition.
        keys: what is offered.
        conditions: what is chosen, also what was typed.
        query: the parameters of the page, and ``path``: where it is.
    """

    name: str
    keys: Sequence[TextTypeKey]
    conditions: Sequence[str]
    query: PageParameters
    path: str

    @property
    def boxes(self) -> Set[str]:
        """The conditions that have a box."""
        return {one.condition for key in self.keys for one in key.values}

    @property
    def typed(self) -> str:
        """What is chosen and has no box, in one."""
        typed = [each for each in self.conditions if each not in self.boxes]
        return " and ".join(typed if len(typed) == 1 else [f"({each})" for each in typed])

    @property
    def chosen(self) -> Iterator[str]:
        """What is chosen and has a box."""
        return (each for each in self.conditions if each in self.boxes)

    def every(self, key: str) -> str:
        """Return the page with all values of a key."""
        return link(self.path, **{**self.query.without(_EVERY), _EVERY: key}) + f"#{self.name}-types"


async def corpus_fields(ask: Asking, query: PageParameters, *sides: tuple[str, str]) -> dict[str, Any]:
    """Return ``overview`` and ``subcorpora``, and ``types`` of each side, which a form offers.

    Args:
        ask: asks operations.
        query: the parameters of the page.
        sides: the parameter with the corpora, and that with the conditions, if others than the usual ones or
            several are.
    """
    overview, subcorpora = await asyncio.gather(ask("corpora"), ask("subcorpora"))
    known = {*(row["corpus"] for row in overview.rows), *(row["name"] for row in subcorpora.rows)}
    types = await asyncio.gather(
        *(_types(ask, query, known, *side) for side in sides or [("corpus", "where")])
    )
    return {"overview": overview, "subcorpora": subcorpora, "types": list(types)}


async def _types(ask: Asking, query: PageParameters, known: set[str], corpus: str, where: str) -> TextTypes:
    corpora, every = query.all(corpus), query.text(_EVERY)
    keys: dict[str, TextTypeKey] = {}
    # That there is no such corpus, the answer of the page says.
    if known.issuperset(corpora):
        asked = [ask("facets", corpus=corpora)]
        asked += [ask("facets", corpus=corpora, key=every)] if every else []
        asked += [ask("label_facets", corpus=corpora, key=every)] if ask.offers_labels else []
        for answer in await asyncio.gather(*asked):
            keys |= {key.key: key for key in read_types(answer)}
    return TextTypes(where, list(keys.values()), query.conditions(where), query, ask.path)
