"""Word: how frequent it is, what stands beside it, what it governs, and what it occurs with.

Behind a count of two words are their lines, and behind a line is its sentence with its tree.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sentgen.lookups.base.attributes import NAMED
from sentgen.server.pages.forms import corpus_fields, example_words
from sentgen.server.pages.page import Asking, ListPart, Page, PageAnswer, PageParameters
from sentgen.server.pages.texts import cql_value, in_document, literal_pattern, phrase_pattern, token_pattern

_LAYERS = ("word", "unit")
# Events are counted by tag, side and distance: many make one line.
_SHOWN, _EVENTS = 12, 1000
#: The last number of arguments stands for itself and all above.
_MOST_ARGUMENTS = 7


@dataclass(frozen=True, slots=True)
class _Histogram:
    """How many modifiers the word takes on one side with one of its tags: counts and shares of 0 to 7."""

    tag: str
    side: str
    counts: Sequence[int]
    shares: Sequence[float]

    @property
    def described(self) -> str:
        """Return the counts in words, for those who do not see the bars."""
        seen = [f"{count:,} with {number}" for number, count in enumerate(self.counts) if count]
        return ", ".join(seen) or "none"


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The words on one side of the word in its trees, most frequent first: word, tag, count.

    ``role`` is theirs, ``direction`` that of the modifier from its head, whichever of both is the word.
    """

    title: str
    role: str
    direction: str
    words: Sequence[tuple[str, str, int]]


async def _word(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask all there is to know about a word; of several words, where they occur."""
    text, corpora = query.text("word"), query.all("corpus")
    layer = query.choice("layer", _LAYERS)
    words, ignore_case = text.split(), query.box("ignore_case")
    common = await corpus_fields(ask, query)
    common |= {"text": text, "corpora": corpora, "layer": layer, "layers": _LAYERS}
    common |= {"ignore_case": ignore_case, "where": query.conditions()}
    chosen = {"corpus": corpora, "where": query.where(), "ignore_case": ignore_case}
    if not words:
        return {**common, "examples": await example_words(ask)}
    # Not awaited yet: it runs beside the others, or alone.
    attribute, _, value = text.partition(":")
    of_attribute = attribute in NAMED and value and len(words) == 1
    pattern = text if of_attribute else phrase_pattern(words)
    lines = ask("kwic", pattern=pattern, sort="left", limit=_SHOWN, marks=True, **chosen)
    places = ask("kwic", pattern=pattern, places=True, limit=_SHOWN, **chosen)
    cql = f"[{attribute}={cql_value(value)}]" if of_attribute else " ".join(map(cql_value, words))
    link_values = {"where": query.conditions(), "ignore_case": ignore_case}
    if len(words) > 1 or of_attribute:
        kwic, spread = await asyncio.gather(lines, places)
        return {**common, "lines": kwic, **_spread(spread, cql, link_values), "single": None}
    word, token = literal_pattern(text), token_pattern(text)
    kwic, spread, frequency, before, after, governs, governed, arguments, collocations = await asyncio.gather(
        lines,
        places,
        ask("frequencies", pattern=word, **chosen),
        ask("ngrams", pattern=f"* {word}", limit=_SHOWN, **chosen),
        ask("ngrams", pattern=f"{word} *", limit=_SHOWN, **chosen),
        ask("dependencies", head=word, layer=layer, limit=_EVENTS, **chosen),
        ask("dependencies", head=word, reverse=True, layer=layer, limit=_EVENTS, **chosen),
        ask("arguments", word=word, layer=layer, **chosen),
        ask("collocations", word=token, limit=_SHOWN, **chosen),
    )
    if kwic.rows and not frequency.rows and not frequency.problem:
        # Written so in texts, but several tokens, such as "don't": what is counted of one says nothing of it.
        return {**common, "lines": kwic, **_spread(spread, cql, link_values), "single": None}
    single = {
        "pattern": word,
        "frequency": frequency,
        "before": before,
        "after": after,
        "governs": governs,
        "governed": governed,
        "profile": _profile(governs, governed),
        "arguments": arguments,
        "histograms": _histograms(arguments),
        "collocations": collocations,
    }
    return {**common, "lines": kwic, **_spread(spread, cql, link_values), "single": single}


def _spread(places: PageAnswer, cql: str, link_values: Mapping[str, object]) -> dict[str, object]:
    """Return where the word is in its documents, with the pages of its hits in each."""
    return {"places": places, "place_urls": [in_document(cql, row, link_values) for row in places.rows]}


def _profile(governs: PageAnswer, governed: PageAnswer) -> list[Neighbors]:
    """Return modifiers and heads on each side; the direction of an event is that of its modifier."""
    sides = (
        ("Modifiers before it", governs, "modifier", "left"),
        ("Modifiers after it", governs, "modifier", "right"),
        ("Heads before it", governed, "head", "right"),
        ("Heads after it", governed, "head", "left"),
    )
    return [
        Neighbors(title, role, direction, _most_frequent(events, role, direction))
        for title, events, role, direction in sides
    ]


def _most_frequent(events: PageAnswer, role: str, direction: str) -> list[tuple[str, str, int]]:
    """Sum over distances; of equals, the first by word and tag."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in events.rows:
        if row["direction"] == direction:
            counts[row[role] or "", row[f"{role}_tag"] or ""] += row["count"]
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(*key, count) for key, count in ranked[:_SHOWN]]


def _histograms(arguments: PageAnswer) -> list[_Histogram]:
    """Return one histogram for each tag and side, left before right, in the order of the answer."""
    keys = dict.fromkeys((row["tag"] or "", row["direction"]) for row in arguments.rows)
    histograms = []
    for tag, side in keys:
        counts, shares = [0] * (_MOST_ARGUMENTS + 1), [0.0] * (_MOST_ARGUMENTS + 1)
        for row in arguments.rows:
            if ((row["tag"] or ""), row["direction"]) == (tag, side):
                number = min(row["arguments"], _MOST_ARGUMENTS)
                counts[number] += row["count"]
                shares[number] += row["share"]
        histograms.append(_Histogram(tag, side, counts, shares))
    return histograms


_ROLES = ("modifier", "head", "collocate")
_UNITS = ("word", "lemma")
_ROWS = 50


async def _hits(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the lines with two words."""
    word, other, tag = query.text("word"), query.text("other"), query.text("tag")
    role, relation = query.choice("role", _ROLES), query.text("relation")
    by, preposition = query.choice("by", _UNITS), query.text("preposition")
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
    Page(
        "/word",
        "Word",
        "word.html.j2",
        _word,
        asks=("kwic", "frequencies", "ngrams", "dependencies", "arguments", "collocations"),
    ),
    Page("/hits", "", "hits.html.j2", _hits, asks=("hits",)),
    Page("/sentence", "", "sentence.html.j2", _sentence, asks=("sentence",)),
)
