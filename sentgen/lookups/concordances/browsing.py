"""Read corpora as texts: their documents, the sentences of a document, the tokens of a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Connection

from sentgen.errors import NotFoundError
from sentgen.lookups.base.statement import Answer, Bindings, Statement, limit_clause, limited_answer, where
from sentgen.lookups.question.selection import Selection
from sentgen.lookups.search.absence import explain_absence

#: Documents with sentences that are chosen, which alone are counted.
_DOCUMENTS = """\
with size as (
  select document_id, count(*) as sentences, sum(length)::bigint as tokens
  from sentence{conditions}
  group by document_id
)
select document, corpus, source, size.sentences, tokens
from v_documents
join size on size.document_id = v_documents.id
order by v_documents.id{limit}"""

_SENTENCES = """\
select coalesce(sent_id, id::varchar) as sentence, length, text
from v_sentences
where corpus = $corpus
  and document = $document
order by id
limit $limit offset $offset"""

_SURPRISAL = """\
select m.name || '@' || m.version as model, coalesce(s.sent_id, s.id::varchar) as sentence,
  s.length as tokens, sum(p.bits) as bits
from surprisal as p
join model as m on m.id = p.model_id
join sentence as s on s.id = p.sentence_id
where s.document_id in (
  select document.id
  from document
  join corpus on corpus.id = document.corpus_id
  where corpus.name = $corpus
    and document.name = $document
)
group by m.name, m.version, s.id, s.sent_id, s.length
order by m.name, m.version, s.id
limit $limit"""

_SENTENCE = """\
select id, corpus, document, coalesce(sent_id, id::varchar) as sentence, text, metadata
from v_sentences
where corpus = $corpus
  and document = $document
  and coalesce(sent_id, id::varchar) = $sentence
order by id
limit 1"""

_TOKENS = """\
select position, form, lemma, upos, xpos, feats, head, deprel, np
from v_tokens
where sentence_id = $id
order by position"""

_TREES = """\
select sentence_id, coalesce(sent_id, sentence_id::varchar) as sentence, form,
  coalesce(upos, xpos, '') as tag, head, deprel
from v_tokens
where sentence_id in $ids
order by sentence_id, position"""

#: Trees that are read at once: about a megabyte.
_CHUNK = 1_000

_BESIDE = """\
select coalesce(sent_id, id::varchar) as sentence
from v_sentences
where id = $id
  and corpus = $corpus
  and document = $document"""


@dataclass(frozen=True, slots=True)
class _StoredTree:
    """The tree of a sentence, a column a list; ``heads`` are positions from 1, 0 for the root."""

    name: str
    forms: list[str]
    tags: list[str]
    heads: list[int]
    labels: list[str]


def find_trees(connection: Connection, numbers: Sequence[int]) -> Iterator[_StoredTree]:
    """Yield the trees of the sentences with these numbers that have one, in the order of the store."""
    for start in range(0, len(numbers), _CHUNK):
        query = Statement(_TREES, Bindings(ids=list(numbers[start : start + _CHUNK])))
        for _, group in groupby(query.run(connection).to_pylist(), key=lambda row: int(row["sentence_id"])):
            rows = list(group)
            if all(row["head"] is not None for row in rows):
                yield _StoredTree(
                    name=rows[0]["sentence"],
                    forms=[row["form"] for row in rows],
                    tags=[row["tag"] for row in rows],
                    heads=[row["head"] for row in rows],
                    labels=[row["deprel"] or "" for row in rows],
                )


def list_documents(connection: Connection, selection: Selection, limit: int) -> Answer:
    """Return the documents with chosen sentences, in the order in which they were read."""
    bindings = Bindings()
    conditions = where(selection.of_sentences(bindings), "  ")
    text = _DOCUMENTS.format(conditions=conditions, limit=limit_clause(limit, bindings))
    answer = limited_answer(connection, Statement(text, bindings), limit, "documents here")
    return explain_absence(connection, answer, selection, [])


def list_sentences(
    connection: Connection, corpus: str, document: str, *, limit: int, offset: int = 0
) -> Answer:
    """Return the sentences of a document, each with its name, its number of tokens and its text."""
    query = Statement(_SENTENCES, Bindings(corpus=corpus, document=document, limit=limit, offset=offset))
    missing = f"sentences in document {document!r} of corpus {corpus!r}"
    return limited_answer(connection, query, limit, missing)


def list_surprisal(connection: Connection, corpus: str, document: str, *, limit: int) -> Answer:
    """Return the surprisal of each sentence of a document, by each model that was applied to it."""
    query = Statement(_SURPRISAL, Bindings(corpus=corpus, document=document, limit=limit))
    missing = f"surprisal in document {document!r} of corpus {corpus!r}"
    return limited_answer(connection, query, limit, missing)


def find_sentence(
    connection: Connection, corpus: str, document: str, sentence: str
) -> tuple[Answer, dict[str, object]]:
    """Return the tokens of a sentence, and what there is to know of it.

    That is ``text``, ``metadata``, and the names of the sentences before and after it in its document,
    ``previous`` and ``next``, None at the ends. Of sentences with the same name, the first is meant.

    Raises:
        NotFoundError: there is no such sentence.
    """
    rows = Statement(_SENTENCE, Bindings(corpus=corpus, document=document, sentence=sentence)).run(connection)
    if not rows.num_rows:
        raise NotFoundError(f"no sentence {sentence!r} in document {document!r} of corpus {corpus!r}")
    (about,) = rows.to_pylist()
    query = Statement(_TOKENS, Bindings(id=about["id"]))
    answer = limited_answer(connection, query, 0, "tokens")
    beside = {
        name: _beside(connection, about["id"] + step, corpus, document)
        for name, step in (("previous", -1), ("next", 1))
    }
    return answer, {**about, **beside}


def _beside(connection: Connection, number: int, corpus: str, document: str) -> str | None:
    name = Statement(_BESIDE, Bindings(id=number, corpus=corpus, document=document)).value(connection)
    return None if name is None else str(name)
