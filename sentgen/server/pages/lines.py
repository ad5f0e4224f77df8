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


class SortLink(NamedTuple):
    """An order that a page can be asked for."""

    name: str
    link: str
    shown: bool


class ChainLink(NamedTuple):
    """A filter that was taken: what is said of it, and the page without it."""

    said: str
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
        columns = [one.strip() for one in self.show.split(",") if one.strip()]
        return list(dict.fromkeys([*SORT_KEYS, *columns, *self.sort]))

    @property
    def near(self) -> dict[str, list[str]]:
        """The filters as operations take them."""
        windows = [one.window if one.keep == KEEP else f"{NOT}{one.window}" for one in self.filters]
        return {"filter": [one.query for one in self.filters], "within": windows}

    @property
    def order(self) -> str:
        """The keys as operations take them."""
        return ",".join(f"{key}{_FOLDED}" if self.fold and _FOLDED not in key else key for key in self.sort)

    @property
    def asked(self) -> dict[str, object]:
        """The parameters of the operation that shows lines."""
        asked: dict[str, object] = {"sort": self.order, "show": [self.show] if self.show else []}
        asked |= {"sample": self.sample, "seed": self.seed if self.sample else "", **self.near}
        asked |= {"explain": True} if TYPICAL in self.sort else {}
        return asked | {"dedupe": True} if self.dedupe else asked

    @property
    def kept(self) -> dict[str, object]:
        """What of the URL says the same."""
        queries, windows, keeps = zip(*self.filters, strict=True) if self.filters else ((), (), ())
        return {
            **{name: getattr(self, name) for name in ("fold", "show", "sample", "seed", "dedupe")},
            "sort": self.sort,
            "filter": list(queries),
            "window": list(windows),
            "keep": list(keeps),
        }

    def chain(self, kept: Mapping[str, object], hits: PageAnswer) -> list[ChainLink]:
        """Return the filters that were taken, each with the page without it.

        Args:
            kept: what else the URL says.
            hits: what is left, which says how many each filter leaves.
        """
        told = [*hits.notes[: len(self.filters)]] if not hits.problem else []
        links = []
        for number, one in enumerate(self.filters):
            without = replace(self, filters=[*self.filters[:number], *self.filters[number + 1 :]])
            word = "within" if one.keep == KEEP else "without"
            said = told[number] if number < len(told) else f"{one.query} {word} {one.window}"
            links.append(ChainLink(said, link("/query", **kept, **without.kept)))
        return links

    def rest(self, hits: PageAnswer) -> PageAnswer:
        """Return what was found without what the chain says."""
        return hits if hits.problem else replace(hits, notes=hits.notes[len(self.filters) :])

    def orders(self, kept: Mapping[str, object]) -> list[SortLink]:
        """Return the pages in other orders, by one key each."""
        now = self.sort[0] if len(self.sort) == 1 else "" if self.sort else _NONE
        links = []
        for key in (_NONE, *SORT_KEYS):
            other = replace(self, sort=[] if key == _NONE else [key])
            name = "corpus" if key == _NONE else key
            links.append(SortLink(name, link("/query", **kept, **other.kept), key == now))
        return links


def read_choice(query: PageParameters) -> LineChoice:
    """Read how lines are sorted and chosen."""
    keys = [key.strip() for one in query.each("sort") for key in one.split(",")]
    rows = zip(query.each("filter"), _filled(query.each("window")), _filled(query.each("keep")), strict=False)
    return LineChoice(
        sort=list(dict.fromkeys(key for key in keys if key not in ("", _NONE))),
        fold=query.box("fold"),
        show=query.text("show"),
        sample=query.text("sample"),
        seed=query.text("seed"),
        dedupe=query.box("dedupe"),
        filters=[
            FilterStep(one.strip(), window.strip() or _WINDOW, DROP if keep == DROP else KEEP)
            for one, window, keep in rows
            if one.strip()
        ],
    )


def _filled(values: Iterable[str], most: int = 50) -> list[str]:
    """Return values with empty ones behind them, as a URL need not have all."""
    return [*values, *[""] * most]
