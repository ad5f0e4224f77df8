"""Collocations: what occurs with a word more often than chance, and which of it belongs together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from sentgen.lookups.cql.search import is_cql
from sentgen.lookups.statistics.collocation_measures import COLUMN, Measure
from sentgen.lookups.statistics.collocations import CollocateUnit
from sentgen.server.pages import examples
from sentgen.server.pages.drawings import draw_collocates
from sentgen.server.pages.page import Asking, ListPart, Page, PageParameters, default
from sentgen.server.pages.text_types import corpus_fields
from sentgen.server.pages.texts import cql_value, link

#: What the library takes where neither a window nor a relation is asked for.
_WINDOW = "L5-R5"
#: Collocates that are drawn: more would hide each other.
_DRAWN = 14
#: What the form sends.
_ASKED = ("word", "window", "by", "measure", "min_count", "corpus", "where", "ignore_case", "limit")


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the collocates of a word, and for those that are collocates of each other."""
    word, rows = query.text("word"), query.rows(default("collocations", "limit"))
    parameters = {
        "word": word,
        "window": query.text("window", _WINDOW),
        "by": query.choice("by", CollocateUnit),
        "measure": query.choice("measure", Measure),
        "min_count": query.number("min_count", default("collocations", "min_count"), least=1),
        "corpus": query.all("corpus"),
        "where": query.where(),
        "ignore_case": bool(query.box("ignore_case")),
    }
    fields = await corpus_fields(ask, query)
    common = {
        "asked": parameters,
        "rows": rows,
        "measures": tuple(Measure),
        "units": tuple(CollocateUnit),
        **fields,
        "found": None,
        "examples": [],
    }
    if not word:
        return {**common, "examples": await examples.words(ask)}
    usual = COLUMN.get(Measure(query.choice("measure", Measure)), "count")
    part = ListPart("/collocations", query, rows, usual=f"-{usual}")
    answer, graph = await asyncio.gather(
        ask("collocations", **parameters, **part.parameters),
        ask("collocations", **parameters, graph=True, limit=min(rows, _DRAWN)),
    )
    link_values = {name: query.all(name) for name in _ASKED}
    by = str(parameters["by"])

    def page_of(collocate: str) -> str:
        return link("/collocations", **{**link_values, "word": _node_pattern(collocate, by)})

    def lines(node: str, collocate: str) -> str:
        return lines_of(query, node if node == word else _node_pattern(node, by), collocate)

    def all_of(collocate: str) -> str:
        values = {name: link_values[name] for name in ("corpus", "where", "ignore_case")}
        return link("/query", query=_node_pattern(collocate, by), **values)

    return {
        **common,
        "found": answer,
        "part": part,
        "graph": graph,
        "drawn": draw_collocates(word, graph.rows, page_of) if graph.rows else None,
        "page_of": page_of,
        "lines": lines,
        "all_of": all_of,
    }


def _node_pattern(collocate: str, by: str) -> str:
    """Return the query of one token for a collocate, as the node of others."""
    return f"[{by}={cql_value(collocate)}]"


def lines_of(query: PageParameters, node: str, collocate: str) -> str:
    """Return the page with the lines of a node and a collocate.

    Of a pattern of one token they are as many as were counted; of a query, hits near which the collocate is.
    """
    by, window = query.choice("by", CollocateUnit), query.text("window", _WINDOW)
    link_values = {name: query.all(name) for name in ("corpus", "where", "ignore_case")}
    if is_cql(node):
        near = _node_pattern(collocate, by)
        return link("/query", query=node, filter=near, window=window, keep="keep", **link_values)
    about = {"word": node, "pattern": "on", "other": collocate, "by": str(by), "role": "collocate"}
    return link("/hits", **about, window=window, **link_values)


PAGES = (Page("/collocations", "Collocations", "collocations.html.j2", _view, asks=("collocations",)),)
