"""The lines behind the count of a dependency, a collocation or a sketch; and one sentence with its tree."""

from __future__ import annotations

from collections.abc import Mapping

from sentgen.server.pages.page import Asking, ListPart, Page, PageParameters
from sentgen.server.pages.texts import literal_pattern, token_pattern

ROLES = ("modifier", "head", "collocate")
UNITS = ("word", "lemma")
_ROWS = 50


async def _hits(ask: Asking, query: PageParameters) -> Mapping[str, object]:
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
            where=query.where(),
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


async def _sentence(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for one sentence."""
    names = {name: query.raw(name) for name in ("corpus", "document", "sentence")}
    if not all(names.values()):
        problem = "name a sentence: ?corpus=NAME&document=NAME&sentence=NAME; a concordance links to them"
        return {**names, "answer": ask.problem(problem, 400)}
    return {**names, "answer": await ask("sentence", **names)}


PAGES = (
    Page("/hits", "", "hits.html.j2", _hits, asks=("hits",)),
    Page("/sentence", "", "sentence.html.j2", _sentence, asks=("sentence",)),
)
