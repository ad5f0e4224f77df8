"""What must hold in every store: each check is a named query whose rows are the problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentgen.schema.alignment import OF_CORPUS, OF_MODEL
from sentgen.schema.corpus import RESERVED_WORDS
from sentgen.schema.counting import COUNTED, recount
from sentgen.schema.counts import MAX_ORDER
from sentgen.schema.reference_ngrams import reference_ngrams_sql
from sentgen.schema.segments import counted_tables

_REINGEST = (
    "remove the corpus and ingest it again (sentgen corpora remove NAME; sentgen ingest PATH --corpus NAME)"
)
_RESTORE = "restore a backup; if there is none, ingest everything into a new store"
_REBUILD = "build the model again (sentgen models build NAME --corpus CORPUS)"


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Args:
        name: short name.
        query: SQL whose rows are the problems, none in a sound store.
        cure: what to do if there are any.
        slow: whether it counts the tokens anew; ``--quick`` leaves it out.
    """

    name: str
    query: str
    cure: str = _REINGEST
    slow: bool = False


def checks() -> tuple[Check, ...]:
    """Return all checks, the quick ones first."""
    return (*_strings(), *_orphans(), *_sentences(), *_totals(), *_recounts())


def _strings() -> Iterator[Check]:
    yield Check("duplicate word ids", "select id from word group by id having count(*) > 1", _RESTORE)
    yield Check("duplicate word forms", "select form from word group by form having count(*) > 1", _RESTORE)
    reserved = ", ".join(f"({i}, '{form}')" for i, form in enumerate(RESERVED_WORDS))
    yield Check(
        "reserved words",
        f"select * from (values {reserved}) r (id, form) anti join word w on w.id = r.id and w.form = r.form",
        _RESTORE,
    )
    yield Check("duplicate tags", "select name from tag group by name having count(*) > 1", _RESTORE)
    for column in ("word_id", "lemma_id"):
        yield _orphan("token", column, "word", _RESTORE)
    for column in ("upos_id", "xpos_id", "feats_id", "deprel_id"):
        yield _orphan("token", column, "tag", _RESTORE)


def _orphans() -> Iterator[Check]:
    yield _orphan("source", "corpus_id", "corpus")
    yield _orphan("document", "source_id", "source")
    yield _orphan("sentence", "document_id", "document")
    yield _orphan("token", "sentence_id", "sentence")
    yield _orphan("multiword", "sentence_id", "sentence")
    yield _orphan("rejection", "corpus_id", "corpus")
    yield _orphan("segment", "corpus_id", "corpus")
    for table in counted_tables():
        yield _orphan(table, "segment_id", "segment")
    yield _orphan("posting", "sentence_id", "sentence")
    yield _orphan("model_corpus", "model_id", "model", _REBUILD)
    yield _orphan("model_parameter", "model_id", "model", _REBUILD)
    yield _orphan("model_ngram", "model_id", "model", _REBUILD)
    yield _orphan("score", "run_id", "run", "run the evaluation again")
    yield _orphan("output", "run_id", "run", "run the evaluation again")
    yield from _alignments()
    yield Check(
        "duplicate parses",
        "select parser, sha256 from parse group by parser, version, tokenized, sha256 having count(*) > 1",
        "remove them; they are made again when needed (sentgen parser forget PARSER)",
    )


def _alignments() -> Iterator[Check]:
    again = "train the model again (sentgen align train --pairs NAME --model M)"
    yield _orphan("pair", "corpus_id", "corpus")
    yield _orphan("pair", "document_id", "document")
    yield _orphan("pair", "abstract_id", "document")
    yield Check("duplicate pairs", "select name from pair group by corpus_id, name having count(*) > 1")
    yield Check(
        "words of a pair",
        """
        select p.name
        from pair p
        left join (
            select document_id, sum(length) as words
            from sentence
            group by document_id
        ) d on d.document_id = p.document_id
        left join (
            select document_id, sum(length) as words
            from sentence
            group by document_id
        ) a on a.document_id = p.abstract_id
        where (d.words, a.words) is distinct from (p.document_words, p.abstract_words)
        """,
    )
    for table in OF_MODEL:
        yield _orphan(table.name, "model_id", "alignment_model", again)
    for table in OF_CORPUS[:-1]:
        yield _orphan(table.name, "pair_id", "pair", "align again (sentgen align apply)")
    yield Check(
        "rewrites sum to one",
        """
        select model_id, reverse, stems, source, sum(prob) as total
        from alignment_rewrite
        group by model_id, reverse, stems, iteration, source
        having abs(total - 1) > 1e-6
        """,
        again,
        slow=True,
    )


def _orphan(table: str, column: str, parent: str, cure: str = _REINGEST) -> Check:
    return Check(
        f"{table}.{column} without {parent}",
        f"""
        select t.{column}
        from {table} t
        anti join {parent} p on p.id = t.{column}
        where t.{column} is not null
        """,
        cure,
    )


def _sentences() -> Iterator[Check]:
    yield Check("duplicate sentence ids", "select id from sentence group by id having count(*) > 1")
    yield Check(
        "positions 1 to length",
        """
        select s.id
        from sentence s
        left join (
            select
                sentence_id,
                count(*) as tokens,
                count(distinct position) as positions,
                min(position) as first,
                max(position) as last
            from token
            group by sentence_id
        ) t on t.sentence_id = s.id
        where (t.tokens, t.positions, t.first, t.last) is distinct from (s.length, s.length, 1, s.length)
        """,
    )
    for table, parent in (("token", "sentence"), ("sentence", "document")):
        yield Check(
            f"corpus of a {table}",
            f"""
            select t.{parent}_id, t.corpus_id
            from {table} t
            join {parent} p on p.id = t.{parent}_id
            where t.corpus_id <> p.corpus_id
            """,
        )
    for column in ("head", "unit_head"):
        yield Check(
            f"{column} in range",
            f"""
            select t.sentence_id, t.position, t.{column}
            from token t
            join sentence s on s.id = t.sentence_id
            where t.{column} not between 0 and s.length
                or t.{column} = t.position
            """,
        )
    yield Check(
        "multiword ranges",
        """
        select m.sentence_id, m.first, m.last
        from multiword m
        join sentence s on s.id = m.sentence_id
        where m.first < 1
            or m.last < m.first
            or m.last > s.length
        """,
    )
    yield Check(
        "sentences of a document",
        """
        select d.id
        from document d
        left join (
            select document_id, count(*) as sentences, min(id) as first, max(id) as last
            from sentence
            group by document_id
        ) s on s.document_id = d.id
        where coalesce(s.sentences, 0) <> d.sentences
            or s.first <> d.first_sentence
            or s.last <> d.first_sentence + d.sentences - 1
        """,
    )


def _totals() -> Iterator[Check]:
    yield Check(
        "totals of a source",
        """
        select r.path
        from source r
        left join (
            select d.source_id, count(*) as sentences, sum(s.length) as tokens
            from sentence s
            join document d on d.id = s.document_id
            group by d.source_id
        ) s on s.source_id = r.id
        where coalesce(s.sentences, 0) <> r.sentences
            or coalesce(s.tokens, 0) <> r.tokens
        """,
    )
    yield Check(
        "totals of the segments",
        """
        select c.name
        from corpus c
        left join (
            select corpus_id, sum(sentences) as sentences, sum(tokens) as tokens
            from segment
            group by corpus_id
        ) g on g.corpus_id = c.id
        left join (
            select corpus_id, count(*) as sentences, sum(length) as tokens
            from sentence
            group by corpus_id
        ) s on s.corpus_id = c.id
        where coalesce(g.sentences, 0) <> coalesce(s.sentences, 0)
            or coalesce(g.tokens, 0) <> coalesce(s.tokens, 0)
        """,
    )
    yield Check(
        "unigrams sum to tokens and sentence marks",
        """
        select c.name
        from corpus c
        left join (
            select s.corpus_id, sum(g.count) as count
            from ngram_1 g
            join segment s on s.id = g.segment_id
            group by s.corpus_id
        ) u on u.corpus_id = c.id
        left join (
            select corpus_id, sum(length + 2) as count
            from sentence
            group by corpus_id
        ) t on t.corpus_id = c.id
        where coalesce(u.count, 0) <> coalesce(t.count, 0)
        """,
    )
    for table in counted_tables():
        yield Check(f"positive counts in {table}", f"select segment_id from {table} where count < 1")


def _recounts() -> Iterator[Check]:
    for order in range(1, MAX_ORDER + 1):
        words = ", ".join(f"w{i}" for i in range(1, order + 1))
        yield Check(
            f"n-grams of order {order} recounted",
            f"""
            with stored as (
                select s.corpus_id, {words}, sum(g.count) as count
                from ngram_{order} g
                join segment s on s.id = g.segment_id
                group by all
            ),
            expected as ({reference_ngrams_sql(order)})
            select corpus_id, {words}, stored.count as stored, expected.count as expected
            from stored
            full join expected using (corpus_id, {words})
            where stored.count is distinct from expected.count
            """,
            slow=True,
        )


def tree_recounts(corpora: Sequence[tuple[int, str]]) -> Iterator[Check]:
    """Yield a check for every table that is counted from trees, and every corpus (id and name)."""
    for corpus_id, name in corpora:
        for table in COUNTED:
            yield Check(f"{table} of {name} recounted", recount(table, corpus_id), slow=True)
