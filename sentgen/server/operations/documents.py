"""Documents of a corpus and their sentences, for the pages."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sentgen.lookups.concordances.browsing import list_documents, list_sentences
from sentgen.server.operations.operation import Context, Limit, Operation, Parameters, Result, answered

Offset = Annotated[int, Field(ge=0, le=2**62, description="Rows to leave out at the beginning.")]


class Documents(Parameters):
    """Documents of a corpus, or of all."""

    corpus: str = ""
    limit: Limit = 50
    offset: Offset = 0


class DocumentSentences(Parameters):
    """Sentences of a document."""

    corpus: str
    document: str
    limit: Limit = 50
    offset: Offset = 0


def documents(context: Context, asked: Documents) -> Result:
    """List documents."""
    with context.opened.connect() as connection:
        limit = context.limit(asked.limit)
        answer = list_documents(connection, asked.corpus, limit=limit, offset=asked.offset)
    return answered(answer)


def sentences(context: Context, asked: DocumentSentences) -> Result:
    """List the sentences of a document."""
    with context.opened.connect() as connection:
        limit = context.limit(asked.limit)
        answer = list_sentences(connection, asked.corpus, asked.document, limit=limit, offset=asked.offset)
    return answered(answer)


OPERATIONS = (
    Operation("documents", "Documents of a corpus.", "sql", Documents, documents, api=False),
    Operation("sentences", "Sentences of a document.", "sql", DocumentSentences, sentences, api=False),
)
