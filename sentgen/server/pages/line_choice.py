"""How the lines of a page are sorted and chosen: what its URL says of it, and the pages with a step less."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sentgen.lookups.concordances.sorting import TYPICAL
from sentgen.options import NOT
from sentgen.server.pages.page import PageAnswer, PageParameters
from sentgen.server.pages.texts import link

#: What lines can be sorted by on a page; more keys are columns that are shown.
SORT_KEYS = ("3L", "2L", "1L", "node", "1R", "2R", "3R", "left", "right", "document", TYPICAL)
#: The corpus has an order of its own.
_NONE, _FOLDED, _LEVELS = "none", "%c", 3
_WINDOW = "5"
KEEP, DROP = "keep", "drop"


class FilterStep(NamedTuple):
    """A filter: a query, how near it matches, and whether hits are kept or dropped."""

    query: str
    window: str
    keep: str


class _SortLink(NamedTuple):
    """An order that a page can be asked for."""

    name: str
    link: str
    shown: bool


class _ChainLink(NamedTuple):
    """A filter that was taken: what is said of it, and the page without it."""

    text: str
    link: str


@dataclass(frozen=True, slots=True)
class LineChoice:
    """How lines are sorted and chosen.

    Args:
        sort: keys, the first one first; ``fold``: whether the case of words is ignored.
        show: columns before the words.
        sample: how many hits are drawn; ``seed``: by which seed.
        dedupe: whether lines that show the same are shown once.
        filters: one after the other.
    """

    sort: Sequence[str]
    fold: str
    show: str
    sample: str
    seed: str
    dedupe: str
    filters: Sequence[FilterStep]

    @property
    def used(self) -> bool:
        """Whether anything of it is asked for."""
        return bool(self.sort or self.show or self.sample or self.dedupe or self.filters)

    @property
    def levels(self) -> list[str]:
        """The keys in so many fields as the page has, or more."""
        return [*self.sort, *[""] * (_LEVELS - len(self.sort))]

    @property
    def keys(self) -> list[str]:
        """What lines may be sorted by: what a page offers, columns, and what the URL says."""
        columns = [name.strip() for name in self.show.split(",") if name.strip()]
        return list(dict.fromkeys([*SORT_KEYS, *columns, *self.sort]))

    @property
    def near(self) -> dict[str, list[str]]:
        """The filters as operations take them."""
        windows = [step.window if step.keep == KEEP else f"{NOT}{step.window}" for step in self.filters]
        return {"filter": [step.query for step in self.filters], "within": windows}

    @property
    def order(self) -> str:
        """The keys as operations take them."""
        return ",".join(f"{key}{_FOLDED}" if self.fold and _FOLDED not in key else key for key in self.sort)

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of the operation that shows lines."""
        parameters: dict[str, object] = {"sort": self.order, "show": [self.show] if self.show else []}
        parameters |= {"sample": self.sample, "seed": self.seed if self.sample else "", **self.near}
        parameters |= {"explain": True} if TYPICAL in self.sort else {}
        return parameters | {"dedupe": True} if self.dedupe else parameters

    @property
    def link_values(self) -> dict[str, object]:
        """What of the URL says the same."""
        queries, windows, keeps = zip(*self.filters, strict=True) if self.filters else ((), (), ())
        return {
            **{name: getattr(self, name) for name in ("fold", "show", "sample", "seed", "dedupe")},
            "sort": self.sort,
            "filter": list(queries),
            "window": list(windows),
            "keep": list(keeps),
        }

    def chain(self, link_values: Mapping[str, object], hits: PageAnswer) -> list[_ChainLink]:
        """Return the filters that were taken, each with the page without it.

        Args:
            link_values: what else the URL says.
            hits: what is left, which says how many each filter leaves.
        """
        notes = [*hits.notes[: len(self.filters)]] if not hits.problem else []
        links = []
        for number, step in enumerate(self.filters):
            without = replace(self, filters=[*self.filters[:number], *self.filters[number + 1 :]])
            word = "within" if step.keep == KEEP else "without"
            text = notes[number] if number < len(notes) else f"{step.query} {word} {step.window}"
            links.append(_ChainLink(text, link("/query", **link_values, **without.link_values)))
        return links

    def rest(self, hits: PageAnswer) -> PageAnswer:
        """Return what was found without what the chain says."""
        return hits if hits.problem else replace(hits, notes=hits.notes[len(self.filters) :])

    def orders(self, link_values: Mapping[str, object]) -> list[_SortLink]:
        """Return the pages in other orders, by one key each."""
        now = self.sort[0] if len(self.sort) == 1 else "" if self.sort else _NONE
        links = []
        for key in (_NONE, *SORT_KEYS):
            other = replace(self, sort=[] if key == _NONE else [key])
            name = "corpus" if key == _NONE else key
            links.append(_SortLink(name, link("/query", **link_values, **other.link_values), key == now))
        return links


def read_choice(query: PageParameters) -> LineChoice:
    """Read how lines are sorted and chosen."""
    keys = [key.strip() for text in query.each("sort") for key in text.split(",")]
    rows = zip(query.each("filter"), _pad(query.each("window")), _pad(query.each("keep")), strict=False)
    return LineChoice(
        sort=list(dict.fromkeys(key for key in keys if key not in ("", _NONE))),
        fold=query.box("fold"),
        show=query.text("show"),
        sample=query.text("sample"),
        seed=query.text("seed"),
        dedupe=query.box("dedupe"),
        filters=[
            FilterStep(text.strip(), window.strip() or _WINDOW, DROP if keep == DROP else KEEP)
            for text, window, keep in rows
            if text.strip()
        ],
    )


def _pad(values: Iterable[str], most: int = 50) -> list[str]:
    """Return values with empty ones behind them, as a URL need not have all."""
    return [*values, *[""] * most]
