"""Questions to the counts: n-grams, dependencies, arguments, concordances, frequencies, collocations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keyness import Keywords
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.options import Option
from sentgen.output.tabular import column_of, without_columns
from sentgen.server.operations.operation import (
    MARKED,
    Context,
    Operation,
    Result,
    answered,
    ask,
)

#: Columns with the positions at the ends of a node.
_ENDS = ("first", "last")


@dataclass(frozen=True, slots=True, kw_only=True)
class KwicWithMarks(Kwic):
    """A concordance, and where its nodes stand."""

    marks: Annotated[
        bool,
        Option(f"Give the `positions` of the tokens of each of the first {MARKED} hits, too.", line="hidden"),
    ] = False


def kwic(context: Context, asked: KwicWithMarks) -> Result:
    """Answer `sentgen kwic`."""
    asked = replace(asked, limit=context.limit(asked.limit))
    with context.opened.connect() as connection:
        if asked.count or not asked.marks:
            return answered(asked.ask(connection))
        found = answered(asked.lines(connection, placed=True))
    firsts, lasts = (list(column_of(found.table, name))[:MARKED] for name in _ENDS)
    places = zip(firsts, lasts, strict=True)
    marks = [{"positions": list(range(first, last + 1))} for first, last in places]
    table = without_columns(found.table, ["sentence_id", *_ENDS])
    return replace(found, table=table, more={**found.more, "marks": marks})


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequenciesWithSizes(Frequencies):
    """A frequency list, and how many tokens the parts have that it compares over time."""

    sizes: Annotated[
        bool,
        Option(
            "Where hits are counted by years or dates, give how many tokens each part has, too.",
            line="hidden",
        ),
    ] = False


def frequencies(context: Context, asked: FrequenciesWithSizes) -> Result:
    """Answer `sentgen freq`."""
    asked = replace(asked, limit=context.limit(asked.limit))
    with context.opened.connect() as connection:
        found = answered(asked.ask(connection))
        if not asked.sizes:
            return found
        # It counts in arrays, which other operations do without.
        from sentgen.lookups.statistics.frequency_rows import part_sizes

        sizes = part_sizes(connection, found.table, asked.corpus, asked.where)
    told = {"keys": sizes.keys, "tokens": [[*values, size] for values, size in sizes.tokens.items()]}
    return replace(found, more={**found.more, "sizes": told})


OPERATIONS = (
    Operation("ngrams", "N-grams that match a pattern.", "ngrams", Ngrams, ask, example={"pattern": "the *"}),
    Operation(
        "dependencies",
        "Dependencies between a head and its modifiers.",
        "deps",
        Dependencies,
        ask,
        example={"head": "arrived"},
    ),
    Operation(
        "arguments",
        "Modifiers of a word on each side.",
        "args",
        Arguments,
        ask,
        example={"word": "arrived"},
    ),
    Operation("kwic", "A word in context.", "kwic", KwicWithMarks, kwic, example={"pattern": "camp"}),
    Operation("frequencies", "A frequency list.", "freq", FrequenciesWithSizes, frequencies),
    Operation(
        "collocations",
        "What occurs with a word more often than chance.",
        "collocations",
        Collocations,
        ask,
        example={"word": "water"},
    ),
    Operation(
        "sketch",
        "The strongest collocates of a word in each relation.",
        "sketch",
        Sketch,
        ask,
        example={"word": "water"},
    ),
    Operation(
        "thesaurus",
        "Words that have the same collocates.",
        "thesaurus",
        Thesaurus,
        ask,
        example={"word": "water"},
    ),
    Operation("keyness", "What is more frequent in some corpora than in others.", "keyness", Keywords, ask),
)
