"""Sketch: what stands with a word in each relation; thesaurus: words that have the same collocates."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sentgen.lookups.cql.search import is_cql
from sentgen.lookups.statistics.collocation_measures import Measure
from sentgen.lookups.statistics.collocations import CollocateUnit
from sentgen.lookups.statistics.sketch import BOTH
from sentgen.server.pages import examples
from sentgen.server.pages.page import Asking, Page, PageAnswer, PageParameters, default
from sentgen.server.pages.text_types import corpus_fields
from sentgen.server.pages.texts import link, token_pattern


@dataclass(frozen=True, slots=True)
class _RelationRows:
    """The collocates of one relation: its name, how often the words stand in it, and the rows with links."""

    name: str
    relation: str
    pairs: int
    rows: Sequence[Mapping[str, Any]]


async def _sketch(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the sketch of a word, or for the difference of two."""
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
        "relations": relations_of(answer, parameters) if answer else [],
        "bars": bars_of(answer.rows, column) if answer else {},
        "both": BOTH,
        "as_typed": _as_typed,
        "examples": [] if word else await examples.words(ask, corpora),
    }


def _as_pattern(text: str, by: str) -> str:
    """Return what was typed as a pattern: a word alone is a lemma where collocates are lemmas."""
    return token_pattern(text, "lemma") if by == "lemma" and text.isalpha() else text


def _as_typed(word: str, by: str) -> str:
    """Return what is typed for a word, of which `_as_pattern` makes the pattern of nothing else."""
    return word if word.isalpha() else token_pattern(word, by)


def relations_of(answer: PageAnswer, parameters: Mapping[str, Any]) -> list[_RelationRows]:
    relations = []
    for (relation, *_), group in groupby(
        answer.rows, lambda row: (row["relation"], row["role"], row["preposition"])
    ):
        rows = [
            {
                **row,
                "link": _lines(parameters, parameters["word"], row) if row["count"] else "",
                "link_against": _lines(parameters, parameters["against"], row)
                if row.get("count_against")
                else "",
            }
            for row in group
        ]
        relations.append(_RelationRows(rows[0]["name"], relation, rows[0]["pairs"], rows))
    return relations


def bars_of(rows: Sequence[Mapping[str, Any]], column: str) -> dict[tuple[str, str], list[float]]:
    """Return how long the bars of each collocate are, one a word, by the name of its relation and itself.

    The highest score of the page is 1; a score that is missing, or not above nothing, has a bar of 0.
    """
    columns = [name for name in (column, f"{column}_against") if rows and name in rows[0]]
    scores = {
        (row["name"], row["collocate"]): [max(row[name] or 0.0, 0.0) for name in columns] for row in rows
    }
    finite = [score for row_scores in scores.values() for score in row_scores if math.isfinite(score)]
    most = max(finite, default=0.0) or 1.0
    return {key: [min(score / most, 1.0) for score in row_scores] for key, row_scores in scores.items()}


def _lines(parameters: Mapping[str, Any], word: str, row: Mapping[str, Any]) -> str:
    """Return the link to the lines with a pair; nothing for a query in CQL."""
    if is_cql(word):
        return ""
    about = {name: row[name] for name in ("role", "relation", "preposition")}
    link_values = {name: parameters.get(name) for name in ("by", "corpus", "where", "ignore_case")}
    return link("/hits", word=word, pattern="on", other=row["collocate"], **about, **link_values)


async def _thesaurus(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the words that are most similar to a word."""
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
        "examples": [] if word else await examples.words(ask, corpora),
    }


PAGES = (
    Page("/sketch", "Sketch", "sketch.html.j2", _sketch, asks=("sketch",)),
    Page("/thesaurus", "", "thesaurus.html.j2", _thesaurus, asks=("thesaurus",)),
)
