"""Documents, their sentences, and the lines behind the counts of two words, for the pages."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Literal

from sqlalchemy import Connection

from sentgen.lookups.concordances.browsing import list_documents, list_sentences, list_surprisal
from sentgen.lookups.dependency_search import End, Layer
from sentgen.lookups.metadata.facets import facets, size_of
from sentgen.lookups.paging import OffsetOption, RowSortOption, behind, in_pages
from sentgen.lookups.pair_lines import collocation_lines, dependency_lines, relation_lines
from sentgen.lookups.question import CorporaOption, LimitOption, Lookup, WhereOption
from sentgen.lookups.selection import select_corpora
from sentgen.lookups.statement import Answer
from sentgen.lookups.statistics.collocations import AROUND, CollocateUnit
from sentgen.lookups.windows import read_window
from sentgen.options import Option
from sentgen.server.operations.operation import Context, Operation, Result, answered, ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """Documents with sentences of some corpora, or of all."""

    corpus: CorporaOption = field(default_factory=list)
    where: WhereOption = None
    sort: RowSortOption = ""
    limit: LimitOption = 50
    offset: OffsetOption = 0

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        selection = select_corpora(connection, self.corpus, condition=self.where)
        return list_documents(connection, selection, self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """What corpora are made of."""

    corpus: CorporaOption = field(default_factory=list)
    where: WhereOption = None


def facets_of(context: Context, asked: Facets) -> Result:
    """Give the metadata that part the documents, and the size of what is chosen."""
    with context.opened.connect() as connection:
        found = facets(connection, asked.corpus, asked.where)
        size = size_of(connection, asked.corpus, asked.where)
    result = answered(found)
    return replace(result, notes=(), more=asdict(size))


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSentences:
    """Sentences of a document."""

    corpus: Annotated[str, Option("Name of the corpus.")]
    document: Annotated[str, Option("Name of the document.")]
    limit: LimitOption = 50
    offset: OffsetOption = 0

    def ask(self, connection: Connection) -> Answer:
        return list_sentences(connection, self.corpus, self.document, limit=self.limit, offset=self.offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSurprisal:
    """Surprisal of the sentences of a document."""

    corpus: Annotated[str, Option("Name of the corpus.")]
    document: Annotated[str, Option("Name of the document.")]
    limit: LimitOption = 5000

    def ask(self, connection: Connection) -> Answer:
        return list_surprisal(connection, self.corpus, self.document, limit=self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLines(Lookup):
    """The lines with a word and another one that modifies it, governs it, or stands in its window."""

    word: Annotated[str, Option("Pattern of the word; with a collocate or a relation, of one token.")]
    other: Annotated[
        str, Option("Pattern of the other one; of a collocate, of one token; in a relation, as it is.")
    ]
    role: Annotated[Literal["modifier", "head", "collocate"], Option("What the other one is.")]
    tag: Annotated[str, Option("Tag of the other one.")] = "*"
    direction: Annotated[
        Literal["left", "right"], Option("Side of the head on which the modifier stands.")
    ] = "left"
    layer: Annotated[Layer, Option("Tree of words, or of units.")] = Layer.WORD
    window: Annotated[str | None, Option("Words before and after, in which a collocate stands.")] = None
    relation: Annotated[str, Option("Relation in which they stand, as a sketch counts them.")] = ""
    preposition: Annotated[str, Option("Preposition by which they stand in it.")] = ""
    by: Annotated[CollocateUnit, Option("What the other one is in a relation.")] = CollocateUnit.WORD
    offset: OffsetOption = 0
    limit: LimitOption = 50

    def ask(self, connection: Connection) -> Answer:
        """Show the two words with what stands between and around them."""
        return behind(self, lambda asked: asked._ask(connection))

    def _ask(self, connection: Connection) -> Answer:
        selection = self.select(connection, sentences=True)
        if self.role == "collocate":
            window = AROUND if self.window is None else read_window(self.window)
            return collocation_lines(
                connection, self.word, self.other, window=window, selection=selection, limit=self.limit
            )
        if self.relation:
            return relation_lines(
                *(connection, self.word, self.other),
                by=self.by,
                role=self.role,
                relation=self.relation,
                preposition=self.preposition,
                selection=selection,
                limit=self.limit,
            )
        word, other = End(self.word), End(self.other, self.tag)
        return dependency_lines(
            connection,
            *((word, other) if self.role == "modifier" else (other, word)),
            direction=self.direction,
            layer=self.layer,
            selection=selection,
            limit=self.limit,
        )


OPERATIONS = (
    Operation("facets", "What corpora are made of.", "sql", Facets, facets_of, api=False),
    Operation("documents", "Documents of a corpus.", "sql", Documents, ask, api=False),
    Operation("sentences", "Sentences of a document.", "sql", DocumentSentences, ask, api=False),
    Operation(
        "surprisal", "Surprisal of the sentences of a document.", "sql", DocumentSurprisal, ask, api=False
    ),
    Operation("hits", "Lines with two words.", "sql", PairLines, ask, api=False),
)
