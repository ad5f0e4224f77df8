"""Browse corpora: their text types, their documents, sentences of a document, tokens of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import NotFoundError
from sentgen.lookups.base.keys import ALWAYS, StoreKeys
from sentgen.lookups.base.line_labels import offered_labels
from sentgen.lookups.base.metadata import in_quotes
from sentgen.lookups.base.question import (
    CorporaOption,
    LimitOption,
    OffsetOption,
    RowSortOption,
    WhereOption,
    in_pages,
)
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Answer, Bindings, Statement, limit_clause, limited_answer, where
from sentgen.lookups.search.absence import explain_absence
from sentgen.options import Option
from sentgen.output.tabular import Rows

#: Documents with chosen sentences; only these are counted.
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

#: Trees to read at once: about a megabyte.
_CHUNK = 1_000

_BESIDE = """\
select coalesce(sent_id, id::varchar) as sentence
from v_sentences
where id = $id
  and corpus = $corpus
  and document = $document"""


@dataclass(frozen=True, slots=True)
class _StoredTree:
    """The tree of a sentence, each column as a list; ``heads`` are positions from 1, 0 for the root."""

    name: str
    forms: list[str]
    tags: list[str]
    heads: list[int]
    labels: list[str]


def find_trees(connection: Connection, numbers: Sequence[int]) -> Iterator[_StoredTree]:
    """Yield the trees of sentences by their ids, in the order of the store; those without one are skipped."""
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
        """Return the documents with chosen sentences, in the order in which they were read."""
        selection, bindings = Selection.named(connection, self.corpus, condition=self.where), Bindings()
        conditions = where(selection.of_sentences(bindings), "  ")
        text = _DOCUMENTS.format(conditions=conditions, limit=limit_clause(self.limit, bindings))
        answer = limited_answer(connection, Statement(text, bindings), self.limit, "documents here")
        return explain_absence(connection, answer, selection, [])


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSentences:
    """Sentences of a document."""

    corpus: Annotated[str, Option("Name of the corpus.")]
    document: Annotated[str, Option("Name of the document.")]
    limit: LimitOption = 50
    offset: OffsetOption = 0

    def ask(self, connection: Connection) -> Answer:
        """Return the name, the number of tokens and the text of each sentence."""
        query = Statement(_SENTENCES, Bindings(**asdict(self)))
        missing = f"sentences in document {self.document!r} of corpus {self.corpus!r}"
        return limited_answer(connection, query, self.limit, missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSurprisal:
    """Surprisal of the sentences of a document."""

    corpus: Annotated[str, Option("Name of the corpus.")]
    document: Annotated[str, Option("Name of the document.")]
    limit: LimitOption = 5000

    def ask(self, connection: Connection) -> Answer:
        """Return the surprisal of each sentence, by each model that was applied to it."""
        query = Statement(_SURPRISAL, Bindings(**asdict(self)))
        missing = f"surprisal in document {self.document!r} of corpus {self.corpus!r}"
        return limited_answer(connection, query, self.limit, missing)


def find_sentence(
    connection: Connection, corpus: str, document: str, sentence: str
) -> tuple[Answer, dict[str, object]]:
    """Return the tokens of a sentence, and a dictionary about it.

    It has ``text``, ``metadata``, and the names of the sentences before and after in the document,
    ``previous`` and ``next``, ``None`` at its ends. Of sentences with the same name, the first is returned.

    Raises:
        NotFoundError: there is no such sentence.
    """
    rows = Statement(_SENTENCE, Bindings(corpus=corpus, document=document, sentence=sentence)).run(connection)
    if not rows.num_rows:
        raise NotFoundError(f"no sentence {sentence!r} in document {document!r} of corpus {corpus!r}")
    (about,) = rows.to_pylist()
    query = Statement(_TOKENS, Bindings(id=about["id"]))
    answer = limited_answer(connection, query, 0, "tokens")
    for name, step in (("previous", -1), ("next", 1)):
        bindings = Bindings(id=about["id"] + step, corpus=corpus, document=document)
        about[name] = Statement(_BESIDE, bindings).value(connection)
    return answer, about


#: Values of a key to list at most; more years than that are grouped into decades.
_MOST_VALUES = 24
#: Characters of a value at most: a key with longer values holds texts, and is not listed.
_MOST_CHARACTERS = 60
#: Keywords of conditions, which as keys need quotes.
_WORDS = ("and", "or", "not", "in", "like", "exists")
#: A key that needs no quotes: without a prefix, such as that of `s_type`, which means a sentence's `type`.
_PLAIN = re.compile(r"(?!(?:doc|document|text|s|sentence)_)[^\W\d_]\w*")

#: Text types: values that several documents share; dates are grouped into years, and many years into decades.
_FACETS = """\
with every as (
  select distinct document_id
  from sentence{every}
),
chosen as (
  select document_id, sum(length) as tokens
  from sentence{chosen}
  group by document_id
),
said as (
  select document_id, key, value
  from document_meta
  semi join every using (document_id)
  where $key in ('', key)
),
facet as (
  select key, count(distinct value) as different,
    case when bool_and(regexp_full_match(value, '[12][0-9][0-9][0-9]([-/.].*)?'))
      then count(distinct left(value, 4)) end as years
  from said
  group by key
  having (years is not null and different > 1
      or different < count(distinct document_id) and max(length(value)) <= $longest
      and (different <= $most or 2 * different <= count(distinct document_id)))
    and (different > 1 or count(distinct document_id) < (select count(*) from every))
),
part as (
  select distinct key, document_id,
    case when years > $most then left(value, 3) when years < different then left(value, 4)
      else value end as value,
    case when years > $most then 3 when years < different then 4 else 0 end as digits
  from said
  join facet using (key)
),
sized as (
  select key, value, digits, count(*) as documents, sum(tokens)::bigint as tokens
  from part
  join chosen using (document_id)
  group by key, value, digits
)
select key, value, digits, documents, tokens, count(*) over (partition by key) as different
from sized
qualify $key <> '' or row_number() over (partition by key order by tokens desc, value) <= $most
order by key, tokens desc, value"""
_SIZE = """\
select count(*) as sentences, coalesce(sum(length), 0)::bigint as tokens,
  count(distinct document_id) as documents
from sentence{conditions}"""
_TYPES = "select count(distinct {column}) as types\nfrom {table}{conditions}"


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """The size of corpora, or of their sentences that meet a condition."""

    documents: int
    sentences: int
    tokens: int
    types: int


def size_of(connection: Connection, corpora: Sequence[str], condition: str | None) -> CorpusSize:
    """Count the documents, sentences, tokens and types of corpora, or of their sentences with a condition."""
    selection, bindings = Selection.named(connection, corpora, condition=condition), Bindings()
    query = Statement(_SIZE.format(conditions=where(selection.of_sentences(bindings))), bindings)
    (row,) = query.run(connection).to_pylist()
    bindings = Bindings()
    if selection.condition is None:
        table, column, conditions = "ngram_1", "w1", selection.of_unigrams(bindings)
    else:
        table, column, conditions = "token", "word_id", selection.of_tokens(bindings)
    text = _TYPES.format(column=column, table=table, conditions=where(conditions))
    return CorpusSize(**row, types=Statement(text, bindings).value(connection))


def facets(connection: Connection, corpora: Sequence[str], condition: str | None, key: str = "") -> Answer:
    """Return the text types of corpora: values of document metadata, with the size of each.

    A row is a value of a key: ``key``, ``value``, ``documents``, ``tokens``, ``different`` (how many values
    the key has in the chosen sentences), and ``condition``, which selects the documents with the value.
    Sizes are those of the chosen sentences; the keys do not depend on the condition. Listed are keys whose
    values several documents share, and dates, grouped into years, and many years into decades. Of a key with
    many values, those with most tokens are listed; of ``key`` alone, if it is given, all. No ``corpora`` are
    all of them.

    Raises:
        NotFoundError: there is no such corpus.
        QueryError: the condition cannot be read, or names a key that no document or sentence has.
    """
    every = Selection.named(connection, corpora)
    chosen = Selection.named(connection, corpora, condition=condition)
    bindings = Bindings(most=_MOST_VALUES, longest=_MOST_CHARACTERS, key=key)
    text = _FACETS.format(
        every=where(every.of_sentences(bindings), "  "), chosen=where(chosen.of_sentences(bindings), "  ")
    )
    query, rows = Statement(text, bindings), list[tuple[object, ...]]()
    for row in query.run(connection).to_pylist():
        shown = f"{row['value']}0s" if row["digits"] == 3 else row["value"]
        condition = chosen_by(row["key"], row["value"], begins=row["digits"] > 0)
        rows.append((row["key"], shown, row["documents"], row["tokens"], row["different"], condition))
    table = Rows(("key", "value", "documents", "tokens", "different", "condition"), rows)
    return Answer(table, query, "metadata that part the documents")


def label_facets(connection: Connection, corpora: Sequence[str], key: str = "") -> Rows:
    """Return the labels of line sets as text types.

    A row has ``key``, ``value``, ``lines``, ``different`` (how many labels the key has) and ``condition``.
    Of a set with many labels, those with most lines are listed; of the set ``key``, all. No ``corpora`` are
    all of them.

    Raises:
        NotFoundError: there is no such corpus.
    """
    known, names = StoreKeys(connection), Selection.named(connection, corpora).names
    rows = []
    for name, group in groupby(offered_labels(connection, names), lambda each: each.name):
        # In a condition, the name means the metadata or region of that name in the store.
        if known.find_metadata(name, quoted=True) or known.find_region(name):
            continue
        labels = sorted(group, key=lambda each: -each.lines)
        rows += [
            (name, each.label, each.lines, len(labels), chosen_by(name, each.label))
            for each in (labels if name == key else labels[:_MOST_VALUES])
        ]
    return Rows(("key", "value", "lines", "different", "condition"), rows)


def chosen_by(key: str, value: str, *, begins: bool = False) -> str:
    r"""Return the condition that a key has a value, or with ``begins``, a value that begins with it.

    >>> print(chosen_by("genre", "news"), chosen_by("year", "185", begins=True))
    genre = "news" year like "185%"
    >>> print(chosen_by("s_type", 'a "b"'))
    "s_type" = "a \"b\""
    """
    plain = _PLAIN.fullmatch(key) and key.lower() not in (*_WORDS, *ALWAYS)
    name = key if plain else in_quotes(key)
    return f"{name} like {in_quotes(f'{value}%')}" if begins else f"{name} = {in_quotes(value)}"
