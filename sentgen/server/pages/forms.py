"""Parts of the forms of several pages: examples, text types, and the order and choice of lines.

Examples are words and sentences of the served snapshot.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from sentgen.lookups.concordances.sorting import TYPICAL
from sentgen.options import NOT
from sentgen.server.pages.page import Asking, PageAnswer, PageParameters
from sentgen.server.pages.texts import link

#: Number of frequent words from which examples are chosen; letters of these; least letters of preferred ones.
_WORDS, _LETTERS, _TELLING = 200, range(1, 25), 6
_MOST = 6
#: Number of documents among which examples are chosen; number of sentences of a suitable one.
_DOCUMENTS, _SENTENCES = 500, range(4, 13)
#: Words of an example sentence to be put in order.
_TOKENS = range(5, 16)


@dataclass(frozen=True, slots=True)
class PageExample:
    """An example of a query: its name, and the parameters of the page."""

    name: str
    parameters: Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class ExamplePassage:
    """The first sentences of a document, and the words of one of them; ``tree``: whether that has a tree."""

    corpus: str
    document: str
    sentences: Sequence[str]
    words: Sequence[str]
    tree: bool

    @staticmethod
    async def choose(ask: Asking) -> ExamplePassage | None:
        """Return a passage from a short document of the first corpus; ``None`` if there is none."""
        documents = (await ask("documents", limit=_DOCUMENTS)).rows
        if not documents:
            return None
        chosen = next((row for row in documents if row["sentences"] in _SENTENCES), documents[0])
        source = {"corpus": chosen["corpus"], "document": chosen["document"]}
        sentences = (await ask("sentences", **source, limit=_SENTENCES[0])).rows
        if not sentences:
            return None
        ordered = next((row for row in sentences if row["length"] in _TOKENS), sentences[0])
        answer = await ask("sentence", **source, sentence=ordered["sentence"])
        forms = [row["form"] for row in answer.rows]
        return ExamplePassage(
            **source,
            sentences=[row["text"] for row in sentences],
            words=forms,
            tree=bool(answer.more.get("svg")),
        )


async def example_words(ask: Asking, corpora: Sequence[str] = ()) -> list[PageExample]:
    """Return frequent words of corpora, by default all, as examples for the parameter ``word``."""
    answer = await ask("ngrams", pattern="*", corpus=list(corpora), limit=_WORDS)
    # Without punctuation and the symbols for ends of sentences.
    forms = [row["w1"] for row in answer.rows if row["w1"].isalpha() and len(row["w1"]) in _LETTERS]
    telling = [form for form in forms if len(form) >= _TELLING]
    return [PageExample(form, {"word": form}) for form in (telling or forms)[:_MOST]]


#: Number of values of a key that are shown; the others can be unfolded.
_FIRST = 6
#: Columns of counts, and the noun for what is counted.
_COUNTED = {"documents": "text", "tokens": "token", "lines": "line"}
_YEAR = re.compile(r"[12]\d{3}s?")
#: Name of the parameter for the key whose values are all shown.
_EVERY = "values"


class TextType(NamedTuple):
    """A value of metadata, its sizes (number and noun), and the condition that chooses it."""

    value: str
    sizes: Sequence[tuple[int, str]]
    condition: str


class TextTypeKey(NamedTuple):
    """A key of metadata or labels: its largest values, the values that can be unfolded, and their number."""

    key: str
    first: Sequence[TextType]
    others: Sequence[TextType]
    different: int

    @property
    def values(self) -> Sequence[TextType]:
        """The values of both lists."""
        return [*self.first, *self.others]

    @staticmethod
    def read_all(answer: PageAnswer) -> list[TextTypeKey]:
        """Return the facets of corpora; those of time are last, as they may be dates of collection."""
        ordered = []
        for key, group in groupby(answer.rows, lambda row: str(row["key"])):
            rows = list(group)
            if of_time := all(_YEAR.fullmatch(row["value"]) for row in rows):
                rows.sort(key=lambda row: str(row["value"]), reverse=True)
            values = [TextType(row["value"], _sizes(row), row["condition"]) for row in rows]
            ordered.append(
                (of_time, TextTypeKey(key, values[:_FIRST], values[_FIRST:], rows[0]["different"]))
            )
        return [key for _, key in sorted(ordered, key=lambda pair: pair[0])]


def _sizes(row: Mapping[str, Any]) -> Sequence[tuple[int, str]]:
    return [(row[column], noun) for column, noun in _COUNTED.items() if column in row]


@dataclass(frozen=True, slots=True)
class TextTypes:
    """The text types of a form.

    Args:
        name: name of the parameter with the conditions that are chosen.
        keys: the keys that are offered, with their values.
        conditions: the conditions that are chosen or were typed.
        query: the parameters of the page; ``path`` is that of the page.
    """

    name: str
    keys: Sequence[TextTypeKey]
    conditions: Sequence[str]
    query: PageParameters
    path: str

    @property
    def boxes(self) -> Set[str]:
        """The conditions with a check box."""
        return {value.condition for key in self.keys for value in key.values}

    @property
    def typed(self) -> str:
        """The conditions without a check box, as one."""
        typed = [each for each in self.conditions if each not in self.boxes]
        return " and ".join(typed if len(typed) == 1 else [f"({each})" for each in typed])

    @property
    def chosen(self) -> Iterator[str]:
        """The conditions that are chosen by check boxes."""
        return (each for each in self.conditions if each in self.boxes)

    def every(self, key: str) -> str:
        """Return the link to the page with all values of a key."""
        return link(self.path, **{**self.query.without(_EVERY), _EVERY: key}) + f"#{self.name}-types"


async def corpus_fields(ask: Asking, query: PageParameters, *sides: tuple[str, str]) -> dict[str, Any]:
    """Return the lists ``overview`` and ``subcorpora``, and the text types of each side, for a form.

    Sides are names of the parameter for corpora and of that for conditions; by default, there is one side
    with ``corpus`` and ``where``.
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
    # Not for an unknown corpus, for which the answer of the page has an error.
    if known.issuperset(corpora):
        requests = [ask("facets", corpus=corpora)]
        requests += [ask("facets", corpus=corpora, key=every)] if every else []
        requests += [ask("label_facets", corpus=corpora, key=every)] if ask.offers_labels else []
        for answer in await asyncio.gather(*requests):
            keys |= {key.key: key for key in TextTypeKey.read_all(answer)}
    return TextTypes(where, list(keys.values()), query.conditions(where), query, ask.path)


#: Keys by which a page sorts lines, in addition to the shown columns.
SORT_KEYS = ("3L", "2L", "1L", "node", "1R", "2R", "3R", "left", "right", "document", TYPICAL)
#: Key for the order of the corpus, suffix of keys that ignore case, and number of keys in the form.
_NONE, _FOLDED, _LEVELS = "none", "%c", 3
_WINDOW = "5"
KEEP, DROP = "keep", "drop"


class FilterStep(NamedTuple):
    """A filter: a query, the window in which it matches, and whether hits with it are kept or dropped."""

    query: str
    window: str
    keep: str


class _SortLink(NamedTuple):
    """A link to the page in another order."""

    name: str
    link: str
    shown: bool


class _ChainLink(NamedTuple):
    """A filter in use: its description, and the link to the page without it."""

    text: str
    link: str


@dataclass(frozen=True, slots=True)
class LineChoice:
    """The order and choice of lines.

    Args:
        sort: keys in the order of precedence.
        fold: whether the order ignores the case of words.
        show: columns of metadata before the line.
        sample: number of hits in a random sample.
        seed: seed of the sample.
        dedupe: whether equal lines are shown once.
        filters: filters, which are applied one after the other.
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
        """Whether the choice differs from the default."""
        return bool(self.sort or self.show or self.sample or self.dedupe or self.filters)

    @property
    def levels(self) -> list[str]:
        """The keys, with empty ones up to the number of fields of the form."""
        return [*self.sort, *[""] * (_LEVELS - len(self.sort))]

    @property
    def keys(self) -> list[str]:
        """Keys that the form offers: the usual ones, the shown columns, and those of the URL."""
        columns = [name.strip() for name in self.show.split(",") if name.strip()]
        return list(dict.fromkeys([*SORT_KEYS, *columns, *self.sort]))

    @property
    def near(self) -> dict[str, list[str]]:
        """The filters as parameters of operations."""
        windows = [step.window if step.keep == KEEP else f"{NOT}{step.window}" for step in self.filters]
        return {"filter": [step.query for step in self.filters], "within": windows}

    @property
    def order(self) -> str:
        """The keys of the order as a parameter of operations."""
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
        """The parameters of the URL for this choice."""
        queries, windows, keeps = zip(*self.filters, strict=True) if self.filters else ((), (), ())
        return {
            **{name: getattr(self, name) for name in ("fold", "show", "sample", "seed", "dedupe")},
            "sort": self.sort,
            "filter": list(queries),
            "window": list(windows),
            "keep": list(keeps),
        }

    def chain(self, link_values: Mapping[str, object], hits: PageAnswer) -> list[_ChainLink]:
        """Return the filters that were applied, each with a link to the page without it.

        ``hits`` is the answer of the filtered query, whose notes have the number of hits after each filter.
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
        """Return the answer without the notes of the filters."""
        return hits if hits.problem else replace(hits, notes=hits.notes[len(self.filters) :])

    def orders(self, link_values: Mapping[str, object]) -> list[_SortLink]:
        """Return links to the page in other orders, by one key each."""
        now = self.sort[0] if len(self.sort) == 1 else "" if self.sort else _NONE
        links = []
        for key in (_NONE, *SORT_KEYS):
            other = replace(self, sort=[] if key == _NONE else [key])
            name = "corpus" if key == _NONE else key
            links.append(_SortLink(name, link("/query", **link_values, **other.link_values), key == now))
        return links

    @staticmethod
    def read(query: PageParameters) -> LineChoice:
        """Read the order and choice of lines from the URL."""
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
    """Return values with empty ones appended, as a URL need not have all."""
    return [*values, *[""] * most]
