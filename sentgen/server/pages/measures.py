"""The pages for measures of words.

Sketch: collocates of a word by relation. Thesaurus: words with the same collocates. Collocations: words that
occur with a word more often than by chance, and a graph of these. Keywords: words that are more frequent, or
rarer, in some corpora than in others. Vectors: words with vectors near that of a word.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sentgen.lookups.base.patterns import read_pos
from sentgen.lookups.cql.search import is_cql
from sentgen.lookups.statistics.collocations import CollocateUnit
from sentgen.lookups.statistics.frequencies import By
from sentgen.lookups.statistics.measures import COLUMN, KeywordMeasure, Measure
from sentgen.lookups.statistics.sketch import BOTH
from sentgen.schema.tables.counts import MAX_ORDER
from sentgen.server.pages.drawings import draw_collocates
from sentgen.server.pages.forms import PageExample, corpus_fields, example_words
from sentgen.server.pages.page import Asking, ListPart, Page, PageAnswer, PageParameters, default
from sentgen.server.pages.texts import cql_value, link, token_pattern


@dataclass(frozen=True, slots=True)
class _RelationRows:
    """The collocates of a relation: its name, its frequency with the words, and the rows with links."""

    name: str
    relation: str
    pairs: int
    rows: Sequence[Mapping[str, Any]]


async def _sketch(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the sketch of a word, or for the difference of two words."""
    word, against = query.text("word"), query.text("against")
    by, measure = query.choice("by", ("lemma", "word")), query.choice("measure", list(Measure))
    column = measure.replace("-", "_")
    corpora, rows = query.all("corpus"), query.rows(default("sketch", "limit"))
    parameters: dict[str, Any] = {
        "word": _as_pattern(word, by),
        "against": _as_pattern(against, by) if against else "",
        "by": by,
        "measure": measure,
        "corpus": corpora,
        "where": query.where(),
        "function_words": query.box("function_words"),
        "ignore_case": query.box("ignore_case"),
        "limit": rows,
    }
    fields, answer = await asyncio.gather(
        corpus_fields(ask, query), ask("sketch", **parameters) if word else ask.nothing()
    )
    return {
        "word": word,
        "against": against,
        "by": by,
        "measure": measure,
        "measures": list(Measure),
        "column": "" if measure == "count" else column,
        "rows": rows,
        "corpora": corpora,
        **fields,
        "answer": answer,
        "relations": _relations(answer, parameters) if answer else [],
        "bars": _bars(answer.rows, column) if answer else {},
        "both": BOTH,
        "as_typed": _as_typed,
        "examples": [] if word else await example_words(ask, corpora),
    }


def _as_pattern(text: str, by: str) -> str:
    """Return the typed text as a pattern; a single word is a lemma if collocates are lemmas."""
    return token_pattern(text, "lemma") if by == "lemma" and text.isalpha() else text


def _as_typed(word: str, by: str) -> str:
    """Return a text to type from which `_as_pattern` makes the pattern that only this word matches."""
    return word if word.isalpha() else token_pattern(word, by)


def _relations(answer: PageAnswer, parameters: Mapping[str, Any]) -> list[_RelationRows]:
    relations = []
    for (relation, *_), group in groupby(
        answer.rows, lambda row: (row["relation"], row["role"], row["preposition"])
    ):
        rows = [
            {
                **row,
                "link": _pair_lines(parameters, parameters["word"], row) if row["count"] else "",
                "link_against": _pair_lines(parameters, parameters["against"], row)
                if row.get("count_against")
                else "",
            }
            for row in group
        ]
        relations.append(_RelationRows(rows[0]["name"], relation, rows[0]["pairs"], rows))
    return relations


def _bars(rows: Sequence[Mapping[str, Any]], column: str) -> dict[tuple[str, str], list[float]]:
    """Return the lengths of the bars, one per word of the sketch, by relation and collocate.

    The highest score of the page has length 1; a score that is missing or not positive has length 0.
    """
    columns = [name for name in (column, f"{column}_against") if rows and name in rows[0]]
    scores = {
        (row["name"], row["collocate"]): [max(row[name] or 0.0, 0.0) for name in columns] for row in rows
    }
    finite = [score for row_scores in scores.values() for score in row_scores if math.isfinite(score)]
    most = max(finite, default=0.0) or 1.0
    return {key: [min(score / most, 1.0) for score in row_scores] for key, row_scores in scores.items()}


def _pair_lines(parameters: Mapping[str, Any], word: str, row: Mapping[str, Any]) -> str:
    """Return the link to the lines with a word and its collocate; empty for a query in CQL."""
    if is_cql(word):
        return ""
    about = {name: row[name] for name in ("role", "relation", "preposition")}
    link_values = {name: parameters.get(name) for name in ("by", "corpus", "where", "ignore_case")}
    return link("/hits", word=word, pattern="on", other=row["collocate"], **about, **link_values)


async def _thesaurus(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    word, by = query.text("word"), query.choice("by", (CollocateUnit.LEMMA, CollocateUnit.WORD))
    corpora, rows = query.all("corpus"), query.rows(default("thesaurus", "limit"))
    shared = query.number("min_count", default("thesaurus", "min_count"), least=1)
    link_values = {"by": by, "corpus": corpora, "where": query.conditions()}
    link_values |= {"ignore_case": query.box("ignore_case")}
    parameters = {
        **link_values,
        "where": query.where(),
        "min_count": shared,
        "function_words": query.box("function_words"),
        "limit": rows,
    }
    fields, answer = await asyncio.gather(
        corpus_fields(ask, query),
        ask("thesaurus", word=_as_pattern(word, by), **parameters) if word else ask.nothing(),
    )

    def page(path: str, other: str) -> str:
        return link(path, word=_as_typed(other, by), **link_values)

    return {
        "word": word,
        "by": by,
        "shared": shared,
        "rows": rows,
        "corpora": corpora,
        **fields,
        "answer": answer,
        "page": page,
        "against": lambda other: link("/sketch", word=word, against=_as_typed(other, by), **link_values),
        "examples": [] if word else await example_words(ask, corpora),
    }


#: Default window of the library.
_WINDOW = "L5-R5"
#: Most collocates that are drawn, as more would overlap.
_DRAWN = 14
#: Parameters of the form.
_OF_COLLOCATIONS = ("word", "window", "by", "measure", "min_count", "corpus", "where", "ignore_case", "limit")


async def _collocations(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the collocates of a word, and which of them are collocates of each other."""
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
        return {**common, "examples": await example_words(ask)}
    usual = COLUMN.get(Measure(query.choice("measure", Measure)), "count")
    part = ListPart("/collocations", query, rows, usual=f"-{usual}")
    answer, graph = await asyncio.gather(
        ask("collocations", **parameters, **part.parameters),
        ask("collocations", **parameters, graph=True, limit=min(rows, _DRAWN)),
    )
    link_values = {name: query.all(name) for name in _OF_COLLOCATIONS}
    by = str(parameters["by"])

    def page_of(collocate: str) -> str:
        return link("/collocations", **{**link_values, "word": _node_pattern(collocate, by)})

    def lines(node: str, collocate: str) -> str:
        return _collocate_lines(query, node if node == word else _node_pattern(node, by), collocate)

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
    """Return the query for a token that is a collocate, to be the node of another page."""
    return f"[{by}={cql_value(collocate)}]"


def _collocate_lines(query: PageParameters, node: str, collocate: str) -> str:
    """Return the page with the lines of a node and a collocate.

    For a pattern of one token, the page has as many lines as were counted; for a query, the hits with the
    collocate in the window.
    """
    by, window = query.choice("by", CollocateUnit), query.text("window", _WINDOW)
    link_values = {name: query.all(name) for name in ("corpus", "where", "ignore_case")}
    if is_cql(node):
        near = _node_pattern(collocate, by)
        return link("/query", query=node, filter=near, window=window, keep="keep", **link_values)
    about = {"word": node, "pattern": "on", "other": collocate, "by": str(by), "role": "collocate"}
    return link("/hits", **about, window=window, **link_values)


#: Columns of a row, with their names on the page.
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


async def _keywords(ask: Asking, query: PageParameters) -> Mapping[str, object]:
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
    rows = query.rows(default("keyness", "limit"))  # for each side
    common = {
        "asked": parameters,
        "rows": rows,
        "measures": tuple(KeywordMeasure),
        "units": tuple(By),
        "longest": MAX_ORDER,
        **fields,
        "more": None,
        "examples": _comparisons(fields["overview"]),
    }
    if not parameters["corpus"] or not parameters["against"]:
        return common
    part = ListPart("/keyness", query, rows)
    more, fewer = await asyncio.gather(
        ask("keyness", **parameters, **part.parameters),
        # If sorted by a column, both sides are in one list.
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
        "lines": [
            [_keyword_lines(query, parameters, row, side) for side in ("", "against_")] for row in shown
        ],
    }


def _comparisons(overview: PageAnswer) -> list[PageExample]:
    """Return examples: the first two corpora, and short against long sentences of the first corpus."""
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


def _keyword_lines(
    query: PageParameters, parameters: Mapping[str, Any], row: Mapping[str, Any], side: str
) -> str:
    """Return the link to the lines that a count of a row counts; empty if there are none."""
    parts = str(row[parameters["by"]]).split(" ")
    count = "reference_count" if side else "count"
    if len(parts) != parameters["n"] or not row[count]:
        return ""
    tags = _tag_condition(read_pos(str(parameters["pos"]) or None))
    tokens = [f"[{parameters['by']}={cql_value(part)}{tags}]" for part in parts]
    return link(
        "/query",
        query=" ".join(tokens),
        corpus=parameters["against" if side else "corpus"],
        where=query.conditions(f"{side}where"),
        ignore_case=query.box("ignore_case") if parameters["by"] in (By.WORD, By.LEMMA) else "",
    )


def _tag_condition(patterns: Sequence[str]) -> str:
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


async def _vectors(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    word, name = query.text("word"), query.text("vectors")
    rows = query.rows(default("near", "limit"))
    part = ListPart("/vectors", query, rows, usual="-cosine")
    parameters = {"word": word, "vectors": name, **part.parameters}
    spaces, near = await asyncio.gather(ask("vectors"), ask("near", **parameters) if word else ask.nothing())
    begin = next((row for row in spaces.rows if name in ("", row["name"])), None) if not word else None
    return {
        "examples": await example_words(ask, begin["corpora"].split(", ")) if begin else [],
        "begin": begin,
        "spaces": spaces,
        "near": near,
        "word": word,
        "name": name,
        "rows": rows,
        "part": part,
    }


PAGES = (
    Page("/sketch", "Sketch", "sketch.html.j2", _sketch, asks=("sketch",)),
    Page("/thesaurus", "", "thesaurus.html.j2", _thesaurus, asks=("thesaurus",)),
    Page("/collocations", "Collocations", "collocations.html.j2", _collocations, asks=("collocations",)),
    Page("/keyness", "Keywords", "keywords.html.j2", _keywords, asks=("keyness",)),
    Page("/vectors", "Vectors", "vectors.html.j2", _vectors, asks=("vectors", "near")),
)
