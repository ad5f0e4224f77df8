"""Keywords: what is more frequent in some corpora than in others, and what is rarer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sentgen.lookups.question.patterns import read_pos
from sentgen.lookups.statistics.frequencies import By
from sentgen.lookups.statistics.keyword_measures import KeywordMeasure
from sentgen.schema.tables.counts import MAX_ORDER
from sentgen.server.pages.examples import PageExample
from sentgen.server.pages.page import Asking, ListPart, Page, PageAnswer, PageParameters, default
from sentgen.server.pages.text_types import corpus_fields
from sentgen.server.pages.texts import cql_value, link

#: Columns of a row, with the names that they have on the page.
_COLUMNS = {
    "count": "count",
    "per_million": "per million",
    "reference_count": "there",
    "reference_per_million": "per million there",
    "log_likelihood": "log-likelihood",
    "p_bonferroni": "p",
    "log_ratio": "log ratio",
}
_OTHERS = {
    KeywordMeasure.PERCENT_DIFF: "%DIFF",
    KeywordMeasure.ODDS_RATIO: "odds ratio",
    KeywordMeasure.SIMPLE_MATHS: "Simple Maths",
}
_WILD = {"*": ".*", "?": "."}


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the keywords of both sides, if both are named."""
    fields = await corpus_fields(ask, query, ("corpus", "where"), ("against", "against_where"))
    measure = KeywordMeasure(query.choice("measure", KeywordMeasure))
    parameters = {
        "corpus": query.all("corpus"),
        "where": query.where(),
        "against": query.all("against"),
        "against_where": query.where("against_where"),
        "by": query.choice("by", By),
        "n": query.number("n", default("keyness", "n"), least=1, most=MAX_ORDER),
        "measure": measure,
        "min_count": query.number("min_count", default("keyness", "min_count"), least=1),
        "pos": query.text("pos"),
        "stop": query.raw("stop").strip(),
        "ignore_case": bool(query.box("ignore_case")),
    }
    rows = query.rows(default("keyness", "limit"))  # of each side
    common = {
        "asked": parameters,
        "rows": rows,
        "measures": tuple(KeywordMeasure),
        "units": tuple(By),
        "longest": MAX_ORDER,
        **fields,
        "more": None,
        "examples": _examples(fields["overview"]),
    }
    if not parameters["corpus"] or not parameters["against"]:
        return common
    part = ListPart("/keyness", query, rows)
    more, fewer = await asyncio.gather(
        ask("keyness", **parameters, **part.parameters),
        # Sorted by a column, both sides are one list.
        ask("keyness", **parameters, **part.parameters, negative=True) if not part.sort else ask.nothing(),
    )
    shown = list(more.rows)
    if fewer:
        shown = [row for row in more.rows if row["log_ratio"] >= 0]
        shown += [row for row in reversed(fewer.rows) if row["log_ratio"] < 0]
    columns = dict(_COLUMNS)
    if measure in _OTHERS:
        columns[measure.replace("-", "_")] = _OTHERS[measure]
    return {
        **common,
        "more": more,
        "fewer": fewer,
        "part": part,
        "shown": shown,
        "columns": columns,
        "most": max((abs(row["log_ratio"]) for row in shown), default=1) or 1,
        "lines": [[_lines(query, parameters, row, side) for side in ("", "against_")] for row in shown],
    }


def _examples(overview: PageAnswer) -> list[PageExample]:
    """Return comparisons of the first two corpora, and of short sentences of the first one with long ones."""
    rows = [row for row in overview.rows if row["tokens"]][:2]
    examples = []
    if len(rows) > 1:
        first, second = (row["corpus"] for row in rows)
        parameters = {"corpus": first, "against": second}
        examples.append(PageExample(f"{first} against {second}", parameters))
        examples.append(PageExample("Pairs of words of the same", {**parameters, "n": "2"}))
    if rows and rows[0]["sentences"]:
        name, mean = rows[0]["corpus"], round(rows[0]["tokens"] / rows[0]["sentences"])
        where = {"where": f"length < {mean}", "against_where": f"length >= {mean}"}
        parameters = {"corpus": name, "against": name, **where}
        examples.append(PageExample(f"Short sentences of {name} against long ones", parameters))
    return examples


def _lines(query: PageParameters, parameters: Mapping[str, Any], row: Mapping[str, Any], side: str) -> str:
    """Return the page with the lines that a count of a row has counted; empty if there are none."""
    parts = str(row[parameters["by"]]).split(" ")
    count = "reference_count" if side else "count"
    if len(parts) != parameters["n"] or not row[count]:
        return ""
    tags = _tags(read_pos(str(parameters["pos"]) or None))
    tokens = [f"[{parameters['by']}={cql_value(part)}{tags}]" for part in parts]
    return link(
        "/query",
        query=" ".join(tokens),
        corpus=parameters["against" if side else "corpus"],
        where=query.conditions(f"{side}where"),
        ignore_case=query.box("ignore_case") if parameters["by"] in (By.WORD, By.LEMMA) else "",
    )


def _tags(patterns: Sequence[str]) -> str:
    """Return the condition of CQL that a token has one of these parts of speech; empty for none."""
    values = [
        "".join(
            _WILD.get(part) or cql_value(part)[1:-1] for part in re.split(r"([*?])", pattern.strip()) if part
        )
        for pattern in patterns
        if pattern.strip()
    ]
    conditions = [f'{kind}="{value}"' for value in values for kind in ("upos", "xpos")]
    return f" & ({' | '.join(conditions)})" if conditions else ""


PAGES = (Page("/keyness", "Keywords", "keywords.html.j2", _view, asks=("keyness",)),)
