"""The pages Home, with the contents of the store, and Corpus, with documents, n-grams and frequencies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sentgen.lookups.concordances.sorting import TYPICAL
from sentgen.server.pages.drawings import curves
from sentgen.server.pages.forms import SORT_KEYS, PageExample, TextTypeKey, corpus_fields, example_words
from sentgen.server.pages.page import Asking, ListPart, Page, PageAnswer, PageParameters, default
from sentgen.server.pages.texts import cql_value, link

#: Tabs for a subcorpus; a corpus, and all corpora, have more.
_OF_PART = ("documents", "frequencies", "ngrams", "concordance")
_OF_CORPUS = (*_OF_PART, "regions", "metadata", "sources")
_OF_ALL = (*_OF_PART, "subcorpora")
_UNITS = ("word", "lemma", "upos", "xpos", "deprel")
_ORDERS = ("none", *SORT_KEYS)
#: Parameters of the form of a concordance.
_ASKED = ("name", "show", "where", "pattern", "sort", "random", "ignore_case", "across", "limit")
_ROWS = 50
#: Most subcorpora whose sizes are counted for one page.
_SIZES = 20
#: Examples of patterns.
_PATTERNS = {"concordance": "{word}", "frequencies": "{begin}*", "ngrams": "{word} *"}
#: Column by which lists are sorted if the URL names none.
_USUAL = {"frequencies": "-count", "ngrams": "-count"}


async def _home(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    corpora, models, words = await asyncio.gather(ask("corpora"), ask("models"), example_words(ask))
    return {"corpora": corpora, "models": models, "examples": words}


async def _corpus(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the rows of the chosen tab, for a corpus or subcorpus, or for all, or for parts of these."""
    name = query.text("name")
    fields = await corpus_fields(ask, query, ("name", "where"))
    overview, subcorpora = fields["overview"], fields["subcorpora"]
    about = next((row for row in overview.rows if row["corpus"] == name), None)
    names = [row["name"] for row in subcorpora.rows]
    tabs = _OF_PART if name in names else _OF_CORPUS if name else _OF_ALL
    tab, parts = query.choice("show", tabs), _PartChoice(query, query.conditions())
    if name and about is None and name not in names and not overview.problem:
        known = ", ".join([*(row["corpus"] for row in overview.rows), *names])
        there = f"there are: {known}" if known else "the store has no corpora"
        overview = ask.problem(f"no corpus {name!r}; {there}", 404)
    part = ListPart("/corpus", query, query.rows(_ROWS), usual=_USUAL.get(tab, ""))
    answer = None if overview.problem else await _VIEWS[tab](ask, query, name, parts.where, part)
    inside: Mapping[str, Any] = {"size": None, "facets": (), "words": (), "contents": None}
    if tab == "documents" and answer and not answer.problem and not query.raw("document"):
        inside = await _contents(ask, name, parts)
        # The number of documents is part of the size.
        answer = replace(answer, more={"total": inside["size"]["documents"], **answer.more})
    return {
        "name": name,
        "tab": tab,
        "tabs": tabs,
        "parts_chosen": parts,
        "part": part,
        **fields,
        "overview": overview,
        "about": about,
        "sizes": await _sizes(ask, [name] if name in names else names if tab == "subcorpora" else []),
        "answer": answer,
        **inside,
        "examples": await _examples(ask, name, tab) if not overview.problem else (),
        **await _surprisal(ask, query, name),
        "units": _UNITS,
        "orders": _ORDERS,
        "context": _context(query),
        "contexts": query.contexts("/corpus", _ASKED),
        "rows": query.rows(_ROWS),
        "document": query.text("document"),
        "by": query.choice("by", _UNITS),
        "compared": _compared(query, name, [key.key for key in fields["types"][0].keys]),
        "ignore_case": query.box("ignore_case"),
    }


async def _contents(ask: Asking, name: str, parts: _PartChoice) -> Mapping[str, Any]:
    """Ask for the size of the chosen part, for its facets, and for its most frequent words."""
    answer, words = await asyncio.gather(
        ask("facets", corpus=_only(name), where=parts.where), _frequent_words(ask, name, parts.where)
    )
    return {"size": answer.more, "facets": parts.facets(answer), "words": words, "contents": answer}


async def _examples(ask: Asking, name: str, tab: str) -> list[PageExample]:
    """Return example patterns from frequent words: the word, its beginning, or its bigrams."""
    if tab not in _PATTERNS:
        return []
    words = [example.name for example in await example_words(ask, _only(name))]
    patterns = dict.fromkeys(_PATTERNS[tab].format(word=word, begin=word[:3]) for word in words)
    return [PageExample(pattern, {"pattern": pattern}) for pattern in patterns]


async def _documents(
    ask: Asking, query: PageParameters, name: str, where: str, part: ListPart
) -> PageAnswer | None:
    document = query.raw("document")
    if document:
        return await ask("sentences", corpus=name, document=document, limit=part.rows, offset=part.offset)
    return await ask("documents", corpus=_only(name), where=where, **part.parameters)


async def _surprisal(ask: Asking, query: PageParameters, name: str) -> Mapping[str, object]:
    """Ask for the surprisal of the shown document, and draw its curves."""
    document = query.raw("document")
    if not name or not document or query.choice("show", _OF_CORPUS) != "documents":
        return {"curves": ()}

    def page_of(sentence: str) -> str:
        return link("/sentence", corpus=name, document=document, sentence=sentence)

    answer = await ask("surprisal", corpus=name, document=document)
    return {"surprisal": answer, "curves": curves(answer.rows, page_of)}


async def _subcorpora(
    ask: Asking, query: PageParameters, name: str, where: str, part: ListPart
) -> PageAnswer | None:
    return await ask("subcorpora")


async def _sizes(ask: Asking, names: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return the properties of the first few subcorpora, by name."""
    names = names[:_SIZES]
    answers = await asyncio.gather(*(ask("subcorpus", name=name) for name in names))
    properties = (
        {row["property"]: row["value"] for row in answer.rows} | {"problem": answer.problem}
        for answer in answers
    )
    return dict(zip(names, properties, strict=True))


async def _sources(
    ask: Asking, query: PageParameters, name: str, where: str, part: ListPart
) -> PageAnswer | None:
    return part.cut(await ask("corpus", name=name)) if name else None


async def _regions(
    ask: Asking, query: PageParameters, name: str, where: str, part: ListPart
) -> PageAnswer | None:
    return part.cut(await ask("corpus", name=name, regions=True))


async def _metadata(
    ask: Asking, query: PageParameters, name: str, where: str, part: ListPart
) -> PageAnswer | None:
    return part.cut(await ask("corpus", name=name, metadata=True))


async def _frequencies(
    ask: Asking, query: PageParameters, name: str, where: str, part: ListPart
) -> PageAnswer | None:
    return await ask(
        "frequencies",
        by=[query.choice("by", _UNITS)],
        pattern=query.text("pattern", "*"),
        ignore_case=query.box("ignore_case"),
        corpus=_only(name),
        where=where,
        **part.parameters,
    )


def _compared(query: PageParameters, name: str, keys: Sequence[str]) -> list[tuple[str, str]]:
    """Return the keys of metadata, each with the page that compares the hits of the pattern by its values."""
    pattern = query.text("pattern", "*")
    if not pattern.strip("*") or "\\" in pattern:
        return []
    parameters = {"query": _wild_cql(query.choice("by", _UNITS), pattern), "corpus": name, "compare": "on"}
    parameters["ignore_case"] = query.box("ignore_case")
    where = query.conditions()
    return [(key, link("/query", **parameters, where=where, by=key)) for key in keys if key.isidentifier()]


async def _ngrams(
    ask: Asking, query: PageParameters, name: str, where: str, part: ListPart
) -> PageAnswer | None:
    return await ask(
        "ngrams",
        pattern=query.text("pattern", "* *"),
        by=query.choice("by", _UNITS),
        words=query.box("words"),
        min_documents=query.text("min_documents"),
        ignore_case=query.box("ignore_case"),
        corpus=_only(name),
        where=where,
        **part.parameters,
    )


def _wild_cql(attribute: str, pattern: str) -> str:
    """Return the query in CQL for tokens with an attribute that a pattern with stars matches.

    >>> print(_wild_cql("word", "un*"), _wild_cql("upos", "*"))
    [word="un.*"] []
    """
    if not pattern.strip("*"):
        return "[]"
    value = ".*".join(cql_value(part)[1:-1] for part in pattern.split("*"))
    return f'[{attribute}="{value}"]'


async def _concordance(
    ask: Asking, query: PageParameters, name: str, where: str, part: ListPart
) -> PageAnswer | None:
    if not query.text("pattern"):
        return None
    return await ask(
        "kwic",
        pattern=query.text("pattern"),
        sort=query.choice("sort", _ORDERS),
        explain=query.choice("sort", _ORDERS) == TYPICAL,
        marks=True,
        context=_context(query),
        across=bool(query.box("across")),
        random=query.text("random"),
        ignore_case=query.box("ignore_case"),
        corpus=_only(name),
        where=where,
        limit=part.rows,
        offset="" if query.text("random") else part.offset,
    )


def _context(query: PageParameters) -> str:
    return query.text("context", str(default("kwic", "context")))


def _only(name: str) -> list[str]:
    return [name] if name else []


#: Number of frequent words that are shown.
_SHOWN_WORDS = 24


class _ChosenPart(NamedTuple):
    """A chosen condition, and the link to the page without it."""

    condition: str
    link: str


@dataclass(frozen=True, slots=True)
class _PartChoice:
    """The part of the corpora that a page shows, chosen by conditions in its URL."""

    query: PageParameters
    conditions: Sequence[str]

    @property
    def where(self) -> str:
        """The conjunction of all conditions."""
        return self.query.where()

    @property
    def chosen(self) -> list[_ChosenPart]:
        """The conditions, each with a link to the page without it."""
        return [
            _ChosenPart(condition, self._page([each for each in self.conditions if each != condition]))
            for condition in self.conditions
        ]

    def facets(self, answer: PageAnswer) -> list[TextTypeKey]:
        """Return the facets without keys of which a value is chosen."""
        taken = {*self.conditions}
        return [
            key
            for key in TextTypeKey.read_all(answer)
            if not taken & {value.condition for value in key.values}
        ]

    def with_part(self, condition: str) -> str:
        """Return the link to the page with one more condition."""
        return self._page([*self.conditions, condition])

    def _page(self, conditions: Sequence[str]) -> str:
        link_values = self.query.without("where", "offset", "document")
        return link("/corpus", **link_values, where=conditions)


async def _frequent_words(ask: Asking, name: str, where: str) -> list[Mapping[str, Any]]:
    answer = await ask("ngrams", pattern="*", words=True, corpus=_only(name), where=where, limit=_SHOWN_WORDS)
    return [*answer.rows]


_VIEWS = {
    "documents": _documents,
    "frequencies": _frequencies,
    "ngrams": _ngrams,
    "concordance": _concordance,
    "subcorpora": _subcorpora,
    "regions": _regions,
    "metadata": _metadata,
    "sources": _sources,
}


PAGES = (
    Page("/", "Home", "home.html.j2", _home, asks=("models",)),
    Page(
        "/corpus",
        "Corpora",
        "corpus.html.j2",
        _corpus,
        asks=(
            *("corpus", "subcorpus", "frequencies", "ngrams", "kwic"),
            *("facets", "documents", "sentences", "surprisal"),
        ),
    ),
)
