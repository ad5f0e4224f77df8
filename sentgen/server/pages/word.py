"""The page Word: frequency, neighbors, modifiers and heads, and collocates of a word.

A count of two words links to a page with their lines, and a line to a page of its sentence with its tree.
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
# Events are counted by tag, side and distance, and many of them make one shown row.
_SHOWN, _EVENTS = 12, 1000
#: The largest number of arguments in the histogram, which stands for more, too.
_MOST_ARGUMENTS = 7


@dataclass(frozen=True, slots=True)
class _Histogram:
    """Histogram of numbers of modifiers on one side of the word with a tag: counts and shares for 0 to 7."""

    tag: str
    side: str
    counts: Sequence[int]
    shares: Sequence[float]

    @property
    def described(self) -> str:
        """The counts in words, for readers who cannot see the bars."""
        seen = [f"{count:,} with {number}" for number, count in enumerate(self.counts) if count]
        return ", ".join(seen) or "none"


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The modifiers or heads on one side of the word, most frequent first, as word, tag and count.

    ``role`` is that of the listed words; ``direction`` is always that of the modifier from its head.
    """

    title: str
    role: str
    direction: str
    words: Sequence[tuple[str, str, int]]


async def _word(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for everything about a word; of several words, only for their lines and places."""
    text, corpora = query.text("word"), query.all("corpus")
    layer = query.choice("layer", _LAYERS)
    words, ignore_case = text.split(), query.box("ignore_case")
    common = await corpus_fields(ask, query)
    common |= {"text": text, "corpora": corpora, "layer": layer, "layers": _LAYERS}
    common |= {"ignore_case": ignore_case, "where": query.conditions()}
    chosen = {"corpus": corpora, "where": query.where(), "ignore_case": ignore_case}
    if not words:
        return {**common, "examples": await example_words(ask)}
    # Not awaited yet: it is asked at the same time as the others, or alone.
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
        # Several tokens in the corpus, such as "don't": counts of single tokens have nothing about it.
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
    """Return the places of the word in its documents, with links to its hits in each."""
    return {"places": places, "place_urls": [in_document(cql, row, link_values) for row in places.rows]}


def _profile(governs: PageAnswer, governed: PageAnswer) -> list[Neighbors]:
    """Return the modifiers and heads on each side."""
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
    """Return the most frequent words, summed over distances; ties are in the order of word and tag."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in events.rows:
        if row["direction"] == direction:
            counts[row[role] or "", row[f"{role}_tag"] or ""] += row["count"]
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(*key, count) for key, count in ranked[:_SHOWN]]


def _histograms(arguments: PageAnswer) -> list[_Histogram]:
    """Return a histogram for each tag and side, left before right, in the order of the answer."""
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
            # With `pattern`, as for the node of collocates, the word is a pattern such as lemma:camp.
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
