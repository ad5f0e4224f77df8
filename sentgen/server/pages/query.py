"""The page Query: the hits of a query in CQL or a Grew request, with trees, and counts of hits by keys."""

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
#: Matching strategies; the first one stands for that of the dialect.
STRATEGIES = ("usual", *Strategy)
#: Numbers of hits, of rows of counts, and of trees on a page; files have all rows.
_ROWS, _COUNTS, _TREES = 20, 20, 10
_USUAL = "-count"
#: Most tokens of a hit that are marked in its tree.
_TOKENS = 1000
#: Most lemmas of a word whose forms are searched.
_LEMMAS = 5
#: Parameters of the form.
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
#: Columns of a comparison of parts, with their names on the page; the file has all columns.
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
    """Trees of concordance lines by the number of the line, and links that unfold or fold them.

    ``marks`` are those of `sentgen.server.operations.lookups`, one per line, with the names of nodes; empty
    for CQL, where the node of a line is one part.
    """

    marks: Sequence[Mapping[str, Any]]
    trees: Mapping[int, PageAnswer]
    links: Sequence[str]

    def parts(self, line: int, text: str) -> Sequence[Sequence[str]]:
        """Return the text of the node of a line in parts, each with the names of its nodes in the request."""
        return self.marks[line]["parts"] if line < len(self.marks) else [[text, ""]]


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for hits and counts, if there is a query, and for the trees of unfolded lines."""
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
    # A random choice is drawn anew for each number of lines, so it has no next page.
    offset = 0 if parameters[1].get("random") else part.offset
    hits, counts = await asyncio.gather(
        ask(parameters[0], **{**parameters[1], "limit": part.rows, "offset": offset, "marks": True}),
        # With an order, so that all hits are counted.
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
    # Not if rows are missing, as the chart would show no hits for their years.
    return None if every.truncated else drawn_over_time(keys, every.rows, sizes, urls(every))


async def _places(
    ask: Asking, query: PageParameters, text: str, link_values: Mapping[str, object]
) -> dict[str, object]:
    """Return the places of hits in their documents, if asked for, else the link that asks for them."""
    if not query.box("places"):
        return {"places_link": link("/query", **link_values, places="on")}
    parameters = {"cql": text, **LineChoice.read(query).near, **_reading_values(query), **_common(query)}
    answer = await ask("kwic", **parameters, places=True, limit=_COUNTS)
    return {"places": answer, "place_urls": [in_document(text, row, link_values) for row in answer.rows]}


async def _forms(ask: Asking, query: PageParameters) -> PageParameters:
    """Return the parameters that search all forms of the lemmas of a word, or the word if it has no lemma."""
    word = query.text("forms_of")
    answer = await ask(
        "frequencies", query=f"[word={cql_value(word)}]", by=["lemma"], limit=_LEMMAS, **_common(query)
    )
    # Tokens without a lemma are counted under `_`.
    lemmas = [row["lemma"] for row in answer.rows if row["lemma"] != "_"]
    conditions = [f"lemma={cql_value(lemma)}" for lemma in lemmas] or [f"word={cql_value(word)}"]
    link_values = [(name, value) for name in ("corpus", "where", "ignore_case") for value in query.all(name)]
    return PageParameters(
        QueryParams([("query", f"[{' | '.join(conditions)}]"), ("by", "word"), *link_values])
    )


def _asks_more(query: PageParameters) -> bool:
    """Return whether the URL has parameters other than a query and a corpus."""
    typed = any(query.text(name) for name in ("by", "compare", "whether", "where", "random", "ignore_case"))
    return typed or bool(_reading_values(query)) or query.rows(_ROWS) != _ROWS


def _common(query: PageParameters) -> dict[str, object]:
    parameters = {"corpus": query.all("corpus"), "ignore_case": bool(query.box("ignore_case"))}
    return {**parameters, "where": query.where()}


def hits_of(query: PageParameters, text: str, by_grew: bool) -> tuple[str, dict[str, object]]:
    """Return the name and the parameters of the operation that finds the hits."""
    choice, parameters = LineChoice.read(query), {**_common(query), "random": query.text("random")}
    if by_grew:
        return "match", {"request": text, "sort": choice.order, **parameters}
    if choice.sample:
        del parameters["random"]
    context = {"context": query.text("context")} if query.text("context") else {}
    return "kwic", {"cql": text, **choice.parameters, **_reading_values(query), **context, **parameters}


def _counts(query: PageParameters, text: str, by_grew: bool) -> tuple[str, dict[str, object]] | None:
    """Return the name and parameters of the operation that counts the hits; ``None`` without keys."""
    keys = _keys(query)
    if by_grew:
        whether = query.text("whether")
        parameters = {"request": text, "key": keys, "whether": [whether] if whether else []}
        return ("match", {**parameters, **_common(query)}) if keys or whether else None
    counted = {"query": text, "by": keys, **LineChoice.read(query).near, **_reading_values(query)}
    compare = {"compare": True} if query.box("compare") else {}
    return ("frequencies", {**counted, **compare, **_common(query)}) if keys or compare else None


def _reading_values(query: PageParameters) -> dict[str, object]:
    """Return the parameters for reading a query in CQL that differ from their defaults."""
    strategy, dialect = query.choice("strategy", STRATEGIES), query.choice("dialect", Dialect)
    reading: dict[str, object] = {"strategy": strategy} if strategy != STRATEGIES[0] else {}
    if dialect != Dialect.SENTGEN:
        reading["dialect"] = str(dialect)
    return reading | ({"across": True} if query.box("across") else {})


def _keys(query: PageParameters) -> list[str]:
    return [key.strip() for key in query.text("by").split(_SEPARATOR) if key.strip()]


def _narrowed_links(query: PageParameters, text: str, counts: PageAnswer, *, by_grew: bool) -> list[str]:
    """Return the link to the hits of each row of the counts; empty where no query can select them."""
    names = ("language", "corpus", "where", "ignore_case", "limit", "across")
    link_values: dict[str, object] = {name: query.all(name) for name in names}
    if not by_grew:
        link_values |= LineChoice.read(query).link_values
    by, whether = query.text("by"), query.text("whether")
    # Other strategies choose among matching spans, and a narrower query has other spans.
    usual = query.choice("strategy", STRATEGIES) in STRATEGIES[:2] and "dialect" not in _reading_values(query)
    if not by_grew and (not usual or set(by) & {",", _SEPARATOR}):
        return []
    # A period is selected by a condition on the metadata, as no query can.
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
    """Return the columns of keys, which are the first ones."""
    return counts.columns[: list(counts.columns).index("count")] if counts.rows else ()


def _is_bare(by: str, row: Mapping[str, object]) -> bool:
    """Return whether a key is one of metadata without a label; only metadata have rates in parts."""
    return "." not in by and "per_million_in_part" in row


async def _lines(ask: Asking, query: PageParameters, hits: PageAnswer, by_grew: bool) -> Lines:
    """Ask for the trees of unfolded lines, and make the links that unfold or fold each."""
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
