"""Contents of the store, and questions to its counts and texts.

Documents, their sentences and the lines for a count of two words are operations for the pages only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from sqlalchemy import Connection

from sentgen.counts.conllu_export import sentences_conllu
from sentgen.counts.corpora import Corpus
from sentgen.lookups import subcorpora
from sentgen.lookups.base.question import CorporaOption, WhereOption
from sentgen.lookups.browsing import (
    Documents,
    DocumentSentences,
    DocumentSurprisal,
    facets,
    label_facets,
    size_of,
)
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.hit_places import Marks
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.pair_lines import PairLines
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.lookups.subcorpora import SubcorpusName
from sentgen.models.base import registry
from sentgen.models.request import Model
from sentgen.models.vectors import Near
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.server.operations.operation import MARKED, Context, Operation, Result, listing

if TYPE_CHECKING:
    from sentgen.lookups.concordances.line_text import SortedSides


def _corpus(context: Context, request: Corpus) -> Result:
    return Result(request.show(context.opened))


def _model(context: Context, request: Model) -> Result:
    return Result(registry.find(context.opened, request.name).properties(context.opened))


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


def _kwic(context: Context, request: _KwicWithMarks) -> Result:
    request = replace(request, limit=context.limit(request.limit))
    with context.opened.connect() as connection:
        if request.count or not request.marks:
            return Result.from_answer(request.ask(connection))
        # Imported here, as it needs arrays, which other operations do without.
        from sentgen.lookups.concordances.line_text import PLACE, SortedWords

        result = Result.from_answer(request.lines(connection, placed=True))
        rows, words = result.table.slice(0, MARKED), SortedWords.of_order(request.sort)
        sides = request.sorted_sides(connection, rows) if words.levels else []
    ends = zip(*map(rows.column, PLACE[1:]), strict=True)
    marks: list[dict[str, object]] = [{"positions": list(range(first, last + 1))} for first, last in ends]
    more = {**result.more, "marks": _with_sides(marks, sides), "sorted": words.named}
    return replace(result, table=result.table.without(PLACE), more=more)


def _with_sides(
    marks: Sequence[dict[str, object]], sides: Sequence[SortedSides]
) -> Sequence[dict[str, object]]:
    """Return marks with the words beside their hits, if lines are sorted by these."""
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


def _frequencies(context: Context, request: _FrequenciesWithSizes) -> Result:
    request = replace(request, limit=context.limit(request.limit))
    with context.opened.connect() as connection:
        result = Result.from_answer(request.ask(connection))
        if not request.sizes:
            return result
        # Imported here, as it counts in arrays, which other operations do without.
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


def _match(context: Context, request: MatchWithTrees) -> Result:
    request = replace(request, limit=context.limit(request.limit))
    with context.opened.connect() as connection:
        result = Result.from_answer(request.ask(connection))
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
    from sentgen.lookups.concordances.line_text import SortedWords

    hits = result.table.slice(0, MARKED).to_pylist()
    marks = list(Marks.of_hits(connection, hits))
    words = SortedWords.of_order(request.sort)
    sides = request.sorted_sides(connection, hits, marks) if words.levels else []
    rows: list[dict[str, object]] = [{"positions": mark.positions, "parts": mark.parts} for mark in marks]
    return {"marks": _with_sides(rows, sides), "sorted": words.named}


def _within(texts: Iterable[str], most: int) -> tuple[str, int, bool]:
    """Join texts of ``most`` bytes at most; return the text, their number, and whether some are left."""
    taken: list[str] = []
    size = 0
    for text in texts:
        size += len(text.encode("utf-8", "replace"))
        if size > most:
            return "".join(taken), len(taken), True
        taken.append(text)
    return "".join(taken), len(taken), False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facets:
    """What corpora are made of."""

    corpus: CorporaOption = field(default_factory=list)
    where: WhereOption = None
    key: Annotated[str, Option("Only this key, with all of its values.")] = ""


def _facets(context: Context, request: _Facets) -> Result:
    """Return the metadata that divide the documents, and the size of the chosen part."""
    with context.opened.connect() as connection:
        answer = facets(connection, request.corpus, request.where, request.key)
        size = size_of(connection, request.corpus, request.where)
    return replace(Result.from_answer(answer), notes=(), more=asdict(size))


def _label_facets(context: Context, request: _Facets) -> Result:
    """Return the labels of line sets, which are on the desk; nothing is counted in the store."""
    with context.opened.connect() as connection:
        return Result(label_facets(connection, request.corpus, request.key))


def _subcorpus(context: Context, request: SubcorpusName) -> Result:
    with context.opened.connect() as connection:
        return Result(subcorpora.properties(connection, request.name))


OPERATIONS = (
    listing("corpora"),
    Operation(
        "corpus",
        "Sources of a corpus, its regions or metadata, or the sentences that were refused.",
        "corpora show",
        Corpus,
        _corpus,
        path="corpora/{name}",
        example={"name": "relief"},
    ),
    listing("models"),
    Operation(
        "model",
        "Settings of a model, its n-grams per order and its discounts.",
        "models show",
        Model,
        _model,
        path="models/{name}",
        example={"name": "relief"},
    ),
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
    Operation("kwic", "A word in context.", "kwic", _KwicWithMarks, _kwic, example={"pattern": "camp"}),
    Operation("frequencies", "A frequency list.", "freq", _FrequenciesWithSizes, _frequencies),
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
        _match,
        example={"request": "pattern { V [upos=VERB]; V -[nsubj]-> S }"},
    ),
    Operation("facets", "What corpora are made of.", "sql", _Facets, _facets, api=False),
    Operation("label_facets", "Labels of line sets.", "sql", _Facets, _label_facets, api=False),
    Operation("documents", "Documents of a corpus.", "sql", Documents, api=False),
    Operation("sentences", "Sentences of a document.", "sql", DocumentSentences, api=False),
    Operation("surprisal", "Surprisal of the sentences of a document.", "sql", DocumentSurprisal, api=False),
    Operation("hits", "Lines with two words.", "sql", PairLines, api=False),
    listing("saved"),
    listing("subcorpora"),
    Operation(
        "subcorpus",
        "Condition and sizes of a subcorpus.",
        "subcorpora show",
        SubcorpusName,
        _subcorpus,
        path="subcorpora/{name}",
        example={"name": "short"},
    ),
    listing("vectors"),
    Operation(
        "near",
        "The words nearest to a word or a phrase.",
        "vectors near",
        Near,
        path="vectors/near",
        example={"word": "water"},
    ),
)
