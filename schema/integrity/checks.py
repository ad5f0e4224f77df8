"""What must hold in every store: each check is a named query whose rows are the problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sentgen.schema.integrity.alignment_checks import ALIGNMENT_CHECKS
from sentgen.schema.integrity.check import REBUILD, REINGEST, REPAIR, RESTORE, Check
from sentgen.schema.integrity.sum_checks import sum_checks
from sentgen.schema.owners import unowned
from sentgen.schema.tables.corpus import RESERVED_WORDS
from sentgen.schema.tables.fidelity import IN_SENTENCE

#: The sentences by themselves.
_LENGTHS = (
    Check("duplicate sentence ids", "select id from sentence group by id having count(*) > 1"),
    Check(
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
    ),
)
_MULTIWORDS = Check(
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
_DOCUMENTS = Check(
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


def checks(counted: Sequence[int] = ()) -> tuple[Check, ...]:
    """Return all checks, the quick ones first; where counts are compared with sentences, of other corpora."""
    return (*_strings(), *_orphans(), *ALIGNMENT_CHECKS, *_sentences(), *sum_checks(counted))


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
        yield Check(rows.name, rows.query, REPAIR)
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
        "vectors of all words",
        """
        select s.name
        from vector_space s
        left join word_vector v on v.space_id = s.id
        group by s.id, s.name, s.words, s.dimensions
        having count(v.form) <> s.words
            or count(distinct v.form) <> s.words
            or count(v.form) filter (len(v.components) <> s.dimensions) > 0
        """,
        "remove them and build them again (sentgen vectors remove NAME, sentgen vectors build NAME)",
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
        REBUILD,
    )
    yield Check(
        "surprisal of whole sentences",
        """
        select p.model_id, p.sentence_id
        from surprisal p
        join sentence s on s.id = p.sentence_id
        group by p.model_id, p.sentence_id, s.length
        having count(*) <> s.length
            or count(distinct p.position) <> s.length
            or min(p.position) <> 1
            or max(p.position) <> s.length
        """,
        "remove the model with it, build and apply it again (sentgen models remove NAME@VERSION, sentgen"
        " models build NAME --corpus CORPUS, sentgen models apply NAME --corpus CORPUS)",
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
    yield from _LENGTHS
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
    yield _MULTIWORDS
    yield from (Check(name, query) for name, query in IN_SENTENCE.items())
    yield _DOCUMENTS
