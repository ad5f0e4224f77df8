"""Checks of a store: named queries whose rows are the problems, each with its cure.

They include queries for orphan rows, whose owner is missing; `sentgen db repair` removes these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sentgen.schema.counting import segment_tables
from sentgen.schema.tables.alignment import OF_MODEL
from sentgen.schema.tables.corpus import RESERVED_WORDS
from sentgen.schema.tables.fidelity import IN_SENTENCE, OF_SENTENCE

REINGEST = (
    "remove the corpus and ingest it again (sentgen corpora remove NAME; sentgen ingest PATH --corpus NAME)"
)
#: The cure of problems that have no other.
RESTORE = "restore a backup; if there is none, ingest everything into a new store"
REBUILD = "build the model again (sentgen models build NAME --corpus CORPUS)"
RETRAIN = "train the model again (sentgen align train --pairs NAME --model M)"
REPAIR = "sentgen db repair: it removes what nothing accounts for, and names the corpora to ingest again"


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a store.

    Args:
        name: short name.
        query: SQL whose rows are the problems, none in a sound store.
        slow: whether the check counts the tokens anew; ``--quick`` leaves it out.
    """

    name: str
    query: str
    cure: str = REINGEST
    slow: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OrphanRows:
    """Rows of a table whose owner, a row of another table, is missing.

    Args:
        name: short name.
        table: the table.
        condition: SQL that is true for an orphan row, in which the name of the table stands for the row.
        shown: columns that identify the row in messages.
    """

    name: str
    table: str
    condition: str
    shown: str

    @property
    def query(self) -> str:
        """SQL whose rows are the problems."""
        return f"select {self.shown}\nfrom {self.table}\nwhere {self.condition}"

    @property
    def removal(self) -> str:
        """SQL that removes the rows."""
        return f"delete from {self.table}\nwhere {self.condition}"

    @classmethod
    def all(cls) -> Iterator[OrphanRows]:
        """Yield the kinds of orphan rows, owners first: removed in this order, none are left."""
        yield _without("source", "corpus_id", "corpus")
        yield _without("document", "source_id", "source")
        yield _without("sentence", "document_id", "document")
        yield cls(
            "sentences beyond their document",
            "sentence",
            """sentence.id not between (
    select d.first_sentence
    from document d
    where d.id = sentence.document_id
) and (
    select d.first_sentence + d.sentences - 1
    from document d
    where d.id = sentence.document_id
)""",
            "id, document_id",
        )
        yield _without("token", "sentence_id", "sentence")
        yield _without("multiword", "sentence_id", "sentence")
        for kept in OF_SENTENCE:
            yield _without(kept.name, "sentence_id", "sentence")
        yield _without("document_meta", "document_id", "document")
        yield _without("table_meta", "corpus_id", "corpus")
        yield _without("source_layout", "source_id", "source")
        yield _without("source_file", "source_id", "source")
        yield _without("rejection", "corpus_id", "corpus")
        yield _without("segment", "corpus_id", "corpus")
        for table in segment_tables():
            yield _without(table, "segment_id", "segment")
        for table in ("model_corpus", "model_parameter", "model_weight", "model_ngram", "surprisal"):
            yield _without(table, "model_id", "model")
        yield _without("word_vector", "space_id", "vector_space")
        yield _without("score", "run_id", "run")
        yield _without("output", "run_id", "run")
        yield from _alignments()


def _alignments() -> Iterator[OrphanRows]:
    yield _without("pair", "corpus_id", "corpus")
    yield _without("pair", "document_id", "document")
    yield _without("pair", "abstract_id", "document")
    for table in reversed(OF_MODEL):
        yield _without(table.name, "model_id", "alignment_model")
    same = "i.model_id = alignment_jump.model_id and i.direction = alignment_jump.direction"
    yield _lost("alignment_jump", "alignment_iteration", f"{same} and i.iteration = alignment_jump.iteration")
    same = """i.model_id = alignment_rewrite.model_id
        and i.direction = if(alignment_rewrite.reverse, 'reverse', 'forward')
        and i.iteration = alignment_rewrite.iteration"""
    yield _lost("alignment_rewrite", "alignment_iteration", same)
    yield _lost("alignment_phrase", "alignment_iteration", "i.model_id = alignment_phrase.model_id")
    yield _without("alignment", "pair_id", "pair")
    for name in ("alignment_link", "alignment_state"):
        yield _lost(name, "alignment", f"i.model_id = {name}.model_id and i.pair_id = {name}.pair_id")


def _without(table: str, column: str, owner: str) -> OrphanRows:
    # Ids are never null: with a null in the list, `not in` would be true for no row.
    condition = f"{table}.{column} not in (select id from {owner})"
    return OrphanRows(f"{table}.{column} without {owner}", table, condition, column)


def _lost(table: str, owner: str, same: str) -> OrphanRows:
    condition = f"not exists (\n    select 1\n    from {owner} i\n    where {same}\n)"
    return OrphanRows(f"{table} without {owner}", table, condition, "model_id")


_AGAIN = "align again (sentgen align apply)"
#: The checks of alignments, the slow one last.
_ALIGNMENT_CHECKS = (
    Check("duplicate pairs", "select name from pair group by corpus_id, name having count(*) > 1"),
    Check(
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
    ),
    Check(
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
    ),
    Check(
        "jumps sum to one",
        """
        select model_id, direction, iteration, sum(prob) as total
        from alignment_jump
        group by model_id, direction, iteration
        having not abs(total - 1) <= 1e-6
        """,
        RETRAIN,
    ),
    Check(
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
        _AGAIN,
    ),
    Check(
        "a state for each word of an aligned abstract",
        """
        select p.name
        from alignment a
        join pair p on p.id = a.pair_id
        left join alignment_state s on s.model_id = a.model_id and s.pair_id = a.pair_id
        group by a.model_id, p.id, p.name, p.abstract_words
        having count(distinct s.position) <> p.abstract_words
            or count(s.position) <> p.abstract_words
            or min(s.position) <> 0
            or max(s.position) <> p.abstract_words - 1
        """,
        _AGAIN,
    ),
    Check(
        "states within their texts",
        """
        select p.name, s.position
        from alignment_state s
        join pair p on p.id = s.pair_id
        where s.state not in ('same', 'variant', 'related', 'changed', 'new')
            or list_min(s.source) < 0
            or list_max(s.source) >= p.document_words
            or list_min(s.elsewhere) < 1
        """,
        _AGAIN,
    ),
    Check(
        "rewrites sum to one",
        """
        select model_id, reverse, stems, source, sum(prob) as total
        from alignment_rewrite
        group by model_id, reverse, stems, iteration, source
        having not abs(total - 1) <= 1e-6
        """,
        RETRAIN,
        slow=True,
    ),
)


#: Checks of the lengths of sentences.
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


def row_checks() -> Iterator[Check]:
    """Yield the checks of strings, owners, alignments and sentences, which count no n-grams or events."""
    yield from (*_strings(), *_orphans(), *_ALIGNMENT_CHECKS, *_sentences())


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
    for rows in OrphanRows.all():
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
