"""What must hold in every store: each check is a named query whose rows are the problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sentgen.schema.corpus import RESERVED_WORDS
from sentgen.schema.counts import MAX_ORDER
from sentgen.schema.fidelity import IN_SENTENCE
from sentgen.schema.owners import unowned
from sentgen.schema.reference_ngrams import reference_ngrams_sql
from sentgen.schema.segments import counted_tables

REINGEST = (
    "remove the corpus and ingest it again (sentgen corpora remove NAME; sentgen ingest PATH --corpus NAME)"
)
#: What helps if nothing else does.
RESTORE = "restore a backup; if there is none, ingest everything into a new store"
_REBUILD = "build the model again (sentgen models build NAME --corpus CORPUS)"
RETRAIN = "train the model again (sentgen align train --pairs NAME --model M)"
REPAIR = "sentgen db repair: it removes what nothing accounts for, and names the corpora to ingest again"


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Args:
        name: short name.
        query: SQL whose rows are the problems, none in a sound store.
        cure: what to do if there are any.
        slow: whether it counts the tokens anew; ``--quick`` leaves it out.
        settings: settings of DuckDB under which it runs.
        torn: whether it finds, at little cost, what half of a transaction leaves; such a query names the
            ``corpus`` or ``model`` to make again, if it is not about rows that `sentgen db repair` removes.
    """

    name: str
    query: str
    cure: str = REINGEST
    slow: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    torn: bool = False


def checks(counted: Sequence[int] = ()) -> tuple[Check, ...]:
    """Return all checks, the quick ones first; where counts are compared with sentences, of other corpora."""
    same = (*_strings(), *_orphans(), *_alignments(), *_sentences())
    return (*same, *_totals(counted), *_trees(counted), *_recounts(counted))


def torn_checks() -> tuple[Check, ...]:
    """Return what opens a store after a crash: checks that tell half of a transaction, at little cost."""
    return tuple(check for check in checks() if check.torn)


def _strings() -> Iterator[Check]:
    yield Check("duplicate word ids", "select id from word group by id having count(*) > 1", RESTORE)
    yield Check("duplicate word forms", "select form from word group by form having count(*) > 1", RESTORE)
    reserved = ", ".join(f"({i}, '{form}')" for i, form in enumerate(RESERVED_WORDS))
    yield Check(
        "reserved words",
        f"select * from (values {reserved}) r (id, form) anti join word w on w.id = r.id and w.form = r.form",
        RESTORE,
    )
    yield Check("duplicate tags", "select name from tag group by name having count(*) > 1", RESTORE)
    for column in ("word_id", "lemma_id"):
        yield _orphan("token", column, "word", f"{REPAIR}; else {RESTORE}")
    for column in ("upos_id", "xpos_id", "feats_id", "deprel_id"):
        yield _orphan("token", column, "tag", f"{REPAIR}; else {RESTORE}")
    yield _orphan("enhanced_edge", "deprel_id", "tag", f"{REPAIR}; else {RESTORE}")


def _orphans() -> Iterator[Check]:
    for rows in unowned():
        yield Check(rows.name, rows.query, REPAIR, torn=not rows.large)
    yield _orphan("posting", "sentence_id", "sentence", REPAIR)
    yield Check(
        "duplicate saved queries",
        "select name from saved_query group by name having count(*) > 1",
        "save each again (sentgen saved add NAME --replace -- COMMAND)",
    )
    yield Check(
        "duplicate parses",
        "select parser, sha256 from parse group by parser, version, tokenized, sha256 having count(*) > 1",
        "remove them; they are made again when needed (sentgen parser forget PARSER)",
    )
    yield Check(
        "duplicate unigrams of a model",
        """
        select m.name || '@' || m.version as model
        from model_ngram g
        join model m on m.id = g.model_id
        where g.n = 1
        group by all
        having count(*) <> count(distinct g.w1)
        """,
        _REBUILD,
    )


def _alignments() -> Iterator[Check]:
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
    yield Check(
        "iterations one after the other",
        """
        select model_id, direction, count(*) as iterations, max(iteration) as last
        from alignment_iteration
        group by model_id, direction
        having min(iteration) <> 1
            or count(distinct iteration) <> count(*)
            or max(iteration) <> count(*)
        """,
        RETRAIN,
    )
    yield Check(
        "jumps sum to one",
        """
        select model_id, direction, iteration, sum(prob) as total
        from alignment_jump
        group by model_id, direction, iteration
        having not abs(total - 1) <= 1e-6
        """,
        RETRAIN,
    )
    yield Check(
        "links within their texts",
        """
        select p.name, l.document_first, l.document_end, l.abstract_first, l.abstract_end
        from alignment_link l
        join pair p on p.id = l.pair_id
        where l.document_first < 0
            or l.document_end not between l.document_first + 1 and p.document_words
            or l.abstract_first < 0
            or l.abstract_end not between l.abstract_first + 1 and p.abstract_words
        """,
        "align again (sentgen align apply)",
    )
    yield Check(
        "rewrites sum to one",
        """
        select model_id, reverse, stems, source, sum(prob) as total
        from alignment_rewrite
        group by model_id, reverse, stems, iteration, source
        having not abs(total - 1) <= 1e-6
        """,
        RETRAIN,
        slow=True,
    )


def _orphan(table: str, column: str, parent: str, cure: str = REINGEST) -> Check:
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
    yield from (Check(name, query) for name, query in IN_SENTENCE.items())
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


def _other(corpora: Sequence[int], column: str) -> str:
    """Return a condition that leaves corpora out."""
    return f"{column} not in ({', '.join(map(str, corpora))})" if corpora else "true"


def _totals(counted: Sequence[int]) -> Iterator[Check]:
    yield Check(
        "totals of a source",
        f"""
        select c.name as corpus, r.path
        from source r
        left join corpus c on c.id = r.corpus_id
        left join (
            select d.source_id, count(*) as sentences, sum(s.length) as tokens
            from sentence s
            join document d on d.id = s.document_id
            group by d.source_id
        ) s on s.source_id = r.id
        where (coalesce(s.sentences, 0) <> r.sentences or coalesce(s.tokens, 0) <> r.tokens)
            and {_other(counted, "r.corpus_id")}
        """,
        REPAIR,
        torn=True,
    )
    yield Check(
        "totals of the segments",
        f"""
        select c.name as corpus
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
        where (
            coalesce(g.sentences, 0) <> coalesce(s.sentences, 0)
            or coalesce(g.tokens, 0) <> coalesce(s.tokens, 0)
        )
            and {_other(counted, "c.id")}
        """,
        REPAIR,
        torn=True,
    )
    yield _sums(
        "tokens sum to the lengths of the sentences",
        "select corpus_id, count(*) as count from token group by corpus_id",
        "select corpus_id, sum(length) as count from sentence group by corpus_id",
        counted,
    )
    for order in range(1, MAX_ORDER + 1):
        yield _sums(
            # Between <s> and </s>, n words have n + 3 - order n-grams.
            f"n-grams of order {order} sum to those of the sentences",
            f"""
            select s.corpus_id, sum(g.count) as count
            from (select segment_id, sum(count) as count from ngram_{order} group by segment_id) g
            left join segment s on s.id = g.segment_id
            group by s.corpus_id
            """,
            f"""
            select s.corpus_id, sum(greatest(s.length + {3 - order}, 0)) as count
            from sentence s
            join corpus c on c.id = s.corpus_id
            where c.max_order >= {order}
            group by s.corpus_id
            """,
            counted,
        )
    for table in counted_tables():
        yield Check(f"positive counts in {table}", f"select segment_id from {table} where count < 1")


def _trees(counted: Sequence[int]) -> Iterator[Check]:
    """Yield a check for every table that is counted from trees: its rows sum to the tokens with a head.

    Of events, the level of tags counts every attachment once, and of arguments, that of words on the left
    every node; the artificial root is one more for each tree.
    """
    once = {
        "dependency_event": "level = 'tag-tag'",
        "argument_count": "level = 'word' and direction = 'left'",
        "posting": "true",
    }
    for table, condition in once.items():
        roots = " + count(*) filter ({0} = 0)" if table == "argument_count" else ""
        word, unit = (f"count({head}){roots.format(head)}" for head in ("head", "unit_head"))
        yield _sums(
            f"{table} sums to the nodes of the trees",
            f"""
            select s.corpus_id, sum(g.word) as word, sum(g.unit) as unit
            from (
                select
                    segment_id,
                    coalesce(sum(count) filter (layer = 'word'), 0) as word,
                    coalesce(sum(count) filter (layer = 'unit'), 0) as unit
                from {table}
                where {condition}
                group by segment_id
            ) g
            left join segment s on s.id = g.segment_id
            group by s.corpus_id
            """,
            f"""
            select corpus_id, {word} as word, {unit} as unit
            from token
            group by corpus_id
            """,
            counted,
            ("word", "unit"),
        )


def _sums(
    name: str, stored: str, expected: str, counted: Sequence[int], columns: Sequence[str] = ("count",)
) -> Check:
    """Return a check that two queries agree for every corpus; what belongs to no corpus is a problem too."""
    differ = "\n            or ".join(f"coalesce(s.{c}, 0) <> coalesce(e.{c}, 0)" for c in columns)
    sums = ", ".join(f"s.{c} as stored_{c}, e.{c} as expected_{c}" for c in columns)
    query = f"""
        select c.name as corpus, {sums}
        from ({stored}) s
        full join ({expected}) e on e.corpus_id = s.corpus_id
        left join corpus c on c.id = coalesce(s.corpus_id, e.corpus_id)
        where ({differ})
            and {_other(counted, "coalesce(s.corpus_id, e.corpus_id, 0)")}
    """
    return Check(name, query, REPAIR, torn=True)


def _recounts(counted: Sequence[int]) -> Iterator[Check]:
    for order in range(1, MAX_ORDER + 1):
        words = ", ".join(f"w{i}" for i in range(1, order + 1))
        yield Check(
            f"n-grams of order {order} recounted",
            f"""
            with stored as (
                select s.corpus_id, {words}, sum(g.count) as count
                from ngram_{order} g
                join segment s on s.id = g.segment_id
                where {_other(counted, "s.corpus_id")}
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
