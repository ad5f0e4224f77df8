"""Query: a request in CQL or Grew, its hits with their trees, what they are counted by, and files of both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import QueryParams

from sentgen.lookups.base.attributes import period_in
from sentgen.lookups.cql.dialects import Dialect, Strategy
from sentgen.output.rates import IN_PART, PartSizes, rate_column, row_rate, time_key
from sentgen.server import wire
from sentgen.server.operations import operations
from sentgen.server.pages.drawings import RateChart, drawn_over_time
from sentgen.server.pages.forms import LineChoice, PageExample, corpus_fields
from sentgen.server.pages.page import Asking, ListPart, Page, PageAnswer, PageParameters
from sentgen.server.pages.texts import (
    cql_value,
    in_document,
    link,
    narrowed_cql,
    narrowed_grew,
    period_condition,
)
from sentgen.server.problems import Refused

LANGUAGES = {"cql": "CQL", "grew": "Grew"}
#: The first one is that of the dialect.
STRATEGIES = ("usual", *Strategy)
#: Rows of a list of counts; its file has all of them.
_ROWS, _COUNTS, _TREES = 20, 20, 10
_USUAL = "-count"
#: Tokens of a hit that are marked in its tree.
_TOKENS = 1000
#: Lemmas of a word whose forms are asked for.
_LEMMAS = 5
#: What the form sends, besides what is counted.
_ASKED = (
    "language",
    "query",
    "corpus",
    "where",
    "by",
    "compare",
    "whether",
    "strategy",
    "dialect",
    "across",
    "context",
    "random",
    "ignore_case",
    "limit",
)
_SEPARATOR = ";"
#: Columns of parts that are compared, with the names that they have on the page; their file has all.
_DIFFERENCES = {
    "count": "count",
    IN_PART: "per million",
    "documents": "documents",
    "dp": "DP",
    "log_likelihood": "log-likelihood",
    "p_bonferroni": "p",
    "chi_square": "chi-square",
    "bic": "BIC",
    "log_ratio": "log ratio",
    "percent_diff": "%DIFF",
    "relative_risk": "relative risk",
    "odds_ratio": "odds ratio",
}
_FILE = "sentences.conllu"


EXAMPLES = {
    "cql": (
        PageExample("All forms of a lemma", {"query": '[lemma="be"]', "by": "word"}),
        PageExample("A word with one to three words before another", {"query": '"the" []{1,3} "of"'}),
        PageExample(
            "A determiner, adjectives and a noun", {"query": '[upos="DET"] [upos="ADJ"]+ [upos="NOUN"]'}
        ),
        PageExample(
            "What stands before a noun, by lemma", {"query": 'a:[upos="ADJ"] [upos="NOUN"]', "by": "a.lemma"}
        ),
        PageExample(
            "In which documents a word is more frequent than in others",
            {"query": '"the"', "by": "document", "compare": "on"},
        ),
        PageExample("The same word twice", {"query": "a:[] b:[] :: a.word = b.word", "by": "word"}),
        PageExample("The first word of each sentence", {"query": "<s> []", "by": "word"}),
        PageExample(
            "Nouns with a number before them, sorted by the word before",
            {"query": '[upos="NOUN"]', "filter": '[upos="NUM"]', "window": "3L", "sort": "1L"},
        ),
    ),
    "grew": (
        PageExample(
            "Verbs with subject and object",
            {"query": "pattern { V -[nsubj]-> S; V -[obj]-> O }", "by": "V.lemma"},
        ),
        PageExample(
            "In which order they stand",
            {"query": "pattern { V -[nsubj]-> S; V -[obj]-> O }", "by": "S#V#O"},
        ),
        PageExample(
            "Verbs without a subject",
            {"query": "pattern { V [upos=VERB] }\nwithout { V -[1=nsubj]-> S }", "by": "V.lemma"},
        ),
        PageExample("Relations and how often they are", {"query": "pattern { e: H -> M }", "by": "e.label"}),
        PageExample(
            "Edges that cross",
            {"query": "pattern {\n  e: A -> B;\n  f: C -> D;\n  e >< f\n}", "by": "e.label"},
        ),
        PageExample(
            "Adjectives that agree with their noun",
            {"query": "pattern { N -[amod]-> A; N.Number = A.Number }"},
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Lines:
    """What the lines of a concordance unfold: trees by the number of their line, and links that turn them.

    ``marks`` are those of `sentgen.server.operations.lookups`, a line each, with the names of nodes; none in
    CQL, whose nodes are one part.
    """

    marks: Sequence[Mapping[str, Any]]
    trees: Mapping[int, PageAnswer]
    links: Sequence[str]

    def parts(self, line: int, text: str) -> Sequence[Sequence[str]]:
        """Return the text of a node in parts, each with the names of the nodes that it is."""
        return self.marks[line]["parts"] if line < len(self.marks) else [[text, ""]]


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for hits and counts, if there is a query, and for the trees of the lines that are unfolded."""
    if query.text("forms_of"):
        query = await _forms(ask, query)
    language, text = query.choice("language", LANGUAGES), query.raw("query").strip()
    fields, choice = await corpus_fields(ask, query), LineChoice.read(query)
    common = {
        "language": language,
        "languages": LANGUAGES,
        "text": text,
        **fields,
        "examples": EXAMPLES[language],
        "choice": choice,
        "unfolded": choice.used or _asks_more(query),
        "strategies": STRATEGIES,
        "dialects": tuple(Dialect),
        "contexts": query.contexts("/query", _ASKED, **choice.link_values),
        "rows": query.rows(_ROWS),
        "ignore_case": query.box("ignore_case"),
        "query": query,
        "hits": None,
        "chart": None,
        "places": None,
        "places_link": "",
    }
    if not text:
        return common
    by_grew = language == "grew"
    parameters, counts_of = hits_of(query, text, by_grew), _counts(query, text, by_grew)
    part = ListPart("/query", query, query.rows(_ROWS))
    of_counts = ListPart("/query", query, _COUNTS, usual=_USUAL, prefix="counts_")
    # What is drawn anew with each number of lines has none behind it.
    offset = 0 if parameters[1].get("random") else part.offset
    hits, counts = await asyncio.gather(
        ask(parameters[0], **{**parameters[1], "limit": part.rows, "offset": offset, "marks": True}),
        # Sorted, so that all of them are counted.
        ask(counts_of[0], **{**counts_of[1], **of_counts.parameters, "sort": of_counts.sort or _USUAL})
        if counts_of
        else ask.nothing(),
    )
    if by_grew:
        hits = replace(hits, files={**hits.files, "CoNLL-U": _conllu_link(query)})
    link_values = {name: query.all(name) for name in _ASKED}
    drawn = dict[str, object]()
    if not by_grew:
        drawn = await _places(ask, query, text, link_values | choice.link_values)
        if counts_of and counts:
            of_rows = partial(_narrowed_links, query, text, by_grew=False)
            drawn["chart"] = await _over_time(ask, counts_of, counts, of_rows)
    return {
        **common,
        **drawn,
        "hits": hits if by_grew else choice.rest(hits),
        "chain": [] if by_grew else choice.chain(link_values, hits),
        "sorts": choice.orders(link_values),
        "part": part,
        "of_counts": of_counts,
        "counts_by": _counted_by(counts) if counts else (),
        "differences": _DIFFERENCES if counts and "bic" in counts.columns else {},
        "counts": counts if by_grew or not counts else choice.rest(counts),
        "narrowed": _narrowed_links(query, text, counts, by_grew=by_grew) if counts else (),
        "intervals": [row_rate(row, IN_PART) for row in counts.rows] if counts else (),
        "lines": await _lines(ask, query, hits, by_grew),
    }


async def _over_time(
    ask: Asking,
    parameters: tuple[str, dict[str, object]],
    counts: PageAnswer,
    urls: Callable[[PageAnswer], list[str]],
) -> RateChart | None:
    """Ask for all counts, if these are of years or dates, and draw them."""
    keys = _counted_by(counts)
    if time_key(keys, counts.rows) is None or not rate_column(counts.columns):
        return None
    name, values = parameters
    every = await ask(name, **{**values, "limit": 0, "sizes": True, "compare": ""})
    counted = every.more.get("sizes", {"keys": (), "tokens": ()})
    sizes = PartSizes(counted["keys"], {tuple(row[:-1]): row[-1] for row in counted["tokens"]})
    # Of some years a line would say that the others have nothing.
    return None if every.truncated else drawn_over_time(keys, every.rows, sizes, urls(every))


async def _places(
    ask: Asking, query: PageParameters, text: str, link_values: Mapping[str, object]
) -> dict[str, object]:
    """Ask where in their documents the hits are, if that is wanted; the link that asks for it, if not."""
    if not query.box("places"):
        return {"places_link": link("/query", **link_values, places="on")}
    parameters = {"cql": text, **LineChoice.read(query).near, **_reading_values(query), **_common(query)}
    answer = await ask("kwic", **parameters, places=True, limit=_COUNTS)
    return {"places": answer, "place_urls": [in_document(text, row, link_values) for row in answer.rows]}


async def _forms(ask: Asking, query: PageParameters) -> PageParameters:
    """Return what asks for all forms of the lemmas that a word has, or of itself if it has none."""
    word = query.text("forms_of")
    answer = await ask(
        "frequencies", query=f"[word={cql_value(word)}]", by=["lemma"], limit=_LEMMAS, **_common(query)
    )
    # A token without a lemma counts as one of this name.
    lemmas = [row["lemma"] for row in answer.rows if row["lemma"] != "_"]
    conditions = [f"lemma={cql_value(lemma)}" for lemma in lemmas] or [f"word={cql_value(word)}"]
    link_values = [(name, value) for name in ("corpus", "where", "ignore_case") for value in query.all(name)]
    return PageParameters(
        QueryParams([("query", f"[{' | '.join(conditions)}]"), ("by", "word"), *link_values])
    )


def _asks_more(query: PageParameters) -> bool:
    """Return whether the address says more than a query and a corpus."""
    typed = any(query.text(name) for name in ("by", "compare", "whether", "where", "random", "ignore_case"))
    return typed or bool(_reading_values(query)) or query.rows(_ROWS) != _ROWS


def _common(query: PageParameters) -> dict[str, object]:
    parameters = {"corpus": query.all("corpus"), "ignore_case": bool(query.box("ignore_case"))}
    return {**parameters, "where": query.where()}


def hits_of(query: PageParameters, text: str, by_grew: bool) -> tuple[str, dict[str, object]]:
    """Return the operation that finds the hits, with its parameters."""
    choice, parameters = LineChoice.read(query), {**_common(query), "random": query.text("random")}
    if by_grew:
        return "match", {"request": text, "sort": choice.order, **parameters}
    if choice.sample:
        del parameters["random"]
    context = {"context": query.text("context")} if query.text("context") else {}
    return "kwic", {"cql": text, **choice.parameters, **_reading_values(query), **context, **parameters}


def _counts(query: PageParameters, text: str, by_grew: bool) -> tuple[str, dict[str, object]] | None:
    """Return the operation that counts them, with its parameters; None if they are not to be counted."""
    keys = _keys(query)
    if by_grew:
        whether = query.text("whether")
        parameters = {"request": text, "key": keys, "whether": [whether] if whether else []}
        return ("match", {**parameters, **_common(query)}) if keys or whether else None
    counted = {"query": text, "by": keys, **LineChoice.read(query).near, **_reading_values(query)}
    compare = {"compare": True} if query.box("compare") else {}
    return ("frequencies", {**counted, **compare, **_common(query)}) if keys or compare else None


def _reading_values(query: PageParameters) -> dict[str, object]:
    """Return how a query in CQL is read, as far as it is not read as usual."""
    strategy, dialect = query.choice("strategy", STRATEGIES), query.choice("dialect", Dialect)
    reading: dict[str, object] = {"strategy": strategy} if strategy != STRATEGIES[0] else {}
    if dialect != Dialect.SENTGEN:
        reading["dialect"] = str(dialect)
    return reading | ({"across": True} if query.box("across") else {})


def _keys(query: PageParameters) -> list[str]:
    return [key.strip() for key in query.text("by").split(_SEPARATOR) if key.strip()]


def _narrowed_links(query: PageParameters, text: str, counts: PageAnswer, *, by_grew: bool) -> list[str]:
    """Return the page with the hits of each row of the counts; empty where no query asks for them."""
    names = ("language", "corpus", "where", "ignore_case", "limit", "across")
    link_values: dict[str, object] = {name: query.all(name) for name in names}
    if not by_grew:
        link_values |= LineChoice.read(query).link_values
    by, whether = query.text("by"), query.text("whether")
    # Other strategies choose among the spans that match, which are others where fewer do.
    usual = query.choice("strategy", STRATEGIES) in STRATEGIES[:2] and "dialect" not in _reading_values(query)
    if not by_grew and (not usual or set(by) & {",", _SEPARATOR}):
        return []
    # A query cannot ask for a period, but a condition on the metadata can.
    keys = _keys(query)
    periods = [key for key in keys if period_in(key)[1]]
    rest, links = [key for key in keys if key not in periods], []
    for row in counts.rows:
        conditions = [period_condition(key, str(row.get(key) or "")) for key in periods]
        if by_grew:
            narrowed = narrowed_grew(text, row, rest, [whether] if whether else [])
        elif periods:
            narrowed = text
        else:
            narrowed = narrowed_cql(text, str(row.get(by) or ""), f"meta.{by}" if _is_bare(by, row) else by)
        where = [*query.all("where"), *conditions]
        known = narrowed and all(conditions)
        links.append(link("/query", **{**link_values, "where": where}, query=narrowed) if known else "")
    return links


def _counted_by(counts: PageAnswer) -> Sequence[str]:
    """Return the columns of keys, which come first."""
    return counts.columns[: list(counts.columns).index("count")] if counts.rows else ()


def _is_bare(by: str, row: Mapping[str, object]) -> bool:
    """Return whether hits are counted by metadata, which alone have parts, without a label before them."""
    return "." not in by and "per_million_in_part" in row


async def _lines(ask: Asking, query: PageParameters, hits: PageAnswer, by_grew: bool) -> Lines:
    """Ask for the trees of the lines that are unfolded, and say how to turn each."""
    opened = sorted({int(line) for line in query.all("open") if line.isdecimal() and len(line) < 4})
    opened = [line for line in opened if line < len(hits.rows)][:_TREES]
    marks = hits.more.get("marks", [])
    questions = []
    for line in opened:
        row = hits.rows[line]
        names = {"corpus": row["corpus"], "document": row["document"], "sentence": row["sent_id"]}
        marked: Any = marks[line]["positions"] if line < len(marks) else []
        positions = list(marked.values() if by_grew else marked)[:_TOKENS]
        questions.append(ask("sentence", **names, marked=positions))
    trees = dict(zip(opened, await asyncio.gather(*questions), strict=True))
    link_values = {key: query.all(key) for key in _ASKED} | LineChoice.read(query).link_values
    links = [
        f"{link('/query', **link_values, open=list(map(str, sorted({*opened} ^ {line}))))}#line-{line}"
        for line in range(len(hits.rows))
    ]
    return Lines(marks if by_grew else [], trees, links)


def _conllu_link(query: PageParameters) -> str:
    link_values = {key: query.all(key) for key in ("query", "corpus", "where", "random", "ignore_case")}
    return link(f"/query/{_FILE}", **link_values)


async def _download(request: Request, name: str) -> Response:
    """Send the sentences of the hits of a Grew request as CoNLL-U."""
    if name != _FILE:
        raise Refused(404, "not-found", f"no {name!r}; there is: {_FILE}")
    query = PageParameters(request.query_params)
    name, parameters = hits_of(query, query.raw("query").strip(), by_grew=True)
    ask = Asking(request, request.app.state.service)
    reply = await ask.reply(operations()[name], {**parameters, "limit": 0, "conllu": True})
    if reply.status != 200:
        return Response(reply.body, reply.status, media_type=reply.media_type)
    text = wire.decode(reply.body, PageAnswer).more.get("conllu", "")
    headers = {"Content-Disposition": f'attachment; filename="{_FILE}"'}
    return Response(text.encode("utf-8", "replace"), headers=headers, media_type="text/plain; charset=utf-8")


PAGES = (
    Page(
        "/query", "Query", "query.html.j2", _view, asks=("kwic", "match", "frequencies"), download=_download
    ),
)
