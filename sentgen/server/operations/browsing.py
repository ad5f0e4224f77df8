"""Documents, their sentences, and the lines behind the counts of two words, for the pages."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.lookups.base.statement import Answer
from sentgen.lookups.browsing import (
    facets,
    label_facets,
    list_documents,
    list_sentences,
    list_surprisal,
    size_of,
)
from sentgen.lookups.pair_lines import PairLines
from sentgen.lookups.question import (
    CorporaOption,
    LimitOption,
    OffsetOption,
    RowSortOption,
    WhereOption,
    in_pages,
)
from sentgen.lookups.selection import select_corpora
from sentgen.options import Option
from sentgen.server.operations.operation import Context, Operation, Result, result_of


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
class _Facets:
    """What corpora are made of."""

    corpus: CorporaOption = field(default_factory=list)
    where: WhereOption = None
    key: Annotated[str, Option("Only this key, with all of its values.")] = ""


def _facets(context: Context, request: _Facets) -> Result:
    """Give the metadata that part the documents, and the size of what is chosen."""
    with context.opened.connect() as connection:
        answer = facets(connection, request.corpus, request.where, request.key)
        size = size_of(connection, request.corpus, request.where)
    return replace(result_of(answer), notes=(), more=asdict(size))


def _label_facets(context: Context, request: _Facets) -> Result:
    """Give the labels of line sets, which the desk has: nothing of the store is counted."""
    with context.opened.connect() as connection:
        return Result(label_facets(connection, request.corpus, request.key))


@dataclass(frozen=True, slots=True, kw_only=True)
class _DocumentSentences:
    """Sentences of a document."""

    corpus: Annotated[str, Option("Name of the corpus.")]
    document: Annotated[str, Option("Name of the document.")]
    limit: LimitOption = 50
    offset: OffsetOption = 0

    def ask(self, connection: Connection) -> Answer:
        return list_sentences(connection, self.corpus, self.document, limit=self.limit, offset=self.offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class _DocumentSurprisal:
    """Surprisal of the sentences of a document."""

    corpus: Annotated[str, Option("Name of the corpus.")]
    document: Annotated[str, Option("Name of the document.")]
    limit: LimitOption = 5000

    def ask(self, connection: Connection) -> Answer:
        return list_surprisal(connection, self.corpus, self.document, limit=self.limit)


OPERATIONS = (
    Operation("facets", "What corpora are made of.", "sql", _Facets, _facets, api=False),
    Operation("label_facets", "Labels of line sets.", "sql", _Facets, _label_facets, api=False),
    Operation("documents", "Documents of a corpus.", "sql", Documents, api=False),
    Operation("sentences", "Sentences of a document.", "sql", _DocumentSentences, api=False),
    Operation("surprisal", "Surprisal of the sentences of a document.", "sql", _DocumentSurprisal, api=False),
    Operation("hits", "Lines with two words.", "sql", PairLines, api=False),
)
