"""Hits: the lines behind the count of a dependency, a collocation or a sketch."""

from __future__ import annotations

from collections.abc import Mapping

from sentgen.server.pages.page import Asking, Page, PageParameters
from sentgen.server.pages.texts import literal_pattern, token_pattern
from sentgen.server.pages.turning import ListPart

ROLES = ("modifier", "head", "collocate")
UNITS = ("word", "lemma")
_ROWS = 50


async def view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the lines with two words."""
    word, other, tag = query.text("word"), query.text("other"), query.text("tag")
    role, relation = query.choice("role", ROLES), query.text("relation")
    by, preposition = query.choice("by", UNITS), query.text("preposition")
    part = ListPart("/hits", query, query.rows(_ROWS))
    if not (word and other):
        problem = "name two words: ?word=WORD&other=WORD; the counts on the page of a word link to them"
        answer = ask.problem(problem, 400)
    else:
        collocate = role == "collocate"
        pattern = token_pattern if collocate else literal_pattern
        answer = await ask(
            "hits",
            # The node of collocates may be a pattern, such as lemma:camp.
            word=word if query.box("pattern") else pattern(word),
            other=other if relation else token_pattern(other, by) if collocate else pattern(other),
            role=role,
            relation=relation,
            preposition=preposition,
            by=by,
            window=query.text("window") if collocate else "",
            where=query.text("where"),
            tag=literal_pattern(tag),
            direction=query.choice("direction", ("left", "right")),
            layer=query.choice("layer", ("word", "unit")),
            corpus=query.all("corpus"),
            ignore_case=query.box("ignore_case"),
            limit=part.rows,
            offset=part.offset,
        )
    return {
        "word": word,
        "other": other,
        "tag": tag,
        "role": role,
        "preposition": preposition,
        "relation": relation,
        "part": part,
        "corpora": query.all("corpus"),
        "answer": answer,
    }


PAGE = Page("/hits", "", "hits.html.j2", view)
