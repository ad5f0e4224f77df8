"""Questions to the counts: n-grams, dependencies, concordances, trees, frequencies, collocations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from sqlalchemy import Connection

from sentgen.counts.conllu_export import sentences_conllu
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.hit_places import marks_of
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.server.operations.operation import (
    MARKED,
    Context,
    Operation,
    Result,
    result_of,
)

if TYPE_CHECKING:
    from sentgen.lookups.concordances.line_text import SortedSides


@dataclass(frozen=True, slots=True, kw_only=True)
class _KwicWithMarks(Kwic):
    """A concordance, and where its nodes stand."""

    marks: Annotated[
        bool,
        Option(
            f"Give the `positions` of the tokens of each of the first {MARKED} hits, too; and where lines are"
            " sorted by words (`sorted`, with levels from 1 to 3), what is `left` and `right` of it in parts,"
            " each with its level, or 0.",
            line="hidden",
        ),
    ] = False


def kwic(context: Context, request: _KwicWithMarks) -> Result:
    """Answer `sentgen kwic`."""
    request = replace(request, limit=context.limit(request.limit))
    with context.opened.connect() as connection:
        if request.count or not request.marks:
            return result_of(request.ask(connection))
        # It looks for tokens in arrays, which other operations do without.
        from sentgen.lookups.concordances.line_text import PLACE, sorted_words

        result = result_of(request.lines(connection, placed=True))
        rows, words = result.table.slice(0, MARKED), sorted_words(request.sort)
        sides = request.sorted_sides(connection, rows) if words.levels else []
    ends = zip(*map(rows.column, PLACE[1:]), strict=True)
    marks: list[dict[str, object]] = [{"positions": list(range(first, last + 1))} for first, last in ends]
    more = {**result.more, "marks": _with_sides(marks, sides), "sorted": words.named}
    return replace(result, table=result.table.without(PLACE), more=more)


def _with_sides(
    marks: Sequence[dict[str, object]], sides: Sequence[SortedSides]
) -> Sequence[dict[str, object]]:
    """Return marks with what is beside their hits, if lines are sorted by words of it."""
    if not sides:
        return marks
    return [mark | beside._asdict() for mark, beside in zip(marks, sides, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _FrequenciesWithSizes(Frequencies):
    """A frequency list, and how many tokens the parts have that it compares over time."""

    sizes: Annotated[
        bool,
        Option(
            "Where hits are counted by years or dates, give how many tokens each part has, too.",
            line="hidden",
        ),
    ] = False


def frequencies(context: Context, request: _FrequenciesWithSizes) -> Result:
    """Answer `sentgen freq`."""
    request = replace(request, limit=context.limit(request.limit))
    with context.opened.connect() as connection:
        result = result_of(request.ask(connection))
        if not request.sizes:
            return result
        # It counts in arrays, which other operations do without.
        from sentgen.lookups.statistics.frequency_rows import part_sizes

        sizes = part_sizes(connection, result.table, request.corpus, request.where)
    parts = {"keys": sizes.keys, "tokens": [[*values, size] for values, size in sizes.tokens.items()]}
    return replace(result, more={**result.more, "sizes": parts})


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchWithTrees(Match):
    """The places where a Grew request matches the trees, and what else is to be told of them."""

    marks: Annotated[
        bool,
        Option(
            f"Give the `positions` of the nodes of each of the first {MARKED} hits, too, the `parts` of its"
            " text, each with the nodes that it is, and the sides of it as those of a concordance.",
            line="hidden",
        ),
    ] = False
    conllu: Annotated[bool, Option("Give the sentences of the hits as CoNLL-U, too.", line="hidden")] = False


def match(context: Context, request: MatchWithTrees) -> Result:
    """Answer `sentgen match`."""
    request = replace(request, limit=context.limit(request.limit))
    with context.opened.connect() as connection:
        result = result_of(request.ask(connection))
        if request.is_count or not result.table.num_rows:
            return result
        more: dict[str, object] = dict(result.more)
        if request.marks:
            more |= _marks(connection, request, result)
        if not request.conllu:
            return replace(result, more=more)
        sentences = sentences_conllu(connection, request.sentences(connection))
        more["conllu"], number, cut = _within(sentences, context.opening.limits.bytes)
    notes = (*result.notes, f"CoNLL-U of the first {quantity(number, 'sentence')}") if cut else result.notes
    return replace(result, notes=notes, more=more)


def _marks(connection: Connection, request: Match, result: Result) -> dict[str, object]:
    from sentgen.lookups.concordances.line_text import sorted_words

    hits = result.table.slice(0, MARKED).to_pylist()
    marks = list(marks_of(connection, hits))
    words = sorted_words(request.sort)
    sides = request.sorted_sides(connection, hits, marks) if words.levels else []
    told: list[dict[str, object]] = [{"positions": mark.positions, "parts": mark.parts} for mark in marks]
    return {"marks": _with_sides(told, sides), "sorted": words.named}


def _within(texts: Iterable[str], most: int) -> tuple[str, int, bool]:
    """Take texts while they fit; return them joined, their number, and whether some are left."""
    taken: list[str] = []
    size = 0
    for text in texts:
        size += len(text.encode("utf-8", "replace"))
        if size > most:
            return "".join(taken), len(taken), True
        taken.append(text)
    return "".join(taken), len(taken), False


OPERATIONS = (
    Operation("ngrams", "N-grams that match a pattern.", "ngrams", Ngrams, example={"pattern": "the *"}),
    Operation(
        "dependencies",
        "Dependencies between a head and its modifiers.",
        "deps",
        Dependencies,
        example={"head": "arrived"},
    ),
    Operation(
        "arguments", "Modifiers of a word on each side.", "args", Arguments, example={"word": "arrived"}
    ),
    Operation("kwic", "A word in context.", "kwic", _KwicWithMarks, kwic, example={"pattern": "camp"}),
    Operation("frequencies", "A frequency list.", "freq", _FrequenciesWithSizes, frequencies),
    Operation(
        "collocations",
        "What occurs with a word more often than chance.",
        "collocations",
        Collocations,
        example={"word": "water"},
    ),
    Operation(
        "sketch",
        "The strongest collocates of a word in each relation.",
        "sketch",
        Sketch,
        example={"word": "water"},
    ),
    Operation(
        "thesaurus", "Words that have the same collocates.", "thesaurus", Thesaurus, example={"word": "water"}
    ),
    Operation("keyness", "What is more frequent in some corpora than in others.", "keyness", Keywords),
    Operation(
        "match",
        "Where a Grew request matches the trees.",
        "match",
        MatchWithTrees,
        match,
        example={"request": "pattern { V [upos=VERB]; V -[nsubj]-> S }"},
    ),
)
