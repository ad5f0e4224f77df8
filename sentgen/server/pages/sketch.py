"""Sketch: what stands with a word in each dependency relation, and how that differs from another word."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sentgen.lookups.statistics.collocation_measures import Measure
from sentgen.lookups.statistics.sketch_difference import BOTH
from sentgen.server.pages import examples
from sentgen.server.pages.page import Asking, Page, PageAnswer, PageParameters
from sentgen.server.pages.texts import link, token_pattern

_ROWS = 10
#: Characters of a pattern that stand for others, for which a request for trees has no way to write them.
_WILD = re.compile(r"[*?\\]")


@dataclass(frozen=True, slots=True)
class RelationRows:
    """The collocates of one relation: its name, how often the words stand in it, and the rows with links."""

    name: str
    relation: str
    pairs: int
    rows: Sequence[Mapping[str, Any]]


async def view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the sketch of a word, or for the difference of two."""
    word, against = query.text("word"), query.text("against")
    by, measure = query.choice("by", ("lemma", "word")), query.choice("measure", list(Measure))
    corpora, rows = query.all("corpus"), query.rows(_ROWS)
    asked: dict[str, Any] = {
        "word": _pattern(word, by),
        "against": _pattern(against, by) if against else "",
        "by": by,
        "measure": measure,
        "corpus": corpora,
        "function_words": query.box("function_words"),
        "ignore_case": query.box("ignore_case"),
        "limit": rows,
    }
    overview, subcorpora, found = await asyncio.gather(
        ask("corpora"), ask("subcorpora"), ask("sketch", **asked) if word else ask.nothing()
    )
    return {
        "word": word,
        "against": against,
        "by": by,
        "measure": measure,
        "measures": list(Measure),
        "column": "" if measure == "count" else measure.replace("-", "_"),
        "rows": rows,
        "corpora": corpora,
        "overview": overview,
        "subcorpora": subcorpora,
        "answer": found,
        "relations": relations_of(found, asked) if found else [],
        "both": BOTH,
        "examples": [] if word else await examples.words(ask, corpora),
    }


def _pattern(text: str, by: str) -> str:
    """Return what was typed as a pattern: a word alone is a lemma where collocates are lemmas."""
    return token_pattern(text, "lemma") if by == "lemma" and text.isalpha() else text


def relations_of(answer: PageAnswer, asked: Mapping[str, Any]) -> list[RelationRows]:
    found = []
    for (relation, _), group in groupby(answer.rows, lambda row: (row["relation"], row["role"])):
        rows = [
            {
                **row,
                "link": _lines(asked, asked["word"], row) if row["count"] else "",
                "link_against": _lines(asked, asked["against"], row) if row.get("count_against") else "",
            }
            for row in group
        ]
        found.append(RelationRows(rows[0]["name"], relation, rows[0]["pairs"], rows))
    return found


def _lines(asked: Mapping[str, Any], word: str, row: Mapping[str, Any]) -> str:
    """Return the link to the trees with a pair; nothing for a pattern with wild cards."""
    if _WILD.search(word):
        return ""
    key, colon, value = word.partition(":")
    key, value = ("form", word) if not colon or key not in ("word", "lemma", "upos", "xpos") else (key, value)
    key = "form" if key == "word" else key
    form, slash, tag = value.partition("/")
    tags = ("upos", "xpos") if slash else ("",)
    node = "|".join(f"[{key}={_quoted(form)}{f', {one}={_quoted(tag)}' if one else ''}]" for one in tags)
    collocate = f"[{'lemma' if asked['by'] == 'lemma' else 'form'}={_quoted(row['collocate'])}]"
    ends = ("N", "C") if row["role"] == "modifier" else ("C", "N")
    request = f"pattern {{ N {node}; C {collocate}; {ends[0]} -[{_quoted(row['relation'])}]-> {ends[1]} }}"
    kept = {name: asked[name] for name in ("corpus", "ignore_case")}
    return link("/query", language="grew", query=request, **kept)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


PAGE = Page("/sketch", "Sketch", "sketch.html.j2", view, asks=("sketch",))
